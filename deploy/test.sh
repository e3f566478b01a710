#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs all tests.
#
#   deploy/test.sh [--require-kafka] [options of `swift test`]       for example: deploy/test.sh --filter BarrageCore
#
# Tests that need a real Apache Kafka look at KAFKA_HOME, then at ../shared/kafka. Without one they are skipped and
# named at the end; with --require-kafka (or LIVEPLAZA_REQUIRE_KAFKA=1) its lack is a failure. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'EOT'
usage: deploy/test.sh [--require-kafka] [options of `swift test`]

Installs the packages that are missing, checks the format, builds, and runs all tests, one after another. What was
skipped and what failed is named at the end; the exit status is 1 if anything failed. Safe to run again.

  --require-kafka      the lack of a real Kafka is a failure; LIVEPLAZA_REQUIRE_KAFKA=1 does the same
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
for argument in "$@"; do
  if [[ $argument == --require-kafka ]]; then export LIVEPLAZA_REQUIRE_KAFKA=1; else options+=("$argument"); fi
done

if ! command -v swift >/dev/null; then
  say "Swift 6.3 is needed: see https://www.swift.org/install/linux/" >&2
  exit 1
fi

kafka=${KAFKA_HOME:-}
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

# The WebSocket code talks to an implementation that is not ours, and the HTTP API is checked against its description by a
# tool that is not; the tests find both in .build/python.
is_there='import importlib.metadata as m, sys
lines = [l.strip() for l in open("Tests/requirements.txt") if "==" in l and not l.startswith("#")]
sys.exit(any(m.version(n) != v for n, v in (l.split("==") for l in lines)))'
if ! PYTHONPATH=.build/python python3 -c "$is_there" 2>/dev/null; then
  say "installing what tests use of PyPI into .build/python"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade \
    --target .build/python --requirement Tests/requirements.txt ||
    say "that failed: tests that need it fail or are skipped"
fi

say "checking the format"
swift format lint --strict --parallel --recursive --configuration .swift-format Sources Tests Package.swift

say "building"
swift build --build-tests

output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0
# One after another: many talk to real servers and measure times, and share two cores badly.
swift test --skip-build --disable-xctest --no-parallel ${options[@]+"${options[@]}"} 2>&1 | tee "$output" || failed=1

say "skipped:"
grep -E '^[^ ]+ (Test|Suite) .* skipped(: .*|\.)$' "$output" | sort -u | sed 's/^/  /' || say "  none"
if [[ $failed == 1 ]]; then
  # Each failure with what was expected, once more at the end: a log of this length is read from there.
  say "failed:"
  grep -E -A 3 '^[^ ]+ (Test|Suite) .* (failed after|recorded an issue)|Fatal error' "$output" |
    grep -E '^[^ ]+ (Test|Suite) .* (failed after|recorded an issue)|^↳|Fatal error|error:' | cut -c1-600 |
    tail -n 60 | sed 's/^/  /' || say "  no test says so: read the log above"
fi
grep -E '^[^ ]+ Test run with ' "$output"
exit "$failed"
