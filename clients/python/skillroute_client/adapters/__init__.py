"""Thin adapters for agent frameworks and model APIs. Each is imported by its own name, and loads what it needs.

`claude` and `openai` need no further library; `langchain` needs the extra `langgraph`, the others those of their names.
"""
