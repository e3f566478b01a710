#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .env, from which docker-compose.yml takes every secret: a random signing key for the app "demo", a random
# password for Redis, and a random session key. Readable by its owner alone.
#
# Keeps what an existing .env says, and adds what it lacks. Run it again after a change of LIVEPLAZA_APPS_JSON: it makes
# anew the two parts of it that services other than gateways are given.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 077
say() { printf 'init-env: %s\n' "$*"; }
random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }
has() { grep -q "^$1=" .env; }

if [[ -e .env ]]; then
  chmod 600 .env
else
  printf '# Secrets of the local cluster. Never commit this file.\n' >.env
  say "made .env"
fi
if ! has LIVEPLAZA_APPS_JSON; then
  cat >>.env <<EOF
# Apps: their signing keys (HS256, base64url; the first one signs, all are accepted) and their policies.
LIVEPLAZA_APPS_JSON='{"apps":{"demo":{"keys":[{"kid":"k1","alg":"HS256","k":"$(random)"}],"policy":{"feedBudget":40}}}}'
EOF
  say 'made a new signing key for the app "demo"'
fi
if ! has LIVEPLAZA_REDIS_PASSWORD; then
  cat >>.env <<EOF
# The password of Redis's user "liveplaza": letters, digits, - and _ only.
LIVEPLAZA_REDIS_PASSWORD=$(random)
EOF
  say "made a new password for Redis"
fi

if ! has LIVEPLAZA_SESSION_KEY; then
  cat >>.env <<EOF
# With this secret the gateways bind the names of sessions to their users.
LIVEPLAZA_SESSION_KEY=$(random)
EOF
  say "made a new session key"
fi

# The parts of the apps that services other than gateways are given: without keys, and without the secrets of webhooks.
apps=$(sed -n "s/^LIVEPLAZA_APPS_JSON=//p" .env | tail -n 1 | sed "s/^'\(.*\)'\$/\1/")
divide='
import json, sys
def part(*withheld):
    file = json.loads(sys.stdin.read()) if part.file is None else part.file
    part.file = file
    for app in file["apps"].values():
        app.pop("keys", None)
        for name in withheld: (app.get("hooks") or {}).pop(name, None)
    # In .env the text stands in single quotes.
    return json.dumps(file, separators=(",", ":")).replace(chr(39), "\\u0027")
part.file = None
print("LIVEPLAZA_APPS_WEBHOOKS_JSON=%s%s%s" % (chr(39), part(), chr(39)))
print("LIVEPLAZA_APPS_POLICIES_JSON=%s%s%s" % (chr(39), part("url", "secret"), chr(39)))'
parts=$(python3 -c "$divide" <<<"$apps" 2>/dev/null) || parts=""
if [[ -z $parts ]]; then
  if [[ $apps == *'"hooks"'* || $apps != '{"apps":{'* ]]; then
    say "LIVEPLAZA_APPS_JSON in .env is no JSON in one line, or it has hooks and python3 is missing. Correct it, or write" >&2
    say "LIVEPLAZA_APPS_WEBHOOKS_JSON (no keys) and LIVEPLAZA_APPS_POLICIES_JSON (no keys, url and secret) yourself." >&2
    exit 1
  fi
  # Without hooks, it is enough to leave out the keys.
  rest=$(sed -E 's/"keys" *: *\[[^]]*\] *,?//g' <<<"$apps")
  parts=$(printf "LIVEPLAZA_APPS_WEBHOOKS_JSON='%s'\nLIVEPLAZA_APPS_POLICIES_JSON='%s'" "$rest" "$rest")
fi
kept=$(grep -Ev '^(LIVEPLAZA_APPS_WEBHOOKS_JSON|LIVEPLAZA_APPS_POLICIES_JSON)=|^# Parts of LIVEPLAZA_APPS_JSON' .env)
{
  printf '%s\n' "$kept"
  printf '# Parts of LIVEPLAZA_APPS_JSON, made by deploy/init-env.sh: for room-directory, and for the other services.\n'
  printf '%s\n' "$parts"
} >.env.new
mv .env.new .env
say ".env is complete"
