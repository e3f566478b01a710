#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files from which deploy/k8s/overlays/dev makes its secrets; --help says more.
set -euo pipefail
cd "$(dirname "$0")/../.."
umask 077

usage() {
  cat <<'EOT'
usage: deploy/k8s/make-secrets.sh [DIRECTORY]

Writes the secrets of a cluster to try into files: the apps with their keys, the two parts of them that other services
are given, a session key and Redis's password. They are those of .env, which deploy/init-env.sh makes if it is not
there. DIRECTORY is deploy/k8s/overlays/dev/secrets unless it is named. Safe to run again.
EOT
}
case ${1:-} in
  -h | --help) usage && exit 0 ;;
  -*) usage >&2 && exit 64 ;;
esac
directory=${1:-deploy/k8s/overlays/dev/secrets}

deploy/init-env.sh
mkdir -p "$directory"
# The last line of a name counts; JSON stands in single quotes.
value() { sed -n "s/^$1=//p" .env | tail -n 1 | sed "s/^'\(.*\)'\$/\1/"; }
write() {
  local text
  text=$(value "$1")
  if [[ -z $text ]]; then
    printf 'make-secrets: .env has no %s\n' "$1" >&2
    exit 1
  fi
  printf '%s' "$text" >"$directory/$2"
  printf 'make-secrets: %s\n' "$directory/$2"
}
write LIVEPLAZA_APPS_JSON apps.json
write LIVEPLAZA_APPS_WEBHOOKS_JSON apps-webhooks.json
write LIVEPLAZA_APPS_POLICIES_JSON apps-policies.json
write LIVEPLAZA_SESSION_KEY session-key
write LIVEPLAZA_REDIS_PASSWORD redis-password
