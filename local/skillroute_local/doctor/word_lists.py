"""Words that say little in the name of a tool or of an argument."""

from __future__ import annotations

_VERBS = """
add apply call check create delete do execute fetch find generate get handle insert invoke list load lookup make manage
perform process put query read remove request retrieve run save search send set show submit update use write
"""

_NOUNS = """
anything data default detail details element everything generic helper info information input item items main misc
output result results something stuff thing things tool tools util utility utils value values
"""

_GRAMMAR = "a all an and any by for from it my new of or the to with"

_PLAIN_ARGUMENTS = """
cursor dry_run email latitude limit longitude lat lng lon month offset page page_size per_page q query url verbose year
"""

VERBS = frozenset(_VERBS.split())
"""What names begin with, whatever they are about."""

NOUNS = frozenset(_NOUNS.split())
"""What anything may be called. Not task, file, function, object or resource, which are subjects of some servers."""

GRAMMAR = frozenset(_GRAMMAR.split())
"""Not in and out: `check_in` is another thing than `check`."""

PLAIN_ARGUMENTS = frozenset(_PLAIN_ARGUMENTS.split())
"""Names of arguments that mean the same wherever they stand, in snake_case."""
