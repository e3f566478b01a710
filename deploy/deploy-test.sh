#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests what deploy/ has for containers, HAProxy, Prometheus, Grafana and Kubernetes; --help says more.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() {
  cat <<'EOT'
usage: deploy/deploy-test.sh [--fast] [--bin DIRECTORY] [compose] [k8s] [proxy] [dashboards]

Installs what is missing and runs the tests of Tests/Deploy, all or those that are named, one after another: about five
minutes. They start clusters of the built programs on loopback and end them. Exit status 1 if one failed.

  compose      docker-compose.yml, .env and the Dockerfile; no Docker is needed (deploy/compose-test.sh runs them with it)
  k8s          deploy/k8s against Kubernetes's schemas and the programs; kubectl is fetched if it is missing or too old
  proxy        deploy/haproxy before two gateways: TLS, clients' addresses, another proxy before it, drain
  dashboards   every query of every panel and alert rule on a Prometheus of a loaded cluster; on a real Kafka if KAFKA_HOME
               names one

  --fast            only what needs no cluster, in less than a minute: the files against schemas, each other and the
                    programs' settings, HAProxy's configuration, rules by promtool. .ci/run does this on each change
  --bin DIRECTORY   the folder of the built programs; default: .build/release, then .build/debug
  --help            show this, and do nothing
EOT
}
say() { printf 'deploy-test: %s\n' "$*"; }
bin=()
fast=0
tests=()
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --fast) fast=1 ;;
    --bin) bin=(--bin "${2:?--bin needs a directory}") && shift ;;
    compose | k8s | proxy | dashboards) tests+=("$1") ;;
    *) usage >&2 && exit 64 ;;
  esac
  shift
done
if [[ ${#tests[@]} -eq 0 ]]; then tests=(compose k8s proxy dashboards); fi

deploy/install.sh run deploy
packages=.build/python-deploy
if ! PYTHONPATH=$packages python3 -c 'import kubernetes_validate, yaml' 2>/dev/null; then
  say "installing the Python packages into $packages"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade --target "$packages" \
    --requirement Tests/Deploy/requirements.txt
fi
failed=()
export PYTHONDONTWRITEBYTECODE=1
for test in "${tests[@]}"; do
  say "$test"
  options=(${bin[@]+"${bin[@]}"})
  # compose_test.py starts no cluster in any case.
  if [[ $fast == 1 && $test != compose ]]; then options+=(--files-only); fi
  python3 "Tests/Deploy/${test}_test.py" ${options[@]+"${options[@]}"} || failed+=("$test")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  say "failed: ${failed[*]}"
  exit 1
fi
say "passed: ${tests[*]}$([[ $fast == 0 ]] || echo " (--fast: without clusters)")"
