-- AppSecGate database, schema version 1.
--
-- The single source of the schema. A new database is made by running this file; an older one is
-- brought here by the steps in appsecgate/store/migrations.py. Every table, view and column carries
-- a comment, and docs/views.md is generated from those of the views.
--
-- Times are UTC, ISO 8601 with "Z". Every text that comes from a project was redacted before it came
-- here. Lists are JSON arrays. Booleans are 0 and 1.

-- The projects that share this database.
CREATE TABLE projects (
  project_id TEXT PRIMARY KEY,            -- first 16 hex digits of sha256 of the project's real path
  project_alias TEXT NOT NULL,            -- the name for people; need not be unique
  project_path TEXT NOT NULL,             -- where it lies on this machine; in no view, in no snapshot
  first_seen_at TIMESTAMP NOT NULL,       -- when a server first worked on it
  last_seen_at TIMESTAMP NOT NULL         -- when a server last worked on it
);

-- The present state of every finding, one row per logical id, kept after it is gone.
CREATE TABLE findings (
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the handle that survives edits, 16 hex digits
  fingerprint TEXT NOT NULL,              -- the flagged code as last seen, 32 hex digits
  scanner TEXT NOT NULL                   -- who found it
    CHECK (scanner IN ('semgrep', 'detect-secrets', 'pip-audit', 'checkov')),
  rule_id TEXT NOT NULL,                  -- the scanner's rule
  category TEXT NOT NULL                  -- the kind of weakness
    CHECK (category IN ('sast', 'secret', 'sca', 'iac', 'license')),
  severity TEXT NOT NULL                  -- how bad
    CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
  file_path TEXT NOT NULL,                -- relative to the project, "/"-separated
  line_start INTEGER NOT NULL,            -- first flagged line, from 1
  line_end INTEGER NOT NULL,              -- last flagged line, inclusive
  message TEXT NOT NULL,                  -- what the scanner says, redacted
  code TEXT NOT NULL,                     -- the flagged code, redacted and folded: what matching compares
  scope_key TEXT NOT NULL,                -- where it is: qualified name, package, resource or line bucket
  slot INTEGER NOT NULL DEFAULT 1,        -- which of several of one rule in one scope
  cwe TEXT NOT NULL DEFAULT '[]',         -- CWE ids
  owasp TEXT NOT NULL DEFAULT '[]',       -- OWASP ids
  links TEXT NOT NULL DEFAULT '[]',       -- where to read on
  resource TEXT,                          -- iac: the resource's address
  package_ecosystem TEXT,                 -- sca: such as PyPI
  package TEXT,                           -- sca: the package's normalised name
  installed_version TEXT,                 -- sca: the version in the manifest
  fixed_version TEXT,                     -- sca: the smallest version without the flaw, if there is one
  advisory_ids TEXT NOT NULL DEFAULT '[]',     -- sca: every name of the flaw, the canonical one first
  secret_digests TEXT NOT NULL DEFAULT '[]',   -- digests of the placeholders in the flagged code
  suppressed_inline INTEGER NOT NULL DEFAULT 0 -- 1: a comment in the file asks scanners to stay silent
    CHECK (suppressed_inline IN (0, 1)),
  line_marks TEXT NOT NULL DEFAULT '',    -- keyed hashes of the flagged lines, hexadecimal; no text
  also_reported_by TEXT NOT NULL DEFAULT '[]', -- merged duplicates: scanner, rule_id, logical_id
  merged_into TEXT,                       -- the logical id of the finding that stands for this one
  scanner_version TEXT NOT NULL,          -- of the scanner that last saw it
  ruleset_hash TEXT NOT NULL DEFAULT '',  -- of the rules that last saw it
  source_sha256 TEXT NOT NULL DEFAULT '', -- of the file's bytes when it was last seen
  scan_id TEXT NOT NULL,                  -- the scan that last saw it
  present INTEGER NOT NULL DEFAULT 1      -- 0: a complete scan no longer reports it
    CHECK (present IN (0, 1)),
  recurred INTEGER NOT NULL DEFAULT 0     -- 1: found again after a verified fix
    CHECK (recurred IN (0, 1)),
  suppressed INTEGER NOT NULL DEFAULT 0   -- 1: a display filter hides it
    CHECK (suppressed IN (0, 1)),
  first_seen_at TIMESTAMP NOT NULL,       -- when it was first found
  last_seen_at TIMESTAMP NOT NULL,        -- when it was last found
  state_changed_at TIMESTAMP NOT NULL,    -- when present or suppressed last changed
  PRIMARY KEY (project_id, logical_id)
);
CREATE INDEX idx_findings_file ON findings(project_id, file_path);
CREATE INDEX idx_findings_fingerprint ON findings(project_id, fingerprint);
CREATE INDEX idx_findings_merged ON findings(project_id, merged_into) WHERE merged_into IS NOT NULL;

-- Findings in work: shown to an agent or judged. The last word on each.
CREATE TABLE shown_findings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT,                        -- the finding
  fingerprint TEXT NOT NULL,              -- its fingerprint when the status was set
  rule_id TEXT NOT NULL,                  -- its rule
  file_path TEXT NOT NULL,                -- its file
  status TEXT NOT NULL                    -- the last word; suppressed, open and gone are worked out in v_findings
    CHECK (status IN ('shown', 'fixed', 'not_fixed', 'wont_fix', 'false_positive')),
  shown_at TIMESTAMP NOT NULL,            -- when it first came into work
  status_updated_at TIMESTAMP,            -- when the status was set
  last_activity_at TIMESTAMP NOT NULL     -- latest of shown, status, context request and attempt
);
CREATE UNIQUE INDEX idx_shown_finding ON shown_findings(project_id, logical_id);
CREATE INDEX idx_shown_project ON shown_findings(project_id);
CREATE INDEX idx_shown_logical ON shown_findings(logical_id);
CREATE INDEX idx_shown_rule_file ON shown_findings(project_id, rule_id, file_path);

-- Rows that retention took out of shown_findings because their last word is old.
CREATE TABLE shown_archive (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the finding
  fingerprint TEXT NOT NULL,              -- its fingerprint when the status was set
  rule_id TEXT NOT NULL,                  -- its rule
  file_path TEXT NOT NULL,                -- its file
  status TEXT NOT NULL                    -- the last word
    CHECK (status IN ('fixed', 'wont_fix', 'false_positive')),
  shown_at TIMESTAMP NOT NULL,            -- when it first came into work
  status_updated_at TIMESTAMP,            -- when the status was set
  archived_at TIMESTAMP NOT NULL          -- when retention moved it here
);
CREATE INDEX idx_archive_finding ON shown_archive(project_id, logical_id);

-- Findings that retention deleted from shown_findings without a resolution, so that coverage counts them.
CREATE TABLE expired_findings (
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the finding; the row goes when it is shown again
  expired_at TIMESTAMP NOT NULL,          -- when retention deleted it
  PRIMARY KEY (project_id, logical_id)
);

-- Who a finding is. Outlives its fingerprints and every retention, so that a relapse is recognised.
CREATE TABLE finding_identity (
  logical_id TEXT NOT NULL,               -- the finding
  project_id TEXT NOT NULL,               -- the project
  rule_id TEXT NOT NULL,                  -- its rule
  file_path TEXT NOT NULL,                -- where it was last seen
  first_seen_at TIMESTAMP NOT NULL,       -- when it was first found
  last_fingerprint TEXT NOT NULL,         -- its fingerprint when last found
  last_seen_at TIMESTAMP NOT NULL,        -- when it was last found
  PRIMARY KEY (project_id, logical_id)
);

-- What a fix needs to know about a finding, redacted, one row per fingerprint.
CREATE TABLE finding_context (
  fingerprint TEXT NOT NULL,              -- the flagged code
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the finding that last had this fingerprint
  rule_id TEXT NOT NULL,                  -- its rule
  file_path TEXT NOT NULL,                -- its file
  snippet TEXT,                           -- redacted
  message TEXT,                           -- redacted
  metadata_json TEXT,                     -- facts of the rule, redacted
  remediation TEXT,                       -- what the rule advises
  scanner_version TEXT,                   -- of the scanner that saw it
  captured_at TIMESTAMP NOT NULL,         -- when it was last seen so
  PRIMARY KEY (project_id, fingerprint)
);
CREATE INDEX idx_context_logical ON finding_context(project_id, logical_id);
CREATE INDEX idx_context_captured ON finding_context(project_id, captured_at);

-- Every accepted call of verify_fix.
CREATE TABLE fix_attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- attempt id
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the finding
  fingerprint TEXT NOT NULL,              -- its fingerprint before the attempt
  rule_id TEXT NOT NULL,                  -- its rule
  file_path TEXT NOT NULL,                -- its file
  attempt_num INTEGER NOT NULL,           -- 1, 2, … per finding
  reported_status TEXT NOT NULL           -- what the agent claimed
    CHECK (reported_status IN ('fixed', 'not_fixed', 'wont_fix')),
  verified_status TEXT NOT NULL           -- what the scan showed
    CHECK (verified_status IN ('fixed', 'not_fixed', 'wont_fix')),
  note TEXT,                              -- the agent's words, redacted
  session_id TEXT NOT NULL,               -- the server process that answered
  agent_reported_at TIMESTAMP NOT NULL,   -- when the claim came
  verified_at TIMESTAMP NOT NULL,         -- when it was judged
  verified INTEGER NOT NULL               -- 1: the fix was confirmed
    CHECK (verified IN (0, 1)),
  reason_code TEXT NOT NULL               -- why it was judged so
    CHECK (reason_code IN (
      'fixed', 'code_removed', 'file_deleted', 'rotation_required', 'sink_still_named', 'wont_fix',
      'still_present', 'changed_still_present', 'ambiguous', 'moved', 'twin_present',
      'suppressed_inline', 'suppressed_by_config', 'scanner_missing', 'scanner_disabled',
      'scanner_failed', 'scanner_timeout', 'sentinel_dead', 'rule_missing', 'parse_failed', 'partial',
      'not_analysed', 'file_changed_during_run', 'advisories_missing', 'unpinned')),
  reason TEXT NOT NULL                    -- the same as a sentence, redacted
);
CREATE UNIQUE INDEX idx_attempts_finding ON fix_attempts(project_id, logical_id, attempt_num);
CREATE INDEX idx_fix_attempts_project ON fix_attempts(project_id, verified_at);

-- Every call of query_findings_db, refused ones too.
CREATE TABLE sql_audit_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project whose rows could be seen
  session_id TEXT NOT NULL,               -- the server process that asked
  sql TEXT NOT NULL,                      -- the query, redacted
  duration_ms INTEGER,                    -- how long it ran
  row_count INTEGER,                      -- rows given back
  executed_at TIMESTAMP NOT NULL,         -- when
  outcome TEXT NOT NULL                   -- ok, truncated, refused, failed or stopped
    CHECK (outcome IN ('ok', 'truncated', 'refused', 'failed', 'stopped'))
);
CREATE INDEX idx_audit_project ON sql_audit_log(project_id, executed_at);

-- Every run over a project, a diff, a file or for a verification.
CREATE TABLE scans (
  scan_id TEXT NOT NULL,                  -- its id
  project_id TEXT NOT NULL,               -- the project
  session_id TEXT NOT NULL,               -- the server process that ran it
  kind TEXT NOT NULL                      -- what was asked
    CHECK (kind IN ('file', 'diff', 'project', 'verify')),
  started_at TIMESTAMP NOT NULL,          -- when it began
  ended_at TIMESTAMP NOT NULL,            -- when it ended
  verdict TEXT NOT NULL                   -- what may be said about its targets
    CHECK (verdict IN ('findings', 'clean', 'incomplete')),
  config_hash TEXT NOT NULL,              -- of the effective configuration
  git_head TEXT,                          -- the commit checked out, if any
  PRIMARY KEY (project_id, scan_id)
);
CREATE INDEX idx_scans_time ON scans(project_id, started_at);

-- What each scanner did in a scan, one row per state and reason.
CREATE TABLE scan_evidence (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  scan_id TEXT NOT NULL,                  -- the scan
  scanner TEXT NOT NULL                   -- the scanner
    CHECK (scanner IN ('semgrep', 'detect-secrets', 'pip-audit', 'checkov')),
  state TEXT NOT NULL                     -- looked at, had no business with, or failed to
    CHECK (state IN ('applied', 'skipped', 'not_verified')),
  reason TEXT NOT NULL                    -- why not, from the closed list
    CHECK (reason IN (
      '', 'cached', 'not_applicable', 'vendored', 'symlink', 'outside_project', 'not_regular', 'binary',
      'scanner_missing', 'scanner_disabled', 'scanner_failed', 'scanner_timeout', 'output_too_large',
      'sentinel_missed', 'not_reported', 'parse_failed', 'partial', 'too_large', 'too_many_files',
      'unreadable', 'file_missing', 'file_changed_during_run', 'no_rules', 'no_advisories',
      'advisories_stale', 'unpinned_dependency', 'unknown_package', 'unsupported_dependency',
      'unsupported_format', 'time_budget', 'cancelled')),
  targets INTEGER NOT NULL,               -- files this row speaks of
  targets_seen INTEGER NOT NULL,          -- those that the scanner's own report accounts for
  findings INTEGER NOT NULL,              -- findings in them
  scanner_version TEXT NOT NULL,          -- its version
  ruleset_hash TEXT NOT NULL,             -- of the rules it used
  sentinel TEXT NOT NULL                  -- whether the known-bad sample in the same run was reported
    CHECK (sentinel IN ('alive', 'missed', 'not_run')),
  duration_ms INTEGER NOT NULL,           -- how long it ran
  started_at TIMESTAMP NOT NULL,          -- when it began
  detail TEXT NOT NULL DEFAULT ''         -- more words, redacted
);
CREATE INDEX idx_evidence_scan ON scan_evidence(project_id, scan_id);

-- Which bytes of which file each scanner looked at.
CREATE TABLE scan_targets (
  project_id TEXT NOT NULL,               -- the project
  path TEXT NOT NULL,                     -- the file
  scanner TEXT NOT NULL                   -- the scanner
    CHECK (scanner IN ('semgrep', 'detect-secrets', 'pip-audit', 'checkov')),
  scan_id TEXT NOT NULL,                  -- the scan
  sha256 TEXT NOT NULL,                   -- of the bytes; empty where they could not be read
  state TEXT NOT NULL                     -- looked at, had no business with, or failed to
    CHECK (state IN ('applied', 'skipped', 'not_verified')),
  reason TEXT NOT NULL                    -- why not, from the closed list
    CHECK (reason IN (
      '', 'cached', 'not_applicable', 'vendored', 'symlink', 'outside_project', 'not_regular', 'binary',
      'scanner_missing', 'scanner_disabled', 'scanner_failed', 'scanner_timeout', 'output_too_large',
      'sentinel_missed', 'not_reported', 'parse_failed', 'partial', 'too_large', 'too_many_files',
      'unreadable', 'file_missing', 'file_changed_during_run', 'no_rules', 'no_advisories',
      'advisories_stale', 'unpinned_dependency', 'unknown_package', 'unsupported_dependency',
      'unsupported_format', 'time_budget', 'cancelled')),
  detail TEXT NOT NULL DEFAULT '',        -- which line, which package; redacted
  PRIMARY KEY (project_id, path, scanner, scan_id)
) WITHOUT ROWID;
CREATE INDEX idx_targets_scan ON scan_targets(project_id, scan_id);

-- The last word of each scanner on each file: what needs no second look while its inputs stay equal.
CREATE TABLE target_states (
  project_id TEXT NOT NULL,               -- the project
  path TEXT NOT NULL,                     -- the file
  scanner TEXT NOT NULL                   -- the scanner
    CHECK (scanner IN ('semgrep', 'detect-secrets', 'pip-audit', 'checkov')),
  scan_id TEXT NOT NULL,                  -- the scan that looked; a scan that only found it cached is not named
  sha256 TEXT NOT NULL,                   -- of the bytes; empty where they could not be read
  state TEXT NOT NULL                     -- looked at, had no business with, or failed to
    CHECK (state IN ('applied', 'skipped', 'not_verified')),
  input_hash TEXT NOT NULL,               -- over everything that the answer depends on; empty where unknown
  PRIMARY KEY (project_id, path, scanner)
) WITHOUT ROWID;

-- The shape of each file as last scanned, for matching old findings to new ones.
CREATE TABLE file_shapes (
  project_id TEXT NOT NULL,               -- the project
  path TEXT NOT NULL,                     -- the file
  sha256 TEXT NOT NULL,                   -- of the bytes
  line_hashes BLOB NOT NULL,              -- keyed hashes of its lines, 8 bytes each; no text
  scopes_json TEXT NOT NULL,              -- the last scopes that parsed: names and line ranges
  ages TEXT NOT NULL DEFAULT '',          -- since when each line stands there: runs of "milliseconds*lines"
  PRIMARY KEY (project_id, path)
);

-- Earlier shapes of files in which something was found that is gone since: how it went can still be told.
CREATE TABLE past_shapes (
  project_id TEXT NOT NULL,               -- the project
  path TEXT NOT NULL,                     -- the file
  sha256 TEXT NOT NULL,                   -- of the bytes
  line_hashes BLOB NOT NULL,              -- keyed hashes of its lines, 8 bytes each; no text
  PRIMARY KEY (project_id, path, sha256)
);

-- How a known secret is recognised wherever it turns up again. The secret itself is not here.
CREATE TABLE secret_marks (
  project_id TEXT NOT NULL,               -- the project
  kind TEXT NOT NULL,                     -- what kind of secret
  length INTEGER NOT NULL,                -- characters
  digest TEXT NOT NULL,                   -- keyed digest; the key lies outside the database
  PRIMARY KEY (project_id, kind, length, digest)
);

-- Display filters.
CREATE TABLE suppressions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  rule_id TEXT,                           -- only this rule
  path TEXT,                              -- only files that match this glob
  category TEXT                           -- only this category
    CHECK (category IN ('sast', 'secret', 'sca', 'iac', 'license')),
  logical_id TEXT,                        -- only this finding
  reason TEXT NOT NULL                    -- why; redacted
    CHECK (trim(reason) <> ''),
  expires_at TIMESTAMP,                   -- until when; NULL for good
  origin TEXT NOT NULL,                   -- who set it: a tool or a configuration source
  created_at TIMESTAMP NOT NULL,          -- when
  CHECK (coalesce(rule_id, path, category, logical_id) IS NOT NULL)
);
CREATE INDEX idx_suppressions_project ON suppressions(project_id);

-- What people and agents said about findings.
CREATE TABLE feedback (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the finding
  fingerprint TEXT NOT NULL,              -- its fingerprint at that time
  verdict TEXT NOT NULL                   -- what was said
    CHECK (verdict IN ('TRUE_POSITIVE', 'FALSE_POSITIVE', 'WONT_FIX', 'ROTATED')),
  comment TEXT NOT NULL,                  -- why; redacted
  session_id TEXT NOT NULL,               -- the server process that took it
  created_at TIMESTAMP NOT NULL           -- when
);
CREATE INDEX idx_feedback_finding ON feedback(project_id, logical_id);

-- Settings made through update_config.
CREATE TABLE config_values (
  project_id TEXT NOT NULL,               -- the project
  key TEXT NOT NULL,                      -- dotted key
  value_json TEXT NOT NULL,               -- the value as JSON
  updated_at TIMESTAMP NOT NULL,          -- when it was set
  PRIMARY KEY (project_id, key)
);

-- Every change of a setting.
CREATE TABLE config_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  key TEXT NOT NULL,                      -- dotted key
  old_json TEXT,                          -- before; NULL where it was not set
  new_json TEXT,                          -- after; NULL where it was removed
  changed_by TEXT NOT NULL,               -- the session or source
  changed_at TIMESTAMP NOT NULL           -- when
);
CREATE INDEX idx_config_log_project ON config_log(project_id, changed_at);

-- Internal: every finding with the last word on it and the status that follows. The last word is in
-- shown_findings; an archived one still holds for a finding that is gone and was not seen since.
CREATE VIEW finding_states AS
SELECT w.*,
  CASE WHEN w.word IN ('fixed', 'wont_fix', 'false_positive') THEN w.word
       WHEN w.suppressed = 1 AND (w.present = 1 OR w.word = 'not_fixed') THEN 'suppressed'
       WHEN w.word = 'not_fixed' THEN 'not_fixed'
       WHEN w.present = 0 THEN 'gone'
       WHEN w.word = 'shown' THEN 'shown'
       ELSE 'open' END AS status,
  CASE WHEN w.word IN ('fixed', 'wont_fix', 'false_positive') THEN w.word_at
       WHEN w.suppressed = 1 AND (w.present = 1 OR w.word = 'not_fixed') THEN w.state_changed_at
       WHEN w.word = 'not_fixed' THEN w.word_at
       WHEN w.present = 0 THEN w.state_changed_at
       WHEN w.word = 'shown' THEN w.word_at
       ELSE w.state_changed_at END AS status_updated_at
FROM (
  SELECT f.*,
    CASE WHEN s.status IS NOT NULL THEN s.status
         WHEN f.present = 0 THEN (
           SELECT a.status FROM shown_archive a
           WHERE a.project_id = f.project_id AND a.logical_id = f.logical_id
             AND a.archived_at >= f.last_seen_at
           ORDER BY a.id DESC LIMIT 1) END AS word,
    CASE WHEN s.status IS NOT NULL THEN s.status_updated_at
         WHEN f.present = 0 THEN (
           SELECT a.status_updated_at FROM shown_archive a
           WHERE a.project_id = f.project_id AND a.logical_id = f.logical_id
             AND a.archived_at >= f.last_seen_at
           ORDER BY a.id DESC LIMIT 1) END AS word_at
  FROM findings f
  LEFT JOIN shown_findings s ON s.project_id = f.project_id AND s.logical_id = f.logical_id) w;

-- The findings of a project as they stand now, gone ones too; merged duplicates are not rows of their own.
CREATE VIEW v_findings (
  project_id,                             -- text: the project
  logical_id,                             -- text: the handle to use in calls; survives edits of the file
  fingerprint,                            -- text: identifies the flagged code; changes when the code does
  scanner,                                -- text: semgrep, detect-secrets, pip-audit or checkov
  rule_id,                                -- text: the scanner's rule; for sca the CVE, else GHSA, else PYSEC id
  category,                               -- text: sast, secret, sca, iac or license
  severity,                               -- text: critical, high, medium, low or info
  file_path,                              -- text: relative to the project, "/"-separated
  line_start,                             -- integer: first line, from 1, when last seen
  line_end,                               -- integer: last line, inclusive
  message,                                -- text: what the scanner says, redacted
  status,                                 -- text: open, shown, fixed, not_fixed, wont_fix, false_positive, suppressed or gone
  recurred,                               -- boolean: found again after a verified fix
  cwe,                                    -- text: JSON array of CWE ids
  owasp,                                  -- text: JSON array of OWASP ids
  package,                                -- text: sca: the package's normalised name
  installed_version,                      -- text: sca: the version in the manifest
  fixed_version,                          -- text: sca: the smallest version without the flaw
  first_seen_at,                          -- timestamp: when it was first found
  last_seen_at,                           -- timestamp: when it was last found
  status_updated_at,                      -- timestamp: since when the status holds
  scanner_version,                        -- text: of the scanner that last saw it
  ruleset_hash                            -- text: of the rules that last saw it
) AS
SELECT project_id, logical_id, fingerprint, scanner, rule_id, category, severity, file_path, line_start,
  line_end, message, status, recurred, cwe, owasp, package, installed_version, fixed_version,
  first_seen_at, last_seen_at, status_updated_at, scanner_version, ruleset_hash
FROM finding_states
WHERE merged_into IS NULL;

-- Every verification attempt.
CREATE VIEW v_attempts (
  project_id,                             -- text: the project
  attempt_id,                             -- integer: unique in this database
  logical_id,                             -- text: the finding
  fingerprint,                            -- text: its fingerprint before the attempt
  rule_id,                                -- text: its rule
  file_path,                              -- text: its file
  attempt_num,                            -- integer: 1, 2, … per finding
  reported_status,                        -- text: what the agent claimed: fixed, not_fixed or wont_fix
  verified_status,                        -- text: what the scan showed: fixed, not_fixed or wont_fix
  verified,                               -- boolean: the fix was confirmed
  reason_code,                            -- text: why it was judged so, from a closed list
  note,                                   -- text: the agent's words, redacted
  session_id,                             -- text: the server process that answered
  agent_reported_at,                      -- timestamp: when the claim came
  verified_at                             -- timestamp: when it was judged
) AS
SELECT project_id, id, logical_id, fingerprint, rule_id, file_path, attempt_num, reported_status,
  verified_status, verified, reason_code, note, session_id, agent_reported_at, verified_at
FROM fix_attempts;

-- How many findings there are of each severity, category and status.
CREATE VIEW v_summary (
  project_id,                             -- text: the project
  severity,                               -- text: critical, high, medium, low or info
  category,                               -- text: sast, secret, sca, iac or license
  status,                                 -- text: as in v_findings
  findings                                -- integer: how many
) AS
SELECT project_id, severity, category, status, count(*)
FROM v_findings GROUP BY project_id, severity, category, status;

-- How far the findings in work have been brought to an end.
CREATE VIEW v_verification_coverage (
  project_id,                             -- text: the project
  in_work,                                -- integer: distinct findings ever shown or attempted, expired ones too, suppressed ones not
  attempted,                              -- integer: those of them with an attempt
  fixed,                                  -- integer: whose last word is fixed
  not_fixed,                              -- integer: whose last word is not_fixed
  wont_fix,                               -- integer: whose last word is wont_fix
  false_positive,                         -- integer: whose last word is false_positive
  suppressed,                             -- integer: shown or attempted, but hidden by a display filter and so left out of in_work
  expired,                                -- integer: that retention deleted unresolved; counted in in_work
  coverage_pct                            -- real: 100 × (fixed + wont_fix + false_positive) ÷ in_work; NULL when nothing is in work
) AS
WITH
  ever (project_id, logical_id) AS (
    SELECT project_id, logical_id FROM shown_findings
    UNION SELECT project_id, logical_id FROM shown_archive
    UNION SELECT project_id, logical_id FROM fix_attempts),
  judged (project_id, word, hidden, attempted) AS (
    SELECT f.project_id, f.word,
      f.suppressed = 1 AND coalesce(f.word, '') NOT IN ('fixed', 'wont_fix', 'false_positive'),
      coalesce(f.word, '') IN ('fixed', 'not_fixed', 'wont_fix') OR EXISTS (
        SELECT 1 FROM fix_attempts t WHERE t.project_id = f.project_id AND t.logical_id = f.logical_id)
    FROM finding_states f
    WHERE f.merged_into IS NULL AND (f.project_id, f.logical_id) IN ever AND NOT EXISTS (
      SELECT 1 FROM expired_findings x WHERE x.project_id = f.project_id AND x.logical_id = f.logical_id)),
  counted AS (
    SELECT project_id, sum(NOT hidden) AS in_work, sum(attempted AND NOT hidden) AS attempted,
      sum(word IS 'fixed') AS fixed, sum(word IS 'not_fixed' AND NOT hidden) AS not_fixed,
      sum(word IS 'wont_fix') AS wont_fix, sum(word IS 'false_positive') AS false_positive,
      sum(hidden) AS suppressed
    FROM judged GROUP BY project_id),
  forgotten AS (SELECT project_id, count(*) AS expired FROM expired_findings GROUP BY project_id)
SELECT p.project_id,
  coalesce(c.in_work, 0) + coalesce(x.expired, 0), coalesce(c.attempted, 0), coalesce(c.fixed, 0),
  coalesce(c.not_fixed, 0), coalesce(c.wont_fix, 0), coalesce(c.false_positive, 0),
  coalesce(c.suppressed, 0), coalesce(x.expired, 0),
  round(100.0 * (coalesce(c.fixed, 0) + coalesce(c.wont_fix, 0) + coalesce(c.false_positive, 0))
        / nullif(coalesce(c.in_work, 0) + coalesce(x.expired, 0), 0), 2)
FROM projects p
LEFT JOIN counted c ON c.project_id = p.project_id
LEFT JOIN forgotten x ON x.project_id = p.project_id;

-- The projects in this database.
CREATE VIEW v_projects (
  project_id,                             -- text: the project
  project_alias,                          -- text: the name for people; need not be unique
  first_seen_at,                          -- timestamp: when a server first worked on it
  last_seen_at                            -- timestamp: when a server last worked on it
) AS
SELECT project_id, project_alias, first_seen_at, last_seen_at FROM projects;

-- What each scanner did in each scan, one row per state and reason.
CREATE VIEW v_scan_evidence (
  project_id,                             -- text: the project
  scan_id,                                -- text: the scan
  scanner,                                -- text: semgrep, detect-secrets, pip-audit or checkov
  state,                                  -- text: applied, skipped or not_verified
  reason,                                 -- text: why it was skipped or not verified, else empty
  targets,                                -- integer: files this row speaks of
  targets_seen,                           -- integer: those that the scanner's own report accounts for
  findings,                               -- integer: findings in them
  scanner_version,                        -- text: its version
  ruleset_hash,                           -- text: of the rules it used
  sentinel,                               -- text: alive, missed or not_run: whether the known-bad sample in the same run was reported
  duration_ms,                            -- integer: how long it ran
  started_at                              -- timestamp: when it began
) AS
SELECT project_id, scan_id, scanner, state, reason, targets, targets_seen, findings, scanner_version,
  ruleset_hash, sentinel, duration_ms, started_at
FROM scan_evidence;
