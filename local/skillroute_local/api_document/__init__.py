"""The OpenAPI document of the whole API, and the page that shows it (docs/adr/0051).

It is made here, on the laptop, of what FastAPI finds out: the functions serve no document, and importing them should
cost nothing for it. `python -m tests.openapi` writes docs/openapi.json.
"""
