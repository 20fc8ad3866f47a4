#!/usr/bin/env bash
# Runs all tests of a build and ends with one line that counts them: "N passed, N failed".
# QUICK=1 leaves out the sanitizer and the hostile build, the native runs and most random schedules.
set -u
cd "$(dirname "$0")/.."
build=${1:-build}
quick=${QUICK:-}
logs=$build/test-logs
ORRERY_TEST_PROGRAMS=$(realpath -m "$build/test-programs") # compiled once for all runners
export ORRERY_TEST_PROGRAMS
export UCX_VFS_ENABLE=${UCX_VFS_ENABLE:-n} # native runs die in it now and then (harness.py)
mkdir -p "$logs"
passed=0
failed=0
counted=0
used=0

# Seconds of processor time of all that was run so far.
processor_time() {
    times >"$logs/times"
    awk -F '[ms ]' 'NR == 2 { print int(60 * ($1 + $4) + $2 + $5) }' "$logs/times"
}

# count NAME PASSED FAILED: also says how many seconds went by since the last one, and how many of processor time.
count() {
    local now
    processor_time >"$logs/now"
    read -r now <"$logs/now"
    printf '%-28s %5d passed, %d failed  %5d s %5d s cpu\n' "$1" "$2" "$3" $((SECONDS - counted)) $((now - used))
    counted=$SECONDS
    used=$now
    passed=$((passed + $2))
    failed=$((failed + $3))
}

# runner NAME COMMAND...: a command whose last lines contain "N passed, M failed".
runner() {
    local name=$1 line
    shift
    "$@" >"$logs/$name.log" 2>&1
    local status=$?
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$logs/$name.log" | tail -n 1)
    if [ -z "$line" ]; then
        tail -n 20 "$logs/$name.log"
        count "$name" 0 1
        return
    fi
    local ok=${line%% passed*} bad=${line#*passed, }
    bad=${bad%% failed*}
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$bad" -eq 0 ] || grep -A 12 '^not ok' "$logs/$name.log" | head -n 100
    grep '^# oracle:' "$logs/$name.log"
    count "$name" "$ok" "$bad"
}

# check NAME COMMAND...: one test, by its exit status.
check() {
    local name=$1
    shift
    if "$@" >"$logs/$name.log" 2>&1; then
        count "$name" 1 0
    else
        tail -n 20 "$logs/$name.log"
        count "$name" 0 1
    fi
}

# meson_tests NAME BUILD [TEST...]: every subtest of the unit and property tests, or of some.
meson_tests() {
    local name=$1 dir=$2 ok bad
    shift 2
    meson test -C "$dir" --no-rebuild --print-errorlogs "$@" >"$logs/$name.log" 2>&1
    local status=$?
    ok=$(grep -oE '[0-9]+ subtests passed' "$logs/$name.log" | awk '{n += $1} END {print n + 0}')
    bad=$(grep -cE '^ *[0-9]+/[0-9]+ .*(FAIL|ERROR|TIMEOUT)' "$logs/$name.log")
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    [ "$bad" -eq 0 ] || tail -n 100 "$logs/$name.log"
    count "$name" "$ok" "$bad"
}

sanitized() {
    local dir=$build/sanitize
    [ -f "$dir/build.ninja" ] ||
        meson setup "$dir" -Db_sanitize=address,undefined -Db_lundef=false -Db_lto=false -Dbuildtype=debugoptimized
    meson test -C "$dir" --list >/dev/null && ninja -C "$dir" meson-test-prereq
}

# The build that tries to break itself (CONTRIBUTING.md): only what is run of it.
hostile_tests="test_base_array test_base_buf test_base_map test_base_mem test_base_pairs test_base_pool prop_heap test_engine
    test_engine_conduit test_engine_procs test_engine_state prop_engine test_mpi_early test_mpi_state prop_match"
hostile() {
    local dir=$build/hostile name
    [ -f "$dir/build.ninja" ] ||
        meson setup "$dir" -Dhostile=true -Db_lto=false -Dwerror=false -Doptimization=1 -Ddebug=false
    ninja -C "$dir" orrery liborrery-mpi.so $(for name in $hostile_tests; do echo "tests/$name"; done)
}

ninja -C "$build" meson-test-prereq >"$logs/build.log" 2>&1 || { tail -n 40 "$logs/build.log"; echo "0 passed, 1 failed"; exit 1; }
check layers tools/check-layers --objects "$build"
check uses tools/check-uses
check format tools/check-format
check docs tools/check-docs "$build/orrery"
meson_tests unit "$build"
if [ -z "$quick" ]; then
    if sanitized >"$logs/sanitize-build.log" 2>&1; then
        meson_tests unit-sanitized "$build/sanitize"
    else
        tail -n 40 "$logs/sanitize-build.log"
        count unit-sanitized 0 1
    fi
fi
if [ -z "$quick" ]; then
    if hostile >"$logs/hostile-build.log" 2>&1; then
        meson_tests unit-hostile "$build/hostile" $hostile_tests
        runner hostile python3 tests/run_hostile.py --orrery "$build/orrery" --hostile "$build/hostile/orrery" \
            --build-dir "$build/hostile-tests"
    else
        tail -n 40 "$logs/hostile-build.log"
        count hostile 0 1
    fi
fi
runner mpi-programs python3 tests/run_mpi.py --orrery "$build/orrery" --build-dir "$build/mpi-tests" \
    --programs tests/mpi ${quick:+--no-native --schedules 5} $([ -n "$quick" ] || echo --procs)
runner collectives python3 tests/run_coll.py --orrery "$build/orrery" --build-dir "$build/coll-tests" \
    ${quick:+--filter time}
runner end-to-end python3 tests/run_e2e.py --orrery "$build/orrery" --build-dir "$build/e2e" \
    --procs "$([ -n "$quick" ] && echo 1,2 || echo 1,2,3,4)"
runner processes python3 tests/run_procs.py --orrery "$build/orrery" --build-dir "$build/procs-tests" \
    ${quick:+--quick}
runner programs python3 tests/run_programs.py --orrery "$build/orrery" --build-dir "$build/programs-tests" \
    ${quick:+--filter "usage|ends|packet"}
runner hosts python3 tests/run_hosts.py --orrery "$build/orrery" --build-dir "$build/hosts-tests" \
    ${quick:+--quick}
runner random python3 tests/run_random.py --orrery "$build/orrery" --build-dir "$build/random-tests" \
    ${quick:+--seeds 1-6 --native 0}
runner hollow python3 tests/run_hollow.py --orrery "$build/orrery" --build-dir "$build/hollow-tests" \
    ${quick:+--filter random}
runner faults python3 tests/run_faults.py --orrery "$build/orrery" --build-dir "$build/faults-tests"
runner tune python3 tests/run_tune.py --orrery "$build/orrery" --build-dir "$build/tune-tests" \
    ${quick:+--filter "usage|resume"}
runner replay python3 tests/run_replay.py --orrery "$build/orrery" --build-dir "$build/replay-tests" \
    ${quick:+--filter usage}
runner what-if python3 tests/run_what_if.py --orrery "$build/orrery" --build-dir "$build/what-if-tests" \
    ${quick:+--filter "usage|order|seed 1"}
runner hybrid python3 tests/run_hybrid.py --orrery "$build/orrery" --build-dir "$build/hybrid-tests" \
    ${quick:+--filter "usage|times|ends"}
runner emulate python3 tests/run_emulate.py --orrery "$build/orrery" --build-dir "$build/emulate-tests" \
    ${quick:+--filter "usage|summary|ends|packet coll"}
runner packets python3 tests/run_packets.py --orrery "$build/orrery" --build-dir "$build/packets-tests" \
    ${quick:+--filter "tcp$|errors"}
runner web python3 tests/run_web.py --build-dir "$build"
[ -n "$quick" ] || runner record python3 tests/run_record.py --orrery "$build/orrery" --build-dir "$build/record-tests"
[ -n "$quick" ] || runner calls python3 tests/run_calls.py --orrery "$build/orrery" --build-dir "$build/calls-tests"
[ -n "$quick" ] || runner cluster python3 tests/run_cluster.py --orrery "$build/orrery" --build-dir "$build/cluster-tests"
runner examples examples/run_tests.sh "$build/orrery" "$build/examples"
[ -n "$quick" ] || runner install python3 tests/run_install.py --build-dir "$build/install-tests"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
