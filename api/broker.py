"""The broker as the control plane sees it: hints that there is work, sent by task name."""

from __future__ import annotations

from typing import Any, cast
from uuid import uuid4

from celery import Celery
from kombu.messaging import Producer

QUEUES = ("replay", "live")


class Hints:
    """Sends hints, and counts those that nobody has taken yet."""

    def __init__(self, broker_url: str) -> None:
        self._app: Any = Celery("passgrid-control", broker=broker_url)
        self._app.conf.update(task_serializer="json", task_ignore_result=True)
        self._connection: Any = None

    def waiting(self, queue: str) -> int:
        """Messages in the queue."""
        return cast(int, self._channel().client.llen(queue))

    def send(self, queue: str, count: int) -> None:
        """Send `count` hints. They name no attempt: whoever takes one claims the most urgent.

        They go to the queue by the broker's default exchange, which needs no routing table there: emptying the broker
        loses hints and nothing else. (Celery's own `send_task` would put its default exchange in that place.)
        """
        if count < 1:
            return
        producer: Any = Producer(self._channel(), serializer="json")
        for _ in range(count):
            message: Any = self._app.amqp.as_task_v2(uuid4().hex, f"passgrid.{queue}", ignore_result=True)
            producer.publish(
                message.body, exchange="", routing_key=queue, headers=message.headers, **message.properties
            )

    def close(self) -> None:
        """Forget the connection; the next use makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _channel(self) -> Any:
        if self._connection is None:
            self._connection = self._app.connection_for_write()
        return self._connection.default_channel
