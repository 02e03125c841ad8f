"""GIVEN lists of hosts, WHEN a host is asked for, THEN what the lists mean decides, however the host is written."""

from __future__ import annotations

import re

import pytest
from skillroute.core.outbound.addresses import Reach
from skillroute.core.outbound.hosts import AddressRefused, HostRules, canonical
from skillroute.core.settings.calling import CallSettings


def rules(hosts: str = "", private: str = "") -> HostRules:
    return HostRules.of(CallSettings(call_hosts=hosts, call_private_hosts=private))


def test_without_lists_all_hosts_may_be_called_at_public_addresses() -> None:
    assert rules().reach("any.example", 443) is Reach.PUBLIC


def test_a_list_leaves_others_out() -> None:
    listed = rules("api.example.com, *.tools.example, Bücher.example")
    for host in ("api.example.com", "API.example.com", "a.tools.example", "a.b.tools.example", "xn--bcher-kva.example"):
        assert listed.reach(host, 443) is Reach.PUBLIC
    for host in ("example.com", "tools.example", "eviltools.example", "api.example.com.evil.test"):
        with pytest.raises(AddressRefused, match="is not among the hosts"):
            listed.reach(host, 443)


def test_a_private_host_is_one_that_may_be_called() -> None:
    listed = rules("api.example.com", "intranet.example:8443")
    assert listed.reach("intranet.example", 8443) is Reach.PRIVATE
    with pytest.raises(AddressRefused):
        listed.reach("intranet.example", 443)


def test_only_a_private_host_that_says_so_is_called_without_tls() -> None:
    listed = rules("", "http://localhost:8080, 10.0.0.7, [fd12::7]:99, http://127.0.0.1")
    listed.check("http", "localhost", 8080)
    listed.check("https", "localhost", 8080)
    listed.check("https", "10.0.0.7", None)
    listed.check("https", "fd12::7", 99)
    listed.check("http", "127.0.0.1", None)
    for scheme, host, port in (
        *(("http", "localhost", 8081), ("http", "10.0.0.7", None), ("http", "any.example", None)),
        *(("ftp", "localhost", 8080), ("https", "10.0.0.8", None), ("https", "fd12::7", None)),
    ):
        with pytest.raises(AddressRefused):
            listed.check(scheme, host, port)


@pytest.mark.parametrize(
    ("url", "setting"),
    [
        (("http", "any.example", None), "SKILLROUTE_CALL_PRIVATE_HOSTS names it with http://"),
        (("https", "10.0.0.7", None), "SKILLROUTE_CALL_PRIVATE_HOSTS names the host"),
        (("https", "other.example", None), "SKILLROUTE_CALL_HOSTS"),
    ],
)
def test_a_refusal_names_the_setting_that_decides(url: tuple[str, str, int | None], setting: str) -> None:
    with pytest.raises(AddressRefused, match=re.escape(setting)):
        rules("any.example, 10.0.0.7").check(*url)


def test_no_list_opens_a_metadata_service() -> None:
    for host in ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"):
        with pytest.raises(AddressRefused, match="may not be reached"):
            rules("", f"http://{host}" if ":" not in host else f"http://[{host}]").check("http", host, None)


@pytest.mark.parametrize(
    "entry",
    [
        *("http://api.example.com", "https://a.example/path", "user@a.example", "a.example:0", "a.example:99999"),
        *("*", "*.", "a..example", "a b", "0x7f.1", "127.1", "a.example.", "ftp://a.example", "*.10.0.0.1"),
        *("a.example?x", "-a.example", "xn--" + "a" * 80 + ".example", "a.*.example", "fe80::1%1"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused_by_the_name_of_its_variable(entry: str) -> None:
    with pytest.raises(ValueError, match=r"SKILLROUTE_CALL_HOSTS: "):
        rules(entry)


@pytest.mark.parametrize(
    "host",
    [
        *("2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "127.1", "127.0.1", "0x7f.0.0.1", "127.0.0.1."),
        *("\uff11\uff12\uff17.0.0.1", "\uff11\uff12\uff17\u30020\u30020\u30021", "1.2.3.4.5", "a.0x", "300.0.0.1"),
        *("%31.example", "a_b..c", "", ".", "[::1", "a:b", "fe80::1%25eth0", "::ffff:999.0.0.1"),
    ],
)
def test_a_host_that_readers_would_take_for_different_ones_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"^(is|must be) "):
        canonical(host)
