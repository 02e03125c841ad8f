"""The console: pages in a browser for the people who keep a catalogue, over the client of the API (docs/console.md).

Nothing is loaded before somebody asks for a page: `skillroute_local.console.app` brings the client package with it.
"""
