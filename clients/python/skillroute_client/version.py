"""The version, which is that of the Skillroute it was released with."""

__version__ = "0.2.0"
