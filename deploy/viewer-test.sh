#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests Examples/TerminalViewer: what people do with it, in pseudo-terminals on a local cluster that this starts.
#
#   deploy/viewer-test.sh [CASE…]     such as test_viewer.Viewer.test_the_terminal_is_restored
#
# Needs built programs (`swift build`, or LIVEPLAZA_BIN_DIR; LIVEPLAZA_VIEWER names another viewer). With
# LIVEPLAZA_RUN_DIR the cluster of a `plaza up` that runs already is used.
set -euo pipefail
cd "$(dirname "$0")/.."

python=.build/viewer-venv/bin/python
if [[ ! -x $python ]]; then
  python3 -m venv .build/viewer-venv
  "$python" -m pip install --quiet --requirement Tests/Examples/requirements.txt
fi
if [[ $# -eq 0 ]]; then set -- discover -s Tests/Examples -t Tests/Examples; fi
PYTHONPATH=Tests/Examples exec "$python" -W ignore::ResourceWarning -m unittest "$@" -v
