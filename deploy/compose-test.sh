#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs docker-compose.yml end to end with this machine's Docker, in clusters of its own, and removes them; --help says
# more. Exit status 0: all of it held; 1: something did not; 2: Docker, compose, Python or an image is missing, so that
# not all of it was tried.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v python3 >/dev/null; then
  printf 'compose-test: python3 is missing\n' >&2
  exit 2
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 Tests/Deploy/compose_cluster_test.py "$@"
