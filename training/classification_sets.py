"""The tools and skills that training/classification.py measures on, and what the classifier measures between them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from calibration import Floats, Trial
from numpy.typing import NDArray
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.catalogue.text import split_name
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.views import embed_views
from skillroute.skills.classification.classifiers.similarity_skills import SkillTable
from skillroute.skills.classification.model import SkillProfile, ToolProfile

from benchmarks.corpora.judged import load
from benchmarks.harness import ROOT, progress

VARIANTS = {
    "description": (),
    "keywords": ("keywords",),
    "keywords, examples": ("keywords", "examples"),
    "tools": ("centroid",),
    "keywords, tools": ("keywords", "centroid"),
    "all": ("keywords", "examples", "centroid"),
}
"""What the skills of a list have beside name and description. In the variant "mixed" each has what another one has."""

_EMPTY: dict[str, Any] = {"keywords": (), "examples": (), "centroid": None}
_FOLDS = 5
_FOLDS_ASKED = 2  # enough tools, 1,460, and measuring them takes a minute a fold
_MIN_TOOLS = 15
_MAX_WAIT_S = 900.0
_FAMILIES = """
Healthcare, Public Health, Medicine, Nursing, Pharmacy, Pharmaceutical, Dentistry, Psychiatry, Psychology, Nutrition, \
Biotechnology, Biology, Microbiology, Biochemistry, Genetics, Zoology, Veterinary Science, Veterinary Medicine
Library Science, Publishing, Literature, Creative Writing, Journalism, Media, Media Studies, Communication, \
Communications, Public Relations
Marketing, Advertising, Digital Marketing, Social Media, Retail, E-commerce, Customer Service
Gaming, Virtual Reality
Sports, Physical Education, Fitness, Sports Science
Hospitality, Hospitality Management, Travel and Tourism, Tourism, Travel, Event Management
Agriculture, Forestry, Environmental, Environmental Science, Environment, Energy, Food and Beverage, Culinary Arts
Foreign Languages, Linguistics
Cloud Computing, Telecommunications, Internet of Things, Cybersecurity, Hardware, Web Development, \
Mobile Development, Software Development, Blockchain, Information Technology, Software, Computer Science, Technology
Electrical Engineering, Mechanical Engineering, Chemical Engineering, Chemistry, Physics, Manufacturing, \
Engineering, Robotics, Science
Logistics, Supply Chain, Transportation, Automotive
Architecture, Civil Engineering, Construction, Urban Planning, Real Estate, Interior Design
Ethics, Philosophy, Religious Studies
Human Resources, Management, Business, Business Administration, Consulting
Insurance, Finance, Accounting, Economics
Public Administration, Government, Political Science, International Relations, Law, Criminal Justice
Art and Design, Graphic Design, Design, Art, Fashion, Fashion Design
Aerospace, Aviation, Aerospace Engineering, Space Exploration, Astronomy
Machine Learning, Artificial Intelligence, Data Analysis, Data Science, Big Data, Data Analytics, Statistics, \
Mathematics
Education, Education Technology, Research
Geology, Oceanography, Geography
Music, Dance, Entertainment, Film, Film Studies, Theater
Non-profit, Social Services, Social Work
Anthropology, Sociology, Gender Studies, Cultural Studies, History
"""
FAMILY_OF = {field: n for n, line in enumerate(_FAMILIES.strip().splitlines()) for field in line.split(", ")}
"""Seal-Tools' fields by family, ours: labels of one family contradict each other (a nurse's tool in Healthcare)."""


class VectorStore:
    """An embedder that keeps what it has embedded in a file."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner, self._file = inner, file
        self._known: dict[str, Vector] = {}
        if file.exists():
            stored = np.load(file)
            self._known = dict(zip(stored["texts"].tolist(), stored["vectors"].tolist(), strict=True))
        self._before = len(self._known)

    @property
    def model(self) -> EmbeddingModel:
        return self._inner.model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(missing, self._inner.embed(missing, timeout_s=timeout_s), strict=True))
        return [self._known[text] for text in texts]

    def save(self) -> None:
        """Write what is new."""
        if len(self._known) > self._before:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            vectors = np.array(list(self._known.values()), np.float32)
            np.savez(self._file, texts=np.array(list(self._known)), vectors=vectors)


@dataclass(frozen=True, slots=True)
class Measurements:
    """Everything measured between some tools and some skills, for every variant of the skills.

    Attributes
    ----------
    features : mapping of variant to float64 [tools, skills, features]
    belongs : float64 [tools, skills]
    tool_groups : list of str
        A tool's server, or its family of fields: what folds are made of.
    skill_groups : list of str
        Skills of one group never meet in a list.
    as_it_is : bool
        Which tools fit and which do not is labelled: no skill is taken away from any.
    """

    features: Mapping[str, Floats]
    belongs: Floats
    tool_groups: Sequence[str]
    skill_groups: Sequence[str]
    as_it_is: bool = False

    def lists(self, variant: str, sizes: Sequence[int], draws: int, rng: random.Random) -> Iterator[Trial]:
        """Draw lists of skills, one of a group at most; the whole list where nothing is taken away.

        The tools of a list are those that belong to one of its skills.
        """
        if self.as_it_is:
            every = np.full(len(self.tool_groups), True)
            yield self.trial(variant, range(len(self.skill_groups)), every, rng)
            return
        groups = sorted(set(self.skill_groups))
        for size in sizes:
            for _ in range(draws):
                chosen = rng.sample(groups, min(size, len(groups)))
                skills = [rng.choice([n for n, g in enumerate(self.skill_groups) if g == group]) for group in chosen]
                yield self.trial(variant, skills, self.belongs[:, skills].any(axis=1), rng)

    def trial(self, variant: str, skills: Sequence[int], tools: NDArray[np.bool_], rng: random.Random) -> Trial:
        """Return what was measured between some skills and those of the tools that belong to one, or to none at all."""
        belongs = self.belongs[:, skills]
        rows = tools & (belongs.any(axis=1) | ~self.belongs.any(axis=1))
        if variant != "mixed":
            return Trial(variant, self.features[variant][rows][:, skills], belongs[rows], self.as_it_is)
        columns = [self.features[rng.choice(list(VARIANTS))][rows][:, skill] for skill in skills]
        return Trial(variant, np.stack(columns, axis=1), belongs[rows], self.as_it_is)


def profiles(tools: Mapping[str, Mapping[str, Any]], embedder: Embedder) -> list[ToolProfile]:
    """Return tools as the service hands them to a classifier, with their vectors."""
    contents = [read_item(tool) for tool in tools.values()]
    views = [indexed_text(content).embedding_texts for content in contents]
    vectors = embed_views(embedder, views, timeout_s=_MAX_WAIT_S)
    return [
        ToolProfile(n, None, c.key.name, c.description, c.key.server or "", c.input_schema, tuple(view), vector)
        for n, (c, view, vector) in enumerate(zip(contents, views, vectors, strict=True), 1)
    ]


def skill(name: str, description: str, keywords: Sequence[str], examples: Sequence[str], id_: str = "") -> SkillProfile:
    """Return a skill without vectors."""
    return SkillProfile(id_ or name, None, name, description, tuple(keywords), tuple(examples), None, None, id_ or name)


def centroid(total: Floats) -> Vector | None:
    """Return a sum of vectors at norm 1; None where they cancel out."""
    norm = float(np.linalg.norm(total))
    return (total / norm).tolist() if norm > 1e-6 else None


class Measure:
    """Measures tools against lists of skills in every variant."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __call__(self, tools: Sequence[ToolProfile], skills: Sequence[SkillProfile]) -> dict[str, Floats]:
        found = {}
        for variant, kept in VARIANTS.items():
            gone = {name: empty for name, empty in _EMPTY.items() if name not in kept}
            table = SkillTable(
                [replace(skill, **gone) for skill in skills], self._embed, self._embedder.model.dimension
            )
            order = np.argsort(np.argsort([skill.id for skill in skills]))
            measured = [table.measure(tool, np.array(tool.embedding, np.float32)).features for tool in tools]
            found[variant] = np.array(measured)[:, order]
        return found

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array(self._embedder.embed(texts, timeout_s=_MAX_WAIT_S), np.float32)


def example_measurements(embedder: Embedder) -> Measurements:
    """Measure the examples, each tool against skills that do not know it."""
    judged = load("examples", ROOT)
    tools = profiles(judged.tools, embedder)
    ids = [skill.id for skill in judged.skills]
    belongs = np.zeros((len(tools), len(ids)))
    for row, key in enumerate(judged.tools):
        for given in judged.assignments.get(key, ()):
            belongs[row, ids.index(given.skill_id)] = given.confidence
    vectors = np.array([tool.embedding for tool in tools])
    totals = belongs.T @ vectors
    whole = [skill(s.name, s.description, s.keywords, s.examples, s.id) for s in judged.skills]
    measure, rows = Measure(embedder), []
    with progress() as bar:
        for row, tool in enumerate(bar.track(tools, description="examples: leave-one-out")):
            left = totals - belongs[row][:, None] * vectors[row]
            skills = [
                replace(
                    known,
                    centroid=centroid(left[n]),
                    examples=tuple(name for name in known.examples if split_name(name) != split_name(tool.name)),
                )
                for n, known in enumerate(whole)
            ]
            rows.append(measure([tool], skills))
    features = {variant: np.concatenate([row[variant] for row in rows]) for variant in VARIANTS}
    return Measurements(features, belongs, [tool.server for tool in tools], ids)


def field_measurements(data: Path, embedder: Embedder) -> list[Measurements]:
    """Measure Seal-Tools: two of five folds, each against skills made of the other four."""
    tools, tops, subs = field_tools(data, embedder)
    counts = Counter(tops)
    fields = sorted(field for field in FAMILY_OF if counts[field] >= _MIN_TOOLS)
    order = random.Random(1).sample(range(len(tools)), len(tools))
    folds = []
    for number in range(_FOLDS_ASKED):
        asked = sorted(n for n in order[number::_FOLDS] if tops[n] in fields)
        known = sorted(set(order) - set(order[number::_FOLDS]))
        skills = [_field_skill(field, [n for n in known if tops[n] == field], tools, subs) for field in fields]
        belongs = np.array([[float(tops[n] == field) for field in fields] for n in asked])
        groups = [str(FAMILY_OF[field]) for field in fields]
        features = Measure(embedder)([tools[n] for n in asked], skills)
        folds.append(Measurements(features, belongs, [str(FAMILY_OF[tops[n]]) for n in asked], groups))
    return folds


def field_tools(data: Path, embedder: Embedder) -> tuple[list[ToolProfile], Sequence[str], Sequence[str]]:
    """Return the tools of Seal-Tools, their fields, and their sub-fields."""
    lines = [json.loads(line) for line in (data / "sealtools" / "tools.jsonl").read_text("utf-8").splitlines()]
    tools = profiles(
        {line["id"]: {k: line[k] for k in ("name", "description", "input_schema")} for line in lines}, embedder
    )
    tops, subs = zip(*(line["category"].partition("/")[::2] for line in lines), strict=True)
    return tools, tops, subs


def _field_skill(field: str, known: Sequence[int], tools: Sequence[ToolProfile], subs: Sequence[str]) -> SkillProfile:
    """Make a skill of what is known of a field: its sub-fields, most frequent first, and eight of its tools."""
    below = Counter(subs[n].lower() for n in known if subs[n])
    frequent = sorted(below, key=lambda name: (-below[name], name))
    examples = [tools[n].name for n in random.Random(field).sample(list(known), min(8, len(known)))]
    made = skill(field, f"Tools for {field.lower()}: {', '.join(frequent[:6])}.", frequent[:15], examples)
    return replace(made, centroid=centroid(np.sum([tools[n].embedding for n in known], axis=0)))
