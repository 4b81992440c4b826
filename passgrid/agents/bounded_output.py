"""What a program writes, however much: its beginning and its end are kept, and how much lay between."""

from __future__ import annotations

HEAD_BYTES = 512_000
TAIL_BYTES = 512_000


class BoundedOutput:
    """Takes bytes as they come."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._most_head, self._most_tail = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        """The next bytes."""
        room = self._most_head - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        # Not at every piece: moving the rest to the front takes time.
        if len(self._tail) > 2 * self._most_tail:
            self._drop()

    def text(self) -> str:
        """What is kept, with a line that says how much is missing; bytes that are no UTF-8 are replaced."""
        self._drop()
        gap = f"\n[… {self._left_out} bytes left out …]\n".encode() if self._left_out else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace")

    def last_lines(self, most: int) -> str:
        """The last lines that are not empty, within `most` characters."""
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        return " | ".join(lines[-3:])[-most:]

    def _drop(self) -> None:
        over = len(self._tail) - self._most_tail
        if over > 0:
            del self._tail[:over]
            self._left_out += over
