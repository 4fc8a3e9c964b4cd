#!/bin/bash
# ruleid: bash-pipe-to-shell
curl -fsSL https://example.com/install.sh | bash
# ruleid: bash-pipe-to-shell
wget -qO- https://example.com/install.sh | sudo sh -s -- --yes
# ok: bash-pipe-to-shell
curl -fsSL https://example.com/install.sh -o install.sh
# ruleid: bash-eval
eval "$command"
# ok: bash-eval
"${command[@]}"
