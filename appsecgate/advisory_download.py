"""``advisories update``: the one download besides ``setup``, by a person's hand alone.

An address, by TLS, into a file of its own in the data directory, then through the importer like any other dump: what
fails on the way leaves the old copy as it was. The server and scans never come here, and what speaks to the network is
loaded by this module's own call alone.
"""

import contextlib
import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from appsecgate import __version__
from appsecgate.errors import AdvisoryError, UnwritableError
from appsecgate.store.advisory_import import ImportReport, import_advisories

MAX_DOWNLOAD_BYTES = 512 * 1024 * 1024
"""The OSV project's dump for PyPI has some tens of MB."""
SILENCE_S = 30.0
"""So long may the other side say nothing."""
DOWNLOAD_S = 1800.0
"""So long may all of it take."""
_DOWNLOAD_BLOCK = 256 * 1024
_PROGRESS_S = 3.0
_LOOPBACK_NAMES = frozenset({"127.0.0.1", "::1", "localhost"})
_DOWNLOAD_HINT = (
    "The old copy was left as it was. Without a network: download the dump on another machine, carry it over, and run "
    "python -P -m appsecgate advisories import FILE. Another address: advisories.url in config.toml, or --url."
)


def download_advisories(
    url: str,
    data_dir: Path,
    now: datetime,
    report: Callable[[str], None],
    *,
    plain_loopback: bool = False,
    max_bytes: int = MAX_DOWNLOAD_BYTES,
    limit_s: float = DOWNLOAD_S,
) -> ImportReport:
    """Fetch a zip of OSV records and replace the copy by it. ``report`` gets a line now and then.

    ``plain_loopback``: for tests, whose server on this machine has no certificate. Raises AdvisoryError where the
    download or the dump is no good, UnwritableError where the data directory refuses it.
    """
    _check_download_url(url, plain_loopback)
    draft = data_dir / f".advisories-download.{os.getpid()}.tmp"
    try:
        with _new_private_file(draft) as file:
            size = _fetch(url, file, report, plain_loopback, max_bytes, time.monotonic() + limit_s)
        report(f"{size / 1e6:.1f} MB received, importing …")
        return import_advisories(draft, data_dir, now)
    except AdvisoryError as error:
        told = str(error).replace(str(draft), "what was sent")
        raise AdvisoryError(f"{_shown_url(url)}: {told}", hint=_DOWNLOAD_HINT) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _new_private_file(path: Path) -> BinaryIO:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except OSError as error:
        raise UnwritableError(f"the download cannot be kept: {error}") from error


def _check_download_url(url: str, plain_loopback: bool) -> None:
    """Raises AdvisoryError for anything but TLS without credentials."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        host, parts = "", urlsplit("")
    secure = parts.scheme == "https" or (parts.scheme == "http" and plain_loopback and host in _LOOPBACK_NAMES)
    if not host or not secure or "@" in parts.netloc:
        raise AdvisoryError(
            f"{_shown_url(url)}: advisories come from an https:// address without a user name alone.",
            hint=_DOWNLOAD_HINT,
        )


def _shown_url(url: str) -> str:
    """Without what may be secret: user, query, fragment."""
    try:
        parts = urlsplit(url)
        shown = f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
    except ValueError:
        return "this address"
    return "".join(char for char in shown[:200] if char.isprintable())


def _fetch(
    url: str, file: BinaryIO, report: Callable[[str], None], plain_loopback: bool, max_bytes: int, until: float
) -> int:
    """Copy the answer's body into ``file``; its size in bytes."""
    report(f"Downloading {_shown_url(url)} …")
    try:
        with _opener(plain_loopback).open(url, timeout=SILENCE_S) as answer:
            told = answer.headers.get("Content-Length", "")
            promised = int(told) if told.isascii() and told.isdigit() else None
            if promised is not None and promised > max_bytes:
                raise AdvisoryError(f"it is {promised / 1e6:.0f} MB, more than the {max_bytes / 1e6:.0f} MB taken")
            size = _copy_bounded(answer, file, report, promised, max_bytes, until)
    except (OSError, ValueError, EOFError) as error:  # URLError, timeouts, TLS and protocol faults
        raise AdvisoryError(f"the download failed: {str(error)[:200] or type(error).__name__}") from error
    except Exception as error:
        if type(error).__module__ != "http.client":
            raise
        raise AdvisoryError(f"the download failed: {type(error).__name__}") from error
    if promised is not None and size != promised:
        raise AdvisoryError(f"the download broke off: {size:,} of {promised:,} bytes")
    return size


def _copy_bounded(
    answer: Any,  # http.client.HTTPResponse, whose module is not loaded here
    file: BinaryIO,
    report: Callable[[str], None],
    promised: int | None,
    max_bytes: int,
    until: float,
) -> int:
    size = 0
    told_at = time.monotonic()
    while block := answer.read1(_DOWNLOAD_BLOCK):
        size += len(block)
        if size > max_bytes:
            raise AdvisoryError(f"it is more than the {max_bytes / 1e6:.0f} MB taken")
        if time.monotonic() > until:
            raise AdvisoryError("the download takes too long")
        file.write(block)
        if time.monotonic() - told_at > _PROGRESS_S:
            told_at = time.monotonic()
            share = f" of {promised / 1e6:.1f}" if promised else ""
            report(f"{size / 1e6:.1f}{share} MB …")
    return size


def _opener(plain_loopback: bool) -> Any:
    """TLS with the machine's certificates and proxies, no other scheme, and redirections under the same rule."""
    import ssl  # here, so that the server never loads what can reach a network
    import urllib.request

    class Redirections(urllib.request.HTTPRedirectHandler):
        max_redirections = 5

        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            _check_download_url(newurl, plain_loopback)
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    opener = urllib.request.OpenerDirector()
    handlers: list[urllib.request.BaseHandler] = [
        urllib.request.ProxyHandler(),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        Redirections(),
    ]
    if plain_loopback:
        handlers.append(urllib.request.HTTPHandler())
    for handler in handlers:
        opener.add_handler(handler)
    opener.addheaders = [("User-Agent", f"appsecgate/{__version__}"), ("Accept-Encoding", "identity")]
    return opener
