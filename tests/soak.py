"""Whether the tests run at length, as `make test-all` has them."""

from __future__ import annotations

import os

SOAK = os.environ.get("SKILLROUTE_SOAK") == "1"
"""Whether kills, outages and races go on for long, and products of many cases are tried whole."""
