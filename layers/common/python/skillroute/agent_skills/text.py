"""The text of a piece of an Agent Skill as the index gets it."""

from __future__ import annotations

from skillroute.agent_skills.skill_md import Piece
from skillroute.core.documents.texts import IndexedText
from skillroute.core.hashing import text_hash


def indexed_text(name: str, piece: Piece) -> IndexedText:
    """Return the text of a piece: the skill's name and the headings above it, then what it says.

    Each piece has the name, which requests have and paragraphs leave out.

    Examples
    --------
    >>> indexed_text("refund-orders", Piece("Partial", "Pay back a part.")).lexical_text
    'refund orders: Partial\\nPay back a part.'
    """
    words = name.replace("-", " ")
    text = f"{words}: {piece.heading}\n{piece.content}" if piece.heading else f"{words}\n{piece.content}"
    return IndexedText((text,), text, text_hash(text, text))
