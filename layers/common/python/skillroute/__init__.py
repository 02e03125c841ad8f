"""Skillroute: serverless tool search for AI agents."""

# Written here and in both pyproject.toml, which tests/api/local/test_version.py compares: on Lambda this package is in
# a layer, where no installed distribution could be asked, and what is installed for development may be of another day.
__version__ = "0.2.0"
