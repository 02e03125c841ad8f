"""The embedded classifier: what it assigns, what it drafts, and what its answer depends on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue.text import ToolText, embedding_views
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.errors.model import ClassifierUnavailable
from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
from skillroute.skills.classification.model import (
    MIN_CONFIDENCE,
    NEAR_CONFIDENCE,
    WEAK_CONFIDENCE,
    SkillProfile,
    ToolProfile,
)
from skillroute.skills.model import AssignmentSource

from tests.doubles import FakeClock, TableEmbedder, WatchedEmbedder, at

EXAMPLES = Path(__file__).parents[5] / "examples"
USE_NOTHING = """
import sys
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
from skillroute.core.embedding.hashing import HashingEmbedder
SimilarityClassifier(HashingEmbedder())
print("numpy" in sys.modules)
"""
USE_WHAT_IS_KEPT = """
import sys
from array import array
from pathlib import Path
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.skills.classification.classifiers.similarity import SimilarityClassifier
from skillroute.skills.classification.model import SkillProfile, ToolProfile
class Kept:
    def find(self, model, texts):
        return dict.fromkeys(texts, array("f", [1.0, *[0.0] * (model.dimension - 1)]).tobytes())
skill = SkillProfile("mail", None, "Mail", "About it", ("post",), ("send",), None, None, "")
tool = ToolProfile(1, None, "send", "Sends", None, None, (), [1.0] * 384)
assert SimilarityClassifier(OnnxEmbedder(Path(sys.argv[1])), Kept()).classify(tool, [skill], timeout_s=10)
print(sorted({"numpy", "onnxruntime", "tokenizers"} & sys.modules.keys()))
"""


def a_tool(name: str = "tidy", description: str = "", server: str = "", vector: Vector | None = None) -> ToolProfile:
    texts = embedding_views(ToolText(name, description, server=server))
    return ToolProfile(1, None, name, description, server, None, texts, vector)


def a_skill(id_: str = "mail", **fields: Any) -> SkillProfile:
    profile: dict[str, Any] = {
        "id": id_,
        "org_id": None,
        "name": id_.capitalize(),
        "description": f"Everything about {id_}.",
        "keywords": (),
        "examples": (),
        "description_embedding": None,
        "centroid": None,
    } | fields
    return SkillProfile(**profile, fingerprint=repr(sorted(profile.items())))


def away_from_all() -> TableEmbedder:
    """Texts that the table does not know are at right angles to the first axis."""
    embedder = TableEmbedder()
    embedder.embed = lambda texts, *, timeout_s: [embedder.table.get(text, at(0.0, 7)) for text in texts]  # type: ignore[method-assign]
    return embedder


@pytest.fixture(scope="module")
def onnx(model_dir: Path) -> SimilarityClassifier:
    return SimilarityClassifier(OnnxEmbedder(model_dir))


@pytest.fixture(scope="module")
def example_skills() -> list[SkillProfile]:
    lines = map(json.loads, (EXAMPLES / "skills.jsonl").read_text("utf-8").splitlines())
    return [
        a_skill(
            line["id"],
            name=line["name"],
            description=line["description"],
            keywords=tuple(line["keywords"]),
            examples=tuple(line["examples"]),
        )
        for line in lines
    ]


@pytest.mark.parametrize(
    ("name", "description", "server", "skill_id"),
    [
        ("combine", "Merge two PDF files into one.", "acrobat", "document_processing"),
        ("get_pods", "Get all pods in a namespace.", "kubectl-mcp-server", "container_orchestration"),
        ("sendMessage", "Send an email message to somebody.", "gmail-mcp", "communication"),
        ("stock_history", "Daily closing prices of a share.", "yahoo", "market_data"),
    ],
)
def test_a_tool_goes_to_the_skill_that_it_is_about(
    onnx: SimilarityClassifier,
    example_skills: list[SkillProfile],
    name: str,
    description: str,
    server: str,
    skill_id: str,
) -> None:
    answer = onnx.classify(a_tool(name, description, server), example_skills, timeout_s=60)

    assert answer.assignments[0].skill_id == skill_id
    assert answer.assignments[0].confidence > 0.8
    assert answer.suggestion is None


@pytest.mark.parametrize(
    ("name", "description", "server", "draft"),
    [
        ("zia_list_url_filtering_rules", "List URL filtering rules.", "zscaler-mcp-server", "URL Filtering Rules"),
        (
            "replace_authorization_policy",
            "Replace a sign-on policy of an application.",
            "okta-mcp-server",
            "Authorization Policy",
        ),
        ("get_random_dice", "Roll a die with so many sides.", "toybox", "Random Dice"),
        ("chess_legal_moves", "All legal moves of a position.", "MCP Chess Server", "Legal Moves"),
    ],
)
def test_a_tool_that_fits_no_skill_gets_a_draft_named_after_what_it_works_on(
    onnx: SimilarityClassifier,
    example_skills: list[SkillProfile],
    name: str,
    description: str,
    server: str,
    draft: str,
) -> None:
    answer = onnx.classify(a_tool(name, description, server), example_skills, timeout_s=60)

    assert all(each.confidence < MIN_CONFIDENCE for each in answer.assignments)
    assert answer.suggestion is not None
    assert answer.suggestion.name == draft
    assert answer.suggestion.reasoning is not None
    assert "the nearest is" in answer.suggestion.reasoning


def test_a_reason_names_the_keyword_that_is_nearest(onnx: SimilarityClassifier) -> None:
    skills = [
        a_skill("trees", description="Look after trees.", keywords=("pruning", "apple orchard", "soil")),
        a_skill("cars", description="Repair cars."),
    ]

    answer = onnx.classify(a_tool("prune_apple_tree", "Prune an apple tree in an orchard."), skills, timeout_s=60)

    assert answer.assignments[0].reasoning is not None
    assert "apple orchard" in answer.assignments[0].reasoning


def test_it_says_what_it_is() -> None:
    classifier = SimilarityClassifier(TableEmbedder())

    assert (classifier.name, classifier.source, classifier.concurrency) == (
        "similarity",
        AssignmentSource.SIMILARITY,
        1,
    )


def test_numpy_is_not_loaded_before_the_first_tool() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    run = subprocess.run(
        [sys.executable, "-c", USE_NOTHING], env=environment, capture_output=True, text=True, check=True
    )

    assert run.stdout == "False\n"


def test_the_model_is_not_loaded_where_all_vectors_are_kept(model_dir: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    run = subprocess.run(
        [sys.executable, "-c", USE_WHAT_IS_KEPT, str(model_dir)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout == "['numpy']\n"


def test_the_nearer_skill_is_surer_and_comes_first() -> None:
    # GIVEN a tool on the first axis, and skills nearer to it and further away
    skills = [a_skill("far", description_embedding=at(0.5, 2)), a_skill("near", description_embedding=at(0.9, 1))]

    # WHEN it is classified
    answer = SimilarityClassifier(away_from_all()).classify(a_tool(vector=at(1.0)), skills, timeout_s=1)

    # THEN the nearer one comes first
    assert answer.assignments[0].skill_id == "near"
    assert [each.confidence for each in answer.assignments] == sorted(
        (each.confidence for each in answer.assignments), reverse=True
    )
    assert all(each.confidence >= WEAK_CONFIDENCE for each in answer.assignments)


@pytest.mark.parametrize(
    "known",
    [
        {"keywords": ("zebra",)},
        {"examples": ("zebra",)},
        {"centroid": at(0.95, 3)},
    ],
    ids=["keywords", "examples", "tools"],
)
def test_what_a_skill_is_known_by_speaks_for_it_where_it_is_near(known: dict[str, Any]) -> None:
    # GIVEN a tool at a middling distance from a skill's description, and a keyword (example, tools) near it
    embedder = away_from_all()
    embedder.table["zebra"] = at(0.95, 3)
    classifier = SimilarityClassifier(embedder)
    plain = a_skill(description_embedding=at(0.35))

    # WHEN it is classified without and with what the skill is known by
    tool = a_tool(vector=at(1.0))
    confidences = [
        {each.skill_id: each.confidence for each in classifier.classify(tool, [skill], timeout_s=1).assignments}
        for skill in (plain, replace(plain, **known, fingerprint="known"))
    ]

    # THEN it is surer with it
    assert confidences[1]["mail"] > confidences[0].get("mail", 0.0)


def test_a_rival_that_is_as_near_takes_confidence_away() -> None:
    classifier, tool = SimilarityClassifier(away_from_all()), a_tool(vector=at(1.0))
    mail, post = a_skill("mail", description_embedding=at(0.6)), a_skill("post", description_embedding=at(0.6, 2))

    alone = classifier.classify(tool, [mail], timeout_s=1).assignments[0]
    beside = classifier.classify(tool, [mail, post], timeout_s=1).assignments[0]

    assert beside.confidence < alone.confidence


def test_a_tool_that_is_near_to_a_skill_is_suggested_for_it_and_not_for_a_new_one() -> None:
    # GIVEN one skill of an id that its name does not make, from far to near
    classifier, tool = SimilarityClassifier(away_from_all()), a_tool("cancel_order", vector=at(1.0))
    skills = [a_skill("post", name="Mail", description_embedding=at(step / 100)) for step in range(1, 100)]
    drafted = [classifier.classify(tool, [skill], timeout_s=1).suggestion for skill in skills]

    # THEN it goes from a new skill over the one that is there to no suggestion
    names = [None if draft is None else draft.name for draft in drafted]
    assert list(dict.fromkeys(names)) == ["Order", "post", None]
    near = next(draft for draft in drafted if draft is not None and draft.name == "post")
    assert near.description == "Everything about post."
    assert near.reasoning == (
        f'Most likely a tool of "Mail", with a confidence of {NEAR_CONFIDENCE:.2f}: too little to assign it unseen.'
    )


def test_without_any_skill_there_is_a_draft() -> None:
    answer = SimilarityClassifier(TableEmbedder()).classify(a_tool("list_dns_rules"), [], timeout_s=1)

    assert answer.assignments == ()
    assert answer.suggestion is not None
    assert answer.suggestion.name == "Dns Rules"


def test_a_tool_without_a_vector_is_embedded_as_it_would_be_stored() -> None:
    embedder = HashingEmbedder()
    from skillroute.core.embedding.views import embed_views

    tool = a_tool("send_mail", "Send a letter to somebody.", "post")
    [vector] = embed_views(embedder, [tool.embedding_texts], timeout_s=1)
    skills = [a_skill("mail", keywords=("send letter",)), a_skill("cars")]
    classifier = SimilarityClassifier(embedder)

    assert classifier.classify(tool, skills, timeout_s=1) == classifier.classify(
        replace(tool, embedding=vector), skills, timeout_s=1
    )


def test_vectors_of_another_model_count_as_none() -> None:
    stale: Vector = [1.0, 0.0]
    tool, skill = a_tool("send_mail"), a_skill(keywords=("send mail",))
    classifier = SimilarityClassifier(HashingEmbedder())

    fresh = classifier.classify(tool, [skill], timeout_s=1)
    answer = classifier.classify(
        replace(tool, embedding=stale),
        [replace(skill, description_embedding=stale, centroid=stale, fingerprint="stale")],
        timeout_s=1,
    )

    assert answer == fresh


def test_texts_of_skills_are_embedded_once() -> None:
    # GIVEN skills that were seen once
    embedder = WatchedEmbedder(HashingEmbedder())
    classifier = SimilarityClassifier(embedder)
    skills = [a_skill("mail", keywords=("letter",)), a_skill("cars", keywords=("wheel",))]
    tool = a_tool(vector=embedder.embed(["x"], timeout_s=1)[0])
    classifier.classify(tool, skills, timeout_s=1)
    embedder.calls.clear()

    # WHEN they come again, and when one of them gets another keyword
    classifier.classify(tool, skills, timeout_s=1)
    again = embedder.texts
    changed = replace(skills[0], keywords=("letter", "parcel"), fingerprint="changed")
    classifier.classify(tool, [changed, skills[1]], timeout_s=1)

    # THEN nothing is embedded again but the new keyword
    assert again == []
    assert embedder.texts == ["parcel"]


def test_what_was_embedded_before_the_time_was_up_is_not_embedded_again() -> None:
    # GIVEN more keywords than are embedded at a time, and a model that fails after some of them
    embedder = WatchedEmbedder(HashingEmbedder())
    classifier = SimilarityClassifier(embedder)
    skill = a_skill(keywords=tuple(f"word{number}" for number in range(300)))
    inner_embed = embedder.embed

    def fail_later(texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        embedder.away = len(embedder.calls) >= 2
        return inner_embed(texts, timeout_s=timeout_s)

    embedder.embed = fail_later  # type: ignore[method-assign]
    with pytest.raises(ClassifierUnavailable):
        classifier.classify(a_tool(), [skill], timeout_s=1)
    done = {text for call in embedder.calls[:2] for text in call.texts}

    # WHEN the model is back
    embedder.embed = inner_embed  # type: ignore[method-assign]
    embedder.away = False
    embedder.calls.clear()
    classifier.classify(a_tool(), [skill], timeout_s=1)

    # THEN only the rest is embedded
    assert len(done) == 256
    assert not done & set(embedder.texts)


@pytest.mark.parametrize("seen_before", [False, True])
def test_without_the_embedding_model_it_is_unavailable(seen_before: bool) -> None:
    embedder = WatchedEmbedder(HashingEmbedder())
    classifier = SimilarityClassifier(embedder)
    if seen_before:
        classifier.classify(a_tool(), [a_skill()], timeout_s=1)
    embedder.away = True

    with pytest.raises(ClassifierUnavailable, match="away"):
        classifier.classify(a_tool("other"), [a_skill()], timeout_s=1)


def test_a_text_of_a_skill_that_the_model_refuses_does_not_keep_tools_from_being_classified() -> None:
    embedder = WatchedEmbedder(HashingEmbedder())
    embedder.refuses = lambda text: text in {"bad", "Worse: It is."}
    classifier = SimilarityClassifier(embedder)
    mail = a_skill("mail", keywords=("letter", "send mail"), description="Send mail and letters.")
    skills = [mail, a_skill("bad", keywords=("bad",)), a_skill("worse", name="Worse", description="It is.")]
    tool = a_tool("send_mail", "Send mail and letters.")

    answer = classifier.classify(tool, skills, timeout_s=60)

    assert answer.assignments[0].skill_id == "mail"
    # AND it is not asked for again
    embedder.calls.clear()
    classifier.classify(tool, skills, timeout_s=60)
    assert not {"bad", "Worse: It is."} & set(embedder.texts)


def test_a_tool_that_the_model_refuses_is_classified_by_what_is_left_of_it() -> None:
    embedder = WatchedEmbedder(HashingEmbedder())
    skills = [a_skill("mail", keywords=("send", "mail")), a_skill("cars", keywords=("wheel",))]
    tool = a_tool("send_mail", "Send a mail. Poison.")
    embedder.refuses = lambda text: text in tool.embedding_texts[:1]

    answer = SimilarityClassifier(embedder).classify(tool, skills, timeout_s=60)

    assert [each.skill_id for each in answer.assignments][:1] == ["mail"]


def test_words_alone_assign_nothing() -> None:
    # GIVEN a tool whose words are all a skill's, and a model that refuses every text of it
    embedder = WatchedEmbedder(HashingEmbedder())
    skills = [a_skill("mail", keywords=("send", "mail"), description="Send a mail."), a_skill("cars")]
    tool = a_tool("send_mail", "Send a mail.")
    embedder.refuses = lambda text: text in tool.embedding_texts

    answer = SimilarityClassifier(embedder).classify(tool, skills, timeout_s=60)

    assert all(each.confidence < MIN_CONFIDENCE for each in answer.assignments)
    assert answer.suggestion is not None


@pytest.mark.parametrize(
    ("name", "description", "server"),
    [
        ("get_stock_level", "How many units of an article lie in each warehouse.", "warehouse"),
        ("file_damage_claim", "Report goods that arrived broken, with photos.", "shipments"),
        ("generate_bill_of_lading", "Print the transport document of a consignment.", "shipments"),
        ("book_container", "Reserve a 40 foot container on a sailing.", "freight"),
        ("code_diagnosis", "Suggest ICD-10 codes for a discharge summary.", "administration"),
    ],
)
def test_a_word_with_two_meanings_assigns_nothing(
    onnx: SimilarityClassifier, example_skills: list[SkillProfile], name: str, description: str, server: str
) -> None:
    answer = onnx.classify(a_tool(name, description, server), example_skills, timeout_s=60)

    assert all(each.confidence < MIN_CONFIDENCE for each in answer.assignments)
    assert answer.suggestion is not None


def test_a_model_whose_cosines_are_of_another_size_classifies_alike(
    model_dir: Path, onnx: SimilarityClassifier, example_skills: list[SkillProfile]
) -> None:
    # GIVEN a model that says the same with cosines between 0.8 and 1
    class Squeezed(OnnxEmbedder):
        def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
            offset = [2.0] + [0.0] * 383
            summed = [
                [a + b for a, b in zip(vector, offset, strict=True)]
                for vector in super().embed(texts, timeout_s=timeout_s)
            ]
            norms = [sum(value * value for value in vector) ** 0.5 for vector in summed]
            return [[value / norm for value in vector] for vector, norm in zip(summed, norms, strict=True)]

    squeezed = SimilarityClassifier(Squeezed(model_dir))
    tools = [
        a_tool("combine", "Merge two PDF files into one.", "acrobat"),
        a_tool("sendMessage", "Send an email message to somebody.", "gmail-mcp"),
        a_tool("get_random_dice", "Roll a die with so many sides.", "toybox"),
    ]

    # WHEN both classify
    def assigned(classifier: SimilarityClassifier, tool: ToolProfile) -> list[str]:
        answer = classifier.classify(tool, example_skills, timeout_s=60)
        return [each.skill_id for each in answer.assignments if each.confidence >= MIN_CONFIDENCE]

    # THEN they assign the same
    assert [assigned(squeezed, tool) for tool in tools] == [assigned(onnx, tool) for tool in tools]


def test_a_model_that_refuses_everything_is_away_for_a_classifier_too() -> None:
    embedder = WatchedEmbedder(HashingEmbedder())
    embedder.refuses = lambda text: True

    with pytest.raises(ClassifierUnavailable, match="refuses every text"):
        SimilarityClassifier(embedder).classify(a_tool(), [a_skill()], timeout_s=60)


def test_no_time_is_no_answer() -> None:
    embedder = WatchedEmbedder(HashingEmbedder(), FakeClock())

    with pytest.raises(ClassifierUnavailable):
        SimilarityClassifier(embedder).classify(a_tool(), [a_skill()], timeout_s=0)


def test_only_so_many_vectors_and_lists_are_remembered() -> None:
    # GIVEN a classifier that remembers little
    embedder = WatchedEmbedder(HashingEmbedder())
    classifier = SimilarityClassifier(embedder, max_texts=80, max_tables=1)
    lists = [[a_skill(f"s{n}", keywords=tuple(f"word {n} {m}" for m in range(20)))] for n in range(3)]
    answers = [classifier.classify(a_tool(), skills, timeout_s=1) for skills in lists]
    embedder.calls.clear()

    # WHEN the first list comes again
    again = classifier.classify(a_tool(), lists[0], timeout_s=1)

    # THEN its texts are embedded again, and the answer is the same
    assert "word 0 0" in embedder.texts
    assert again == answers[0]


def test_what_calls_embedded_that_came_to_no_end_is_kept_even_where_it_is_more_than_is_remembered() -> None:
    # GIVEN more texts than are remembered, and a model that is away at every second call
    embedded: list[str] = []

    class EverySecond(WatchedEmbedder):
        def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
            self.away = not self.away
            vectors = super().embed(texts, timeout_s=timeout_s)
            embedded.extend(texts)
            return vectors

    embedder = EverySecond(HashingEmbedder())
    embedder.away = True
    classifier = SimilarityClassifier(embedder, max_texts=50)
    skills = [a_skill(f"s{n}", keywords=tuple(f"word {n} {m}" for m in range(20))) for n in range(20)]
    tool = replace(a_tool(), embedding=HashingEmbedder().embed(["tool"], timeout_s=1)[0])

    # WHEN it is asked as often as there are chunks
    for _ in range(3):
        with pytest.raises(ClassifierUnavailable, match="away"):
            classifier.classify(tool, skills, timeout_s=10)

    # THEN it has got there, and nothing was embedded twice
    assert classifier.classify(tool, skills, timeout_s=10)
    assert len(embedded) == len(set(embedded)) > 3 * 128


def test_many_threads_get_the_answers_that_one_gets() -> None:
    skills = [a_skill(f"s{n}", keywords=(f"word{n}", "thing")) for n in range(20)]
    tools = [a_tool(f"word{n}_thing", f"Does word{n}.") for n in range(20)] * 5
    alone = SimilarityClassifier(HashingEmbedder())
    expected = [alone.classify(tool, skills, timeout_s=10) for tool in tools]
    shared = SimilarityClassifier(HashingEmbedder(), max_tables=1)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda tool: shared.classify(tool, skills, timeout_s=10), tools))

    assert answers == expected


words = st.text(alphabet="abcdefg _-é必0", max_size=12)


@st.composite
def skill_lists(draw: st.DrawFn) -> list[SkillProfile]:
    count = draw(st.integers(1, 6))
    vectors = [None, at(1.0), at(0.5), at(0.0), at(-0.7)]
    return [
        a_skill(
            f"s{number}",
            name=draw(words) or "x",
            keywords=tuple(draw(st.lists(words.filter(bool), max_size=4))),
            examples=tuple(draw(st.lists(words.filter(bool), max_size=3))),
            description_embedding=draw(st.sampled_from(vectors)),
            centroid=draw(st.sampled_from(vectors)),
        )
        for number in range(count)
    ]


@given(skills=skill_lists(), name=words.filter(bool), server=words, description=words, seed=st.integers(0, 9))
def test_any_answer_is_in_bounds_and_the_order_of_skills_does_not_matter(
    skills: list[SkillProfile], name: str, server: str, description: str, seed: int
) -> None:
    tool = a_tool(name, description, server, at(0.8, 2))
    shuffled = random.Random(seed).sample(skills, len(skills))

    answer = SimilarityClassifier(TableEmbedder()).classify(tool, skills, timeout_s=1)
    of_shuffled = SimilarityClassifier(TableEmbedder()).classify(tool, shuffled, timeout_s=1)

    assert of_shuffled == answer
    assert all(WEAK_CONFIDENCE <= each.confidence <= 1.0 for each in answer.assignments)
    assert {each.skill_id for each in answer.assignments} <= {skill.id for skill in skills}
    is_assigned = any(each.confidence >= MIN_CONFIDENCE for each in answer.assignments)
    assert (answer.suggestion is None) == is_assigned
    if answer.suggestion is not None:
        of_skills = {skill.id for skill in skills} | {skill.name for skill in skills}
        assert answer.suggestion.name in of_skills or 3 <= len(answer.suggestion.name) <= 60
        assert 10 <= len(answer.suggestion.description) <= 1000
