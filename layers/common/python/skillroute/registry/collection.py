"""The collection of servers and agents."""

from skillroute.core.documents.collection import Collection, CountedAs

REGISTRY_DOCUMENTS = COLLECTION = Collection(
    "mcp_registry",
    CountedAs(3, "entities", "servers and agents", "Servers and agents."),
    place=3,
    short="registry",
    filtered_by=("kind", "is_enabled", "tags", "rule_names"),
    row_fields=frozenset({"entity_id", "path"}),
)
