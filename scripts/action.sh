#!/usr/bin/env bash
# What action.yml does: run a matrix, compare it with a baseline, and write the report in every format.
# Everything comes in by the environment, never as text of a command; lists have one item a line.
#   BIN  folder of the commands    OUT  folder to make    INPUT_…  see the inputs of action.yml
# Exits as `passgrid report` does: 0 passed, 3 a regression, 4 inconclusive, 1 and 2 errors.
set -euo pipefail

matrix=()
add() { # flag, lines: the flag once for each line that is not empty
    local flag=$1 line
    while IFS= read -r line; do
        line="${line#"${line%%[![:space:]]*}"}"
        [ -z "$line" ] || matrix+=("$flag" "$line")
    done <<<"$2"
}

submit() { # label, suites: the id of the run, when it is over; 4 is for the report to say
    local code=0 said
    matrix=(-k "${INPUT_K:-1}" --mode "${INPUT_MODE:-replay}" --label "$1")
    add --suite "$2"
    add --model "${INPUT_MODEL:-}"
    add --prompt "${INPUT_PROMPT:-}"
    add --target "${INPUT_TARGET:-}"
    [ -z "${INPUT_BUDGET:-}" ] || matrix+=(--budget "$INPUT_BUDGET")
    [ "${INPUT_RECORD:-false}" != true ] || matrix+=(--record)
    said=$("$BIN/submit-matrix" "${matrix[@]}" --wait --json) || code=$?
    [ "$code" = 0 ] || [ "$code" = 4 ] || exit "$code"
    printf '%s' "$said" | field run
}

field() { # of the JSON on stdin
    python3 -c 'import json, sys; found = json.load(sys.stdin); print(found[sys.argv[1]])' "$1"
}

mkdir -p "$OUT"
label=${INPUT_LABEL:-$(date -u +%Y-%m-%dT%H-%M)}
if [ -z "${PASSGRID_DATABASE_URL:-}" ]; then
    "$BIN/passgrid" up >&2
    trap '"$BIN/passgrid" down >&2' EXIT
fi

compare=()
if [ -n "${INPUT_BASELINE:-}" ]; then
    compare+=(--baseline "$INPUT_BASELINE")
elif [ -n "${INPUT_BASELINE_SUITE:-}" ]; then
    compare+=(--baseline "$(submit "$label baseline" "$INPUT_BASELINE_SUITE")")
elif [ -n "${INPUT_BASELINE_EXPORT:-}" ]; then
    compare+=(--baseline "$("$BIN/passgrid" import passgrid "$INPUT_BASELINE_EXPORT" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["run"])')")
fi
if [ "${#compare[@]}" -gt 0 ]; then
    while IFS= read -r gate; do
        [ -z "$gate" ] || compare+=(--gate "$gate")
    done <<<"${INPUT_GATE:-}"
fi

run=$(submit "$label" "$INPUT_SUITE")
code=0
for format in markdown:report.md junit:report.xml html:report.html json:report.json; do
    code=0
    "$BIN/passgrid" report "$run" "${compare[@]}" --format "${format%%:*}" --out "$OUT/${format#*:}" || code=$?
    case $code in 0 | 3 | 4) ;; *) exit "$code" ;; esac
done
"$BIN/passgrid" export "$run" --format parquet --out "$OUT/run" >&2 || echo "the run is not finished: it is not exported" >&2
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$OUT/report.md" >>"$GITHUB_STEP_SUMMARY"
[ -z "${GITHUB_OUTPUT:-}" ] || printf 'run=%s\nexit-code=%s\n' "$run" "$code" >>"$GITHUB_OUTPUT"
exit "$code"
