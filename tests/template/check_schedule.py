"""What must hold of the schedules: how often the relay runs and servers are asked again, and that one run is one."""

from __future__ import annotations

from typing import Any

from tests.template.stack import Stack


def check_schedule(stack: Stack) -> None:
    seeing, schedule = _schedules(stack)
    assert seeing["ScheduleExpression"] == "rate(1 hour)"
    assert seeing["Target"]["Input"] == '{"see_again": true}'
    assert seeing["State"] == ("DISABLED" if stack.parameters["SeeServersEveryHours"] == "0" else "ENABLED")
    minutes = stack.parameters["RelayEveryMinutes"]
    assert schedule["ScheduleExpression"] == f"rate({minutes} minute{'' if minutes == '1' else 's'})"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule.get("State", "ENABLED") == "ENABLED"


def check_a_run_that_failed_is_not_tried_again(stack: Stack) -> None:
    """Neither by the scheduler, which only hands events over, nor by Lambda, which would try twice more."""
    for schedule in _schedules(stack):
        assert schedule["Target"].get("RetryPolicy") == {"MaximumRetryAttempts": 0}
    configured = list(stack.of_type("AWS::Lambda::EventInvokeConfig").values())
    names = [(each["FunctionName"]["Ref"], each["Qualifier"]) for each in configured]
    assert sorted(names) == [("CallFunction", "live"), ("RelayFunction", "live")]
    assert all(each["MaximumRetryAttempts"] == 0 for each in configured)


def _schedules(stack: Stack) -> list[dict[str, Any]]:
    """Return the schedule by which servers are asked again, and that of the relay."""
    return sorted(stack.of_type("AWS::Scheduler::Schedule").values(), key=lambda each: "Input" not in each["Target"])
