"""Whether this worker host was told to stop: seen by all its processes and threads."""

from __future__ import annotations

import multiprocessing

STOPPING = multiprocessing.get_context("fork").Event()
"""Made before the fork, so that children see it too. Once set nothing more is claimed."""
