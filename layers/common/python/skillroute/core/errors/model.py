"""Every error that Skillroute raises on purpose.

SkillrouteError
├── InvalidInput                  a value that the caller sent is wrong; names the field
├── NotFound                      no such item, or none that this caller may see
├── Conflict                      it exists already, or the state does not allow the change
├── VersionConflict               it is not the version that the caller has read
├── Unauthenticated               the request has no credentials
├── Forbidden                     the caller may see it but not change it, or lacks a scope
├── BudgetSpent                   the caller, or its organisation, has had as much work done as it may
├── StatementRejected             PostgreSQL refused a statement or a value in it
├── ConfigurationError            a setting is missing or contradicts another
└── DependencyUnavailable         something we call is down, slow or refuses; try again later
    ├── NotBegun                  there was no time or room left for it
    ├── DatabaseUnavailable       PostgreSQL cannot be reached (core/postgres/refusals.py tells the ways apart)
    │   └── OutcomeUnknown        ... and it is not known whether a change was stored
    ├── EmbeddingUnavailable      the embedding model cannot be reached or failed
    │   ├── EmbeddingModelMismatch    vectors are stored of other models than the process's own
    │   └── TextRefused           it does not take these texts, and will not when it is asked again
    ├── IndexUnavailable          the vector index failed
    │   ├── IndexNoRoom           its disk is full
    │   ├── IndexNotReady         it is being built
    │   └── IndexTimeout          the vector index did not answer in time
    ├── ClassifierUnavailable     the classifier failed, was throttled, or took too long
    │   └── ClassifierAnswerInvalid   it answered, but not what it was asked for
    ├── RerankerUnavailable       the reranker failed, was throttled, or took too long
    ├── QueueUnavailable          the queue does not take messages
    └── SecretUnavailable         a password or key cannot be read where it is kept

Each is raised where it is known and translated once at the edge: `core/http/errors.py` for HTTP. Of the branch
`DependencyUnavailable` an edge shows its callers `public_message` and logs `str(error)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.problems import FieldProblem


class SkillrouteError(Exception):
    """The root of the tree. `str(error)` is a sentence that callers may see, but for `DependencyUnavailable`.

    Attributes
    ----------
    code : ErrorCode
        What programs go by.
    """

    code: ErrorCode = ErrorCode.INTERNAL_ERROR


class _Coded(SkillrouteError):
    """An error of which there are several kinds, each with a code of its own."""

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidInput(SkillrouteError):
    """A value that the caller sent is wrong.

    Parameters
    ----------
    field : str
        The offending field as the caller knows it, dotted: ``items.3.input_schema``.
    message : str
        What is wrong with it, and what is allowed.
    others : sequence of FieldProblem
        What else is wrong.
    """

    code = ErrorCode.INVALID_REQUEST

    def __init__(self, field: str, message: str, *, others: Sequence[FieldProblem] = ()) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.problems: Sequence[FieldProblem] = (FieldProblem(field, message), *others)

    @classmethod
    def of(cls, problems: Sequence[FieldProblem]) -> InvalidInput:
        """Return the error for all that is wrong, of which there is at least one thing."""
        error = cls(problems[0].field, problems[0].message)
        error.problems = tuple(problems)
        return error

    def moved(self, place: Callable[[str], str]) -> InvalidInput:
        """Return the same error with each field named as `place` says."""
        return InvalidInput.of([replace(problem, field=place(problem.field)) for problem in self.problems])


class NotFound(_Coded):
    """No such item, or none that this caller may see."""

    code = ErrorCode.NOT_FOUND


class Conflict(_Coded):
    """The object exists already, or its state does not allow the change."""

    code = ErrorCode.CONFLICT


class VersionConflict(SkillrouteError):
    """It is not the version that the caller has read.

    Attributes
    ----------
    current : str or None
        The version now; None where the thing is not there.
    """

    code = ErrorCode.VERSION_CONFLICT

    def __init__(self, message: str, current: str | None) -> None:
        super().__init__(message)
        self.current = current


class Unauthenticated(SkillrouteError):
    """The request has no credentials."""

    code = ErrorCode.UNAUTHENTICATED


class Forbidden(_Coded):
    """The caller may see the item but not change it, or lacks the scope."""

    code = ErrorCode.FORBIDDEN


class BudgetSpent(SkillrouteError):
    """The caller, or its organisation, has had as much work done for it as it may (docs/adr/0065).

    Attributes
    ----------
    retry_after_s : int
        When there is something left again.
    """

    code = ErrorCode.BUDGET_SPENT

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ConfigurationError(SkillrouteError):
    """A setting is missing or contradicts another; the process should not start."""


class DependencyUnavailable(SkillrouteError):
    """Something that Skillroute calls is down, slow or refuses. Trying again later may help.

    `str(error)` is for operators, in logs and on the command line: it names hosts, accounts, secrets and users, and
    repeats what the other side said. So no edge may show it to callers, whichever adapter raised it.

    Attributes
    ----------
    public_message : str
        What callers are shown instead: a sentence that is the same whatever happened and wherever.
    """

    code = ErrorCode.DEPENDENCY_UNAVAILABLE
    public_message: str = "something that this request needs is not available"


class NotBegun(DependencyUnavailable):
    """One of many things that a call asked for was not begun: the others took the time, or the room of the answer."""

    code = ErrorCode.NOT_BEGUN
    public_message = "there was no time or room left for it in this call: send it again"


class DatabaseUnavailable(DependencyUnavailable):
    """PostgreSQL cannot be reached."""

    code = ErrorCode.DATABASE_UNAVAILABLE
    public_message = "PostgreSQL cannot be reached"


class OutcomeUnknown(DatabaseUnavailable):
    """The connection was lost before PostgreSQL confirmed a change, and asking afterwards gave no answer."""

    code = ErrorCode.OUTCOME_UNKNOWN
    public_message = "it is not known whether the change was stored: read before sending it again"


class EmbeddingUnavailable(DependencyUnavailable):
    """The embedding model cannot be reached, failed, or took too long."""

    code = ErrorCode.EMBEDDING_UNAVAILABLE
    public_message = "the embedding model is not available"


class TextRefused(EmbeddingUnavailable):
    """The embedding model answered that it does not take these texts. Asked again it answers the same.

    A wrong model name is refused with the same statuses, whatever the text: who acts on a refusal first sees that
    a harmless text is taken (`core/embedding/views.py`).
    """

    public_message = (
        "the embedding model does not take this text; it is found by its words only, until the text is another"
    )


class IndexUnavailable(DependencyUnavailable):
    """The vector index failed."""

    code = ErrorCode.INDEX_UNAVAILABLE
    public_message = "the vector index is not available"


class IndexNotReady(IndexUnavailable):
    """The vector index is being built, and the caller can do without it."""

    public_message = "the vector index is being built"


class IndexNoRoom(IndexUnavailable):
    """The disk has no room for an embedded index, or for more in it."""

    public_message = "the vector index has no room on its disk"


class IndexTimeout(IndexUnavailable):
    """The vector index did not answer in time."""

    public_message = "the vector index did not answer in time"


class ClassifierUnavailable(DependencyUnavailable):
    """The classifier, or the language model behind it, failed, was throttled, or took too long."""

    code = ErrorCode.CLASSIFIER_UNAVAILABLE
    public_message = "the classifier is not available"


class ClassifierAnswerInvalid(ClassifierUnavailable):
    """The language model answered, but not with what it was asked for. Asked again it may."""

    public_message = "the language model did not answer with what it was asked for"


class RerankerUnavailable(DependencyUnavailable):
    """The reranker failed, was throttled, or took too long."""

    code = ErrorCode.RERANKER_UNAVAILABLE
    public_message = "the reranker is not available"


class QueueUnavailable(DependencyUnavailable):
    """The queue cannot be reached or does not take messages."""

    code = ErrorCode.QUEUE_UNAVAILABLE
    public_message = "the queue is not available"


class SecretUnavailable(DependencyUnavailable):
    """A password or key cannot be read where it is kept, or is not what it should be. Never quotes it."""

    code = ErrorCode.SECRET_UNAVAILABLE
    public_message = "a password or key cannot be read"


class EmbeddingModelMismatch(EmbeddingUnavailable):
    """Vectors are stored of other models than the one that a process embeds with.

    Vectors of two models never mix (docs/adr/0035). Until ``skillroute reindex`` has made those of this one, the
    process searches by words, and what it writes is found by words.
    """

    def __init__(self, *, stored: str, configured: str) -> None:
        super().__init__(
            f"the stored embeddings are of model {stored}, the configured model is {configured}: "
            "run `skillroute reindex`, or configure the stored model again"
        )
        self.public_message = str(self)  # two names of models, which the catalogue's writers see as well
        self.stored = stored
        self.configured = configured
