"""update_config: what is set can be taken back, and nothing is changed by a call that fails."""

import unittest

from appsecgate.errors import ConfigError
from appsecgate.model import Json
from appsecgate.tools.update_config import UpdateConfigInput, update_config
from tests.support import call
from tests.tools.test_standing import StandingCase


class UpdateConfigTest(StandingCase):
    def change(self, patch: dict[str, Json]) -> dict[str, tuple[Json, str]]:
        answer = update_config(call(self.session), UpdateConfigInput(patch))
        return {setting.key: (setting.value, setting.origin) for setting in answer.settings}

    def stored(self) -> dict[str, Json]:
        with self.session.store.read() as reader:
            return reader.config_values(self.session.project_id)

    def test_null_takes_a_key_back_to_its_default(self) -> None:
        patches: tuple[dict[str, Json], ...] = ({"limits.max_files": None}, {"limits": None})
        for patch in patches:
            with self.subTest(patch):
                self.assertEqual(self.change({"limits.max_files": 5000})["limits.max_files"], (5000, "update_config"))
                self.change({"project.alias": "shop"})
                self.assertEqual(self.stored(), {"limits.max_files": 5000, "project.alias": "shop"})
                self.assertEqual(self.change(patch)["limits.max_files"][1], "default")
                self.assertEqual(self.stored(), {"project.alias": "shop"})
        with self.session.store.read() as reader:
            last = reader.config_log(self.session.project_id)[0]
        self.assertEqual((last.key, last.old, last.new), ("limits.max_files", 5000, None))

    def test_a_filter_that_is_taken_back_hides_nothing(self) -> None:
        self.change({"suppressions": [{"rule": "*", "reason": "noise"}]})
        self.assertTrue(self.session.config.suppressions)
        self.change({"suppressions": None})
        self.assertFalse(self.session.config.suppressions)

    def test_nothing_is_changed_where_a_persons_own_file_is_wrong(self) -> None:
        (self.data / "config.toml").write_text("[limits\n")
        with self.assertRaises(ConfigError):
            self.change({"limits.max_files": 5000})
        self.assertEqual(self.stored(), {})


if __name__ == "__main__":
    unittest.main()
