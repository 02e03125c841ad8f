"""Names of a server's resources: MCP tells them apart by their URI, and many have one name."""

from __future__ import annotations


def resource_name(name: str, uri: str, uris: dict[str, str]) -> str:
    """Return a resource's name, or its URI where a resource with another URI has that name.

    Parameters
    ----------
    uris : dict of str to str
        The URI of each name that is taken; what is returned is added.

    Examples
    --------
    >>> taken = {}
    >>> [resource_name("readme", uri, taken) for uri in ("file:///a", "file:///b", "file:///a")]
    ['readme', 'file:///b', 'readme']
    """
    if uris.setdefault(name, uri) == uri:
        return name
    uris.setdefault(uri, uri)
    return uri
