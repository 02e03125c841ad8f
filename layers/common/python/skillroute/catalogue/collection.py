"""The collection of items: tools, prompts and resources."""

from skillroute.core.documents.collection import Collection, CountedAs

TOOL_DOCUMENTS = COLLECTION = Collection(
    "mcp_unified_search",  # the name that search-contract gives it
    CountedAs(1, "items", "items", verified_field="tools"),
    place=2,
    short="tools",
    filtered_by=("type", "server", "skill_keys", "name_key", "rule_servers", "rule_names", "hints"),
    remembered_bytes=28 * 1024 * 1024,
)
