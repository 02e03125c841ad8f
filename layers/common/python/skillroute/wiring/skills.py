"""The use cases over skills."""

from __future__ import annotations

from skillroute.skills.assignments.assign import AssignSkills
from skillroute.skills.change import ChangeSkill
from skillroute.skills.create import CreateSkill, PrepareSkill
from skillroute.skills.put import PutSkill
from skillroute.skills.read import ReadSkills
from skillroute.skills.suggestions.review import ReviewSuggestions
from skillroute.skills.suggestions.review_many import ReviewMany
from skillroute.skills.sync import SyncSkills
from skillroute.wiring.parts import CoreParts


class SkillUseCases:
    """Writing and reading skills, assigning them, and reviewing suggestions of new ones."""

    def __init__(self, core: CoreParts, prepare: PrepareSkill) -> None:
        database = core.database
        self.read = ReadSkills(database)
        self.create = CreateSkill(database, prepare)
        self.change = ChangeSkill(database, prepare)
        self.put = PutSkill(self.create, self.change, self.read)
        self.sync = SyncSkills(core.writer)
        self.assign = AssignSkills(database)
        self.review = ReviewSuggestions(database, prepare, self.change)
        self.review_many = ReviewMany(database, prepare, self.review)
