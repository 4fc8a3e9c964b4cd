"""From paths to stored findings with evidence: plan, run, seal, match, record."""
