"""Ask one scanner for its known-bad sample alone, with the same command line, rules and environment as always."""

from appsecgate.model import EvidenceReason, Scanner, SentinelState
from appsecgate.scanners.runner import run_adapter
from appsecgate.scanners.stage import Stage
from appsecgate.session import Session
from appsecgate.workspace import source_from_bytes

_PROBES: dict[Scanner, tuple[str, bytes]] = {
    Scanner.SEMGREP: ("probe.py", b"value = 1\n"),
    Scanner.DETECT_SECRETS: ("probe.txt", b"nothing here\n"),
    Scanner.PIP_AUDIT: ("requirements.txt", b"appsecgate-probe==1.0\n"),
    Scanner.CHECKOV: ("Dockerfile", b"FROM scratch\n"),
}
"""A scanner runs over something: each run carries the known-bad sample beside its targets."""


def probe_sentinel(session: Session, scanner: Scanner) -> SentinelState:
    """ALIVE, MISSED, or NOT_RUN where the scanner is missing or not ready."""
    adapter = session.adapter(scanner)
    tool = session.installation(scanner)
    if tool is None or adapter.unready()[0] is not EvidenceReason.NONE:
        return SentinelState.NOT_RUN
    with Stage() as stage:
        name, content = _PROBES[scanner]
        target = stage.add(source_from_bytes(name, content))
        return run_adapter(adapter, tool, [target], stage=stage).sentinel
