# ruleid: bidirectional-control-character
access = "user"  # ‮ admin
