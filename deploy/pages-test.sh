#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the browser pages: the modules by Node, then what people do with them in Debian's Chromium on a local cluster.
#
#   deploy/pages-test.sh [CASE…]     such as test_lives, or test_lives.Lives.test_the_owner_ends_the_live…
#   deploy/pages-test.sh pictures    writes pictures of each page into .build/screenshots, from sample data
#
#   deploy/pages-test.sh measure     measures the live page, for docs/PERFORMANCE.md
#
# Needs `deploy/install.sh test` and built programs (`swift build`, or LIVEPLAZA_BIN_DIR). With LIVEPLAZA_RUN_DIR the
# cluster of a `plaza up` that runs already is used.
set -euo pipefail
cd "$(dirname "$0")/.."

python=.build/web-venv/bin/python
if [[ ! -x $python ]]; then
  python3 -m venv .build/web-venv
  "$python" -m pip install --quiet --requirement Tests/Web/requirements.txt
fi
if [[ ${1:-} == pictures ]]; then
  shift
  exec "$python" Tests/Web/screenshots.py "$@"
fi
if [[ ${1:-} == measure ]]; then exec "$python" -W ignore::ResourceWarning Tests/Web/measure.py; fi
if [[ $# -eq 0 ]]; then
  node --test clients/web/test/pages/ clients/web/test/session/
  set -- discover -s Tests/Web -t Tests/Web
fi
PYTHONPATH=Tests/Web exec "$python" -W ignore::ResourceWarning -m unittest "$@" -v
