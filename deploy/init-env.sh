#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes .env, from which docker-compose.yml takes every secret and what was chosen for this machine; --help says more.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 077

usage() {
  cat <<'EOT'
usage: deploy/init-env.sh [--profiles NAME[,...]] [--demo-tokens | --no-demo-tokens]

Makes .env for docker-compose.yml, readable by its owner alone: a random signing key for the app "demo", random
passwords for Redis and Grafana, and a random session key. Keeps what an existing .env says, and adds what it lacks. Run
it again after a change of LIVEPLAZA_APPS_JSON: it makes anew the two parts of it that services other than gateways are
given.

  --profiles NAMES   what `docker compose up` starts from now on, also without --profile; .env keeps it:
                       default   one broker, each service once
                       ha        three brokers, three copies of all that is written, each service twice
                       observe   Prometheus, Grafana, and Jaeger, which services send traces to
                       evening   four lives with chat, seats and battles, for whoever opens the pages
                     for example --profiles ha,observe. One broker and three have different volumes: after a change
                     the other's topics are still there, and unused
  --demo-tokens      lets whoever reaches the pages from this host or a private network sign in as ANY user of the app
                     "demo", without a password: for trying out alone. Off by default; .env keeps it
  --no-demo-tokens   turns that off again
  --help             show this, and do nothing
EOT
}
profiles=""
demo_tokens=""
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --profiles=*) profiles=${1#*=} ;;
    --profiles) profiles=${2:-none} && shift ;;
    --demo-tokens) demo_tokens=on ;;
    --no-demo-tokens) demo_tokens=off ;;
    *) usage >&2 && exit 64 ;;
  esac
  shift
done
for profile in ${profiles//,/ }; do
  case $profile in
    default | ha | observe | evening) ;;
    *) printf 'init-env: there is no profile "%s": default, ha, observe and evening are\n' "$profile" >&2 && exit 64 ;;
  esac
done
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

if ! has LIVEPLAZA_GRAFANA_PASSWORD; then
  cat >>.env <<EOF
# The password of Grafana's user "admin", when Grafana starts for the first time.
LIVEPLAZA_GRAFANA_PASSWORD=$(random)
EOF
  say "made a new password for Grafana"
fi

if ! has LIVEPLAZA_PROXY_USER; then
  cat >>.env <<EOF
# The user and group as whom the proxy reads the files of deploy/haproxy.
LIVEPLAZA_PROXY_USER=$(id -u):$(id -g)
EOF
fi

if [[ -n $profiles ]]; then
  block='COMPOSE_PROFILES|LIVEPLAZA_KAFKA|LIVEPLAZA_KAFKA_VOTERS|LIVEPLAZA_KAFKA_VOLUME|LIVEPLAZA_REPLICATION|LIVEPLAZA_MIN_INSYNC_REPLICAS|LIVEPLAZA_INSTANCES'
  # Another collector than the profile's own stays.
  kept=$(grep -Ev "^($block)=|^LIVEPLAZA_TRACES=http://jaeger:4318\$|^# Profiles, chosen by" .env)
  chosen=$(tr ',' '\n' <<<"$profiles" | { grep -v '^default$' || true; } | sort -u | paste -sd, -)
  {
    printf '%s\n' "$kept"
    printf '# Profiles, chosen by deploy/init-env.sh --profiles.\nCOMPOSE_PROFILES=%s\n' "$chosen"
    if [[ ,$chosen, == *,ha,* ]]; then
      cat <<'EOF'
LIVEPLAZA_KAFKA=kafka:9092,kafka-2:9092,kafka-3:9092
LIVEPLAZA_KAFKA_VOTERS=1@kafka:9093,2@kafka-2:9093,3@kafka-3:9093
LIVEPLAZA_KAFKA_VOLUME=kafka-ha-data
LIVEPLAZA_REPLICATION=3
LIVEPLAZA_MIN_INSYNC_REPLICAS=2
LIVEPLAZA_INSTANCES=2
EOF
    fi
    if [[ ,$chosen, == *,observe,* ]] && ! grep -q '^LIVEPLAZA_TRACES=' <<<"$kept"; then
      printf 'LIVEPLAZA_TRACES=http://jaeger:4318\n'
    fi
  } >.env.new
  mv .env.new .env
  say "profiles: ${chosen:-default}"
fi

if [[ -n $demo_tokens ]]; then
  kept=$(grep -Ev '^LIVEPLAZA_DEMO_TOKENS=|^# Anybody who reaches the pages' .env)
  {
    printf '%s\n' "$kept"
    if [[ $demo_tokens == on ]]; then
      printf '# Anybody who reaches the pages signs in as any user of this app: for trying out alone.\n'
      printf 'LIVEPLAZA_DEMO_TOKENS=demo\n'
    fi
  } >.env.new
  mv .env.new .env
fi
if grep -q '^LIVEPLAZA_DEMO_TOKENS=.' .env; then
  say "WARNING: demo tokens are on. Whoever reaches the pages signs in as ANY user, without a password." >&2
  say "         For trying out alone, and off while LIVEPLAZA_LISTEN is set." \
    "Turn it off: deploy/init-env.sh --no-demo-tokens" >&2
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
    say "LIVEPLAZA_APPS_JSON in .env is no JSON in one line, or it has hooks and python3 is missing." >&2
    say "Correct it, or write LIVEPLAZA_APPS_WEBHOOKS_JSON (no keys) and LIVEPLAZA_APPS_POLICIES_JSON" >&2
    say "(no keys, url and secret) yourself." >&2
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
