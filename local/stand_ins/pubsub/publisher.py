"""The calls of google.pubsub.v1.Publisher: topics are created and listed, messages published."""

import grpc

from local.stand_ins.grpc_server import already_exists, page, unary
from local.stand_ins.pubsub import protos
from local.stand_ins.pubsub.backlog import Backlog
from local.stand_ins.pubsub.broker import Broker
from local.stand_ins.pubsub.protos import Proto
from local.stand_ins.pubsub.validation import (
    check_headers,
    check_messages,
    check_name,
    check_project,
    check_topic,
)


class Publisher:
    """Topics and publishing. Every other call answers UNIMPLEMENTED."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def handler(self) -> grpc.GenericRpcHandler:
        """The gRPC handler of the service."""
        calls = (
            ("CreateTopic", self.create, protos.Topic),
            ("ListTopics", self.list, protos.ListTopicsRequest),
            ("Publish", self.publish, protos.PublishRequest),
        )
        methods = {name: unary(work, request) for name, work, request in calls}
        return grpc.method_handlers_generic_handler("google.pubsub.v1.Publisher", methods)

    async def create(self, topic: Proto) -> Proto:
        """Create a topic. Raises INVALID_ARGUMENT, ALREADY_EXISTS."""
        check_topic(topic)
        if topic.name in self._broker.topics:
            raise already_exists(f"Resource already exists: {topic.name}")
        self._broker.add_topic(topic)
        return topic

    async def list(self, request: Proto) -> Proto:
        """List the topics of one project."""
        check_project(request.project)
        ours = (name for name in self._broker.topics if name.startswith(f"{request.project}/"))
        names, token = page(ours, request)
        return protos.ListTopicsResponse(topics=map(self._broker.topic, names), next_page_token=token)

    async def publish(self, request: Proto) -> Proto:
        """Publish messages. Answers when they are stored. Raises NOT_FOUND, INVALID_ARGUMENT."""
        check_name(request.topic, "topics")
        self._broker.topic(request.topic)
        check_messages(request.messages)
        if any(map(_makes_headers, self._broker.backlogs_of(request.topic))):
            for message in request.messages:
                check_headers(message.attributes)
        return protos.PublishResponse(message_ids=self._broker.publish(request.topic, request.messages))


def _makes_headers(backlog: Backlog) -> bool:
    config = backlog.subscription.push_config
    return bool(config.push_endpoint and config.no_wrapper.write_metadata)
