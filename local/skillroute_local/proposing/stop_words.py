"""Words that occur in tools of any subject."""

from __future__ import annotations

_GRAMMAR = """
a about above across after all allow allows also an and any are as at available back based be been before being below
between both but by can complete comprehensive could current currently de different do does done during each either
else etc every existing few first following for from full further get gets given gives has have having here how
however if in including instead into is it its itself just key last latest let like made main many may method more
most much multiple must my need needed needs new next no not note now of off on once one only optional or other our
out over own per please possible provide provided provides required same see several should show shows simple since
single so some specific specified such supported supports than that the their them then there these they this those
through to too two type types under until up us use used useful user users uses using value values various very via
want was we well were what when where whether which while who why will with within without would you your
"""

# What tools do, and how they speak of arguments, answers and servers.
_TOOL_TALK = """
able access action actions add added adding additional adds against among analyze api apis apply argument arguments
array ask assign boolean build calculate call change check client compute connect consider convert count create
created creates creating default define delete deleted deletes describe detail detailed details determine disable
display edit enable ensure enter example examples execute executes extract false fetch fetches field fields filter
filters find finds format function functions generate generates handle help helps id identifier ids info information
initialize input insert inspect inspects int integer item items json launch limit list listing lists load look lookup
make manage manages mcp modify move name named names null number object obtain offset open operation operations option
optionally options output page pages param parameter parameters params parse perform performs pick prepare process
properties property put query read reads receive remove removes reset resolve response restore result results retrieve
retrieved retrieves retrieving return returned returning returns run runs save search searches searching select send
server servers set sets setting start stop store string strings strongly submit system take takes tell toggle tool
tools track true turn unique update updated updates upload uuid validate verify view write writes
"""

STOP_WORDS = frozenset(f"{_GRAMMAR} {_TOOL_TALK}".split())
"""Lower case; plurals and singulars each."""
