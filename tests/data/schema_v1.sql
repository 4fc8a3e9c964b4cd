BEGIN TRANSACTION;
CREATE TABLE config_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- row number
  project_id TEXT NOT NULL,               -- the project
  key TEXT NOT NULL,                      -- dotted key
  old_json TEXT,                          -- before; NULL where it was not set
  new_json TEXT,                          -- after; NULL where it was removed
  changed_by TEXT NOT NULL,               -- the session or source
  changed_at TIMESTAMP NOT NULL           -- when
);
INSERT INTO "config_log" VALUES(1,'00000000000000aa','project.alias',NULL,'"a name"','test','2026-06-09T12:00:00.000Z');
CREATE TABLE config_values (
  project_id TEXT NOT NULL,               -- the project
  key TEXT NOT NULL,                      -- dotted key
  value_json TEXT NOT NULL,               -- the value as JSON
  updated_at TIMESTAMP NOT NULL,          -- when it was set
  PRIMARY KEY (project_id, key)
);
INSERT INTO "config_values" VALUES('00000000000000aa','project.alias','"a name"','2026-06-09T12:00:00.000Z');
CREATE TABLE expired_findings (
  project_id TEXT NOT NULL,               -- the project
  logical_id TEXT NOT NULL,               -- the finding; the row goes when it is shown again
  expired_at TIMESTAMP NOT NULL,          -- when retention deleted it
  PRIMARY KEY (project_id, logical_id)
);
INSERT INTO "expired_findings" VALUES('00000000000000aa','4fb62348858c2f6f','2026-06-09T12:00:00.000Z');
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
INSERT INTO "feedback" VALUES(1,'00000000000000aa','ab776126271e8e66','ef7cfbf85da8e2e0d1e1a17416ba59d9','FALSE_POSITIVE','a test','session','2026-06-09T12:00:00.000Z');
CREATE TABLE file_shapes (
  project_id TEXT NOT NULL,               -- the project
  path TEXT NOT NULL,                     -- the file
  sha256 TEXT NOT NULL,                   -- of the bytes
  line_hashes BLOB NOT NULL,              -- keyed hashes of its lines, 8 bytes each; no text
  scopes_json TEXT NOT NULL,              -- the last scopes that parsed: names and line ranges
  ages TEXT NOT NULL DEFAULT '',          -- since when each line stands there: runs of "milliseconds*lines"
  PRIMARY KEY (project_id, path)
);
INSERT INTO "file_shapes" VALUES('00000000000000aa','src/gone.py','2222222222222222222222222222222222222222222222222222222222222222',X'00000000000000000000000000000000','{"scopes":[]}','1*2');
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
INSERT INTO "finding_context" VALUES('f1e1af4e6e2270213a1003ab9f346dc5','00000000000000aa','992a93455c71fedd','python.eval','src/fixed.py','snippet of fixed','about fixed','{}',NULL,'1.0','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('45a501947efc752e743be3c8c529b41f','00000000000000aa','283bb9deef02e684','python.eval','src/gone.py','snippet of gone','about gone','{}',NULL,'1.0','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('7ada7410b401fa64e767a06119f4939f','00000000000000aa','bb4f803029873576','CVE-2026-1','app/views.py','snippet of sca','about sca','{}',NULL,'1.0','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('c58072bc9d6926ed9dcbc42ffa775704','00000000000000aa','72b33a1cb0bfc9cd','other','app/views.py','snippet of twin','about twin','{}',NULL,'1.0','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('96f9f4d2cdbe196ddb71832f556b76ac','00000000000000aa','2348f99874421257','python.eval','src/open.py','snippet of open','about open','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('24b86af8f460f7ad3760c9257ff86f49','00000000000000aa','baaf53622a51d975','python.eval','src/shown.py','snippet of shown','about shown','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('2bc5cc1efb82c48a9f33a5ad0eb74930','00000000000000aa','5d28a90f4498a814','python.eval','src/failed.py','snippet of failed','about failed','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('fb985fc8bbfd07e8c4ecb36cd95b3272','00000000000000aa','070c160a6299c543','python.eval','src/accepted.py','snippet of accepted','about accepted','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('ef7cfbf85da8e2e0d1e1a17416ba59d9','00000000000000aa','ab776126271e8e66','python.eval','src/false alarm.py','snippet of false alarm','about false alarm','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('18a00b480c4079d41b9d79a39d8dca3d','00000000000000aa','4fb62348858c2f6f','python.eval','src/idle.py','snippet of idle','about idle','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('10a4ea6a70afb765dfbc3f7cecb8faa5','00000000000000aa','e564b4081d7a9ea4','python.eval','src/hidden.py','snippet of hidden','about hidden','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('d387f05a5a4011b7ed82d7944d157bb2','00000000000000aa','9ac5286dd0ba4a89','python.eval','src/ünï 😀.py','snippet of ünï 😀','about ünï 😀','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_context" VALUES('9c2b961e46dd167aaede7d62aae9e825','00000000000000bb','4c55a8552a2c7261','python.eval','app/views.py','snippet of theirs','about theirs','{}',NULL,'1.0','2026-06-09T12:00:00.000Z');
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
INSERT INTO "finding_identity" VALUES('2348f99874421257','00000000000000aa','python.eval','src/open.py','2026-03-01T12:00:00.000Z','96f9f4d2cdbe196ddb71832f556b76ac','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('baaf53622a51d975','00000000000000aa','python.eval','src/shown.py','2026-03-01T12:00:00.000Z','24b86af8f460f7ad3760c9257ff86f49','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('992a93455c71fedd','00000000000000aa','python.eval','src/fixed.py','2026-03-01T12:00:00.000Z','f1e1af4e6e2270213a1003ab9f346dc5','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('5d28a90f4498a814','00000000000000aa','python.eval','src/failed.py','2026-03-01T12:00:00.000Z','2bc5cc1efb82c48a9f33a5ad0eb74930','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('070c160a6299c543','00000000000000aa','python.eval','src/accepted.py','2026-03-01T12:00:00.000Z','fb985fc8bbfd07e8c4ecb36cd95b3272','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('ab776126271e8e66','00000000000000aa','python.eval','src/false alarm.py','2026-03-01T12:00:00.000Z','ef7cfbf85da8e2e0d1e1a17416ba59d9','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('4fb62348858c2f6f','00000000000000aa','python.eval','src/idle.py','2026-03-01T12:00:00.000Z','18a00b480c4079d41b9d79a39d8dca3d','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('283bb9deef02e684','00000000000000aa','python.eval','src/gone.py','2026-03-01T12:00:00.000Z','45a501947efc752e743be3c8c529b41f','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('e564b4081d7a9ea4','00000000000000aa','python.eval','src/hidden.py','2026-03-01T12:00:00.000Z','10a4ea6a70afb765dfbc3f7cecb8faa5','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('9ac5286dd0ba4a89','00000000000000aa','python.eval','src/ünï 😀.py','2026-03-01T12:00:00.000Z','d387f05a5a4011b7ed82d7944d157bb2','2026-06-09T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('bb4f803029873576','00000000000000aa','CVE-2026-1','app/views.py','2026-03-01T12:00:00.000Z','7ada7410b401fa64e767a06119f4939f','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('72b33a1cb0bfc9cd','00000000000000aa','other','app/views.py','2026-03-01T12:00:00.000Z','c58072bc9d6926ed9dcbc42ffa775704','2026-03-01T12:00:00.000Z');
INSERT INTO "finding_identity" VALUES('4c55a8552a2c7261','00000000000000bb','python.eval','app/views.py','2026-06-09T12:00:00.000Z','9c2b961e46dd167aaede7d62aae9e825','2026-06-09T12:00:00.000Z');
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
INSERT INTO "findings" VALUES('00000000000000aa','2348f99874421257','96f9f4d2cdbe196ddb71832f556b76ac','semgrep','python.eval','sast','high','src/open.py',3,4,'about open','code of open','open',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','964a756f45897eae7e3173c7ae2ab7f5f00a52d411616cbb90643f51c1bdee12','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','baaf53622a51d975','24b86af8f460f7ad3760c9257ff86f49','semgrep','python.eval','sast','high','src/shown.py',3,4,'about shown','code of shown','shown',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','24d67006ef79ae379e82063287257fbd50426a8e6db0b6a1945a14907bce7c0d','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','992a93455c71fedd','f1e1af4e6e2270213a1003ab9f346dc5','semgrep','python.eval','sast','high','src/fixed.py',3,4,'about fixed','code of fixed','fixed',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','a86b22b8d147595b2340071eb6a9b162dd7492f07dac01eaa075f76442f2bbb1','scan-1',0,0,0,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','5d28a90f4498a814','2bc5cc1efb82c48a9f33a5ad0eb74930','semgrep','python.eval','sast','high','src/failed.py',3,4,'about failed','code of failed','failed',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','47c4381969f94b9b1b7211c6546c36d4f8349824678b8017845860a8d28f0a5a','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','070c160a6299c543','fb985fc8bbfd07e8c4ecb36cd95b3272','semgrep','python.eval','sast','high','src/accepted.py',3,4,'about accepted','code of accepted','accepted',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','297ab496e2e807aee284c8b09bff54bd432a66a6bc3e89ec1ad5fc4094ee0dc3','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','ab776126271e8e66','ef7cfbf85da8e2e0d1e1a17416ba59d9','semgrep','python.eval','sast','high','src/false alarm.py',3,4,'about false alarm','code of false alarm','false alarm',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','fe12253d4d7febf94139661a40b01cfa08369203d47e4bde4e42ff65ae65d714','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','4fb62348858c2f6f','18a00b480c4079d41b9d79a39d8dca3d','semgrep','python.eval','sast','high','src/idle.py',3,4,'about idle','code of idle','idle',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','c2bb63c38dea8ccc57af0f8d3699c566c9e17ab779c52aaa9830ecccfa125b8d','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','283bb9deef02e684','45a501947efc752e743be3c8c529b41f','semgrep','python.eval','sast','high','src/gone.py',3,4,'about gone','code of gone','gone',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','41e06a2b4549b7d2e4faf25a7a121ca8d7068635b8b4f4804983af8804b294ae','scan-1',0,0,0,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','e564b4081d7a9ea4','10a4ea6a70afb765dfbc3f7cecb8faa5','semgrep','python.eval','sast','high','src/hidden.py',3,4,'about hidden','code of hidden','hidden',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','411e1a190ab07195bb8aac1f67e79e304860eae1e51eb449987d21a1279730d1','scan-2',1,0,1,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','9ac5286dd0ba4a89','d387f05a5a4011b7ed82d7944d157bb2','semgrep','python.eval','sast','high','src/ünï 😀.py',3,4,'about ünï 😀','code of ünï 😀','ünï 😀',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','2e8366d9e6e7e1fd5d92c19a6a2f4f74a3f002fb32aefe92514e6987924b026c','scan-2',1,0,0,'2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','bb4f803029873576','7ada7410b401fa64e767a06119f4939f','pip-audit','CVE-2026-1','sca','high','app/views.py',3,4,'about sca','code of sca','sca',1,'[]','[]','[]',NULL,'PyPI','jinja2','2.0','2.1','["CVE-2026-1","GHSA-1"]','[]',0,'','[]',NULL,'1.0','','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','scan-1',1,0,0,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000aa','72b33a1cb0bfc9cd','c58072bc9d6926ed9dcbc42ffa775704','semgrep','other','sast','high','app/views.py',3,4,'about twin','code of twin','twin',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]','2348f99874421257','1.0','rules-1','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','scan-1',1,0,0,'2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "findings" VALUES('00000000000000bb','4c55a8552a2c7261','9c2b961e46dd167aaede7d62aae9e825','semgrep','python.eval','sast','high','app/views.py',3,4,'about theirs','code of theirs','theirs',1,'[]','[]','[]',NULL,NULL,NULL,NULL,NULL,'[]','[]',0,'','[]',NULL,'1.0','rules-1','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','scan-3',1,0,0,'2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
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
INSERT INTO "fix_attempts" VALUES(1,'00000000000000aa','992a93455c71fedd','f1e1af4e6e2270213a1003ab9f346dc5','python.eval','src/fixed.py',1,'fixed','fixed','a note','session','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z',1,'fixed','a sentence');
INSERT INTO "fix_attempts" VALUES(2,'00000000000000aa','5d28a90f4498a814','2bc5cc1efb82c48a9f33a5ad0eb74930','python.eval','src/failed.py',1,'not_fixed','not_fixed','a note','session','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z',0,'still_present','a sentence');
INSERT INTO "fix_attempts" VALUES(3,'00000000000000aa','070c160a6299c543','fb985fc8bbfd07e8c4ecb36cd95b3272','python.eval','src/accepted.py',1,'wont_fix','wont_fix','a note','session','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z',0,'wont_fix','a sentence');
CREATE TABLE past_shapes (
  project_id TEXT NOT NULL,               -- the project
  path TEXT NOT NULL,                     -- the file
  sha256 TEXT NOT NULL,                   -- of the bytes
  line_hashes BLOB NOT NULL,              -- keyed hashes of its lines, 8 bytes each; no text
  PRIMARY KEY (project_id, path, sha256)
);
INSERT INTO "past_shapes" VALUES('00000000000000aa','src/gone.py','41e06a2b4549b7d2e4faf25a7a121ca8d7068635b8b4f4804983af8804b294ae',X'00000000000000000000000000000000');
CREATE TABLE projects (
  project_id TEXT PRIMARY KEY,            -- first 16 hex digits of sha256 of the project's real path
  project_alias TEXT NOT NULL,            -- the name for people; need not be unique
  project_path TEXT NOT NULL,             -- where it lies on this machine; in no view, in no snapshot
  first_seen_at TIMESTAMP NOT NULL,       -- when a server first worked on it
  last_seen_at TIMESTAMP NOT NULL         -- when a server last worked on it
);
INSERT INTO "projects" VALUES('00000000000000aa','alias-a','/somewhere/a','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z');
INSERT INTO "projects" VALUES('00000000000000bb','alias-b','/somewhere/b','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
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
INSERT INTO "scan_evidence" VALUES(1,'00000000000000aa','scan-1','semgrep','applied','',12,12,12,'1.0','rules-1','alive',12,'2026-03-01T12:00:00.000Z','');
INSERT INTO "scan_evidence" VALUES(2,'00000000000000aa','scan-2','semgrep','applied','',8,8,8,'1.0','rules-1','alive',12,'2026-06-09T12:00:00.000Z','');
INSERT INTO "scan_evidence" VALUES(3,'00000000000000bb','scan-3','semgrep','applied','',1,1,1,'1.0','rules-1','alive',12,'2026-06-09T12:00:00.000Z','');
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
INSERT INTO "scan_targets" VALUES('00000000000000aa','app/views.py','pip-audit','scan-1','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','app/views.py','semgrep','scan-1','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/accepted.py','semgrep','scan-1','297ab496e2e807aee284c8b09bff54bd432a66a6bc3e89ec1ad5fc4094ee0dc3','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/accepted.py','semgrep','scan-2','297ab496e2e807aee284c8b09bff54bd432a66a6bc3e89ec1ad5fc4094ee0dc3','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/failed.py','semgrep','scan-1','47c4381969f94b9b1b7211c6546c36d4f8349824678b8017845860a8d28f0a5a','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/failed.py','semgrep','scan-2','47c4381969f94b9b1b7211c6546c36d4f8349824678b8017845860a8d28f0a5a','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/false alarm.py','semgrep','scan-1','fe12253d4d7febf94139661a40b01cfa08369203d47e4bde4e42ff65ae65d714','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/false alarm.py','semgrep','scan-2','fe12253d4d7febf94139661a40b01cfa08369203d47e4bde4e42ff65ae65d714','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/fixed.py','semgrep','scan-1','a86b22b8d147595b2340071eb6a9b162dd7492f07dac01eaa075f76442f2bbb1','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/gone.py','semgrep','scan-1','41e06a2b4549b7d2e4faf25a7a121ca8d7068635b8b4f4804983af8804b294ae','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/hidden.py','semgrep','scan-1','411e1a190ab07195bb8aac1f67e79e304860eae1e51eb449987d21a1279730d1','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/hidden.py','semgrep','scan-2','411e1a190ab07195bb8aac1f67e79e304860eae1e51eb449987d21a1279730d1','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/idle.py','semgrep','scan-1','c2bb63c38dea8ccc57af0f8d3699c566c9e17ab779c52aaa9830ecccfa125b8d','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/idle.py','semgrep','scan-2','c2bb63c38dea8ccc57af0f8d3699c566c9e17ab779c52aaa9830ecccfa125b8d','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/open.py','semgrep','scan-1','964a756f45897eae7e3173c7ae2ab7f5f00a52d411616cbb90643f51c1bdee12','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/open.py','semgrep','scan-2','964a756f45897eae7e3173c7ae2ab7f5f00a52d411616cbb90643f51c1bdee12','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/shown.py','semgrep','scan-1','24d67006ef79ae379e82063287257fbd50426a8e6db0b6a1945a14907bce7c0d','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/shown.py','semgrep','scan-2','24d67006ef79ae379e82063287257fbd50426a8e6db0b6a1945a14907bce7c0d','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/ünï 😀.py','semgrep','scan-1','2e8366d9e6e7e1fd5d92c19a6a2f4f74a3f002fb32aefe92514e6987924b026c','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000aa','src/ünï 😀.py','semgrep','scan-2','2e8366d9e6e7e1fd5d92c19a6a2f4f74a3f002fb32aefe92514e6987924b026c','applied','','');
INSERT INTO "scan_targets" VALUES('00000000000000bb','app/views.py','semgrep','scan-3','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','applied','','');
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
INSERT INTO "scans" VALUES('scan-1','00000000000000aa','session','file','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','findings','config',NULL);
INSERT INTO "scans" VALUES('scan-2','00000000000000aa','session','file','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','findings','config',NULL);
INSERT INTO "scans" VALUES('scan-3','00000000000000bb','session','file','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','findings','config',NULL);
CREATE TABLE secret_marks (
  project_id TEXT NOT NULL,               -- the project
  kind TEXT NOT NULL,                     -- what kind of secret
  length INTEGER NOT NULL,                -- characters
  digest TEXT NOT NULL,                   -- keyed digest; the key lies outside the database
  PRIMARY KEY (project_id, kind, length, digest)
);
INSERT INTO "secret_marks" VALUES('00000000000000aa','aws',20,'0123abcd');
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
INSERT INTO "shown_archive" VALUES(1,'00000000000000aa','992a93455c71fedd','f1e1af4e6e2270213a1003ab9f346dc5','python.eval','src/fixed.py','fixed','2026-03-01T12:00:00.000Z','2026-03-01T12:00:00.000Z','2026-06-09T12:00:00.000Z');
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
INSERT INTO "shown_findings" VALUES(4,'00000000000000aa','5d28a90f4498a814','2bc5cc1efb82c48a9f33a5ad0eb74930','python.eval','src/failed.py','not_fixed','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
INSERT INTO "shown_findings" VALUES(5,'00000000000000aa','baaf53622a51d975','24b86af8f460f7ad3760c9257ff86f49','python.eval','src/shown.py','shown','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
INSERT INTO "shown_findings" VALUES(7,'00000000000000aa','070c160a6299c543','fb985fc8bbfd07e8c4ecb36cd95b3272','python.eval','src/accepted.py','wont_fix','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
INSERT INTO "shown_findings" VALUES(8,'00000000000000aa','ab776126271e8e66','ef7cfbf85da8e2e0d1e1a17416ba59d9','python.eval','src/false alarm.py','false_positive','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z','2026-06-09T12:00:00.000Z');
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
INSERT INTO "sql_audit_log" VALUES(1,'00000000000000aa','s','SELECT 1',3,1,'2026-06-09T12:00:00.000Z','ok');
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
INSERT INTO "suppressions" VALUES(1,'00000000000000aa',NULL,NULL,NULL,'e564b4081d7a9ea4','a fixture',NULL,'tool','2026-06-09T12:00:00.000Z');
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
INSERT INTO "target_states" VALUES('00000000000000aa','app/views.py','pip-audit','scan-1','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','applied','876244f02270d3a2e49f8253d0a4885e');
INSERT INTO "target_states" VALUES('00000000000000aa','app/views.py','semgrep','scan-1','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','applied','876244f02270d3a2e49f8253d0a4885e');
INSERT INTO "target_states" VALUES('00000000000000aa','src/accepted.py','semgrep','scan-2','297ab496e2e807aee284c8b09bff54bd432a66a6bc3e89ec1ad5fc4094ee0dc3','applied','e24ef0b08dd054d4c29d66ad6f7e6aea');
INSERT INTO "target_states" VALUES('00000000000000aa','src/failed.py','semgrep','scan-2','47c4381969f94b9b1b7211c6546c36d4f8349824678b8017845860a8d28f0a5a','applied','47501fcdaef9e8406118c58a0c529c08');
INSERT INTO "target_states" VALUES('00000000000000aa','src/false alarm.py','semgrep','scan-2','fe12253d4d7febf94139661a40b01cfa08369203d47e4bde4e42ff65ae65d714','applied','208bae4062c61df9afdcc02df3362128');
INSERT INTO "target_states" VALUES('00000000000000aa','src/hidden.py','semgrep','scan-2','411e1a190ab07195bb8aac1f67e79e304860eae1e51eb449987d21a1279730d1','applied','ed3b551aef3bed5bf19c2b6330150366');
INSERT INTO "target_states" VALUES('00000000000000aa','src/idle.py','semgrep','scan-2','c2bb63c38dea8ccc57af0f8d3699c566c9e17ab779c52aaa9830ecccfa125b8d','applied','6e4bd28f28672c6b146d0f90db8e5ac4');
INSERT INTO "target_states" VALUES('00000000000000aa','src/open.py','semgrep','scan-2','964a756f45897eae7e3173c7ae2ab7f5f00a52d411616cbb90643f51c1bdee12','applied','2c6a52d5fb4855684fcfb3eab752e444');
INSERT INTO "target_states" VALUES('00000000000000aa','src/shown.py','semgrep','scan-2','24d67006ef79ae379e82063287257fbd50426a8e6db0b6a1945a14907bce7c0d','applied','0dc525b8e4c393027dac48ec4cab66c4');
INSERT INTO "target_states" VALUES('00000000000000aa','src/ünï 😀.py','semgrep','scan-2','2e8366d9e6e7e1fd5d92c19a6a2f4f74a3f002fb32aefe92514e6987924b026c','applied','5b26c419d3448b1794cb9e622bddc780');
INSERT INTO "target_states" VALUES('00000000000000bb','app/views.py','semgrep','scan-3','0c2bad94cd303c5944a38a94f62a63355b8bed2e102dc87c0f44de95cf135b8a','applied','876244f02270d3a2e49f8253d0a4885e');
CREATE INDEX idx_findings_file ON findings(project_id, file_path);
CREATE INDEX idx_findings_fingerprint ON findings(project_id, fingerprint);
CREATE INDEX idx_findings_merged ON findings(project_id, merged_into) WHERE merged_into IS NOT NULL;
CREATE UNIQUE INDEX idx_shown_finding ON shown_findings(project_id, logical_id);
CREATE INDEX idx_shown_project ON shown_findings(project_id);
CREATE INDEX idx_shown_logical ON shown_findings(logical_id);
CREATE INDEX idx_shown_rule_file ON shown_findings(project_id, rule_id, file_path);
CREATE INDEX idx_archive_finding ON shown_archive(project_id, logical_id);
CREATE INDEX idx_context_logical ON finding_context(project_id, logical_id);
CREATE INDEX idx_context_captured ON finding_context(project_id, captured_at);
CREATE UNIQUE INDEX idx_attempts_finding ON fix_attempts(project_id, logical_id, attempt_num);
CREATE INDEX idx_fix_attempts_project ON fix_attempts(project_id, verified_at);
CREATE INDEX idx_audit_project ON sql_audit_log(project_id, executed_at);
CREATE INDEX idx_scans_time ON scans(project_id, started_at);
CREATE INDEX idx_evidence_scan ON scan_evidence(project_id, scan_id);
CREATE INDEX idx_targets_scan ON scan_targets(project_id, scan_id);
CREATE INDEX idx_suppressions_project ON suppressions(project_id);
CREATE INDEX idx_feedback_finding ON feedback(project_id, logical_id);
CREATE INDEX idx_config_log_project ON config_log(project_id, changed_at);
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
CREATE VIEW v_summary (
  project_id,                             -- text: the project
  severity,                               -- text: critical, high, medium, low or info
  category,                               -- text: sast, secret, sca, iac or license
  status,                                 -- text: as in v_findings
  findings                                -- integer: how many
) AS
SELECT project_id, severity, category, status, count(*)
FROM v_findings GROUP BY project_id, severity, category, status;
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
CREATE VIEW v_projects (
  project_id,                             -- text: the project
  project_alias,                          -- text: the name for people; need not be unique
  first_seen_at,                          -- timestamp: when a server first worked on it
  last_seen_at                            -- timestamp: when a server last worked on it
) AS
SELECT project_id, project_alias, first_seen_at, last_seen_at FROM projects;
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('scan_evidence',3);
INSERT INTO "sqlite_sequence" VALUES('shown_findings',8);
INSERT INTO "sqlite_sequence" VALUES('fix_attempts',3);
INSERT INTO "sqlite_sequence" VALUES('shown_archive',1);
INSERT INTO "sqlite_sequence" VALUES('feedback',1);
INSERT INTO "sqlite_sequence" VALUES('suppressions',1);
INSERT INTO "sqlite_sequence" VALUES('config_log',1);
INSERT INTO "sqlite_sequence" VALUES('sql_audit_log',1);
COMMIT;
PRAGMA user_version = 1;
