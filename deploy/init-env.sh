#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .env, from which docker-compose.yml takes every secret: a random signing key for the app "demo".
# Keeps an existing .env. Readable by its owner alone.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ -e .env ]]; then
  chmod 600 .env
  printf 'init-env: .env is there already and stays as it is\n'
  exit 0
fi
umask 077
key=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n')
cat >.env <<EOF
# Secrets of the local cluster. Never commit this file.
# Apps: their signing keys (HS256, base64url; the first one signs, all are accepted) and their policies.
LIVEPLAZA_APPS_JSON='{"apps":{"demo":{"keys":[{"kid":"k1","alg":"HS256","k":"$key"}],"policy":{"feedBudget":40}}}}'
EOF
printf 'init-env: made .env with a new signing key for the app "demo"\n'
