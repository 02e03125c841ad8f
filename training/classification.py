"""How well the embedded classifier assigns tools to skills, how far its confidence can be believed, and how fast it is.

Five sets, each judged with constants that were fitted on the others (never on the companies), with both encoders:

- examples: 23 skills, leave-one-out: a tool is out of its skills' centroids and its name out of their examples
- sealtools: fields of 15 tools or more are skills, made of four fifths of their tools; the others are classified.
  Fields of one family (Nursing, Medicine) never meet in a list: the labels do not tell them apart
- servers: subjects of public servers are skills, made of half of their tools
- strangers: tools of Seal-Tools' fields that no example skill is about, against the 23 skills
- companies: made-up ones (logistics, hospital, university, city) with the example skills that are right, or none

Lists of skills are drawn. Skills come in variants: with the description only, with keywords, with examples, with tools
that people assigned, mixed. In the first three sets each tool counts twice: with the whole list, and with its own
skills taken away, when nothing should be assigned.

- precision: of all that is assigned, whether something fits or not; assigned: how many that are
- found: tools that a skill fits and that get one that does; recall: of all skills that fit
- primary: the skill of the highest confidence is assigned and the primary one; nearest: without the threshold
- false open: tools that no skill fits and that are assigned nevertheless
- ECE, Brier: of the highest confidence without the caution; ten bins

    python training/classification.py --data /path/to/data
    python training/classification.py --data /path/to/data --fit
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from calibration import FEATURES, Judge, Model, Trial, fit
from classification_open import (
    COMPANIES,
    company_measurements,
    example_skills,
    server_measurements,
    stranger_measurements,
)
from classification_sets import (
    VARIANTS,
    Measurements,
    VectorStore,
    example_measurements,
    field_measurements,
    profiles,
    skill,
)
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
from skillroute.skills.classification.model import SkillProfile, ToolProfile

from benchmarks.corpora.judged import load
from benchmarks.harness import ROOT, arguments, console, print_table, save

_MODELS = ROOT / "layers" / "inference" / "models"
_ENCODERS = ("all-minilm-l6-v2", "tool-minilm-l6")
_SETS = ("examples", "sealtools", "servers", "strangers", "companies")
_FITTED = _SETS[:-1]
_SIZES = (12, 24)
_DRAWS = 2
_SHOWN = ("description", "keywords, examples", "all")
_CAUTIONS = (0.0, 0.75, 1.5, 2.0, 3.0)
_WITHOUT = {
    "keywords": ("has_keywords", "keywords"),
    "examples": ("has_examples", "examples"),
    "tools": ("has_tools", "tools"),
    "words": ("words_in_name", "words_in_text", "skill_name"),
    "background": ("background",),
    "mean": ("mean",),
    "explained": ("explained",),
    "best": ("best",),
    "others": ("others",),
}

Sets = Mapping[str, Sequence[Measurements]]


class Benchmark:
    """Fits on all sets but one and judges on that one.

    Parameters
    ----------
    encoders : mapping
        The sets as each encoder sees them.
    """

    def __init__(self, encoders: Mapping[str, Sets], seed: int) -> None:
        self._encoders, self._seed = encoders, seed
        self._models: dict[str, Model] = {}
        variants = [*VARIANTS, "mixed"]
        self._rows = {
            name: [trial for encoder in encoders for trial in self._trials(encoder, name, variants, _SIZES)]
            for name in _FITTED
        }

    def fitted(self, without: str = "", **options: Any) -> Model:
        """Fit on all sets but the companies and one more; without options once for each set."""
        if not options and without in self._models:
            return self._models[without]
        rows = [trial for name, trials in self._rows.items() if name != without for trial in trials]
        model = fit(rows, **options)
        if not options:
            self._models[without] = model
        return model

    def _trials(
        self, encoder: str, name: str, variants: Iterable[str], sizes: Sequence[int], draws: int = _DRAWS
    ) -> Iterator[Trial]:
        """Draw lists of skills out of a set; of one that is as it is, take the whole list."""
        for variant in variants:
            for number, measurements in enumerate(self._encoders[encoder][name]):
                if measurements.as_it_is:
                    yield from measurements.lists(variant, [0], 1, random.Random(self._seed))
                else:
                    rng = random.Random(f"{self._seed}/{variant}/{number}")
                    yield from measurements.lists(variant, sizes, draws, rng)

    def judged(self, name: str, variants: Sequence[str], model: Model, encoder: str) -> Judge:
        """Judge a model on a set."""
        judge = Judge()
        for trial in self._trials(encoder, name, variants, _SIZES[-1:], _DRAWS * 2):
            judge.judge(trial, model)
        return judge

    def by_set(self) -> Iterator[dict[str, Any]]:
        """Judge each set with the constants of the others."""
        for name in _SETS:
            model = self.fitted(name)
            for encoder in self._encoders:
                for variant in _SHOWN:
                    judge = self.judged(name, [variant], model, encoder)
                    yield {"set": name, "encoder": encoder, "skills have": variant} | judge.measures()

    def by_company(self) -> Iterator[dict[str, Any]]:
        """Judge the companies one by one, skills with everything."""
        model = self.fitted()
        for encoder in self._encoders:
            trials = self._trials(encoder, "companies", ["all"], ())
            for company, trial in zip(COMPANIES, trials, strict=True):
                judge = Judge()
                judge.judge(trial, model)
                found = judge.measures()
                shown = ("assigned", "precision", "found", "false open")
                yield {"company": company, "encoder": encoder} | {key: found[key] for key in shown}

    def reliability(self) -> Iterator[dict[str, Any]]:
        """Compare confidence and truth, without the caution."""
        for name in _SETS:
            model = self.fitted(name)
            model = replace(model, caution=0.0)
            for encoder in self._encoders:
                for row in self.judged(name, ["all"], model, encoder).reliability():
                    yield {"set": name, "encoder": encoder} | row

    def cautions(self) -> Iterator[dict[str, Any]]:
        """Judge each set with more and less caution, over both encoders, skills with everything."""
        for name in _SETS:
            model = self.fitted(name)
            for caution in _CAUTIONS:
                for encoder in self._encoders:
                    found = self.judged(name, ["all"], replace(model, caution=caution), encoder).measures()
                    shown = ("precision", "found", "recall", "false open", "assigned")
                    yield {"set": name, "encoder": encoder, "caution": caution} | {key: found[key] for key in shown}

    def ablations(self) -> Iterator[dict[str, Any]]:
        """Leave out features, where skills have everything: precision and tools found, mean of both encoders."""
        runs: dict[str, dict[str, Any]] = {
            "all": {},
            "one judge": {"judges": 1},
            "without the lead": {"lead": False},
        }
        for name, gone in _WITHOUT.items():
            runs[f"without {name}"] = {"use": [feature for feature in FEATURES if feature not in gone]}
        for name, options in runs.items():
            row: dict[str, Any] = {"features": name}
            for set_ in _SETS:
                model = self.fitted(set_, **options)
                found = [self.judged(set_, ["all"], model, encoder).measures() for encoder in self._encoders]
                measures = ("false open",) if set_ == "strangers" else ("precision", "found", "Brier")
                row |= {f"{set_} {key}": sum(measured[key] for measured in found) / len(found) for key in measures}
            yield row


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
    terms = sum(len(skill.keywords) + len(skill.examples) for skill in skills)
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


def _sets(data: Path, embedder: VectorStore) -> Sets:
    skills = example_skills(embedder)
    return {
        "examples": [example_measurements(embedder)],
        "sealtools": field_measurements(data, embedder),
        "servers": [server_measurements(data, embedder)],
        "strangers": [stranger_measurements(data, skills, embedder)],
        "companies": list(company_measurements(skills, embedder).values()),
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with sealtools and the two catalogues")
    parser.add_argument("--fit", action="store_true", help="fit the constants, print them, and end")
    parser.add_argument("--skip-ablations", action="store_true", help="leave no features out (fifty fits)")
    parser.add_argument("--skip-speed", action="store_true", help="do not time (a minute)")
    args = parser.parse_args()
    encoders, stores = {}, {}
    for encoder in _ENCODERS:
        store = VectorStore(OnnxEmbedder(_MODELS / encoder), ROOT / ".bench" / f"classification_{encoder}.npz")
        encoders[encoder], stores[encoder] = _sets(args.data, store), store
        store.save()
    benchmark = Benchmark(encoders, args.seed)
    if args.fit:
        model = benchmark.fitted()
        for judge in model.judges:
            console.print("evidence", tuple(round(weight, 2) for weight in judge.evidence))
            console.print("confidence", tuple(round(weight, 2) for weight in judge.confidence))
        return
    results: dict[str, list[dict[str, Any]]] = {"quality": list(benchmark.by_set())}
    print_table("Held out by set", results["quality"])
    results["companies"] = list(benchmark.by_company())
    print_table("Companies, one by one, skills have all", results["companies"])
    results["caution"] = list(benchmark.cautions())
    print_table("Caution", results["caution"])
    results["reliability"] = list(benchmark.reliability())
    print_table("Reliability without the caution, skills have all", results["reliability"])
    if not args.skip_ablations:
        results["ablations"] = list(benchmark.ablations())
        print_table("Ablations, skills have all", results["ablations"])
    if not args.skip_speed:
        results["speed"] = _timed(stores[_ENCODERS[0]], OnnxEmbedder(_MODELS / _ENCODERS[0]))
        print_table("Speed, one thread", results["speed"])
    save(args, "classification", results)


if __name__ == "__main__":
    main()
