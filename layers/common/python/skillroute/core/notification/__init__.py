"""Where people are notified that something waits for them."""
