"""What groups of tools are called."""

from __future__ import annotations

import pytest
from skillroute_local.proposing.naming import OTHER, names_of, vocabulary_of
from skillroute_local.proposing.words import ToolText, keywords_of


def tools(server: str, *names: str, about: str = "") -> list[ToolText]:
    return [ToolText(name, about or f"Works on a {name.split('_')[-1]}.", server) for name in names]


def named(*groups: list[ToolText]) -> list[str]:
    everything = [tool for group in groups for tool in group]
    return names_of(groups, keywords_of(groups), vocabulary_of(everything))


INVOICES = [
    *tools("billing", "create_invoice", "send_invoice", "cancel_invoice"),
    *tools("books", "list_invoices", "get_invoice"),
]
MAIL = [*tools("mail", "send_message", "read_message", "delete_message"), *tools("chat", "list_messages")]


def test_a_group_is_called_what_its_tools_are_about() -> None:
    assert named(INVOICES, MAIL) == ["Invoices", "Messages"]


def test_two_things_make_a_name_of_two_and_never_three() -> None:
    group = [
        *tools("a", "create_invoice", "send_invoice", "list_invoices"),
        *tools("b", "create_refund", "list_refunds", "get_refund"),
        *tools("c", "create_coupon", "list_coupons"),
    ]
    [name, _] = named(group, MAIL)
    assert name == "Invoices & Refunds"


def test_names_of_companies_and_servers_are_left_out() -> None:
    # GIVEN tools of several servers, one of which names its company wherever it can
    brightwharf = tools(
        "brightwharf", "import_cargo", "list_cargo", "weigh_cargo", about="Cargo of a Brightwharf ship. By Brightwharf."
    )
    group = [*brightwharf, *tools("harbour", "list_ships", "move_ship")]
    [name, _] = named(group, INVOICES)
    assert "Brightwharf" not in name
    assert "Import" not in name


def test_a_groups_product_is_named_where_another_group_has_its_name() -> None:
    about = "Groups of an Okta user."
    okta = tools("okta-mcp-server", "list_groups", "create_group", "delete_group", about=about)
    others = [*tools("chat", "list_groups", "create_group", about=""), *tools("ldap", "delete_group", about="A group.")]
    assert named(okta, INVOICES)[0] == "Groups"
    assert named(others, okta, INVOICES)[:2] == ["Groups", "Okta Groups"]


def test_no_group_is_called_after_its_server_alone() -> None:
    # GIVEN tools of one server whose names share nothing
    ehr = tools("ehr", "admit_patient", "order_bloods", "print_label", about="Works in the EHR.")
    assert not named(ehr, INVOICES)[0].startswith("E")


def test_a_thing_that_is_counted_with_words_before_it_is_in_the_plural() -> None:
    group = [
        *tools("a", "open_pull_request", about="Open a pull request."),
        *tools("b", "merge_pull_request", about="Merge a pull request."),
    ]
    assert named(group, INVOICES)[0] == "Pull Requests"


def test_a_department_is_no_product() -> None:
    warehouse = tools("warehouse-server", "list_pallets", "move_pallet", "count_pallets")
    assert named(warehouse, INVOICES)[0] == "Pallets"


def test_what_all_tools_do_is_part_of_the_name_where_it_says_something() -> None:
    group = [*tools("a", "translate_text", "translate_document_text"), *tools("b", "translate_web_text")]
    assert named(group, INVOICES)[0].startswith("Translate Text")


def test_a_word_that_mostly_stands_in_a_pair_is_named_with_it() -> None:
    group = [*tools("a", "open_pull_request", "merge_pull_request"), *tools("b", "review_pull_request")]
    assert named(group, INVOICES)[0] == "Pull Requests"


def test_no_two_groups_have_one_name() -> None:
    other = [*tools("x", "create_invoice_line"), *tools("y", "list_invoice_lines", "get_invoice_line")]
    names = named(INVOICES, other, [*INVOICES])
    assert len(set(names)) == 3


@pytest.mark.parametrize("names", [("get", "list"), ("", "")])
def test_tools_that_say_nothing_are_others(names: tuple[str, ...]) -> None:
    assert names_of([[ToolText(name) for name in names]], [[]], vocabulary_of([ToolText(name) for name in names])) == [
        OTHER
    ]
