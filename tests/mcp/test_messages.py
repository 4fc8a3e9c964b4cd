"""Odd messages get the right answer, and the next request still works."""

import json
import unittest
from typing import Any

from tests.mcp.harness import Client, connected
from tests.mcp.test_eras import code


class OddMessages(unittest.TestCase):
    def still_works(self, client: Client) -> None:
        self.assertEqual(client.ask("ping", request_id="after")["id"], "after")

    def test_broken_lines_are_answered_without_an_id(self) -> None:
        cases: tuple[tuple[bytes, int], ...] = (
            (b"garbage", -32700),
            (b"{", -32700),
            (b"\xff\xfe\x00", -32700),
            (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700),
            (b"[" * 50_000, -32700),
            (b"[" * 200 + b"]" * 200, -32700),
            (b"42", -32600),
            (b'"text"', -32600),
            (b"null", -32600),
            (b"[]", -32600),
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
            (b'{"id":1,"method":"ping"}', -32600),
            (b'{"jsonrpc":2.0,"id":1,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":1}', -32600),
        )
        with connected() as client:
            for line, want in cases:
                with self.subTest(line=line[:60]):
                    client.raw(line + b"\n")
                    answer = client.receive()
                    self.assertIsNone(answer["id"])
                    self.assertEqual(code(answer), want)
                    self.still_works(client)

    def test_faulty_requests_are_answered_under_their_id(self) -> None:
        cases: tuple[tuple[Any, int], ...] = (
            ({"method": 5}, -32600),
            ({"method": "ping", "params": []}, -32602),
            ({"method": "tools/list", "params": {"cursor": "2"}}, -32602),
            ({"method": "tools/list", "params": {"cursor": 2}}, -32602),
            ({"method": "tools/call"}, -32602),
            ({"method": "tools/call", "params": {"name": 5}}, -32602),
            ({"method": "tools/call", "params": {"name": "zz"}}, -32602),
            ({"method": "tools/call", "params": {"name": "echo", "arguments": []}}, -32602),
            ({"method": "tools/call", "params": {"name": "echo", "arguments": "{}"}}, -32602),
            ({"method": "x" * 5000}, -32601),
        )
        with connected() as client:
            for message, want in cases:
                with self.subTest(message=str(message)[:80]):
                    client.send({"jsonrpc": "2.0", "id": "q", **message})
                    answer = client.receive()
                    self.assertEqual((answer["id"], code(answer)), ("q", want))
                    self.assertLess(len(json.dumps(answer)), 400)

    def test_blank_lines_line_ends_and_separators_inside_texts_are_fine(self) -> None:
        text = "a\u2028b\u2029c\x85d"
        with connected() as client:
            client.raw(b"\n\r\n  \n")
            message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
            params = {"name": "echo", "arguments": {"text": text}}
            client.raw(json.dumps(message | {"params": params}, ensure_ascii=False).encode() + b"\r\n")
            shown = "a<U+2028>b<U+2029>c<U+0085>d"  # results spell out what could reorder or break lines
            self.assertEqual(client.receive()["result"]["structuredContent"]["text"], shown)

    def test_ids_come_back_as_they_are(self) -> None:
        with connected() as client:
            for request_id in (0, -1, "", "0", "é😀", 10**30, "x" * 1000):
                with self.subTest(request_id=str(request_id)[:20]):
                    answer = client.ask("ping", request_id=request_id)
                    self.assertEqual((type(answer["id"]), answer["id"]), (type(request_id), request_id))

    def test_absent_null_and_empty_params_are_the_same(self) -> None:
        with connected() as client:
            for params in (None, {}, {"cursor": None}, {"_meta": {"progressToken": 0}}, {"_meta": None}):
                with self.subTest(params=params):
                    self.assertIn("result", client.ask("tools/list", params))
            client.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": None})
            self.assertIn("result", client.receive())

    def test_notifications_and_responses_are_never_answered(self) -> None:
        with connected() as client:
            for message in (
                {"method": "notifications/initialized"},
                {"method": "notifications/cancelled"},
                {"method": "notifications/cancelled", "params": {"requestId": None}},
                {"method": "notifications/cancelled", "params": {"requestId": 77}},
                {"method": "notifications/cancelled", "params": []},
                {"method": "notifications/roots/list_changed"},
                {"method": "nonsense"},
                {"method": 7},
                {"method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}},
                {"id": 1, "result": {}},
                {"id": None, "error": {"code": 1, "message": "x"}},
            ):
                client.send({"jsonrpc": "2.0", **message})
            self.still_works(client)

    def test_a_five_megabyte_request_works(self) -> None:
        with connected() as client:
            answer = client.call("echo", {"text": "hi", "ignored": "x" * 5_000_000})
            self.assertEqual(answer["result"]["structuredContent"]["text"], "hi")

    def test_a_line_beyond_the_cap_is_refused_and_the_next_one_works(self) -> None:
        with connected() as client:
            for _ in range(17):
                client.raw(b"x" * 1024 * 1024)
            client.raw(b"\n")
            self.assertEqual(code(client.receive()), -32700)
            self.still_works(client)

    def test_the_last_line_needs_no_end(self) -> None:
        with connected() as client:
            client.raw(b'{"jsonrpc":"2.0","id":9,"method":"ping"}')
            self.assertEqual([answer["id"] for answer in client.end()], [9])
            self.assertEqual(client.exit_status, 0)


class Batches(unittest.TestCase):
    def ping(self, request_id: Any) -> Any:
        return {"jsonrpc": "2.0", "id": request_id, "method": "ping"}

    def test_a_batch_gets_one_answer_after_all_are_done(self) -> None:
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        slow = {
            "jsonrpc": "2.0", "id": "slow", "method": "tools/call",
            "params": {"name": "wait", "arguments": {"seconds": 0.1}},
        }  # fmt: skip
        with connected() as client:
            client.start("2025-03-26")
            client.send([slow, self.ping(1), note, 5, self.ping(2)])
            answer = client.receive()
            self.assertEqual({entry["id"] for entry in answer}, {"slow", 1, 2, None})
            client.send([note])
            client.send([])
            self.assertEqual(code(client.receive()), -32600)
            client.send([self.ping(number) for number in range(101)])
            self.assertEqual(code(client.receive()), -32600)
            self.assertEqual(len(client.lines), 4)

    def test_a_cancelled_call_has_no_entry(self) -> None:
        slow = {
            "jsonrpc": "2.0", "id": "slow", "method": "tools/call",
            "params": {"name": "wait", "arguments": {"seconds": 60}},
        }  # fmt: skip
        with connected() as client:
            client.start("2025-03-26")
            client.send([slow, self.ping(1)])
            client.notify("notifications/cancelled", {"requestId": "slow"})
            self.assertEqual([entry["id"] for entry in client.receive()], [1])
