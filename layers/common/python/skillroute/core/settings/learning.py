"""Settings of receipts, and of what is learned from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillroute.core.settings.base import Settings


class ReceiptSettings(Settings):
    """How much is kept of searches, and whose use teaches the global catalogue."""

    receipts: Literal["on", "without-texts", "off"] = Field(
        "on",
        description="What is kept of each search for tools, to learn from (docs/learning.md): with its text, secrets "
        "taken out; or the text's hash and vector alone; or nothing.",
    )
    receipts_days: int = Field(30, ge=1, le=400, description="How long receipts and outcomes are kept.")
    learn_global_from: Literal["administrators", "everyone"] = Field(
        "administrators",
        description="Whose use teaches the catalogue that all organisations share, of callers without an organisation: "
        "those with scope admin, or all of them.",
    )


class LearningScheduleSettings(Settings):
    """When organisations learn."""

    learn_every_h: float = Field(
        24.0,
        ge=0,
        le=8760,
        description="Hours after which an organisation with new outcomes learns from them again; 0: never by itself.",
    )
