"""Measuring how well searches find the tools of a catalogue: docs/evaluation.md.

`requests` reads judged requests, `catalogue` says which tools they mean, `metrics` and `intervals` are the formulas,
`scorecard` asks every request and adds up, `gate` says what fails a build, `generate` makes a first set of requests.
"""
