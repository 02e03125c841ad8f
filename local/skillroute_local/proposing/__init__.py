"""Proposing a first set of skills from the tools that are there: docs/adr/0011-proposing-skills.md.

`clusters` groups vectors, `words` says what a group is about, `wording` makes a skill of it, `propose` reads the tools,
strings these together, and applies a proposal.
"""
