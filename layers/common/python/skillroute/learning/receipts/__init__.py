"""Receipts: what searches hand over, written to PostgreSQL without a search waiting for it."""
