#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the JavaScript SDK in clients/web: types, unit tests, conformance cases, and a real cluster.
#
#   deploy/web-test.sh [--fast] [--require-cluster]
#
# Needs Debian's nodejs and node-typescript (deploy/install.sh test), and for the last part a build of `plaza`: PLAZA
# names one, else .build/release/plaza or .build/debug/plaza is taken. Installs and builds nothing. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'EOT'
usage: deploy/web-test.sh [--fast] [--require-cluster]

Checks the types of clients/web and runs its tests. Says what is missing and installs nothing.

  --fast             without the tests against a real cluster
  --require-cluster  the lack of a built `plaza` is a failure; without it those tests are skipped and named
  --help             show this, and do nothing
EOT
}

say() { printf 'web-test: %s\n' "$*"; }

fast=0
required=0
for argument in "$@"; do
  case $argument in
    --fast) fast=1 ;;
    --require-cluster) required=1 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 64 ;;
  esac
done

missing=()
command -v node >/dev/null || missing+=(nodejs)
command -v tsc >/dev/null || missing+=(node-typescript)
if [[ ${#missing[@]} -gt 0 ]]; then
  say "missing: ${missing[*]}. Run: deploy/install.sh test" >&2
  exit 1
fi
version=$(node -p 'process.versions.node.split(".")[0]')
if [[ $version -lt 18 ]]; then
  say "node $version is too old: 18 is needed" >&2
  exit 1
fi

plaza=${PLAZA:-}
for build in release debug; do
  if [[ -z $plaza && -x .build/$build/plaza ]]; then plaza=$PWD/.build/$build/plaza; fi
done

say "types of the sources"
tsc -p clients/web
say "types as an app sees them"
tsc -p clients/web/test/types

say "the example of README.md"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node clients/web/test/types/readme.js >"$work/readme.mts"
tsc --noEmit --strict --target ES2022 --module ES2022 --moduleResolution node --lib ES2022,DOM "$work/readme.mts"

say "unit tests and conformance cases"
# Named one by one: how node finds tests by itself differs between its versions.
mapfile -t tests < <(find clients/web/test -name '*.test.js' -not -path '*/cluster/*' | sort)
node --test "${tests[@]}"

if [[ $fast -eq 1 ]]; then exit 0; fi
if [[ -z $plaza ]]; then
  say "skipped: the tests against a real cluster, because no plaza is built (swift build, or set PLAZA)"
  exit "$required"
fi
say "a real cluster with $plaza"
mapfile -t tests < <(find clients/web/test/cluster -name '*.test.js' | sort)
# One after another: each starts a cluster of its own.
for test in "${tests[@]}"; do PLAZA=$plaza node --test "$test"; done
