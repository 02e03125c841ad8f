"""The collection of Agent Skills: a document for name and description, and one for each piece of the body."""

from skillroute.core.documents.collection import Collection, CountedAs

AGENT_SKILL_DOCUMENTS = COLLECTION = Collection(
    "mcp_agent_skills",
    CountedAs(
        5,
        "agent_skills",
        "pieces of Agent Skills",
        "Pieces of Agent Skills: one for name and description, and those of the body.",
    ),
    place=5,
    short="agent-skills",
    filtered_by=("part",),
)
