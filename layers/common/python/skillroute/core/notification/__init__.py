"""Where people are told that something waits for them."""
