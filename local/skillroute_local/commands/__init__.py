"""Commands of `skillroute` that have a module of their own; `skillroute_local.cli` joins them."""
