"""The use cases that decide which skills tools have, and how a skill is described, with a classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from skillroute.core.settings import ClassifierSettings
from skillroute.skills.classification.classify import ClassifyTools
from skillroute.skills.classification.describe import DescribeSkill
from skillroute.skills.classification.profiles import SkillProfiles
from skillroute.skills.suggestions.suggest import SuggestSkills
from skillroute.skills.tool_requests.drafted import Drafted
from skillroute.wiring.parts import CoreParts


class ClassificationUseCases:
    """Classifying tools and describing skills."""

    def __init__(
        self,
        core: CoreParts,
        suggest: SuggestSkills,
        write_requests: Callable[[Sequence[Drafted], str | None], object],
    ) -> None:
        timeout_s = core.of(ClassifierSettings).chat_timeout_s
        self.classify = ClassifyTools(
            core.database,
            core.classifier,
            SkillProfiles(core.database),
            suggest,
            own_model=core.query_embedder.model,
            timeout_s=timeout_s,
            write_requests=write_requests,
        )
        self.describe = DescribeSkill(core.database, core.chat, core.notifier, timeout_s=timeout_s)
