"""What must hold of the schedule that runs the relay: how often it does, and that one run is one run."""

from __future__ import annotations

from tests.template.stack import Stack


def check_schedule(stack: Stack) -> None:
    (schedule,) = stack.of_type("AWS::Scheduler::Schedule").values()
    minutes = stack.parameters["RelayEveryMinutes"]
    assert schedule["ScheduleExpression"] == f"rate({minutes} minute{'' if minutes == '1' else 's'})"
    assert schedule["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert schedule.get("State", "ENABLED") == "ENABLED"


def check_a_run_that_failed_is_not_tried_again(stack: Stack) -> None:
    """Neither by the scheduler, which only hands events over, nor by Lambda, which would try twice more."""
    (schedule,) = stack.of_type("AWS::Scheduler::Schedule").values()
    assert schedule["Target"].get("RetryPolicy") == {"MaximumRetryAttempts": 0}
    configured = list(stack.of_type("AWS::Lambda::EventInvokeConfig").values())
    assert [(each["FunctionName"], each["Qualifier"]) for each in configured] == [({"Ref": "RelayFunction"}, "live")]
    assert configured[0]["MaximumRetryAttempts"] == 0
