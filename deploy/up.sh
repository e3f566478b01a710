#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a new Debian 12 machine with Swift to a running LivePlaza with an evening of four lives.
#
#   deploy/up.sh [options of `plaza up`]       for example: deploy/up.sh --kafka-home ~/kafka --scale gateway=2
#
# Installs the Debian packages that are missing, builds in release mode, and runs `plaza up --demo`. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'EOT'
usage: deploy/up.sh [options of `plaza up`]

From a Debian 12 machine with Swift to a running LivePlaza with an evening of four lives: installs the Debian packages
that are missing, builds in release mode (some minutes the first time), and runs `plaza up --demo`. Then open
http://127.0.0.1:8081/: it shows the lives, their chat and seats, and a battle. Safe to run again.

Options are passed on to `plaza up`; `plaza up --help` lists them once it is built. Often used:
  --kafka-home DIR     start the Apache Kafka that is unpacked there; Java is installed if missing
  --kafka HOST:PORT    use an Apache Kafka that runs
  --scale gateway=2    two gateways
With neither option the broker is in memory: it loses everything when it ends.

  --help               show this, and do nothing
EOT
}
for argument in "$@"; do
  case $argument in -h | --help) usage && exit 0 ;; esac
done

say() { printf 'up: %s\n' "$*"; }

if ! command -v swift >/dev/null; then
  say "Swift 6.3 is needed: see https://www.swift.org/install/linux/" >&2
  exit 1
fi
parts=(build run local)
for argument in "$@"; do [[ $argument == --kafka-home* ]] && parts+=(kafka); done
deploy/install.sh "${parts[@]}"
say "building in release mode (some minutes the first time)"
swift build -c release
programs=$(swift build -c release --show-bin-path)
say "starting: plaza up --demo $*"
say "the other subcommands are there too: $programs/plaza --help"
exec "$programs/plaza" up --demo "$@"
