"""Which attempt a task of the event loop belongs to, so that what blocks the loop can be named."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Generator
from contextvars import Context, ContextVar
from typing import Any
from weakref import WeakKeyDictionary

ATTEMPT: ContextVar[int | None] = ContextVar("passgrid_attempt", default=None)
"""Key of the attempt that runs in this context; tasks started by it inherit it."""

_owners: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()


def attributed_task(
    loop: asyncio.AbstractEventLoop,
    coroutine: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
    context: Context | None = None,
) -> asyncio.Task[Any]:
    """A task factory that remembers which attempt each task belongs to."""
    task = asyncio.Task(coroutine, loop=loop, context=context)  # type: ignore[arg-type]
    owner = ATTEMPT.get() if context is None else context.run(ATTEMPT.get)
    if owner is not None:
        _owners[task] = owner
    return task


def current_attempt(loop: asyncio.AbstractEventLoop) -> int | None:
    """The attempt whose task the loop executes at this moment; may be asked from another thread."""
    task = asyncio.current_task(loop)
    return None if task is None else _owners.get(task)


def current_place(thread_id: int) -> str:
    """Where a thread is, as `file:line in function`."""
    frame = sys._current_frames().get(thread_id)  # pyright: ignore[reportPrivateUsage]
    if frame is None:
        return "nowhere"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
