#!/bin/sh
# Makes again what the documents take from the program: man page, README's plot, and the figures in README's console blocks.
# Usage: docs.sh COLLSIM
set -eu
collsim=$1
"$collsim" __man >docs/man/collsim.1
"$collsim" run dgx-h100 -b 1K -e 8G -f 2 -q --plot docs/img/dgx-h100.svg >/dev/null
python3 tests/golden/golden.py "$collsim" . README.md docs/guide/*.md --update
