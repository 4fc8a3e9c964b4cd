"""Lines of JSON, and the one writer."""

import io
import json
import threading
import time
import unittest

from appsecgate.mcp.wire import (
    MAX_NESTING,
    MAX_QUEUED_BYTES,
    Outbox,
    RpcError,
    always,
    encode_message,
    is_deeper,
    parse_line,
    read_lines,
)
from appsecgate.model import Json


class ReadingLines(unittest.TestCase):
    def test_lines_end_at_line_feeds_alone(self) -> None:
        cases: tuple[tuple[bytes, list[bytes]], ...] = (
            (b"", []),
            (b"a\nb\n", [b"a", b"b"]),
            (b"a\r\nb", [b"a\r", b"b"]),
            (b"\n\n", [b"", b""]),
            ("a\u2028b\u2029c\x0bd\x85\n".encode(), ["a\u2028b\u2029c\x0bd\x85".encode()]),
        )
        for data, want in cases:
            with self.subTest(data=data):
                self.assertEqual(list(read_lines(io.BytesIO(data).read)), want)

    def test_any_cut_of_the_stream_gives_the_same_lines(self) -> None:
        data = b"one\n\ntwo two\nlast"
        for size in range(1, len(data)):
            stream = io.BytesIO(data)
            with self.subTest(size=size):
                self.assertEqual(
                    list(read_lines(lambda _most, size=size, stream=stream: stream.read(size))),  # type: ignore[misc]
                    [b"one", b"", b"two two", b"last"],
                )

    def test_a_line_over_the_cap_is_dropped_and_the_next_one_read(self) -> None:
        data = b"x" * 50 + b"\nok\n" + b"y" * 11 + b"\n" + b"z" * 10 + b"\n" + b"w" * 11
        for size in (1, 3, 1000):
            stream = io.BytesIO(data)
            with self.subTest(size=size):
                got = list(read_lines(lambda _most, size=size, stream=stream: stream.read(size), 10))  # type: ignore[misc]
                self.assertEqual(got, [None, b"ok", None, b"z" * 10, None])


class Parsing(unittest.TestCase):
    def test_what_is_not_json_is_refused(self) -> None:
        cases = (
            b"{",
            b"hello",
            b"\xff\xfe",
            b'"\xed\xa0\x80"',
            b"NaN",
            b'{"a":Infinity}',
            b"[-Infinity]",
            b"1 2",
            b"9" * 5000,
            b"[" * 100_000,
            b'{"a":' * 100_000,
            "{}".encode("utf-16"),
        )
        for line in cases:
            with self.subTest(line=line[:20]), self.assertRaises(RpcError) as caught:
                parse_line(line)
            self.assertEqual(caught.exception.code, -32700)

    def test_values_are_read(self) -> None:
        for line, want in (
            (b"\xef\xbb\xbf{}", {}),
            (b" 42 \r", 42),
            (b'"\\ud800"', "\ud800"),
            (b"[[]]", [[]]),
        ):
            with self.subTest(line=line):
                self.assertEqual(parse_line(line), want)

    def test_nesting_has_a_limit(self) -> None:
        def nested(levels: int) -> bytes:
            return b"[" * levels + b"]" * levels

        self.assertIsInstance(parse_line(nested(MAX_NESTING)), list)
        with self.assertRaisesRegex(RpcError, "nested deeper"):
            parse_line(nested(MAX_NESTING + 1))

    def test_depth_counts_arrays_and_objects(self) -> None:
        cases: tuple[tuple[Json, int, bool], ...] = (
            (1, 0, False),
            ([], 0, True),
            ([1, 2], 1, False),
            ({"a": [1]}, 1, True),
            ({"a": [1], "b": 2}, 2, False),
        )
        for value, levels, want in cases:
            with self.subTest(value=value, levels=levels):
                self.assertIs(is_deeper(value, levels), want)


class Encoding(unittest.TestCase):
    def test_messages_are_ascii_on_one_line(self) -> None:
        cases: tuple[Json, ...] = ("é\n\u2028", {"emoji": "😀"}, [1.5, None, True], "a\\ud800", "c:\\udir")
        for message in cases:
            with self.subTest(message=message):
                line = encode_message(message)
                self.assertNotIn(b"\n", line)
                self.assertTrue(line.isascii())
                self.assertEqual(json.loads(line), message)

    def test_half_surrogate_pairs_become_replacement_characters(self) -> None:
        line = encode_message({"caf\udce9": ["\ud800x", "😀"]})
        self.assertEqual(json.loads(line), {"caf\ufffd": ["\ufffdx", "😀"]})

    def test_nan_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            encode_message({"a": float("nan")})


class Writing(unittest.TestCase):
    def setUp(self) -> None:
        self.written: list[bytes] = []
        self.gate = threading.Event()
        self.gate.set()
        self.broken = threading.Event()
        self.fails = False
        self.outbox = Outbox(self.write, self.broken.set)

    def tearDown(self) -> None:
        self.gate.set()
        self.outbox.close(5)

    def write(self, data: bytes) -> None:
        self.gate.wait(10)
        if self.fails:
            raise BrokenPipeError
        self.written.append(data)

    def test_lines_go_out_in_order(self) -> None:
        for number in range(100):
            self.outbox.send(b"%d" % number)
        self.outbox.close(5)
        self.assertEqual(self.written, [b"%d\n" % number for number in range(100)])

    def test_a_withdrawn_line_is_not_sent(self) -> None:
        self.outbox.send(b"no", lambda: False)
        self.outbox.send(b"yes")
        self.outbox.close(5)
        self.assertEqual(self.written, [b"yes\n"])

    def test_an_offer_is_dropped_while_others_wait(self) -> None:
        self.gate.clear()
        self.outbox.send(b"first")
        while self.outbox._queue:
            time.sleep(0.001)
        self.outbox.offer(b"taken", always)
        self.outbox.offer(b"dropped", always)
        self.gate.set()
        self.outbox.close(5)
        self.assertEqual(self.written, [b"first\n", b"taken\n"])

    def test_a_full_queue_makes_senders_wait_until_somebody_reads(self) -> None:
        self.gate.clear()
        self.outbox.send(b"x" * (MAX_QUEUED_BYTES + 1))
        sender = threading.Thread(target=self.outbox.send, args=(b"late",), daemon=True)
        sender.start()
        sender.join(0.1)
        self.assertTrue(sender.is_alive())
        self.gate.set()
        sender.join(5)
        self.assertFalse(sender.is_alive())

    def test_a_broken_wire_is_told_once_and_swallows_the_rest(self) -> None:
        self.fails = True
        self.outbox.send(b"a")
        self.assertTrue(self.broken.wait(5))
        self.outbox.send(b"b")
        self.outbox.offer(b"c", always)
        self.outbox.close(5)
        self.assertEqual(self.written, [])

    def test_nothing_is_taken_after_the_close(self) -> None:
        self.outbox.close(5)
        self.outbox.send(b"late")
        self.assertEqual(self.written, [])
