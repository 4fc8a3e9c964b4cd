"""The session that tool calls share, and the client's roots that may decide its project."""

import dataclasses
import time
import unittest
from typing import Any

from appsecgate.errors import StorageError
from appsecgate.mcp.roots import ClientFacts
from appsecgate.mcp.server import ServerLimits
from tests.mcp.fixture_server import fixture_setup
from tests.mcp.fixture_tools import FixtureSession
from tests.mcp.harness import Client, connected
from tests.mcp.test_calls import text_of


class Sessions(unittest.TestCase):
    def test_a_session_is_made_at_the_first_call_that_is_right_and_once(self) -> None:
        made: list[ClientFacts] = []

        def make(facts: ClientFacts) -> FixtureSession:
            made.append(facts)
            time.sleep(0.05)
            return FixtureSession(facts)

        client = Client(dataclasses.replace(fixture_setup(), make_session=make))
        client.start()
        client.ask("tools/list")
        client.call("echo", {})
        self.assertEqual(made, [])
        for number in range(5):
            client.request(number, "tools/call", {"name": "echo", "arguments": {"text": "x"}})
        client.end()
        self.assertEqual(made, [ClientFacts()])

    def test_a_session_that_fails_is_tried_again_at_the_next_call(self) -> None:
        attempts: list[int] = []

        def make(facts: ClientFacts) -> FixtureSession:
            attempts.append(1)
            if len(attempts) == 1:
                raise StorageError("no room", hint="Make some.")
            return FixtureSession(facts)

        client = Client(dataclasses.replace(fixture_setup(), make_session=make))
        self.assertEqual(text_of(client.call("roots")), "no room. Make some.")
        self.assertFalse(client.call("roots")["result"]["isError"])
        client.end()


class Roots(unittest.TestCase):
    URI = "file:///home/me/project"

    def test_roots_are_asked_for_only_when_wanted_declared_and_ready(self) -> None:
        declared = {"roots": {"listChanged": True}}
        cases: tuple[tuple[bool, Any, str, bool], ...] = (
            (True, declared, "2025-11-25", True),
            (True, {"roots": {}}, "2025-03-26", True),
            (True, declared, "2024-11-05", False),
            (True, {}, "2025-11-25", False),
            (False, declared, "2025-11-25", False),
        )
        for wanted, capabilities, version, asked in cases:
            case = self.subTest(wanted=wanted, capabilities=capabilities, version=version)
            with case, connected(wants_roots=wanted) as client:
                client.ask("initialize", {"protocolVersion": version, "capabilities": capabilities})
                client.ask("ping")
                client.notify("notifications/initialized")
                client.request("p", "ping")
                self.assertEqual(client.receive().get("method") == "roots/list", asked)

    def test_the_first_call_waits_for_the_answer(self) -> None:
        with connected(wants_roots=True) as client:
            client.start(capabilities={"roots": {}})
            question = client.receive()
            self.assertEqual((question["method"], question["jsonrpc"]), ("roots/list", "2.0"))
            client.request(1, "tools/call", {"name": "roots"})
            client.send({"jsonrpc": "2.0", "id": "other", "result": {"roots": [{"uri": "file:///wrong"}]}})
            self.assertEqual(client.ask("ping", request_id="p")["id"], "p")
            listed = [{"uri": self.URI, "name": "p"}, {"uri": 5}, "junk", {"uri": "file:///second"}]
            client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": listed}})
            got = client.receive()["result"]["structuredContent"]["roots"]
            self.assertEqual(got, [self.URI, "file:///second"])

    def test_a_client_that_refuses_or_stays_silent_has_none(self) -> None:
        refusal = {"error": {"code": -32601, "message": "no"}}
        answers: tuple[Any, ...] = (refusal, {"result": {"roots": 5}}, {"result": []}, None)
        for answer in answers:
            limits = ServerLimits(roots_s=0.2, finish_s=5)
            with self.subTest(answer=answer), connected(wants_roots=True, limits=limits) as client:
                client.start(capabilities={"roots": {}})
                question = client.receive()
                if answer is not None:
                    client.send({"jsonrpc": "2.0", "id": question["id"], **answer})
                self.assertEqual(client.call("roots")["result"]["structuredContent"]["roots"], [])

    def test_changed_roots_count_until_the_project_is_fixed(self) -> None:
        with connected(wants_roots=True) as client:
            client.start(capabilities={"roots": {}})
            first = client.receive()
            client.notify("notifications/roots/list_changed")
            second = client.receive()
            self.assertNotEqual(first["id"], second["id"])
            client.send({"jsonrpc": "2.0", "id": first["id"], "result": {"roots": [{"uri": "file:///old"}]}})
            client.send({"jsonrpc": "2.0", "id": second["id"], "result": {"roots": [{"uri": self.URI}]}})
            self.assertEqual(client.call("roots")["result"]["structuredContent"]["roots"], [self.URI])
            client.notify("notifications/roots/list_changed")
            self.assertEqual(client.ask("ping", request_id="p")["id"], "p")
