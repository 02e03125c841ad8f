"""What must hold of parameters and rules, as they are written."""

from __future__ import annotations

import re

from tests.template.stack import Resolver, Stack, references, values_used


def check_parameters(stack: Stack) -> None:
    parameters = stack.source["Parameters"]
    for name, parameter in parameters.items():
        assert parameter["Description"].endswith("."), name
        assert parameter["Type"] in {"String", "Number"}, name
        default = parameter["Default"]  # nothing has to be given, and rules say what is missing
        if "AllowedValues" in parameter:
            assert default in parameter["AllowedValues"], name
        elif parameter["Type"] == "Number":
            assert parameter["MinValue"] <= default <= parameter["MaxValue"], name
        else:
            pattern = parameter["AllowedPattern"]
            assert pattern.startswith("^"), name
            assert pattern.endswith("$"), name
            assert re.fullmatch(pattern, default), name
            assert re.fullmatch(pattern, stack.parameters[name]), name
            assert not re.fullmatch(pattern, "*"), name
            assert not re.fullmatch(pattern, "a b\n"), name
            assert parameter["ConstraintDescription"], name


def check_parameters_are_grouped_and_used(stack: Stack) -> None:
    parameters = stack.source["Parameters"]
    groups = stack.source["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]
    assert sorted(grouped) == sorted(parameters)
    used = values_used(stack.source, [stack.source["Resources"], stack.source["Globals"], stack.source["Outputs"]])
    used |= {each for each in references(stack.source["Globals"]) if not each.startswith("condition")}
    used |= values_used(
        stack.source,
        [{"Condition": each["Condition"]} for each in stack.source["Resources"].values() if "Condition" in each],
    )
    assert set(parameters) <= used, set(parameters) - used


def check_nothing_is_open_by_default(stack: Stack) -> None:
    parameters = stack.source["Parameters"]
    assert parameters["AuthMode"]["AllowedValues"] == ["iam", "jwt"]
    assert parameters["AuthMode"]["Default"] == "iam"
    assert parameters["AdminRoleArns"]["Default"] == ""
    assert parameters["JwtRequireOrg"]["Default"] == "true"
    assert parameters["CorsAllowOrigins"]["Default"] == ""
    assert parameters["DatabaseSslMode"]["AllowedValues"] == ["require", "verify-full"]
    assert parameters["DatabaseSslMode"]["Default"] == "verify-full"
    assert parameters["DatabaseDeletionProtection"]["Default"] == "true"
    assert not re.fullmatch(parameters["JwtIssuer"]["AllowedPattern"], "http://issuer.example.com")
    for arn in ("arn:aws:iam::123456789012:role/*", "arn:aws:iam::123456789012:user/ann", "*"):
        assert not re.fullmatch(parameters["AdminRoleArns"]["AllowedPattern"], arn), arn
    for name in ("EmbeddingBaseUrl", "ChatBaseUrl", "QdrantUrl"):
        assert re.fullmatch(parameters[name]["AllowedPattern"], "https://models.example.com"), name
        assert not re.fullmatch(parameters[name]["AllowedPattern"], "http://models.example.com"), name


def check_rules(stack: Stack) -> None:
    assert broken_rules(stack) == []


def broken_rules(stack: Stack) -> list[str]:
    """Return what the rules object to."""
    resolver = Resolver(stack.source, stack.parameters)
    return [
        assertion["AssertDescription"]
        for rule in stack.source["Rules"].values()
        if "RuleCondition" not in rule or resolver.holds(rule["RuleCondition"])
        for assertion in rule["Assertions"]
        if not resolver.holds(assertion["Assert"])
    ]
