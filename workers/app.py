"""The Celery app: two queues of hints that there is work. What work it is stands in Postgres."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from kombu.entity import Exchange, Queue

# Celery has no types to speak of.
app: Any = Celery("passgrid", broker=os.environ.get("PASSGRID_BROKER_URL"))

app.conf.update(
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in ("replay", "live")],
    task_serializer="json",
    accept_content=["json"],
    task_ignore_result=True,
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={"visibility_timeout": 3600, "socket_keepalive": True, "health_check_interval": 10},
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    imports=("workers.tasks",),
)
