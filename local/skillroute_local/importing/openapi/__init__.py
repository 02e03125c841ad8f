"""OpenAPI 3 documents: each operation becomes a tool."""

from skillroute_local.importing.openapi.document import is_document, read_operations

__all__ = ["is_document", "read_operations"]
