"""Secrets in messages: found by their form, and kept out of everything that is searched or embedded.

In doubt a word is lost rather than a secret kept: what follows ``password:`` is taken out whether it looks like one or
not, so "the secret: be kind" loses its "be". What only speaks of secrets stays: "token bucket", "password reset",
``max_tokens=512``. What has neither a name nor a form of its own is not found.

Texts are expected in the one spelling that the tokenizer gives them (NFKC): in what looks like "password=" without
being it, nothing is found. In that spelling the character of `MASK` is three dots, so that where it stands something
was taken out, and no author can write it.

Every pattern is linear in the length of a text: what can repeat without end is also taken without fail, or bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

MASK = " … "
"""Stands in the searched text where a secret was; no word."""

# Between a title and its body while both are masked as one; white space to every pattern, and in neither of them.
_SEAM = "\x1e"

# What names a value that nobody else should know, in whatever way names are written (apiKey, API_KEY, "api key"), also
# at the end of a longer name: DB_PASSWORD, PGPASSWORD, accessToken. Their first two letters are looked at first: at
# nearly every place of a text that takes a third of the time that trying each name would.
_NAMES = (
    r"(?=[pP][aAwWrR]|[kK\u212a][eE]|[zZ][uU]|[cC][oOrRlL]|[mM][oOaA]|[sS\u017f][eEhHiI\u0130\u0131]|[wW][aA]"
    r"|[lL][öÖiI\u0130\u0131]|[tT][oO]|[aA][pPuUcC]|[eE][nN]|[пП密パ비])"
    r"(?i:pass[ _-]?words?|passwd|pass[ _-]?phrase|pass[ _-]?code|pa(?:ss|ß)wort|kennwort|zugangsdaten"
    r"|contrase(?:ñ|n\u0303|n)as?|mot\ de\ passe|senha|wachtwoord|lösenord|пароль|密码|密碼|パスワード|비밀번호"
    r"|secrets?|token|credentials?"
    r"|(?:api|auth|access|private|signing|encryption|account|shared|master|session|licen[cs]e)[ _.-]?key"
    r"|connection[ _-]?string|(?<![a-z])(?:pass|pwd|pw|clave))"
)
# A name may go on (PASSWORD_HASH, secretKeyBase, token2), but what ends like these is no secret, only about one.
_ABOUT = (
    r"(?:counts?|limits?|types?|names?|length|polic(?:y|ies)|expir(?:y|es|ed|ation)|ttl|ur[li]|endpoint|budget|usage|size"
    r"|min|max|reset|required|enabled|rotation|age|in|at|path|file|field|strength)"
)
_TAIL = rf"(?:[_.-]+(?!(?i:{_ABOUT})\b)[A-Za-z0-9]+|(?<=[a-z])(?!(?i:{_ABOUT})(?![a-z]))[A-Z][a-z0-9]+|[0-9]+){{0,4}}+"
# What stands between a name and its value, with the marks of Markdown and HTML: **password:** x, <b>password</b>: x.
_IS = (
    r"""(?:[ \t]?\([^()\n]{1,40}\))?+\\*["'`*_\])\u200b-\u200f\u2060\ufeff]{0,3}(?:</\w{1,20}>){0,3}+\s*+"""
    r"""(?>:=|=>|={1,3}|[:：＝→⇒]|(?<=[^)\s]\s)->(?=\s))(?:[*_]{1,3}(?!\S)|(?:</\w{1,20}>){1,3}+)?+\s*+"""
)
# Quoted up to the quote or the end of the line, a list, an object, an indented block, or up to white space.
_QUOTED = r"""(?:"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|`[^`\n]*+`?|\\+["'](?:[^\\\n"']|\\(?!["']))*+)"""
_BARE = r"""(?:(?<=\s)\.{3}[ \t]++(?=\S))?+(?:[^\s,;]|,(?!["'\s])|;(?!\s|[A-Za-z_]+=))++"""
_OBJECT = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\}?)*+\}?)*+\}?"
_BLOCK = rf"[|>][-+0-9]*+[ \t]*+(?:\n[ \t{_SEAM}]+[^\n]*+)++"
_VALUE = rf"(?!\s*…)(?:{_QUOTED}|\[[^\]\n]*+\]?|{_OBJECT}|{_BLOCK}|{_BARE})"
_OPAQUE = r"(?=[\w.~+/=-]*(?:[0-9=]|[a-z][A-Z]))"

_ROUNDS = 4
"""How often all are looked for, at most: what was taken out may have hidden the beginning of another."""

# What a text must hold, in lower case, to hold a name.
_NAME_HINTS = (
    "pass", "paßwort", "kennwort", "zugangsdaten", "contrase", "senha", "wachtwoord", "lösenord", "пароль", "密码",
    "密碼", "パスワード", "비밀번호", "secret", "token", "credential", "key", "connection", "pwd", "pw", "clave",
)  # fmt: skip
# Case folds these to ASCII letters in patterns; lower case leaves them.
_LIKE_ASCII = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s"})


@dataclass(frozen=True)
class _Form:
    """A form that secrets have. What the pattern finds is taken out, all of it but its first group.

    `hints` are what a text must hold one of, in lower case, for the pattern to find anything: looking for words costs
    a hundredth of what the pattern does. None at all: the pattern is always tried.
    """

    hints: tuple[str, ...]
    regex: str
    flags: re.RegexFlag = re.NOFLAG

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled at its first use: all of them take 17 ms, which a start that reads no mail need not pay."""
        return re.compile(self.regex, self.flags)

    def may_be_in(self, lower: str) -> bool:
        """Return whether a text, in lower case, holds a hint."""
        return not self.hints or any(hint in lower for hint in self.hints)


_FORMS = (
    # Blocks, and what is left of one whose end or whose beginning was cut off.
    _Form(
        ("-----begin",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        re.DOTALL,
    ),
    _Form(
        ("-----end",),
        r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{16,}+(?:[ \t]{0,8}+\r?\n[>| \t]{0,16}+[A-Za-z0-9+/=]++){0,60}+"
        r"\s{1,8}+[>| \t]{0,16}+-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    ),
    # Keys with the mark of who issues them.
    _Form(
        (),
        r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}"
        r"|gh[oprsu]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|gl(?:pat|dt|rt|cbt)-[\w-]{12,}"
        r"|xox[abceoprs]-[\w-]{8,}|xapp-[\w-]{8,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9]{8,}"
        r"|sk-[A-Za-z0-9][\w-]{14,}|AIza[\w-]{20,}|ya29\.[\w-]{12,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}"
        r"|(?:hf|gsk|r8|lin_api|dckr_pat|figd|dop_v1|doo_v1|sbp|shpat|shpss|atlasv1)_[\w-]{16,}|xai-[\w-]{20,}"
        r"|(?<!-)SG\.[\w-]{12,}\.[\w-]{12,}|(?:AC|SK)[a-f0-9]{32}|key-[a-f0-9]{32}|NRAK-[A-Z0-9]{20,}|ATATT3[\w=-]{20,}"
        r"|hv[sb]\.[\w-]{20,}|tskey-[\w-]{12,}|sq0(?:atp|csp)-[\w-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{20,})",
    ),
    _Form((":",), r"(?<![A-Za-z0-9])[0-9]{8,10}:[\w-]{35}(?![\w-])"),
    _Form(("8q~",), r"(?<![A-Za-z0-9])[\w~.-]{3}8Q~[\w~.-]{31,}"),
    # A JWT, also after other words: looked for once from where a run of its characters begins.
    _Form(("eyj",), r"(?<![\w-])((?:(?!(?<![A-Za-z0-9])eyJ)[\w-])*+)eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)*+"),
    _Form(
        ("hooks.slack.com/", "discord"),
        r"((?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks)/)[\w/-]+",
    ),
    # Authorization: Bearer ..., Token ...; Bearer ... and Basic ... where they say something that is no word.
    _Form(
        ("authori",),
        r"""(\bauthori[sz]ation["'`]?\s*+[:=]\s*+["'`]?)(?:(?:basic|bearer|token|api-?key|digest|negotiate|aws4-hmac-sha256)"""
        rf"""\s++[^\s…"'`][^\n"'`]*+|{_OPAQUE}[\w.~+/=-]{{8,}}+)""",
        re.IGNORECASE,
    ),
    _Form(
        ("bearer", "basic"),
        rf"\b((?i:bearer)\s+){_OPAQUE}[\w.~+/=-]{{8,}}+|\b((?i:basic)\s+){_OPAQUE}[A-Za-z0-9+/]{{12,}}+={{0,2}}",
    ),
    _Form(("cookie:",), r"(\b(?:set-)?cookie:\s*+)[^\s=…]{1,200}+=[^\n]*+", re.IGNORECASE),
    # scheme://user:password@host, where a password may hold a slash, but what begins like a port is one; ?sig=..., what
    # is long and random in ?key=..., -u user:password, login NAME password ...
    _Form(("://",), r"(?<=://)[^\s/:@]*+:(?:[^\s/]+(?=@)|(?![0-9]{1,5}/)[^\s]{1,200}(?=@[\w.\[]))"),
    _Form(
        ("sig=", "signature=", "credential=", "security-token="),
        r"([?&](?:sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token))=)[^\s&#…]++",
        re.IGNORECASE,
    ),
    _Form(
        ("key=", "auth="),
        r"([?&](?i:key|auth)=)(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))"
        r"(?=[\w.~%-]{0,64}[0-9])(?=[\w.~%-]{0,64}[A-Za-z])[\w.~%-]{20,}+",
    ),
    _Form(("-u", "--user"), r"((?<!\S)(?:-u|--user)[ =]+)[^\s:…]++:\S++"),
    _Form(("login",), r"(\blogin\s+\S{1,100}\s+password\s+)(?!…)\S++"),
    # --password ..., <password>...</password>
    _Form(_NAME_HINTS, rf"((?<!\S)--?(?:[A-Za-z0-9]+[._-]){{0,4}}{_NAMES}[ \t]++)(?!-){_VALUE}"),
    _Form(_NAME_HINTS, rf"(<[\w:.-]{{0,64}}{_NAMES}[\w.-]{{0,64}}(?:\s[^<>]{{0,200}})?>)(?!\s*+…)[^<]++"),
    # Several in a line, and what may have blanks in it.
    _Form(
        ("passwords", "phrase", "secrets", "credentials", "zugangsdaten", "contrase"),
        rf"((?=[pPsSſcCzZ])(?i:passwords|pass[ _-]?phrase|secrets|credentials|zugangsdaten|contraseñas){_IS})"
        r"(?![…\"'`\[{|>])\S[^\n]*+",
    ),
    # Tokens are also counted: those that are no number.
    _Form(
        ("tokens",),
        rf"((?i:tokens){_IS})(?!\s*…)(?:{_QUOTED}|\[(?![0-9\s,.]*+\])[^\]\n]*+\]?"
        r"|(?=\S{0,64}[0-9])(?=\S{0,64}[A-Za-z])(?![0-9.,]{1,20}[A-Za-z]{1,3}(?!\w))[^\n]++)",
    ),
    # name=value, name: value, "name": "value", NAME => value; "the PIN is ..." where it looks like one.
    _Form(_NAME_HINTS, rf"({_NAMES}{_TAIL}{_IS}){_VALUE}"),
    _Form(
        _NAME_HINTS, rf"({_NAMES}\s+(?:is|was|are|ist|war|lautet|es|est)\s++)(?!\s*…)(?:{_QUOTED}|(?=\S*[0-9]){_BARE})"
    ),
    # The password for NAME is ..., | password | ... | likewise.
    _Form(
        _NAME_HINTS,
        rf"({_NAMES}\s(?:for|of|to|on|für|von)\s[^\n:;=…]{{1,40}}?(?:\s(?:is|was|ist|war|lautet)\s++|{_IS}))"
        rf"(?!\s*…)(?:{_QUOTED}|(?=\S{{0,64}}[0-9]){_BARE})",
    ),
    _Form(("|",), rf"(\|[ *_`]{{0,4}}{_NAMES}[ *_`]{{0,40}}\|[ `]{{0,40}})(?=[^\s|]{{0,64}}[0-9])[^\s|]++"),
    _Form(("pin", "otp", "tan"), r"((?<![A-Za-z])(?i:pin|otp|tan)\s*(?:[:=]|is|ist)\s*)[0-9]{4,}"),
)


def without_secrets(text: str) -> str:
    """Return a text with what looks like a secret taken out: private keys, issued keys, tokens, passwords.

    Of ``name=value`` the name stays, so that a message can be found by what it speaks of.

    Examples
    --------
    >>> without_secrets("the password=hunter2 works")
    'the password= …  works'
    """
    for _ in range(_ROUNDS):
        before = text
        # Taking out brings no words together, so what is not there now is not there at the end of the round either.
        lower = text.translate(_LIKE_ASCII).lower()
        for form in _FORMS:
            if form.may_be_in(lower):
                text = form.pattern.sub(_masked, text)
        if text == before:
            break
    return text


def both_without_secrets(title: str, body: str) -> tuple[str, str]:
    """Return a title and its body without secrets, where the one may name what the other contains.

    Examples
    --------
    >>> both_without_secrets("the password:", "hunter2")
    ('the password:', ' … ')
    """
    whole = "\n".join((title.replace(_SEAM, " "), _SEAM + body.replace(_SEAM, " ")))
    first, second = without_secrets(whole).split(_SEAM)
    return first.removesuffix("\n"), second


def _masked(found: re.Match[str]) -> str:
    kept = next(filter(None, found.groups()), "")
    # What began in a title may end in its body: the rest stays in the body.
    return kept + MASK + (_SEAM if _SEAM in found[0][len(kept) :] else "")
