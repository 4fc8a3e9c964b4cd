"""Names of files that are secrets: the program knows them by a name in which a placeholder stands for the secret.

What comes from the disk or from git is covered where it enters (``workspace``, ``git``), and what goes there is
uncovered, so that nothing in between, and nothing that is stored or shown, ever holds the secret. A covered name
tells what the real one is to whoever looks at the directory, and to nobody else.
"""

from collections.abc import Callable, Iterable

MARK = "[REDACTED:"
"""What every placeholder begins with."""
_MOST_PLAIN = 100_000
"""Names that are remembered to need no cover."""


class CoveredNames:
    """Covers and uncovers project-relative paths, component by component. Safe to share between threads."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        """``mask``: a name without its secrets, the same each time; two names never give the same one, and none that
        it gives is its own mask, unless nothing was masked."""
        self._mask = mask
        self._real: dict[str, str] = {}
        self._plain: set[str] = set()
        """Names that need no cover: most come again and again."""

    def shown(self, path: str) -> str:
        """The path as the program knows it."""
        names = path.split("/")
        if self._plain.issuperset(names):
            return path
        covered = [self._mask(name) for name in names]
        if len(self._plain) < _MOST_PLAIN:
            self._plain.update(old for old, new in zip(names, covered, strict=True) if old == new)
        if covered == names:
            return path
        self._real.update((new, old) for new, old in zip(covered, names, strict=True) if new != old)
        return "/".join(covered)

    def real(self, path: str, entries: Callable[[str], Iterable[str]]) -> str:
        """The path as the disk knows it; ``entries`` gives the names in a directory, which is asked for at need.

        A component of which nobody knows stays as it is.
        """
        if MARK not in path:
            return path
        names: list[str] = []
        for name in path.split("/"):
            if MARK in name and name not in self._real:
                for entry in entries("/".join(names)):
                    self.shown(entry)
            names.append(self._real.get(name, name))
        return "/".join(names)


def glob_of(path: str) -> str:
    """A covered path as a shell pattern that matches it: ``[`` begins a set of characters there."""
    return path.replace(MARK, f"[[]{MARK[1:]}")
