"""The configuration: which origin wins, who may set what, and what a hostile file can do (nothing)."""

import json
import tempfile
import unittest
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

from appsecgate.config import Config, data_directory, load_config, project_directory, validate_patch
from appsecgate.errors import ConfigError, ProjectError
from appsecgate.model import Category, Json, Scanner
from appsecgate.settings import SETTINGS, ConfigOrigin, ConfigSuppression, ValueKind, stays_inside

HUMAN_ONLY: Mapping[str, Json] = {
    "scanners.enabled": ["semgrep"],
    "scanners.semgrep.command": "/usr/bin/semgrep",
    "export.dir": "/tmp",
    "export.all_projects": True,
    "limits.workers": False,
}
REACHING_TOO_FAR: Mapping[str, Json] = {
    "scanners.semgrep.rules": ["builtin", "/etc/rules.json"],
    "retention.shown_days": 31,
    "retention.fixed_days": 365,
    "limits.advisories_max_age_days": 3000,
    "limits.call_budget_s": 600,
    "limits.max_files": 1,
    "limits.max_file_bytes": 1000,
    "scanners.checkov.timeout_s": 1,
}
OUTSIDE = ("/etc/passwd", "../x.json", "a/../../x", "~/x", "C:\\x", "C:/x", "a\\..\\x", "", "a\0b", "a\nb", "\ud800")


class ConfigCase(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.data_dir = Path(directory.name)

    def load(
        self,
        *,
        cli: Mapping[str, Json] | None = None,
        environ: Mapping[str, str] | None = None,
        human: str | bytes | None = None,
        stored: Mapping[str, Json] | None = None,
        project: str | bytes | None = None,
    ) -> Config:
        if human is not None:
            content = human if isinstance(human, bytes) else human.encode()
            (self.data_dir / "config.toml").write_bytes(content)
        return load_config(
            cli=cli or {},
            environ=environ or {},
            data_dir=self.data_dir,
            project_file=project.encode() if isinstance(project, str) else project,
            stored=stored or {},
        )

    def origin_of(self, config: Config, key: str) -> ConfigOrigin:
        return next(setting.origin for setting in config.effective() if setting.key == key)


class OriginsTest(ConfigCase):
    def test_without_any_source_the_defaults_hold(self) -> None:
        config = self.load()
        self.assertEqual(config.problems, ())
        self.assertIsNone(config.alias)
        self.assertEqual(config.semgrep_rules, ("builtin",))
        self.assertTrue(all(config.scanners[scanner].enabled for scanner in Scanner))
        self.assertEqual(config.retention["shown"], 30)
        self.assertEqual(config.limits.max_files, 20_000)
        self.assertIsNone(config.export_dir)
        self.assertEqual({setting.origin for setting in config.effective()}, {ConfigOrigin.DEFAULT})

    def test_the_defaults_are_values_that_their_own_checks_accept(self) -> None:
        human = "\n".join(
            f"{spec.key} = {json.dumps(spec.default)}"
            for spec in SETTINGS
            if spec.default is not None and spec.kind is not ValueKind.SUPPRESSIONS
        )
        self.assertEqual(self.load(human=human).hash, self.load().hash)

    def test_a_stronger_origin_wins_and_is_named(self) -> None:
        layers: list[tuple[ConfigOrigin, dict[str, object]]] = [
            (ConfigOrigin.REPOSITORY, {"project": "project.alias = 'repository'"}),
            (ConfigOrigin.AGENT, {"stored": {"project.alias": "update_config"}}),
            (ConfigOrigin.HUMAN_FILE, {"human": "[project]\nalias = 'human'"}),
            (ConfigOrigin.ENVIRONMENT, {"environ": {"APPSECGATE_PROJECT_ALIAS": "environment"}}),
            (ConfigOrigin.COMMAND_LINE, {"cli": {"project.alias": "line"}}),
        ]
        given: dict[str, object] = {}
        for origin, more in layers:
            given.update(more)
            with self.subTest(origin=origin):
                config = self.load(**given)  # type: ignore[arg-type]
                self.assertEqual(self.origin_of(config, "project.alias"), origin)
        self.assertEqual(config.alias, "line")

    def test_variables_are_read_by_the_type_of_their_key(self) -> None:
        config = self.load(
            environ={
                "APPSECGATE_SCANNERS_DETECT_SECRETS_TIMEOUT_S": "12.5",
                "APPSECGATE_SCANNERS_ENABLED": "semgrep, checkov",
                "APPSECGATE_EXPORT_ALL_PROJECTS": "true",
                "APPSECGATE_LIMITS_MAX_FILES": "7",
                "APPSECGATE_LIMITS_WORKERS": "false",
                "APPSECGATE_SCANNERS_PIP_AUDIT_COMMAND": "/opt/pip-audit",
                "APPSECGATE_DATA_DIR": "/x",
                "APPSECGATE_TEST_FULL": "1",
                "PATH": "/bin",
            }
        )
        self.assertEqual(config.scanners[Scanner.DETECT_SECRETS].timeout_s, 12.5)
        self.assertFalse(config.scanners[Scanner.PIP_AUDIT].enabled)
        self.assertEqual(config.scanners[Scanner.PIP_AUDIT].command, ("/opt/pip-audit",))
        self.assertTrue(config.export_all_projects)
        self.assertEqual(config.limits.max_files, 7)
        self.assertFalse(config.limits.workers)
        self.assertEqual(self.origin_of(config, "limits.workers"), ConfigOrigin.ENVIRONMENT)

    def test_a_humans_mistake_is_an_error_that_names_key_and_place(self) -> None:
        cases: list[tuple[dict[str, object], tuple[str, ...]]] = [
            ({"human": "limits.max_file = 3"}, ("config.toml", "limits.max_file", "limits.max_files")),
            ({"human": "limits.max_files = 'many'"}, ("config.toml", "limits.max_files", "integer", "str")),
            ({"human": "limits.max_files = true"}, ("limits.max_files", "bool")),
            ({"human": "limits.max_files = 1.5"}, ("limits.max_files", "float")),
            ({"human": "limits.max_files = 0"}, ("limits.max_files", "1 to")),
            ({"human": "limits.call_budget_s = nan"}, ("limits.call_budget_s",)),
            ({"human": "[limits]\nmax_files = 1\n[other]\n"}, ("other",)),
            ({"human": "nonsense"}, ("config.toml", "not TOML")),
            ({"human": b"\xff"}, ("config.toml", "UTF-8")),
            ({"human": "scanners.enabled = ['bandit']"}, ("scanners.enabled", "bandit", "pip-audit")),
            ({"human": "scanners.semgrep.command = 'semgrep'"}, ("scanners.semgrep.command", "absolute")),
            ({"human": "scanners.semgrep.command = []"}, ("scanners.semgrep.command",)),
            ({"environ": {"APPSECGATE_LIMITS_MAX_FILES": "x"}}, ("environment", "limits.max_files")),
            ({"environ": {"APPSECGATE_TYPO": "x"}}, ("environment", "APPSECGATE_TYPO")),
            ({"environ": {"APPSECGATE_SUPPRESSIONS": "x"}}, ("APPSECGATE_SUPPRESSIONS",)),
            ({"cli": {"export.dir": "relative"}}, ("command line", "export.dir", "absolute")),
        ]
        for given, words in cases:
            with self.subTest(given=given):
                (self.data_dir / "config.toml").unlink(missing_ok=True)
                with self.assertRaises(ConfigError) as caught:
                    self.load(**given)  # type: ignore[arg-type]
                for word in words:
                    self.assertIn(word, str(caught.exception))

    def test_an_unreadable_file_of_the_human_is_an_error(self) -> None:
        (self.data_dir / "config.toml").mkdir()
        with self.assertRaisesRegex(ConfigError, "cannot be read"):
            self.load()

    def test_the_hash_moves_with_what_sways_results_and_with_nothing_else(self) -> None:
        plain = self.load()
        self.assertRegex(plain.hash, r"\A[0-9a-f]{16}\Z")
        cases: list[tuple[str, Json, bool, bool]] = [
            ("project.alias", "x", False, False),
            ("retention.shown_days", 10, False, False),
            ("limits.max_files", 5000, True, True),
            ("scanners.semgrep.rules", ["builtin", "own.json"], True, True),
            ("suppressions", [{"rule": "x", "reason": "y"}], True, False),
        ]
        for key, value, shown, found in cases:
            with self.subTest(key=key):
                config = self.load(stored={key: value})
                self.assertEqual(config.hash != plain.hash, shown)
                self.assertEqual(config.results_hash != plain.results_hash, found)


class TrustTest(ConfigCase):
    def test_the_agent_is_refused_what_is_the_humans(self) -> None:
        for key, value in {**HUMAN_ONLY, **REACHING_TOO_FAR}.items():
            with self.subTest(key=key), self.assertRaises(ConfigError) as caught:
                validate_patch({key: value}, {})
            self.assertIn(key, str(caught.exception))

    def test_the_repository_is_refused_the_same_and_it_is_said(self) -> None:
        for key, value in {**HUMAN_ONLY, **REACHING_TOO_FAR}.items():
            with self.subTest(key=key):
                config = self.load(project=f"{key} = {json.dumps(value)}")
                self.assertEqual(len(config.problems), 1)
                self.assertIn(".appsecgate.toml", config.problems[0])
                self.assertIn(key, config.problems[0])
                self.assertEqual(self.origin_of(config, key), ConfigOrigin.DEFAULT)

    def test_the_human_may_do_all_of_it(self) -> None:
        for key, value in {**HUMAN_ONLY, **REACHING_TOO_FAR}.items():
            with self.subTest(key=key):
                self.assertEqual(self.origin_of(self.load(cli={key: value}), key), ConfigOrigin.COMMAND_LINE)

    def test_neither_may_leave_out_our_own_rules(self) -> None:
        with self.assertRaisesRegex(ConfigError, "builtin"):
            validate_patch({"scanners.semgrep.rules": ["rules/mine.json"]}, {})
        config = self.load(project="scanners.semgrep.rules = ['mine.json']")
        self.assertEqual(config.semgrep_rules, ("builtin",))

    def test_both_may_add_rule_files_of_the_project(self) -> None:
        config = self.load(project="scanners.semgrep.rules = ['builtin', 'rules/mine.json']")
        self.assertEqual(config.semgrep_rules, ("builtin", "rules/mine.json"))
        self.assertEqual(config.problems, ())

    def test_a_path_that_could_leave_the_project_is_known_as_one(self) -> None:
        for path in OUTSIDE:
            with self.subTest(path=path):
                self.assertFalse(stays_inside(path))
        for path in ("x.json", "rules/x.json", "a b/ü.json", ".hidden/x", "a/..b/c"):
            with self.subTest(path=path):
                self.assertTrue(stays_inside(path))

    def test_a_hostile_file_is_reported_and_changes_nothing(self) -> None:
        cases: list[tuple[str, bytes]] = [
            ("random bytes", bytes(range(256))),
            ("deep lists", b"a = " + b"[" * 60_000),
            ("deep tables", b"a = " + b"{a=" * 20_000),
            ("deep keys", b".".join([b"a"] * 200) + b" = 1"),
            ("long decimal", b"limits.max_files = " + b"9" * 50_000),
            ("long hexadecimal", b"limits.max_files = 0x" + b"f" * 50_000),
            ("list of numbers", b"scanners.enabled = [0x" + b"f" * 50_000 + b"]"),
            ("too large", b"#" * 300_000),
            ("date for a number", b"limits.max_files = 2030-01-01"),
            ("control characters", b'project.alias = "\\u001b[2J"'),
            ("endless alias", b'project.alias = "' + b"a" * 5000 + b'"'),
            ("same key twice", b'"limits.max_files" = 5000\n[limits]\nmax_files = 6000'),
        ]
        for name, content in cases:
            with self.subTest(name):
                config = self.load(project=content)
                self.assertTrue(config.problems)
                self.assertEqual(config.hash, self.load().hash)
                self.assertIsNone(config.alias)
                self.assertLess(len("".join(config.problems)), 1000)

    def test_one_bad_key_of_the_repository_does_not_spoil_the_good_ones(self) -> None:
        config = self.load(project="project.alias = 'shop'\nscanners.enabled = []\nnothing = 1")
        self.assertEqual(config.alias, "shop")
        self.assertEqual(len(config.problems), 2)

    def test_a_thousand_problems_are_cut_to_a_few(self) -> None:
        config = self.load(project="\n".join(f"key{index} = 1" for index in range(1000)))
        self.assertEqual(len(config.problems), 21)
        self.assertEqual(config.problems[-1], "and 980 more")

    def test_a_stored_value_that_is_no_longer_allowed_is_ignored_and_said(self) -> None:
        config = self.load(stored={"limits.max_files": "x", "gone.key": 1, "project.alias": "kept"})
        self.assertEqual(config.alias, "kept")
        self.assertEqual(len(config.problems), 2)

    def test_a_file_that_could_not_be_read_is_said(self) -> None:
        config = load_config(
            cli={}, environ={}, data_dir=self.data_dir, project_file=None, stored={}, project_file_problem="symlink"
        )
        self.assertEqual(config.problems, (".appsecgate.toml: ignored: symlink",))


class PatchTest(unittest.TestCase):
    def test_dotted_and_nested_keys_say_the_same(self) -> None:
        want = {"limits.max_files": 5000, "project.alias": "shop"}
        self.assertEqual(validate_patch({"limits": {"max_files": 5000}, "project.alias": "shop"}, {}), want)
        self.assertEqual(validate_patch({"limits.max_files": 5000, "project": {"alias": "shop"}}, {}), want)

    def test_null_takes_a_key_or_a_whole_group_back(self) -> None:
        stored: dict[str, Json] = {"limits.max_files": 5000, "limits.window_lines": 9, "project.alias": "x"}
        self.assertEqual(
            validate_patch({"limits.max_files": None}, stored),
            {"limits.window_lines": 9, "project.alias": "x"},
        )
        self.assertEqual(validate_patch({"limits": None}, stored), {"project.alias": "x"})

    def test_what_is_stored_stays_as_it_was_when_one_key_is_bad(self) -> None:
        stored: dict[str, Json] = {"project.alias": "x"}
        with self.assertRaises(ConfigError):
            validate_patch({"project.alias": "y", "unknown": 1}, stored)
        self.assertEqual(stored, {"project.alias": "x"})

    def test_bad_patches_are_refused_with_the_key(self) -> None:
        deep: Json = 1
        for _ in range(50):
            deep = {"a": deep}
        cases: list[tuple[dict[str, Json], str]] = [
            ({}, "empty"),
            ({"limits": {}}, "empty"),
            ({"limits.max_fils": 1}, "limits.max_files"),
            ({"nothing": None}, "nothing"),
            ({"limits": {"max_files": 5000}, "limits.max_files": 5000}, "twice"),
            ({"limits": [1]}, "limits"),
            ({"deep": deep}, "deep"),
            ({"suppressions": "all"}, "suppressions"),
            ({"suppressions": [1]}, r"suppressions\[0\]"),
            ({"suppressions": [{"rule": "x"}]}, "reason"),
            ({"suppressions": [{"reason": "x"}]}, "rule, path or category"),
            ({"suppressions": [{"rule": "x", "reason": " "}]}, "reason"),
            ({"suppressions": [{"rule": "x", "reason": "y", "expires": "soon"}]}, "expires"),
            ({"suppressions": [{"rule": "x", "reason": "y", "expires": "2030-13-40"}]}, "expires"),
            ({"suppressions": [{"category": "x", "reason": "y"}]}, "category"),
            ({"suppressions": [{"rule": "x", "reason": "y", "until": "z"}]}, "until"),
            ({"suppressions": [{"rule": "x", "reason": "y"}] * 201}, "at most 200"),
        ]
        for patch, word in cases:
            with self.subTest(patch=str(patch)[:80]), self.assertRaisesRegex(ConfigError, word):
                validate_patch(patch, {})


class SuppressionTest(ConfigCase):
    def test_those_of_all_origins_add_up(self) -> None:
        config = self.load(
            human="[[suppressions]]\nrule = 'h'\nreason = 'r'\nexpires = 2030-01-31",
            stored={"suppressions": [{"rule": "a", "reason": "r"}]},
            project="[[suppressions]]\npath = 'tests/*'\nreason = 'fixtures'",
        )
        self.assertEqual(
            [suppression.origin for suppression in config.suppressions],
            [ConfigOrigin.HUMAN_FILE, ConfigOrigin.AGENT, ConfigOrigin.REPOSITORY],
        )
        self.assertEqual(config.suppressions[0].expires, date(2030, 1, 31))

    def test_each_given_field_narrows(self) -> None:
        day = date(2030, 1, 31)
        cases = [
            (ConfigSuppression("r", ConfigOrigin.AGENT, rule="py.*"), True),
            (ConfigSuppression("r", ConfigOrigin.AGENT, rule="js.*"), False),
            (ConfigSuppression("r", ConfigOrigin.AGENT, path="src/*.py"), True),
            (ConfigSuppression("r", ConfigOrigin.AGENT, path="*.js"), False),
            (ConfigSuppression("r", ConfigOrigin.AGENT, category=Category.SAST), True),
            (ConfigSuppression("r", ConfigOrigin.AGENT, category=Category.IAC), False),
            (ConfigSuppression("r", ConfigOrigin.AGENT, rule="py.*", path="*.js"), False),
            (ConfigSuppression("r", ConfigOrigin.AGENT, rule="py.*", expires=day), True),
            (ConfigSuppression("r", ConfigOrigin.AGENT, rule="py.*", expires=day - timedelta(1)), False),
        ]
        for suppression, want in cases:
            with self.subTest(suppression=suppression):
                self.assertEqual(suppression.covers("py.eval", "src/a/b.py", "sast", day), want)


class DirectoryTest(unittest.TestCase):
    def test_the_data_directory_follows_the_platform(self) -> None:
        home = {"HOME": "/home/x"}
        cases: list[tuple[str | None, dict[str, str], str, str]] = [
            ("/given", {"APPSECGATE_DATA_DIR": "/env"}, "linux", "/given"),
            (None, {"APPSECGATE_DATA_DIR": "/env"}, "linux", "/env"),
            (None, {**home, "XDG_DATA_HOME": "/xdg"}, "linux", "/xdg/appsecgate"),
            (None, {**home, "XDG_DATA_HOME": "relative"}, "linux", "/home/x/.local/share/appsecgate"),
            (None, home, "linux", "/home/x/.local/share/appsecgate"),
            (None, home, "darwin", "/home/x/Library/Application Support/appsecgate"),
            (None, {"LOCALAPPDATA": "/local"}, "win32", "/local/appsecgate"),
            (None, {"USERPROFILE": "/u"}, "win32", "/u/AppData/Local/appsecgate"),
        ]
        for given, environ, platform, want in cases:
            with self.subTest(want=want):
                self.assertEqual(data_directory(given, environ, platform), Path(want))

    def test_the_project_is_chosen_in_this_order(self) -> None:
        env = {"APPSECGATE_PROJECT": "/env", "CLAUDE_PROJECT_DIR": "/claude"}
        claude = {"CLAUDE_PROJECT_DIR": "/claude"}
        cases: list[tuple[str | None, dict[str, str], tuple[str, ...], str]] = [
            ("given", env, ("file:///root",), "/cwd/given"),
            (None, env, ("file:///root",), "/env"),
            (None, claude, ("file:///my%20root",), "/my root"),
            (None, claude, ("https://x.example/y", "/plain"), "/plain"),
            (None, claude, (), "/claude"),
            (None, {}, (), "/cwd"),
            (None, {}, ("file:///C:/code",), "C:/code"),
        ]
        for given, environ, roots, want in cases:
            with self.subTest(want=want):
                self.assertEqual(project_directory(given, environ, roots, "/cwd"), Path(want))

    def test_a_root_on_another_machine_is_refused(self) -> None:
        with self.assertRaisesRegex(ProjectError, "another machine"):
            project_directory(None, {}, ("file://server/share",), "/cwd")


if __name__ == "__main__":
    unittest.main()
