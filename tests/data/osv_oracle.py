"""Which advisories a database holds for a pin, worked out without the product: run by an interpreter with ``packaging``.

Reads {"sources": [directory or zip …], "pins": [[name, version] …]} on stdin; prints a list, one entry per pin, of
{"flaws": [canonical id …], "safe": smallest final version above the pin that nothing affects, or null}.
"""

import json
import re
import sys
import zipfile
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

RANKS = ("CVE-", "GHSA-", "PYSEC-")


def documents(sources):
    for source in map(Path, sources):
        if source.is_dir():
            yield from (json.loads(path.read_text("utf-8")) for path in sorted(source.glob("*.json")))
        else:
            with zipfile.ZipFile(source) as archive:
                yield from (json.loads(archive.read(name)) for name in sorted(archive.namelist()))


def parsed(text):
    try:
        return Version(text)
    except InvalidVersion:
        return None


def touches(entry, version):
    if any(parsed(listed) == version for listed in entry.get("versions", [])):
        return True
    for span in entry.get("ranges", []):
        if span["type"] != "ECOSYSTEM":
            continue
        inside = False
        events = []
        for event in span["events"]:
            ((kind, at),) = event.items()
            at = Version("0.dev0") if (kind, at) == ("introduced", "0") else Version(at)
            events.append((at, {"fixed": 0, "introduced": 1, "last_affected": 2}[kind], kind))
        for at, _, kind in sorted(events):
            if kind == "introduced" and version >= at:
                inside = True
            elif (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
                inside = False
        if inside:
            return True
    return False


def canonical(names):
    def order(name):
        rank = next((place for place, start in enumerate(RANKS) if name.startswith(start)), len(RANKS))
        return rank, [int(part) for part in re.findall("[0-9]+", name)] if rank != 1 else [], name

    return min(names, key=order)


def main():
    question = json.load(sys.stdin)
    records = [document for document in documents(question["sources"]) if not document.get("withdrawn")]
    group = {}
    for record in records:  # names that stand in one record are one flaw; so are those joined over a third
        names = {record["id"], *record.get("aliases", [])}
        for name in list(names):
            names |= group.get(name, set())
        for name in names:
            group[name] = names
    answers = []
    for name, text in question["pins"]:
        entries = [
            (record["id"], entry)
            for record in records
            for entry in record["affected"]
            if entry["package"]["ecosystem"] == "PyPI"
            and canonicalize_name(entry["package"]["name"]) == canonicalize_name(name)
        ]
        version = Version(text)
        flaws = sorted({canonical(group[record_id]) for record_id, entry in entries if touches(entry, version)})
        ends = {
            Version(event["fixed"])
            for _, entry in entries
            for span in entry.get("ranges", [])
            if span["type"] == "ECOSYSTEM"
            for event in span["events"]
            if "fixed" in event
        }
        later = sorted(end for end in ends if end > version and not end.is_prerelease)
        safe = next((end for end in later if not any(touches(entry, end) for _, entry in entries)), None)
        answers.append({"flaws": flaws, "safe": str(safe) if safe else None})
    print(json.dumps(answers))


main()
