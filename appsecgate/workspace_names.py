"""What the files of a project are really called, where the program knows them by covered names (see ``covered``)."""

import os
import time
from pathlib import Path

from appsecgate.beneath import NotReadError, folder_beneath, names_of
from appsecgate.covered import MARK, CoveredNames
from appsecgate.model import EvidenceReason

_MAX_ENTRY_NAMES = 400_000
"""Entries of one directory among which a covered name is looked for."""
_SETTLED_NS = 2_000_000_000
"""A directory that changed less than this before it was listed may have changed since without a trace."""


class DiskNames:
    """Names of one project, there and back."""

    def __init__(self, root: Path, names: CoveredNames) -> None:
        self._root = root
        self._names = names
        self._listed: dict[str, int] = {}
        """Directory → when it had last changed when it was listed."""

    def shown(self, path: str) -> str:
        """A project-relative path that came from the disk or from git, as the program knows it."""
        return self._names.shown(path)

    def real(self, relative: str) -> str:
        """The path on disk. Raises NotReadError where a directory that must be looked into cannot be read."""
        return self._names.real(relative, self._entry_names)

    def on_disk(self, relative: str) -> str:
        """The same, as far as that can be told."""
        try:
            return self.real(relative)
        except NotReadError:
            return relative

    def as_called(self, path: str) -> str:
        """A path as a caller names it, absolute or not, who may know a file by its covered name alone."""
        return self.on_disk(os.path.relpath(self._root / path, self._root)) if MARK in path else path

    def _entry_names(self, directory: str) -> list[str]:
        """The names in a directory; none where it has not changed since it was last asked for."""
        with folder_beneath(self._root, names_of(directory)) as folder:
            status = folder.status(".")
            changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
            if self._listed.get(directory) == changed_ns:
                return []
            names = [entry.name for entry in folder.entries(_MAX_ENTRY_NAMES + 1)]
        if len(names) > _MAX_ENTRY_NAMES:
            raise NotReadError(EvidenceReason.TOO_MANY_FILES, f"over {_MAX_ENTRY_NAMES} entries in its directory")
        if time.time_ns() - changed_ns > _SETTLED_NS:
            self._listed[directory] = changed_ns
        return names
