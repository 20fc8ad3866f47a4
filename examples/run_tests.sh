#!/bin/sh
# Runs the test of every example in the simulator, and natively unless QUICK is set.
# usage: run_tests.sh ORRERY OUT        the simulator, and the folder to build in
set -u
[ $# -eq 2 ] || { echo "usage: run_tests.sh ORRERY OUT" >&2; exit 2; }
orrery=$(realpath "$1") && mkdir -p "$2" && out=$(realpath "$2") || exit 2
here=$(dirname "$(realpath "$0")")
passed=0 failed=0

check() { # EXAMPLE TARGET
    if text=$(make --no-print-directory -s -C "$here/$1" "$2" ORRERY="$orrery" OUT="$out/$1" 2>&1); then
        passed=$((passed + 1))
        echo "ok $((passed + failed)) - $1 ($2)"
    else
        failed=$((failed + 1))
        echo "not ok $((passed + failed)) - $1 ($2)"
        echo "$text" | sed 's/^/# /'
    fi
}

for folder in "$here"/*/; do
    example=$(basename "$folder")
    check "$example" test
    [ -n "${QUICK:-}" ] || check "$example" native
done
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
