"""The language models that classifiers ask, each against a stub of its service."""

from tests.unit.core.chat.conftest import bedrock_chat, chat_retry, openai_chat, server
from tests.unit.core.conftest import _no_outside_world, model_dir, time

__all__ = ["_no_outside_world", "bedrock_chat", "chat_retry", "model_dir", "openai_chat", "server", "time"]
