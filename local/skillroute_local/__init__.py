"""Skillroute on one machine: PostgreSQL, the queues, the event pump, the web server and the command line.

Never part of a layer. Everything that it keeps stands in one directory, `skillroute_local.home.Home`.
"""
