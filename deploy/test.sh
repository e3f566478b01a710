#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs all tests, or the fast ones.
#
#   deploy/test.sh [--fast] [--require-kafka] [--retry-failed] [--sanitize KIND] [options of `swift test`]
#   for example: deploy/test.sh --filter BarrageCore
#
# Tests that need a real Apache Kafka look at KAFKA_HOME, then at ../shared/kafka. Without one they are skipped and
# named at the end; with --require-kafka (or LIVEPLAZA_REQUIRE_KAFKA=1) its lack is a failure. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."

# Every test target of Package.swift stands in one of the first two lists (checked by
# Tests/Architecture/FastTests.swift). Needs no Redis, no Kafka (real or in memory), no child process: what --fast runs.
fast_targets="ArchitectureTests FuzzTests MachineKitTests PlazaModelTests PlazaWireTests DirectoryCoreTests AudienceCoreTests BarrageCoreTests StageCoreTests GatewayCoreTests PermissionTests RecordSizeTests CompressionTests ObservabilityTests ClientAddressTests EventLoopTests WebSocketTests HTTPServerTests HTTPClientTests TokensTests SettingsTests LoadKitTests AttackKitTests ChaosKitTests ScaleKitTests DashboardKitTests InspectKitTests ProtocolClientTests LivePlazaKitTests LivePlazaTransportTests LivePlazaCombineTests LivePlazaTestingTests ViewerScreensTests FirstLiveTests"
# Starts servers or child processes: left out by --fast.
server_targets="ChildProcessTests KafkaClientTests RedisClientTests ServiceShellTests PresenceTests WebhooksTests GatewayTests ClusterKitTests PublicAPITests ClusterTests"
# Of these, the ones that run beside all others, in a process of their own: about half of the time. A third process would
# save a few minutes, but two cores are then so busy that tests of time limits fail.
second_process_targets="ClusterTests"
# Suites of fast targets that --fast leaves out too: the first four start child processes, the others (random walks, and
# sessions that are cut at each frame) take 10 to 20 s each in a debug build.
left_out_suites="MetricsRegistryTests AlertRuleFileTests InteropTests TLSTransportTests SlotIndexTests SeatRandomWalkTests ConnectionRandomWalkTests SimulatedCutTests SimulatedCallCutTests StrictJSONDecoderTests BudgetOracleTests BarrageScheduleTests"
# Suites with servers that measure times under faults or attacks: nothing runs beside them.
measured_suites="DeadlyInputTests KillTests StoreKillTests LongWaitTests PresenceClusterTests AttackTests ChaosTests"

usage() {
  cat <<'EOT'
usage: deploy/test.sh [--fast] [--require-kafka] [--retry-failed] [--sanitize KIND] [options of `swift test`]

Installs the packages that are missing, checks the format, builds, and runs all tests: first those of --fast, in
parallel; then those with servers, in two processes at once, each one test after another; at last, alone, those that
measure times under faults. Names at the end what was skipped and what failed; the exit status is 1 if anything failed.
Safe to run again.

  --fast               only tests that need no server: no Redis, no Kafka, no child process; and none of the
                       longest suites. In parallel, in 35 to 120 s after the build. Installs the C libraries only.
                       With --filter it runs what the filter names instead
  --require-kafka      the lack of a real Kafka is a failure; LIVEPLAZA_REQUIRE_KAFKA=1 does the same
  --retry-failed       runs the suites of failed tests once more, if they are at most three and no test process ended;
                       passes if all pass then, and names them as flaky: each is a fault to be mended.
                       Not if random faults broke an invariant
  --sanitize KIND      builds with the address or thread sanitizer, in .build/sanitize-KIND, and runs the tests so:
                       slower, a finding ends the test process. Best with --fast. Swift's compiler has no sanitizer of
                       undefined behaviour for Linux: it traps by itself on overflow, bad indices and conversions, and
                       debug builds on overlapping access; the project has no C code of its own
  --help               show this, and do nothing
Other options are passed on to `swift test`, for example --filter BarrageCore.

Tests that need a real Apache Kafka 4 look for an unpacked one in KAFKA_HOME, then in ../shared/kafka beside the
repository. Without one they are skipped.
EOT
}
for argument in "$@"; do
  case $argument in -h | --help) usage && exit 0 ;; esac
done

say() { printf 'test: %s\n' "$*"; }

options=()
fast=0
retry=0
build_options=()
while (($#)); do
  argument=$1
  shift
  case $argument in
    --fast) fast=1 ;;
    --sanitize)
      if [[ ! ${1:-} =~ ^(address|thread)$ ]]; then
        say "--sanitize needs address or thread (Swift has no undefined-behaviour sanitizer for Linux)" >&2
        exit 64
      fi
      build_options=(--sanitize "$1" --scratch-path ".build/sanitize-$1")
      # The search for leaks does not know the references in which Swift keeps flags, and reports constants as leaks.
      export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
      shift
      ;;
    --retry-failed) retry=1 ;;
    --require-kafka) export LIVEPLAZA_REQUIRE_KAFKA=1 ;;
    *) options+=("$argument") ;;
  esac
done
if [[ $fast == 1 && ${LIVEPLAZA_REQUIRE_KAFKA:-} == 1 ]]; then
  say "--fast runs no test that needs a Kafka: leave out --require-kafka and LIVEPLAZA_REQUIRE_KAFKA" >&2
  exit 64
fi

if ! command -v swift >/dev/null; then
  say "Swift 6.3 is needed: see https://www.swift.org/install/linux/" >&2
  exit 1
fi

# Finds the real Kafka, and installs what the tests with servers need.
prepare_servers() {
  local kafka=${KAFKA_HOME:-}
  if [[ -z $kafka && -x ../shared/kafka/bin/kafka-server-start.sh ]]; then kafka=$(cd ../shared/kafka && pwd); fi
  if [[ -n $kafka && ! -x $kafka/bin/kafka-server-start.sh ]]; then
    say "KAFKA_HOME is $kafka, which is no unpacked Apache Kafka: bin/kafka-server-start.sh is not there" >&2
    exit 1
  fi
  if [[ -n $kafka ]]; then
    say "the real Kafka is $kafka"
    export KAFKA_HOME=$kafka
    deploy/install.sh build run test kafka
  else
    say "no real Kafka: tests that need one are skipped. Set KAFKA_HOME to run them."
    if [[ ${LIVEPLAZA_REQUIRE_KAFKA:-} == 1 ]]; then
      say "a real Kafka is required here: set KAFKA_HOME to an unpacked Apache Kafka 4" >&2
      exit 1
    fi
    deploy/install.sh build run test
  fi

  # Two test tools from PyPI, which the tests find in .build/python: `websockets` is the other end of the
  # interoperability tests, `schemathesis` checks the HTTP API against its description.
  local is_there='import importlib.metadata as m, sys
lines = [l.strip() for l in open("Tests/requirements.txt") if "==" in l and not l.startswith("#")]
sys.exit(any(m.version(n) != v for n, v in (l.split("==") for l in lines)))'
  if ! PYTHONPATH=.build/python python3 -c "$is_there" 2>/dev/null; then
    say "installing the Python test tools into .build/python"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade \
      --target .build/python --requirement Tests/requirements.txt ||
      say "that failed: tests that need it fail or are skipped"
  fi
}

if [[ $fast == 1 ]]; then deploy/install.sh build run; else prepare_servers; fi

say "checking the format"
swift format lint --strict --parallel --recursive --configuration .swift-format Sources Tests Examples Package.swift

say "building"
swift build --build-tests ${build_options[@]+"${build_options[@]}"}

output=$(mktemp)
# What the second of two processes printed, until it is added to $output: lines of one failure must stay together.
beside=$(mktemp)
second=
end() {
  if [[ -n $second ]]; then kill -- "-$second" 2>/dev/null || true; fi
  rm -f "$output" "$beside"
}
trap end EXIT
failed=0
# None waits for the lock of .build, since none builds.
run_tests() { swift test --skip-build --ignore-lock --disable-xctest ${build_options[@]+"${build_options[@]}"} "$@" 2>&1; }
run_fast_tests() {
  local selection=(--parallel)
  for suite in $left_out_suites; do selection+=(--skip "\\.$suite/"); done
  run_tests "${selection[@]}" "$@" | tee -a "$output" || failed=1
}
# One after another: many of these tests wait for real servers, and too many of them at once disturb each other.
run_one_by_one() { run_tests --no-parallel "$@" | tee -a "$output" || failed=1; }
# Two processes at once, since these tests wait more than they compute.
run_server_tests() {
  local measured=()
  for suite in $measured_suites; do measured+=(--skip "\\.$suite/"); done
  local beside_targets="^(${second_process_targets// /|})\\."
  # A process group of its own, so that an interrupted run can end it with its servers.
  set -m
  { run_tests --no-parallel --filter "$beside_targets" "${measured[@]}" "$@" | tee "$beside"; } &
  second=$!
  set +m
  run_one_by_one --filter "^(${server_targets// /|})\\." --skip "$beside_targets" --filter "\\.(${left_out_suites// /|})/" \
    "${measured[@]}" "$@"
  wait "$second" || failed=1
  second=
  cat "$beside" >>"$output"
  run_one_by_one --filter "\\.(${measured_suites// /|})/" "$@"
}

fast_filter="^(${fast_targets// /|})\\."
# Several filters would add up, so a filter among the options replaces the lists.
if [[ " ${options[*]:-} " == *" --filter"* ]]; then
  if [[ $fast == 1 ]]; then run_fast_tests "${options[@]}"; else run_one_by_one "${options[@]}"; fi
else
  run_fast_tests --filter "$fast_filter" ${options[@]+"${options[@]}"}
  if [[ $fast == 0 ]]; then run_server_tests ${options[@]+"${options[@]}"}; fi
fi

say "skipped:"
grep -E '^[^ ]+ (Test|Suite) .* skipped(: .*|\.)$' "$output" | sort -u | sed 's/^/  /' || say "  none"
# Repeats each failure with its expectation at the end of the log, where a reader looks first.
name_failures() {
  grep -E -A 3 '^[^ ]+ (Test|Suite) .* (failed after|recorded an issue)|Fatal error' "$output" |
    grep -E '^[^ ]+ (Test|Suite) .* (failed after|recorded an issue)|^↳|Fatal error|error:' | cut -c1-600 |
    tail -n 60 | sed 's/^/  /' || say "  no test says so: read the log above"
}
summary() { grep -E '^[^ ]+ Test run with ' "$output"; }
if [[ $failed == 1 ]]; then
  say "failed:"
  name_failures
  suites=$(sed -nE 's/^[^ ]+ Suite ([A-Za-z0-9_]+) failed after .*/\1/p' "$output" | sort -u)
  count=$(wc -w <<<"$suites")
  # A broken invariant under random faults need not show again, so a second run that passes says nothing about it.
  if grep -qE 'BROKEN: (.*; )?[IR][0-9.]+: ' "$output"; then
    say "an invariant was broken under random faults: not run again"
  elif [[ $retry == 1 ]] && ((count >= 1 && count <= 3)) && summary >/dev/null; then
    summary
    say "running again: ${suites//$'\n'/, }"
    : >"$output"
    if run_tests --no-parallel --filter "\\.(${suites//$'\n'/|})/" | tee -a "$output"; then
      failed=0
      say "flaky: ${suites//$'\n'/, } failed at first (see \"failed:\" above) and passed when run again: a fault to be mended"
    else
      say "failed again:"
      name_failures
    fi
  fi
fi
summary
exit "$failed"
