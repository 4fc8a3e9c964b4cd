"""Both eras in one process, message by message."""

import unittest
from typing import Any

from tests.mcp.harness import CC, ENVELOPE, PV, Client, connected

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def code(answer: Any) -> int:
    """The error code of a response, 0 where it is a result."""
    return int(answer.get("error", {}).get("code", 0))


class LegacyHandshake(unittest.TestCase):
    def test_known_versions_are_echoed_and_others_get_our_latest(self) -> None:
        cases = [(version, version) for version in VERSIONS]
        cases += [(version, "2025-11-25") for version in ("2024-10-07", "2026-07-28", "2099-01-01", "", "x")]
        with connected() as client:
            for asked, want in cases:
                with self.subTest(asked=asked):
                    answer = client.ask("initialize", {"protocolVersion": asked, "capabilities": {}})
                    self.assertEqual(answer["result"]["protocolVersion"], want)
                    self.assertEqual(answer["result"]["capabilities"], {"tools": {}})
                    self.assertEqual(answer["result"]["instructions"], "Tools for tests.")
                    self.assertEqual("title" in answer["result"]["serverInfo"], want >= "2025-06-18")

    def test_odd_handshakes_are_refused(self) -> None:
        cases: tuple[Any, ...] = (
            None,
            {},
            {"protocolVersion": 5},
            {"protocolVersion": "2025-11-25", "capabilities": [1]},
            {"protocolVersion": "2025-11-25", "clientInfo": "me"},
        )
        with connected() as client:
            for params in cases:
                with self.subTest(params=params):
                    self.assertEqual(code(client.ask("initialize", params)), -32602)

    def test_ping_list_and_call_need_no_handshake(self) -> None:
        with connected() as client:
            self.assertEqual(client.ask("ping"), {"jsonrpc": "2.0", "id": 1, "result": {}})
            self.assertEqual(len(client.ask("tools/list")["result"]["tools"]), 6)
            self.assertFalse(client.call("echo", {"text": "hi"})["result"]["isError"])

    def test_what_is_not_declared_is_not_there(self) -> None:
        methods = (
            "resources/list", "prompts/list", "completion/complete", "logging/setLevel", "tasks/list", "nonsense",
        )  # fmt: skip
        with connected() as client:
            client.start()
            for method in methods:
                with self.subTest(method=method):
                    self.assertEqual(code(client.ask(method, {})), -32601)

    def test_fields_are_gated_by_version(self) -> None:
        base = {"name", "description", "inputSchema"}
        rich = base | {"annotations", "title", "outputSchema"}
        cases = (
            ("2024-11-05", base, False),
            ("2025-03-26", base | {"annotations"}, False),
            ("2025-06-18", rich, True),
            ("2025-11-25", rich, True),
        )
        for version, fields, structured in cases:
            with self.subTest(version=version), connected() as client:
                client.start(version)
                listed = client.ask("tools/list")["result"]
                self.assertEqual(set(listed), {"tools"})
                self.assertEqual(set(listed["tools"][0]), fields)
                result = client.call("echo", {"text": "hi"})["result"]
                self.assertEqual("structuredContent" in result, structured)
                self.assertEqual(result["content"], [{"type": "text", "text": '{"text":"hi","note":null}'}])

    def test_the_progress_message_came_with_the_second_revision(self) -> None:
        for version, told in (("2024-11-05", False), ("2025-03-26", True)):
            with self.subTest(version=version), connected() as client:
                client.start(version)
                first = client.call("steps", {"values": [1]}, _meta={"progressToken": 0})
                self.assertEqual("message" in first["params"], told)
                client.receive()

    def test_a_task_is_not_one_of_ours_and_is_ignored(self) -> None:
        with connected() as client:
            client.start()
            self.assertFalse(client.call("echo", {"text": "hi"}, task={"ttl": 5})["result"]["isError"])


class ModernRequests(unittest.TestCase):
    def test_discovery_says_all_at_once(self) -> None:
        with connected() as client:
            answer = client.ask("server/discover", {"_meta": ENVELOPE}, request_id="server-discover-probe-1")
        result = answer["result"]
        self.assertEqual(answer["id"], "server-discover-probe-1")
        self.assertEqual(result["resultType"], "complete")
        self.assertEqual(result["supportedVersions"], ["2026-07-28"])
        self.assertEqual(result["capabilities"], {"tools": {}})
        self.assertGreaterEqual(result["ttlMs"], 0)
        self.assertEqual(result["cacheScope"], "public")
        self.assertEqual(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fixture")

    def test_list_and_call_carry_the_modern_fields(self) -> None:
        with connected() as client:
            listed = client.ask("tools/list", {"_meta": ENVELOPE})["result"]
            called = client.call("echo", {"text": "hi"}, _meta=ENVELOPE)["result"]
        self.assertLessEqual({"resultType", "ttlMs", "cacheScope", "tools", "_meta"}, set(listed))
        self.assertEqual(called["structuredContent"], {"text": "hi", "note": None})
        self.assertEqual(called["resultType"], "complete")

    def test_faulty_envelopes_are_refused(self) -> None:
        cases: tuple[tuple[str, Any, int], ...] = (
            ("server/discover", None, -32602),
            ("server/discover", {}, -32602),
            ("server/discover", {"_meta": 5}, -32602),
            ("tools/list", {"_meta": {PV: "2026-07-28"}}, -32602),
            ("tools/list", {"_meta": {CC: {}}}, -32602),
            ("tools/list", {"_meta": {PV: 20260728, CC: {}}}, -32602),
            ("tools/list", {"_meta": {PV: "2026-07-28", CC: []}}, -32602),
            ("tools/list", {"_meta": {PV: "2027-01-01", CC: {}}}, -32022),
            ("tools/list", {"_meta": {PV: "2025-11-25", CC: {}}}, -32022),
            ("ping", {"_meta": ENVELOPE}, -32601),
            ("initialize", {"_meta": ENVELOPE}, -32601),
            ("logging/setLevel", {"_meta": ENVELOPE}, -32601),
            ("subscriptions/listen", {"_meta": ENVELOPE}, -32601),
            ("subscriptions/listen", {}, -32602),
        )
        with connected() as client:
            for method, params, want in cases:
                with self.subTest(method=method, params=params):
                    self.assertEqual(code(client.ask(method, params)), want)

    def test_an_unknown_version_is_told_what_there_is(self) -> None:
        with connected() as client:
            error = client.ask("tools/list", {"_meta": {PV: "2027-01-01", CC: {}}})["error"]
        self.assertEqual(error["data"], {"supported": ["2026-07-28"], "requested": "2027-01-01"})


class NoEraLock(unittest.TestCase):
    def modern(self, client: Client) -> None:
        self.assertEqual(client.ask("tools/list", {"_meta": ENVELOPE})["result"]["resultType"], "complete")

    def legacy(self, client: Client) -> None:
        self.assertNotIn("resultType", client.ask("tools/list", {})["result"])

    def test_either_era_works_after_the_other(self) -> None:
        with connected() as client:
            client.ask("server/discover", {"_meta": ENVELOPE})
            self.assertEqual(client.start("2025-06-18")["protocolVersion"], "2025-06-18")
            self.legacy(client)
            self.modern(client)
            self.legacy(client)
            client.ask("server/discover", {"_meta": ENVELOPE})
            self.assertEqual(client.start("2025-03-26")["protocolVersion"], "2025-03-26")

    def test_a_stamped_handshake_is_still_a_handshake(self) -> None:
        with connected() as client:
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "_meta": ENVELOPE}
            self.assertEqual(client.ask("initialize", params)["result"]["protocolVersion"], "2025-11-25")
            self.legacy(client)
