"""The sections of docs/benchmarks.md about the quality of registry and message search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.standing.tables import span, table, titled

Json = dict[str, Any]

_FUSIONS = ("boost", "rrf", "coverage")


def registry_quality(results: Json) -> str:
    """Return the section about registry search."""
    about = (
        "Queries judged by hand (`benchmarks/registry_queries.md`) on Docker's MCP catalogue, 328 servers with 755 "
        "tools; what each ranking is stands in `standing/registry_quality.py`. Servers are judged on all queries, "
        "tools on those that name some. Nothing was chosen on the second set."
    )
    by_kind = titled({"means": "Means by kind of query"}, results)
    catalogues = titled({"catalogues": "Judged requests for tools, by the servers of their tools"}, results)
    claim = _registry_claim(results["differences"])
    return "\n\n".join([about, *by_kind, claim, *catalogues])


def _registry_claim(differences: list[Json]) -> str:
    """Say of each fusion and kind of query whether hybrid search beats both of its halves."""
    rows: dict[tuple[str, str], Json] = {}
    for difference in differences:
        group, name = difference["group"], difference["difference"]
        row = rows.setdefault((group, name), {"group": group, "difference": name})
        row[difference["measure"]] = "{mean:+.3f} ({low:+.3f} to {high:+.3f})".format(**difference)
    shown = {(d["group"], d["difference"]): d["shown"] for d in differences if d["measure"] == "ndcg@3"}
    verdicts = []
    for group in dict.fromkeys(difference["group"] for difference in differences):
        against = {
            fusion: [shown[group, f"{fusion} - {half}"] for half in ("vector", "keyword")] for fusion in _FUSIONS
        }
        verdicts.append({"group": group} | {fusion: _beats_both(found) for fusion, found in against.items()})
    return "\n\n".join(
        [
            "### Does hybrid search beat both of its halves?",
            "By nDCG@3 of servers: yes where the interval of the difference to either half is above 0, no where one is "
            "below it, else it is not shown.",
            table(verdicts),
            "Differences, with 95 % intervals of paired resamples:",
            table(list(rows.values())),
        ]
    )


def agent_skills(results: Json) -> str:
    """Return the section about the search for Agent Skills."""
    about = (
        f"{results['skills']} skills of ten packages of PyPI and npm, whose texts are not part of this project, and "
        f"{results['requests']} requests, each for one skill. An AI model wrote them from passages of the bodies, as a "
        "user would ask; descriptions often have other words. So the gain is what bodies give where a request is about "
        "what only they say; requests that a description answers gain less. What each way is stands in "
        "`standing/agent_skills.py`; default is the route. Intervals are 95 %, of paired resamples of the requests."
    )
    return f"{about}\n\n{table(results['recall'])}"


def _beats_both(shown: Sequence[str]) -> str:
    return "no" if "worse" in shown else "yes" if set(shown) == {"better"} else "not shown"


def message_quality(results: Json) -> str:
    """Return the section about message search."""
    about = (
        "Queries that are judged by hand on the mail of `examples/`, which was written for it; what each ranking is "
        "stands in `standing/message_quality.py`. Most queries of the first set ask, on purpose, in other words than "
        "the messages do, so that words alone find little; those of the second do not, and nothing was chosen on them. "
        "Read the kinds, not the mean over all, which is nobody's traffic. "
        "`hybrid_rerank` is not measured, for no reranker is embedded: it is served as `hybrid`."
    )
    rows = results["differences"]
    shown = {(row["kind"], row["difference"]): row for row in rows if row["measure"] == "ndcg@10"}
    claims = [
        f"- {kind}: {span(row)}, {_SHOWN[row['shown']]}"
        for (kind, difference), row in shown.items()
        if difference == "hybrid - lexical"
    ]
    by_pair: dict[tuple[str, str], Json] = {}
    for row in rows:
        pair = {"kind": row["kind"], "difference": row["difference"]}
        by_pair.setdefault(tuple(pair.values()), pair)[row["measure"]] = f"{span(row)}: {row['shown']}"
    return "\n\n".join(
        [
            about,
            f"### Means by kind of query\n\n{table(results['means'])}",
            "### What hybrid search gains over lexical",
            "Difference of nDCG@10, with the 95 % interval of paired resamples of the queries:",
            "\n".join(claims),
            "### Differences",
            "One ranking minus another, with 95 % intervals. Better or worse is said where the interval leaves out 0.",
            table(list(by_pair.values())),
        ]
    )


_SHOWN = {"better": "better", "worse": "worse", "not shown": "no gain is shown"}
