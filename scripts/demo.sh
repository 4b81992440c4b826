#!/bin/sh
# Replay the demo matrix on the embedded stack and print what it says: `demo.sh VENV/bin`.
set -eu
bin=$1
"$bin/submit-matrix" --suite demo --mode replay -k 5 --label demo --wait \
    --model recorded:scripted-thorough --model recorded:scripted-quick --model recorded:scripted-sloppy \
    --prompt plain --prompt careful
"$bin/passgrid" report demo
echo
echo "See it in a browser: $bin/passgrid dashboard"
