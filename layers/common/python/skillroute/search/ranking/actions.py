"""Compares the verbs of a request and a tool, to find tools that do something else (docs/adr/0041)."""

from __future__ import annotations

import re

from skillroute.catalogue.text import split_name

_GROUPS = (
    "get list search find fetch query read show describe retrieve lookup look view display check inspect browse load"
    " access obtain download scan count info information details detail status see tell enumerate select export",
    "create add new insert make generate build register post put append provision start launch open initialize init"
    " save store write define submit upload import install deploy enable attach connect mount",
    "update set modify edit change patch rename replace configure adjust alter assign move switch reset toggle mark"
    " sync refresh restore",
    "delete remove destroy drop clear purge erase cancel stop close disable unset uninstall detach revoke terminate"
    " kill end disconnect unmount archive",
    "send publish share email message notify forward reply broadcast dispatch",
    "run execute invoke call trigger perform process apply evaluate test validate verify analyze analyse calculate"
    " compute convert transform translate compare",
)
"""Verbs, and nouns in the names of tools, of one action each: to read, make, change, remove, send, run."""

_ACTION = {word: number for number, words in enumerate(_GROUPS) for word in words.split()}
_WORD = re.compile(r"[a-z]+")


def does_something_else(request: str, name: str, description: str) -> bool:
    """Return whether a request begins with a verb, and all verbs of a tool are of other actions.

    A tool's are those in its name and the first word of its description. False where either has none that is known.

    Examples
    --------
    >>> does_something_else("Delete the label 'old'", "list_labels", "Lists all labels.")
    True
    >>> does_something_else("Labels of this repository", "list_labels", "Lists all labels.")
    False
    """
    asked = _ACTION.get(_first_word(request))
    if asked is None:
        return False
    words = [*_WORD.findall(split_name(name).lower()), _first_word(description)]
    done = {_ACTION[word] for word in words if word in _ACTION}
    return bool(done) and asked not in done


def _first_word(text: str) -> str:
    found = _WORD.search(text[:200].lower())
    return found.group() if found else ""
