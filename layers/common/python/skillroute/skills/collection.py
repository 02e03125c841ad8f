"""The collection of skills."""

from skillroute.core.documents.collection import Collection, CountedAs

SKILL_DOCUMENTS = COLLECTION = Collection(
    "mcp_skills",  # the name that search-contract gives it
    CountedAs(2, "skills", "skills"),
    place=1,
    short="skills",
    filtered_by=("hidden_from", "skill_id"),
    remembered_bytes=4 * 1024 * 1024,
)
