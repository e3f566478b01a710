#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian 12 packages that LivePlaza needs and that are missing: the one list of them.
#
#   deploy/install.sh [build] [run] [local] [test] [deploy] [kafka]      all but the last two when nothing is named
#
#   build   C libraries and headers to compile against
#   run     the C libraries that the programs load (all that a container needs)
#   local   what `plaza up` starts on this machine: Redis
#   test    what the tests use besides: Python, Prometheus's promtool, Node with TypeScript, Chromium with fonts
#   deploy  what deploy/deploy-test.sh uses besides: HAProxy, Prometheus
#   kafka   Java, for a real Apache Kafka (`plaza up --kafka-home`)
#
# Safe to run again: does nothing when nothing is missing. Uses sudo when it is not run by root.
set -euo pipefail

declare -A packages=(
  [build]="librdkafka-dev libhiredis-dev libuv1-dev libmicrohttpd-dev libcjose-dev libssl-dev libcurl4-openssl-dev zlib1g-dev pkg-config"
  [run]="librdkafka1 libhiredis0.14 libuv1 libmicrohttpd12 libcjose0 libssl3 libcurl4 zlib1g ca-certificates"
  [local]="redis-server"
  [test]="redis-server openssl python3 python3-pip prometheus python3-venv nodejs node-typescript chromium fonts-noto-cjk fonts-noto-color-emoji"
  [deploy]="haproxy openssl prometheus redis-server python3 python3-pip"
  [kafka]="openjdk-17-jre-headless"
)

say() { printf 'install: %s\n' "$*"; }

if [[ $# -eq 0 ]]; then set -- build run local test; fi
wanted=()
for mode in "$@"; do
  if [[ -z ${packages[$mode]:-} ]]; then
    sed -n '3,14p' "$0" | sed 's/^# \{0,1\}//' >&2
    exit 64
  fi
  read -r -a list <<<"${packages[$mode]}"
  wanted+=("${list[@]}")
done

if ! command -v dpkg-query >/dev/null; then
  say "this is not Debian. Install what corresponds to: ${wanted[*]}" >&2
  exit 1
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed || " ${missing[*]:-} " == *" $package "* ]] || missing+=("$package")
done
# Any Java from 17 on will do, and it need not be Debian's.
java_version() { java -version 2>&1 | sed -nE '1s/.* version "([0-9]+).*/\1/p'; }
if [[ " ${missing[*]:-} " == *" openjdk-17-jre-headless "* ]] && command -v java >/dev/null &&
  [[ $(java_version) =~ ^[0-9]+$ && $(java_version) -ge 17 ]]; then
  kept=()
  for package in "${missing[@]}"; do [[ $package == openjdk-* ]] || kept+=("$package"); done
  missing=(${kept[@]+"${kept[@]}"})
fi
if [[ ${#missing[@]} -eq 0 ]]; then
  say "nothing is missing for: $*"
  exit 0
fi

root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    say "run this as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  root=(sudo)
fi
say "installing ${missing[*]}"
${root[@]+"${root[@]}"} apt-get update -qq
# Debian starts a server when its package is installed. LivePlaza starts its own, so a policy forbids that meanwhile.
has_policy=true
if [[ ! -e /usr/sbin/policy-rc.d ]]; then
  has_policy=false
  printf '#!/bin/sh\nexit 101\n' | ${root[@]+"${root[@]}"} tee /usr/sbin/policy-rc.d >/dev/null
  ${root[@]+"${root[@]}"} chmod 755 /usr/sbin/policy-rc.d
fi
status=0
${root[@]+"${root[@]}"} env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null || status=$?
if [[ $has_policy == false ]]; then ${root[@]+"${root[@]}"} rm -f /usr/sbin/policy-rc.d; fi
if [[ $status -ne 0 ]]; then
  say "apt-get failed with status $status" >&2
  exit "$status"
fi
say "done"
