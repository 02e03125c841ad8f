"""Learning of an organisation's outcomes, and the measurement that decides whether the result goes live."""
