"""What must hold of every queue, every dead-letter queue and every mapping from a queue to a function."""

from __future__ import annotations

from tests.template.check_functions import functions
from tests.template.stack import Json, Stack

_DAY_S = 86_400
MAX_RECEIVES = 5


def _queues(stack: Stack) -> tuple[Json, Json]:
    """Return the queues that functions read, and the dead-letter queues behind them."""
    queues = stack.of_type("AWS::SQS::Queue")
    read = {name: each for name, each in queues.items() if "RedrivePolicy" in each}
    return read, {name: each for name, each in queues.items() if name not in read}


def check_every_queue_has_dead_letters_of_its_own(stack: Stack) -> None:
    read, dead = _queues(stack)
    behind = [queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"] for queue in read.values()]
    assert sorted(name for name, _ in behind) == sorted(dead)
    assert {attribute for _, attribute in behind} == {"Arn"}
    for name, queue in read.items():
        assert queue["RedrivePolicy"]["maxReceiveCount"] == MAX_RECEIVES, name
        dead_name, _ = queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"]
        # The age of a message counts on when it is moved.
        assert queue["MessageRetentionPeriod"] >= 4 * _DAY_S, name
        assert dead[dead_name]["MessageRetentionPeriod"] == 14 * _DAY_S > queue["MessageRetentionPeriod"], dead_name


def check_queues_wait_six_times_their_functions_timeout(stack: Stack) -> None:
    timeouts = {f"{name}FunctionAliaslive": each["Timeout"] for name, each in functions(stack).items()}
    read, _ = _queues(stack)
    mappings = stack.of_type("AWS::Lambda::EventSourceMapping")
    assert sorted(each["EventSourceArn"]["Fn::GetAtt"][0] for each in mappings.values()) == sorted(read)
    for name, mapping in mappings.items():
        queue = read[mapping["EventSourceArn"]["Fn::GetAtt"][0]]
        batching = mapping.get("MaximumBatchingWindowInSeconds", 0)
        assert queue["VisibilityTimeout"] >= 6 * timeouts[mapping["FunctionName"]["Ref"]] + batching, name


def check_mappings(stack: Stack) -> None:
    for name, mapping in stack.of_type("AWS::Lambda::EventSourceMapping").items():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"], name
        function = mapping["FunctionName"]["Ref"]
        # Learning is not urgent, and one organisation takes as long as a batch: the fewest at once that AWS takes.
        learns = function == "LearnFunctionAliaslive"
        at_once = 2 if learns else int(stack.parameters["QueueConcurrency"])
        assert int(mapping["ScalingConfig"]["MaximumConcurrency"]) == at_once, name
        assert mapping["BatchSize"] == (1 if learns else 10), name
        assert function.endswith("FunctionAliaslive"), name


def check_queues_are_encrypted_and_over_tls_only(stack: Stack) -> None:
    policies = [
        each for kind in ("AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy") for each in stack.of_type(kind).values()
    ]
    guarded = set()
    for policy in policies:
        targets = {each["Ref"] for each in policy.get("Queues", policy.get("Topics"))}
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Effect"] == "Allow":
                assert statement["Principal"] == {"Service": "cloudwatch.amazonaws.com"}, targets
                assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}, targets
                continue
            assert statement["Principal"] == "*", targets
            assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}, targets
            # Of a queue's policy "*" is the queue; a topic's names its topic.
            assert statement["Resource"] in ["*" if "Queues" in policy else {"Ref": each} for each in targets]
            assert statement["Action"] == ("sqs:*" if "Queues" in policy else "sns:Publish"), targets
            guarded |= targets
    queues = stack.of_type("AWS::SQS::Queue")
    topics = stack.of_type("AWS::SNS::Topic")
    assert guarded == {*queues, *topics}
    for name, queue in queues.items():
        assert queue["SqsManagedSseEnabled"] is True, name
    assert topics["Notifications"]["KmsMasterKeyId"] == "alias/aws/sns"
    # CloudWatch may not use that key.
    assert "KmsMasterKeyId" not in topics.get("AlarmsTopic", {})
