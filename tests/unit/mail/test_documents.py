"""What of agent mail is searched."""

from __future__ import annotations

from dataclasses import replace

from skillroute.core.hashing import text_hash
from skillroute.mail.documents import MailDocument, of_agent, of_message, of_project
from skillroute.mail.model import MailAgent, Message, Project
from skillroute.mail.text import SearchText

MESSAGE = Message(
    "m-1", "p", "Ann", ("Bob", "BOB"), "Deploy", "the token=abc failed", 5, cc=("bob", "Dan"), bcc=("ANN",),
    thread_id="T1", importance="high", ack_required=True,
)  # fmt: skip


def test_a_message_s_document_has_its_keys_once_each_in_order_and_no_secret() -> None:
    assert of_message(7, MESSAGE, 3) == MailDocument(
        7, "message", (3,), SearchText("Deploy", "the token= …  failed"), 5, "ann",
        ("bob", "dan", "ann"), "T1", "high", True
    )  # fmt: skip


def test_a_subject_may_name_the_secret_of_its_body_and_the_message_stays_as_it_came() -> None:
    message = replace(MESSAGE, subject="Ｔｈｅ password:", body="hunter2x, see １")
    assert of_message(7, message, 3).text == SearchText("The password:", " … , see 1")
    assert (message.subject, message.body) == ("Ｔｈｅ password:", "hunter2x, see １")


def test_an_agent_is_found_by_name_and_description_and_not_by_its_contact() -> None:
    agent = MailAgent("Ann", "writes; password: x1", "ann@example.com")
    assert of_agent(7, agent, (9, 2)) == MailDocument(7, "agent", (2, 9), SearchText("Ann", "writes; password:  … "))


def test_a_project_belongs_to_itself_and_is_found_by_its_key_too() -> None:
    project = Project("billing-core", "Billing", "Invoices")
    assert of_project(7, project) == MailDocument(7, "project", (7,), SearchText("Billing", "billing-core\nInvoices"))


def test_the_hash_is_that_of_the_text_alone() -> None:
    document = of_message(7, MESSAGE, 3)
    assert document.text_hash == text_hash("Deploy", "the token= …  failed")
    assert replace(document, id=8, created_ts=6, importance="low").text_hash == document.text_hash
    assert of_message(7, replace(MESSAGE, body="the token=xyz failed"), 3).text_hash == document.text_hash
    assert of_message(7, replace(MESSAGE, body="the build failed"), 3).text_hash != document.text_hash
