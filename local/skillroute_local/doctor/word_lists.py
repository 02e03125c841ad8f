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

_FILLER = """
" action actions allow allows api based command different enable enables feature features function functionality
functions given handle handler handlers help helps implement implementation method module necessary operation
operations perform performs processing provide provides related request requests required response responses returns
server service services several some specific specified system task tasks this user users various work working wrapper
"""

_EMPTY_PHRASES = "description functionality perform performs performing this tool use used using utility"

_FOREIGN = "das de del dem den der des die do el en et la le les los na nach os para por que um uma un una und une von"

_GRAMMAR = "a all an and any by for from it my new of or the to with"

_PLAIN_ARGUMENTS = """
cursor dry_run email latitude limit longitude lat lng lon month offset page page_size per_page q query url verbose year
"""

VERBS = frozenset(_VERBS.split())
"""Generic verbs at the start of names."""

NOUNS = frozenset(_NOUNS.split())
"""Generic nouns. Not task, file, function, object or resource, which are subjects of some servers."""

FILLER = frozenset(_FILLER.split()) | VERBS | NOUNS | frozenset(_GRAMMAR.split())
"""Words of descriptions without content: "This tool is used to perform operations"."""

EMPTY_PHRASES = frozenset(_EMPTY_PHRASES.split())
"""Words that can be removed from a description: "This tool is used to perform a refund" is "refund"."""

FOREIGN = frozenset(_FOREIGN.split())
"""By which a text is told from an English one, whose words alone the lists of words know."""

GRAMMAR = frozenset(_GRAMMAR.split())
"""Not in and out: `check_in` is another thing than `check`."""

PLAIN_ARGUMENTS = frozenset(_PLAIN_ARGUMENTS.split())
"""Names of arguments that mean the same wherever they stand, in snake_case."""
