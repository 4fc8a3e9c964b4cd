"""From a raw hit to a finding that may be stored: the only maker of ``Finding``.

What is kept goes by category: ``secret``: masked lines, rule and place; ``sast``: the flagged lines;
``iac``: the resource's block; ``sca``: package and versions; ``license``: nothing of the project's text.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from appsecgate.model import Category, Finding, Hit, Json, Package
from appsecgate.redact.cleaning import bound_text, clean_text, cut_before
from appsecgate.redact.kinds import SECRET_PLACEHOLDER
from appsecgate.redact.redactor import Masked, Redactor
from appsecgate.spelling import plain_code

MESSAGE_MAX_CHARS = 2_000
SNIPPET_MAX_CHARS = 4_000
SNIPPET_MAX_LINES = 60
_CODE_MAX_CHARS = 2_000
_ID_MAX_CHARS = 300
_LIST_MAX_ITEMS = 50
_METADATA_MAX_KEYS = 60
_METADATA_MAX_DEPTH = 6
_READ_AHEAD = 8
"""A text is masked up to this many times its bound, since masking may make it shorter."""

_SECRET_HASHES = frozenset(("hashed_secret", "secret_hash", "secret_sha1", "sha1"))
"""Plain hashes of a secret, open to guessing: never kept."""

_AHEAD_LINES = 3


def seal(hit: Hit, masked: Masked, redactor: Redactor) -> Finding:
    """The finding of ``hit`` with every text in it masked, cleaned and bounded; never raises for odd hits."""
    return _Sealer(hit, masked, redactor).finding()


class _Sealer:
    """One hit on its way to a finding."""

    def __init__(self, hit: Hit, masked: Masked, redactor: Redactor) -> None:
        self.hit = hit
        self.masked = masked
        self.redactor = redactor.with_known(masked.marks)

    def finding(self) -> Finding:
        hit = self.hit
        line_start = max(hit.line_start, 1)
        code = self._code()
        return Finding(
            scanner=hit.scanner,
            rule_id=_bare_id(hit.rule_id),
            category=hit.category,
            severity=hit.severity,
            file_path=hit.path,
            line_start=line_start,
            line_end=max(hit.line_end, line_start),
            message=self._text(hit.message, MESSAGE_MAX_CHARS),
            snippet=self._snippet(),
            code=code,
            scanner_version=_bare_id(hit.scanner_version),
            cwe=self._texts(hit.cwe),
            owasp=self._texts(hit.owasp),
            references=self._texts(hit.references),
            metadata=self._metadata(),
            resource=None if hit.resource is None else self._text(hit.resource, _ID_MAX_CHARS),
            package=self._package(),
            secret_digests=tuple(dict.fromkeys(SECRET_PLACEHOLDER.findall(code))),
            suppressed_inline=hit.suppressed_inline,
        )

    def _text(self, text: str, max_chars: int) -> str:
        """Cleaned, masked, bounded, in this order: an escape may divide a secret, a cut may halve one."""
        part = cut_before(text, max_chars * _READ_AHEAD)
        clean = clean_text(part if not self.hit.secret_sha1 else part.replace(self.hit.secret_sha1, ""))
        return bound_text(self.redactor.text(clean, entropy=True), max_chars)

    def _texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._text(text, _ID_MAX_CHARS) for text in list(texts)[:_LIST_MAX_ITEMS])

    def _snippet(self) -> str:
        hit = self.hit
        if hit.category is Category.LICENSE:
            return ""
        if hit.category is Category.SCA:
            return self._versions()
        start = max(hit.line_start, 1)
        shown = self.masked.text(start, min(hit.line_end, start + SNIPPET_MAX_LINES - 1))
        left = min(hit.line_end, len(self.masked.lines)) - start + 1 - SNIPPET_MAX_LINES
        shown = bound_text(shown, SNIPPET_MAX_CHARS)
        return f"{shown}\n… [cut, {left} more lines]" if left > 0 else shown

    def _versions(self) -> str:
        package = self._package()
        if package is None:
            return ""
        mend = f", fixed in {package.fixed_version}" if package.fixed_version else ""
        return f"{package.name} {package.installed_version}{mend}"

    def _code(self) -> str:
        """The flagged code, folded; what is cut off is represented by its hash, so that it still counts."""
        hit = self.hit
        if hit.category in (Category.SCA, Category.LICENSE):
            package = hit.package
            parts = (package.name, package.installed_version, *package.advisory_ids[:1]) if package else (hit.rule_id,)
            return self._text(" ".join(parts), _CODE_MAX_CHARS)
        whole = plain_code(hit.respelled, self._flagged())
        code = " ".join(self.redactor.text(clean_text(whole), entropy=True).split())
        if len(code) <= _CODE_MAX_CHARS:
            return code
        rest = hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{bound_text(code, _CODE_MAX_CHARS - 20)} #{rest}"

    def _flagged(self) -> str:
        hit = self.hit
        if hit.category is not Category.SECRET:
            columns = (None, None) if hit.category is Category.IAC else (hit.col_start, hit.col_end)
            return self.masked.cut(hit.line_start, columns[0], hit.line_end, columns[1])
        code = self.masked.secret_of(hit) or self.masked.cut(hit.line_start, hit.col_start, hit.line_end, hit.col_end)
        if SECRET_PLACEHOLDER.search(code):
            return code
        whole = self.masked.text(hit.line_start, hit.line_end + _AHEAD_LINES)
        ahead = SECRET_PLACEHOLDER.search(whole)  # a key block's first line is flagged, the key is below
        return f"{code} {ahead[0]}" if ahead else code

    def _package(self) -> Package | None:
        package = self.hit.package
        if package is None:
            return None
        fixed = package.fixed_version
        return replace(
            package,
            ecosystem=self._text(package.ecosystem, _ID_MAX_CHARS),
            name=self._text(package.name, _ID_MAX_CHARS),
            installed_version=self._text(package.installed_version, _ID_MAX_CHARS),
            fixed_version=None if fixed is None else self._text(fixed, _ID_MAX_CHARS),
            advisory_ids=self._texts(package.advisory_ids),
        )

    def _metadata(self) -> Mapping[str, Json]:
        left_out = _SECRET_HASHES | ({"patch"} if self.hit.category is Category.SECRET else frozenset())
        kept = {key: value for key, value in self.hit.metadata.items() if key.lower() not in left_out}
        sealed = self.redactor.json(self._bounded(kept, 0))
        return sealed if isinstance(sealed, dict) else {}

    def _bounded(self, value: Json, depth: int) -> Json:
        """Metadata with bounded sizes, every string masked."""
        if isinstance(value, str):
            return self._text(value, MESSAGE_MAX_CHARS)
        if isinstance(value, list | dict) and depth >= _METADATA_MAX_DEPTH:
            return None
        if isinstance(value, list):
            return [self._bounded(item, depth + 1) for item in value[:_LIST_MAX_ITEMS]]
        if isinstance(value, dict):
            items = list(value.items())[:_METADATA_MAX_KEYS]
            return {
                self._text(key, _ID_MAX_CHARS): self._bounded(item, depth + 1)
                for key, item in items
                if key.lower() not in _SECRET_HASHES
            }
        return value


def _bare_id(text: str) -> str:
    """A name that the scanner or a rule file gave, as an identifier: one line, bounded, not masked."""
    return clean_text(text)[:_ID_MAX_CHARS].replace("\n", " ")
