"""Requests to servers that others run: only to addresses that are allowed, checked at the connection."""
