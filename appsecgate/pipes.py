"""A child's pipes, read side by side: neither can fill up and stop the child, none can hang us."""

import collections
import contextlib
import os
import selectors
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO, Protocol

_CHUNK_BYTES = 65_536
_PIPE_BYTES = 1 << 20
"""More than a pipe holds: what a dead child can have left in one."""
_LONGEST_WAIT_S = 3600.0


class PipeEvents(Protocol):
    """Chunks from a child's pipes, as (index of the pipe, bytes)."""

    def wait(self, timeout_s: float) -> list[tuple[int, bytes]]:
        """Block until there is a chunk, every pipe was closed, or ``poke``; at most ``timeout_s``."""
        ...

    def rest(self) -> list[tuple[int, bytes]]:
        """What the dead child left in its pipes, without waiting for anybody who keeps them open."""
        ...

    def poke(self) -> None:
        """Make ``wait`` return; from any thread, also after ``close``."""
        ...

    def close(self) -> None: ...


class PolledEvents:
    """For systems whose pipes can be polled: no thread, nothing left over."""

    def __init__(self, pipes: Sequence[IO[bytes]]) -> None:
        self._lock = threading.RLock()
        self._pipes = pipes
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, -1)
        for index, pipe in enumerate(pipes):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe.fileno(), selectors.EVENT_READ, index)

    def wait(self, timeout_s: float) -> list[tuple[int, bytes]]:
        chunks = []
        for key, _ in self._selector.select(min(timeout_s, _LONGEST_WAIT_S)):
            chunk = os.read(key.fd, _CHUNK_BYTES)
            if key.data >= 0:
                chunks.append((key.data, chunk))
                if not chunk:
                    self._selector.unregister(key.fd)
        return chunks

    def rest(self) -> list[tuple[int, bytes]]:
        chunks = []
        for index, pipe in enumerate(self._pipes):
            left = _PIPE_BYTES
            with contextlib.suppress(BlockingIOError):
                while left > 0 and (chunk := os.read(pipe.fileno(), _CHUNK_BYTES)):
                    chunks.append((index, chunk))
                    left -= len(chunk)
        return chunks

    def poke(self) -> None:
        with self._lock, contextlib.suppress(BlockingIOError):
            if self._wake_write >= 0:
                os.write(self._wake_write, b"!")

    def close(self) -> None:
        with self._lock:
            wake_write, self._wake_write = self._wake_write, -1
            os.close(wake_write)
        os.close(self._wake_read)
        self._selector.close()
        for pipe in self._pipes:
            pipe.close()


class ThreadedEvents:
    """For systems whose pipes cannot be polled (Windows): a thread per pipe reads ahead a little."""

    _AHEAD = 16

    def __init__(self, pipes: Sequence[IO[bytes]]) -> None:
        self._changed = threading.Condition()
        self._chunks: collections.deque[tuple[int, bytes]] = collections.deque()
        self._poked = self._closed = False
        self._open = len(pipes)
        for index, pipe in enumerate(pipes):
            threading.Thread(target=self._read, args=(index, pipe), daemon=True).start()

    def _read(self, index: int, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := pipe.read(_CHUNK_BYTES):
                with self._changed:
                    self._changed.wait_for(lambda: self._closed or len(self._chunks) < self._AHEAD)
                    if self._closed:
                        return
                    self._chunks.append((index, chunk))
                    self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def _take(self) -> list[tuple[int, bytes]]:
        chunks = list(self._chunks)
        self._chunks.clear()
        self._poked = False
        self._changed.notify_all()
        return chunks

    def wait(self, timeout_s: float) -> list[tuple[int, bytes]]:
        with self._changed:
            self._changed.wait_for(lambda: self._chunks or self._poked, min(timeout_s, _LONGEST_WAIT_S))
            return self._take()

    def rest(self) -> list[tuple[int, bytes]]:
        chunks = []
        end = time.monotonic() + 1.0
        with self._changed:
            while self._changed.wait_for(lambda: self._chunks or not self._open, end - time.monotonic()):
                if not self._chunks:
                    break
                chunks += self._take()
        return chunks

    def poke(self) -> None:
        with self._changed:
            self._poked = True
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class CappedOutput:
    """The first ``limit`` bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0

    def take(self, chunk: bytes) -> bool:
        """Keep the chunk; False where it does not fit any more."""
        self._chunks.append(chunk[: self._limit - self._size])
        self._size += len(self._chunks[-1])
        return len(self._chunks[-1]) == len(chunk)

    def value(self) -> bytes:
        return b"".join(self._chunks)


class OutputTail:
    """The last ``limit`` bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()

    def take(self, chunk: bytes) -> bool:
        self._kept += chunk
        if len(self._kept) > 2 * self._limit + _CHUNK_BYTES:
            self._kept = self._kept[len(self._kept) - self._limit :]
        return True

    def value(self) -> bytes:
        return bytes(self._kept[max(0, len(self._kept) - self._limit) :])


@contextlib.contextmanager
def readable_bytes(data: bytes | None) -> Iterator[BinaryIO | None]:
    """Bytes as an open file at its start, for a stdin: a child that does not read it cannot block us.

    In memory where the system can, since the bytes may hold a project's secrets.
    """
    if data is None:
        yield None
        return
    in_memory = hasattr(os, "memfd_create")
    with open(os.memfd_create("appsecgate-stdin"), "w+b") if in_memory else tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        file.seek(0)
        yield file
