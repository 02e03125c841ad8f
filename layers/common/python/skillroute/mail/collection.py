"""The collection of agent mail."""

from skillroute.core.documents.collection import Collection, CountedAs
from skillroute.core.embedding.port import message_embedder

MAIL_DOCUMENTS = COLLECTION = Collection(
    "mcp_mail",
    CountedAs(4, "mail", "documents of mail", "Messages, mail agents and projects."),
    place=4,
    short="mail",
    filtered_by=(
        *("kind", "project_ids", "importance", "sender", "recipients", "parties", "thread_id", "ack_required"),
    ),
    number_fields=("created_ts",),
    embedder_of=message_embedder,
)
