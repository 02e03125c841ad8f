"""The use cases over skills, and their routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import ClassifierSettings
from skillroute.wiring.tool_requests import RequestParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.skills.assignments.assign import AssignSkills
    from skillroute.skills.change import ChangeSkill
    from skillroute.skills.classification.classify import ClassifyTools
    from skillroute.skills.classification.describe import DescribeSkill
    from skillroute.skills.create import CreateSkill, PrepareSkill
    from skillroute.skills.put import PutSkill
    from skillroute.skills.read import ReadSkills
    from skillroute.skills.suggestions.review import ReviewSuggestions
    from skillroute.skills.suggestions.review_many import ReviewMany
    from skillroute.skills.suggestions.suggest import SuggestSkills
    from skillroute.skills.sync import SyncSkills


class SkillParts(RequestParts):
    """Writing and reading skills, assigning, classifying, suggesting and reviewing."""

    @cached_property
    def prepare_skill(self) -> PrepareSkill:
        from skillroute.skills.create import PrepareSkill

        return PrepareSkill(self.document_embedder, timeout_s=self.settings.query_timeout_s)

    @cached_property
    def create_skill(self) -> CreateSkill:
        from skillroute.skills.create import CreateSkill

        return CreateSkill(self.database, self.prepare_skill)

    @cached_property
    def change_skill(self) -> ChangeSkill:
        from skillroute.skills.change import ChangeSkill

        return ChangeSkill(self.database, self.prepare_skill)

    @cached_property
    def put_skill(self) -> PutSkill:
        from skillroute.skills.put import PutSkill

        return PutSkill(self.create_skill, self.change_skill, self.read_skills)

    @cached_property
    def sync_skills(self) -> SyncSkills:
        from skillroute.skills.sync import SyncSkills

        return SyncSkills(self.writer)

    @cached_property
    def read_skills(self) -> ReadSkills:
        from skillroute.skills.read import ReadSkills

        return ReadSkills(self.database)

    @cached_property
    def assign_skills(self) -> AssignSkills:
        from skillroute.skills.assignments.assign import AssignSkills

        return AssignSkills(self.database)

    @cached_property
    def describe_skill(self) -> DescribeSkill:
        from skillroute.skills.classification.describe import DescribeSkill

        timeout_s = self.of(ClassifierSettings).chat_timeout_s
        return DescribeSkill(self.database, self.chat, self.notifier, timeout_s=timeout_s)

    @cached_property
    def suggest_skills(self) -> SuggestSkills:
        from skillroute.skills.suggestions.suggest import SuggestSkills

        return SuggestSkills(
            self.database,
            self.prepare_skill,
            self.notifier,
            approve_after=self.settings.auto_approve_after,
        )

    @cached_property
    def review_suggestions(self) -> ReviewSuggestions:
        from skillroute.skills.suggestions.review import ReviewSuggestions

        return ReviewSuggestions(self.database, self.prepare_skill, self.change_skill)

    @cached_property
    def review_many(self) -> ReviewMany:
        from skillroute.skills.suggestions.review_many import ReviewMany

        return ReviewMany(self.database, self.prepare_skill, self.review_suggestions)

    @cached_property
    def classify_tools(self) -> ClassifyTools:
        from skillroute.skills.classification.classify import ClassifyTools
        from skillroute.skills.classification.profiles import SkillProfiles

        return ClassifyTools(
            self.database,
            self.classifier,
            SkillProfiles(self.database),
            self.suggest_skills,
            own_model=self.query_embedder.model,
            timeout_s=self.of(ClassifierSettings).chat_timeout_s,
            write_requests=self.write_drafted,
        )

    def skill_routers(self) -> list[APIRouter]:
        """Return the routes over skills, suggestions and the skills of tools."""
        from skillroute.skills.assignments import routes as assignments
        from skillroute.skills.assignments.assign import AssignSkills
        from skillroute.skills.change import ChangeSkill
        from skillroute.skills.classification import routes as classification
        from skillroute.skills.classification.classify import ClassifyTools
        from skillroute.skills.classification.describe import DescribeSkill
        from skillroute.skills.create import CreateSkill
        from skillroute.skills.put import PutSkill
        from skillroute.skills.read import ReadSkills
        from skillroute.skills.routes import router
        from skillroute.skills.suggestions import routes as suggestions
        from skillroute.skills.suggestions.review import ReviewSuggestions
        from skillroute.skills.suggestions.review_many import ReviewMany
        from skillroute.skills.sync import SyncSkills

        self.use_cases |= {
            ReviewSuggestions: self.review_suggestions,
            ReviewMany: self.review_many,
            ClassifyTools: self.classify_tools,
            DescribeSkill: self.describe_skill,
            AssignSkills: self.assign_skills,
            CreateSkill: self.create_skill,
            ChangeSkill: self.change_skill,
            PutSkill: self.put_skill,
            SyncSkills: self.sync_skills,
            ReadSkills: self.read_skills,
        }
        return [
            # Before the skills: /skills/suggestions is no skill.
            suggestions.router,
            classification.router,
            router,
            assignments.router,
        ]
