"""`skillroute import`: what tools, servers and agents come in from, over HTTP.

A module for each format (`formats.py` lists them) yields rows of the bulk writes; none knows another one. What follows
is the same for all: rows are checked (`check`), then sent (`send`) or compared (`compare`), and what is gone is removed
(`gone`).
"""
