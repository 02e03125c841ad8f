"""What must hold of names: whatever a stack is called they fit, and no two stacks of an account share one."""

from __future__ import annotations

from tests.template.stack import Stack, resources

_MOST = {
    ("AWS::ApiGatewayV2::Api", "Name"): 128,
    ("AWS::AppConfig::Application", "Name"): 64,
    ("AWS::CloudWatch::Alarm", "AlarmName"): 255,
    ("AWS::CloudWatch::Dashboard", "DashboardName"): 255,
    ("AWS::Logs::LogGroup", "LogGroupName"): 512,
    ("AWS::Scheduler::Schedule", "Name"): 64,
}
"""How long a name may be that the template gives."""
_MADE_UP = {
    ("AWS::IAM::ManagedPolicy", "ManagedPolicyName"),
    ("AWS::IAM::Role", "RoleName"),
    ("AWS::Lambda::Function", "FunctionName"),
    ("AWS::SNS::Topic", "TopicName"),
    ("AWS::SQS::Queue", "QueueName"),
}
"""The names that CloudFormation makes up, shortened where needed."""
_NUMBERS = ("1c2fa620-982a-11e3-aff7-50e2416294e0", "2c2fa620-982a-11e3-aff7-50e2416294e0")


def check_names_fit_and_differ(stack: Stack) -> None:
    for name, resource in stack.resources.items():
        for kind, attribute in _MADE_UP:
            assert resource["Type"] != kind or attribute not in resource.get("Properties", {}), name
    first, second = (_names(stack, letter * 128, number) for letter, number in zip("st", _NUMBERS, strict=True))
    for (kind, attribute), most in _MOST.items():
        named = {name: each for name, each in first.items() if stack.resources[name]["Type"] == kind}
        assert all(len(each) <= most for each in named.values()), f"{kind} {attribute}"
        assert len(set(named.values())) == len(named), f"{kind} {attribute}"
    assert not {*first.values()} & {*second.values()}, "of two stacks"


def _names(stack: Stack, called: str, number: str) -> dict[str, str]:
    """Return the names that the template gives, by logical id, in a stack that is called so."""
    arn = f"arn:aws:cloudformation:eu-central-1:123456789012:stack/{called}/{number}"
    renamed = {**stack.parameters, "AWS::StackName": called, "AWS::StackId": arn}
    return {
        name: resource["Properties"][attribute]
        for name, resource in resources(stack.translated, stack.monitoring, renamed).items()
        for kind, attribute in _MOST
        if resource["Type"] == kind and attribute in resource["Properties"]
    }
