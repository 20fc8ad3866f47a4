#!/bin/sh
# Runs the test of every example in the simulator, and natively unless QUICK is set; two examples at a time.
# usage: run_tests.sh ORRERY OUT        the simulator, and the folder to build in
set -u
[ $# -eq 2 ] || { echo "usage: run_tests.sh ORRERY OUT" >&2; exit 2; }
orrery=$(realpath "$1") && mkdir -p "$2" && out=$(realpath "$2") || exit 2
here=$(dirname "$(realpath "$0")")

# One line for each test of an example, and after a failed one what it printed.
one='
targets=test
[ -n "${QUICK:-}" ] || targets="test native"
for target in $targets; do
    if text=$(make --no-print-directory -s -C "$1/$4" "$target" ORRERY="$2" OUT="$3/$4" 2>&1); then
        echo "ok - $4 ($target)"
    else
        echo "not ok - $4 ($target)"
        echo "$text" | sed "s/^/# /"
    fi
done >"$3/$4.tap"'
(cd "$here" && ls -d -- */) | tr -d / | xargs -P 2 -I EXAMPLE sh -c "$one" sh "$here" "$orrery" "$out" EXAMPLE
for folder in "$here"/*/; do
    cat "$out/$(basename "$folder").tap" || echo "not ok - $(basename "$folder")"
done >"$out/all.tap"
cat "$out/all.tap"
passed=$(grep -c '^ok ' "$out/all.tap") failed=$(grep -c '^not ok ' "$out/all.tap")
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
