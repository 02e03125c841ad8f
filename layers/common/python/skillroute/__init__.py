"""Skillroute: serverless tool search for AI agents."""

__version__ = "0.1.0"
