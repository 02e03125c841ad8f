"""Learning from use: receipts of searches, what became of them, and what was learned of that (docs/adr/0071)."""
