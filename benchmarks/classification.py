"""How well the embedded classifier assigns tools to skills, how far its confidence can be believed, and how fast it is.

Two sets. The examples with their 23 skills, leave-one-out: a tool is out of its skills' centroids and its name out of
their examples. Seal-Tools with its top-level fields of 15 tools or more as skills: description, keywords (sub-fields),
examples and centroid of a field come from four fifths of the tools, the last fifth is classified. Lists of skills are
drawn; fields of one family (Nursing, Medicine) never meet in a list, since the labels do not tell them apart. Skills
come in variants: with the description only, with keywords, with examples, with tools that people assigned, mixed.

Every figure is measured with constants that were fitted on other rows: on the other half of the example servers and
the other half of Seal-Tools' families; "transfer" on the other set altogether. The constants in the code are fitted on
everything (--fit). For each tool: with the whole list, and with its own skills taken away (open).

- primary: the skill of the highest confidence reaches 0.5 and is the primary one; nearest: without the threshold
- recall, precision: of all skills assigned, at most three a tool; none: tools that get no skill though one fits
- false open: tools whose skills were taken away and that are assigned nevertheless
- ECE, Brier: of the highest confidence, open and closed alike; ten bins

    python benchmarks/classification.py --data /path/to/data
    python -m benchmarks.classification --data /path/to/data --fit
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # its neighbours, also with python -m

import numpy as np
from calibration import FEATURES, Judge, Model, Trial, fit
from classification_sets import (
    VARIANTS,
    Measurements,
    VectorStore,
    example_measurements,
    field_measurements,
    profiles,
    skill,
)
from harness import ROOT, arguments, console, print_table, save
from judged import load
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.settings import SearchSettings
from skillroute.skills.classification import SkillProfile, ToolProfile
from skillroute.skills.classifiers.similarity import SimilarityClassifier

_SIZES = (12, 24)
_DRAWS = 2
_SHOWN = ("description", "keywords, examples", "tools", "all", "mixed")
_SINGLE = {
    "description": ("description",),
    "keywords": ("keywords",),
    "examples": ("examples",),
    "tools": ("tools",),
    "words of keywords and name": ("words_in_name", "words_in_text", "skill_name"),
}
_WITHOUT = {
    "keywords": ("has_keywords", "keywords"),
    "examples": ("has_examples", "examples"),
    "tools": ("has_tools", "tools"),
    "words": ("words_in_name", "words_in_text", "skill_name"),
    "background": ("background",),
    "mean": ("mean",),
}


class Part:
    """Some of the rows of both sets: one half of the example servers and of the families of fields, or all (None)."""

    def __init__(self, examples: Measurements, fields: Sequence[Measurements], half: int | None, seed: int) -> None:
        self._examples, self._fields, self._seed = examples, fields, seed
        self._servers = _half(sorted(set(examples.tool_groups)), half)
        self._families = _half(sorted(set(fields[0].skill_groups)), half)

    def examples(self, variants: Sequence[str], sizes: Sequence[int] = _SIZES) -> Iterator[Trial]:
        """Draw lists out of the 23 skills."""
        tools = np.isin(self._examples.tool_groups, self._servers)
        every = range(len(self._examples.skill_groups))
        for variant, size, draw in _runs(variants, sizes):
            rng = random.Random(f"{self._seed}/{variant}/{size}/{draw}")
            skills = sorted(rng.sample(every, min(size, len(every))))
            yield self._examples.trial(variant, skills, tools, rng)

    def fields(self, variants: Sequence[str], sizes: Sequence[int] = _SIZES) -> Iterator[Trial]:
        """Draw lists out of the fields of Seal-Tools, one field of a family at most."""
        for variant, size, draw in _runs(variants, sizes):
            rng = random.Random(f"{self._seed}/{variant}/{size}/{draw}")
            fold = rng.choice(self._fields)
            families = rng.sample(self._families, min(size, len(self._families)))
            skills = [rng.choice([n for n, g in enumerate(fold.skill_groups) if g == family]) for family in families]
            yield fold.trial(variant, skills, np.isin(fold.tool_groups, self._families), rng)

    def every_field(self, variant: str) -> Iterator[Trial]:
        """Take all fields at once, as they are labelled."""
        for fold in self._fields:
            skills = range(len(fold.skill_groups))
            yield fold.trial(variant, skills, np.full(len(fold.tool_groups), True), random.Random(self._seed))


def _half(names: Sequence[str], half: int | None) -> list[str]:
    shuffled = random.Random(5).sample(list(names), len(names))
    return shuffled if half is None else shuffled[half::2]


def _runs(variants: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, int, int]]:
    for variant in variants:
        for size in sizes:
            for draw in range(_DRAWS):
                yield variant, size, draw


class Benchmark:
    """Fits on one half and judges on the other, both ways."""

    def __init__(self, examples: Measurements, fields: Sequence[Measurements], seed: int) -> None:
        self._halves = [Part(examples, fields, half, seed) for half in (0, 1)]
        self._whole = Part(examples, fields, None, seed)
        self._variants = [*VARIANTS, "mixed"]
        self._training = [[*part.examples(self._variants), *part.fields(self._variants)] for part in self._halves]

    def fit_all(self) -> Model:
        """Return the constants of the code."""
        return fit([*self._whole.examples(self._variants), *self._whole.fields(self._variants)])

    def crossed(self, variant: str, models: Sequence[Model]) -> dict[str, Judge]:
        """Judge the model of each half on the other one: the whole 23 skills, and the largest lists of fields."""
        judges = {"examples": Judge(), "sealtools": Judge()}
        for part, model in zip(reversed(self._halves), models, strict=True):
            for trial in part.examples([variant], _SIZES[-1:]):
                judges["examples"].judge(trial, model)
            for trial in part.fields([variant], _SIZES[-1:] * 3):
                judges["sealtools"].judge(trial, model)
        return judges

    def models(self, use: Sequence[str] = FEATURES, *, lead: bool = True) -> list[Model]:
        """Fit on either half."""
        return [fit(trials, use, lead=lead) for trials in self._training]

    def by_variant(self, models: Sequence[Model]) -> Iterator[dict[str, Any]]:
        """Measure what a skill has to have."""
        for variant in _SHOWN:
            for name, judge in self.crossed(variant, models).items():
                yield {"set": name, "skills have": variant} | judge.measures()

    def ablations(self) -> Iterator[dict[str, Any]]:
        """Measure each feature alone, and all but one, where skills have everything."""
        runs = {f"only {name}": self.models(("one", *use)) for name, use in _SINGLE.items()}
        for name, gone in _WITHOUT.items():
            runs[f"without {name}"] = self.models([feature for feature in FEATURES if feature not in gone])
        runs["without the lead"] = self.models(lead=False)
        runs["all"] = self.models()
        for name, models in runs.items():
            for set_, judge in self.crossed("all", models).items():
                yield {"set": set_, "features": name} | judge.measures()

    def transfer(self) -> Iterator[dict[str, Any]]:
        """Measure constants on the set that they were not fitted on."""
        of_fields, of_examples = (
            fit([*self._whole.fields(self._variants)]),
            fit([*self._whole.examples(self._variants)]),
        )
        for variant in _SHOWN:
            for name, trials, model in (
                ("examples, 23 skills", self._whole.examples([variant], _SIZES[-1:]), of_fields),
                ("sealtools, 24 fields", self._whole.fields([variant], _SIZES[-1:] * 3), of_examples),
                ("sealtools, every field", self._whole.every_field(variant) if variant != "mixed" else (), of_examples),
            ):
                judge = Judge()
                for trial in trials:
                    judge.judge(trial, model)
                if judge.has_answers:
                    yield {"set": name, "skills have": variant} | judge.measures()


def speed(embedder: OnnxEmbedder, tools: Sequence[ToolProfile], skills: Sequence[SkillProfile]) -> dict[str, Any]:
    """Time the first call, which embeds the skills' texts, and the ones after it, on one thread."""
    classifier = SimilarityClassifier(embedder)
    started = time.perf_counter()
    classifier.classify(tools[0], skills, timeout_s=600.0)
    first_s = time.perf_counter() - started
    started = time.perf_counter()
    for tool in tools:
        classifier.classify(tool, skills, timeout_s=600.0)
    each_s = (time.perf_counter() - started) / len(tools)
    terms = sum(len(each.keywords) + len(each.examples) for each in skills)
    return {"skills": len(skills), "terms": terms, "first call s": first_s, "tools/s": 1.0 / each_s}


def _timed(store: VectorStore, embedder: OnnxEmbedder) -> list[dict[str, Any]]:
    judged = load("examples", ROOT)
    tools = profiles(judged.tools, store)
    given = [skill(s.name, s.description, s.keywords, s.examples, s.id) for s in judged.skills]
    rng = random.Random(7)
    words = sorted({word for tool in tools for word in tool.description.lower().split()})

    def drawn(count: int, mark: str) -> str:
        return mark.join(rng.sample(words, count))

    many = [
        skill(f"Skill {n}", drawn(20, " "), [drawn(2, " ") for _ in range(20)], [drawn(2, "_") for _ in range(10)])
        for n in range(1000)
    ]
    return [speed(embedder, tools * (3 if skills is given else 1), skills) for skills in (given, many)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with sealtools")
    parser.add_argument("--fit", action="store_true", help="fit the constants on everything, print them, and end")
    parser.add_argument("--skip-speed", action="store_true", help="do not time (a minute)")
    args = parser.parse_args()
    embedder = OnnxEmbedder(SearchSettings(database_url="postgresql://nowhere").onnx_dir)
    store = VectorStore(embedder, ROOT / ".bench" / "classification_vectors.npz")
    benchmark = Benchmark(example_measurements(store), field_measurements(args.data, store), args.seed)
    store.save()
    if args.fit:
        model = benchmark.fit_all()
        for name, weight in zip(FEATURES, model.evidence, strict=True):
            console.print(f"{name:16} {weight:6.2f}")
        console.print("CONFIDENCE", tuple(round(float(weight), 2) for weight in model.confidence))
        return
    models, plain = benchmark.models(), [Model(plain=True)] * 2
    results: dict[str, list[dict[str, Any]]] = {"quality": list(benchmark.by_variant(models))}
    print_table("Held out", results["quality"])
    results["uncalibrated"] = list(benchmark.by_variant(plain))
    print_table("The mean cosine as the confidence, uncalibrated", results["uncalibrated"])
    for variant in ("keywords, examples", "all"):
        for name, judge in benchmark.crossed(variant, models).items():
            rows = [{"set": name, "skills have": variant} | row for row in judge.reliability()]
            results.setdefault("reliability", []).extend(rows)
            print_table(f"Reliability: {name}, skills have {variant}", rows)
    results["ablations"] = list(benchmark.ablations())
    print_table("Ablations, skills have all", results["ablations"])
    results["transfer"] = list(benchmark.transfer())
    print_table("Constants fitted on the other set", results["transfer"])
    if not args.skip_speed:
        results["speed"] = _timed(store, embedder)
        print_table("Speed, one thread", results["speed"])
    save(args, "classification", results)


if __name__ == "__main__":
    main()
