"""Which files a person has to touch to raise a dependency's version."""

import posixpath
from collections.abc import Iterable, Sequence

from appsecgate.errors import AppSecGateError
from appsecgate.model import Finding
from appsecgate.scanners.manifests import kin_of_manifest, parse_manifest
from appsecgate.workspace import LeftOut, Workspace

_MAX_PLACES = 40
"""Files whose neighbours are looked at."""


def files_to_change(
    workspace: Workspace, findings: Iterable[Finding], package: str, *, max_bytes: int
) -> Sequence[str]:
    """The files of the findings, the files that hold their pins, and what belongs to each of these and names the
    package: a lock beside its manifest, a manifest beside its lock. Sorted; ``findings`` are of one flaw."""
    places = set()
    for finding in findings:
        places.add(finding.file_path)
        pinned_in = finding.metadata.get("pinned_in")
        if isinstance(pinned_in, str):
            places.add(pinned_in.rpartition(":")[0])
    kin = {
        path
        for place in sorted(places)[:_MAX_PLACES]
        for path in _kin(workspace, place)
        if path not in places and _names_package(workspace, path, package, max_bytes)
    }
    return sorted(places | kin)


def _kin(workspace: Workspace, place: str) -> list[str]:
    folder = posixpath.dirname(place)
    names = [posixpath.basename(name) for name in workspace.files_in(folder)]
    return [posixpath.join(folder, name) for name in kin_of_manifest(place, names)]


def _names_package(workspace: Workspace, path: str, package: str, max_bytes: int) -> bool:
    try:
        found = workspace.read(path, max_bytes=max_bytes)
    except AppSecGateError:
        return False
    if isinstance(found, LeftOut):
        return False
    return any(requirement.name == package for requirement in parse_manifest(path, found.text).requirements)
