#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets of Tests/Fuzz/Targets with libFuzzer, each from its corpus in Tests/Fuzz/Corpus.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  cat <<'EOT'
usage: deploy/fuzz.sh [--seconds N | --runs N] [--seed N] [--address] [--keep FOLDER] [--list] [target…]

Builds the fuzz targets once, runs each (or those that are named), and prints its executions. Stops at the first input
that traps, leaks, hangs for 10 s or needs more than 2 GB: its path is printed, and the exit status is 1.

  --seconds N      how long each target runs; 10 if neither is given
  --runs N         how many inputs each target gets
  --seed N         the seed of all chance; default: another one each time
  --address        also build with the address sanitizer: slower, but finds memory faults of unsafe code
  --keep FOLDER    keep new inputs that reach new code in FOLDER/<target>, and begin with those that are there
  --list           show the targets, and do nothing
  --help           show this, and do nothing

A crashing input is written to .build/fuzz/findings. To see where it traps:
  SWIFT_BACKTRACE=enable=yes .build/fuzz/<target> <path of the input>
Mend the code, copy the input into Tests/Fuzz/Corpus/<target>, and add a unit test.
EOT
}

say() { printf 'fuzz: %s\n' "$*"; }
fail() {
  say "$*" >&2
  exit 64
}

sources=Tests/Fuzz/Targets
all=()
for file in "$sources"/*Fuzz.swift; do
  name=${file##*/}
  all+=("${name%Fuzz.swift}")
done

limit=(-max_total_time=10)
seed=()
sanitizers=fuzzer
work=.build/fuzz
keep=
targets=()
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --list) printf '%s\n' "${all[@]}" && exit 0 ;;
    --seconds | --runs)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a whole number of at least 1"
      if [[ $1 == --seconds ]]; then limit=(-max_total_time="$2"); else limit=(-runs="$2"); fi
      shift
      ;;
    --seed)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--seed needs a whole number of at least 1"
      seed=(-seed="$2")
      shift
      ;;
    --address)
      sanitizers=fuzzer,address
      work=.build/fuzz-address
      ;;
    --keep)
      [[ -n ${2:-} ]] || fail "--keep needs a folder"
      keep=$2
      shift
      ;;
    -*) fail "there is no option $1: see deploy/fuzz.sh --help" ;;
    *)
      [[ " ${all[*]} " == *" $1 "* ]] || fail "there is no target $1: see deploy/fuzz.sh --list"
      targets+=("$1")
      ;;
  esac
  shift
done
((${#targets[@]})) || targets=("${all[@]}")

# One optimised build of the modules under test, in a place of its own: the instrumented code must not mix with the
# other builds. Checks for overflow and bounds stay on, as in the release build of the services.
say "building in $work"
mkdir -p "$work" "$work/findings"
log=$work/build.log
flags=()
for sanitizer in ${sanitizers//,/ }; do flags+=(-Xswiftc "-sanitize=$sanitizer"); done
if ! swift build -c release --scratch-path "$work/package" --disable-index-store --target FuzzTargets "${flags[@]}" \
  >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  say "the build failed: all of its output is in $log" >&2
  exit 1
fi
built=$work/package/release
# The linker takes from an archive only what a target uses, so that libFuzzer has fewer counters to read for each input.
# Files of several modules have one name, so they are appended and never replaced.
rm -f "$work/modules.a"
find "$built/" -name '*.o' -path '*.build/*' -print0 | sort -z | xargs -0 ar qc "$work/modules.a"
ranlib "$work/modules.a"
maps=()
for map in Sources/Platform/C/*/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done

for target in "${targets[@]}"; do
  echo "typealias Target = ${target}Fuzz" >"$work/Target.swift"
  echo "import FuzzTargets" >>"$work/Target.swift"
  if ! swiftc -O -parse-as-library -module-name Fuzz "-sanitize=$sanitizers" -I "$built/Modules" "${maps[@]}" \
    -Xcc -I/usr/include/p11-kit-1 Tests/Fuzz/Entry/Entry.swift "$work/Target.swift" "$work/modules.a" \
    -lrdkafka -lhiredis -luv -lmicrohttpd -lcjose -lcurl -lssl -lcrypto -lz -o "$work/$target" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    say "$target cannot be linked: all of the output is in $log" >&2
    exit 1
  fi
done

# A trap ends the process with a signal, which libFuzzer reports with its input; Swift's own backtrace would take
# seconds.
export SWIFT_BACKTRACE=enable=no
for target in "${targets[@]}"; do
  if [[ -n $keep ]]; then
    found=$keep/$target
  else
    found=$work/found/$target
    rm -rf "$found"
  fi
  mkdir -p "$found"
  log=$work/$target.log
  began=$SECONDS
  if ! "$work/$target" "${limit[@]}" "${seed[@]}" -timeout=10 -rss_limit_mb=2048 -max_len=4096 -dict=Tests/Fuzz/numbers.dict \
    -artifact_prefix="$work/findings/$target-" -print_final_stats=1 -verbosity=1 \
    "$found" "Tests/Fuzz/Corpus/$target" >"$log" 2>&1; then
    grep -aE 'ERROR|SUMMARY|Fatal error|Test unit written' "$log" >&2 || tail -n 20 "$log" >&2
    say "$target failed: the input is $(grep -aoE "$work/findings/[^ ]+" "$log" | tail -n 1 || true)" >&2
    exit 1
  fi
  awk -v target="$target" -v seconds=$((SECONDS - began)) '
    /stat::number_of_executed_units/ { runs = $2 }
    /stat::average_exec_per_sec/ { rate = $2 }
    /cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    END { printf "fuzz: %-15s %12d executions, %8d a second, %6d edges, %4d s\n", target, runs, rate, edges, seconds }' "$log"
done
