#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the pages of the Swift products' API in .build/docs, one archive for each; any warning of DocC is a failure.
#
#   swift build && deploy/docs.sh
#   deploy/docs.sh --modules FOLDER     the built modules stand there, instead of in the folder of the build
#
# `docc preview` or any web server shows an archive.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} == --modules ]]; then modules=$2; else modules=$(swift build --show-bin-path)/Modules; fi
includes=(-I "$modules")
for folder in Sources/Platform/C/*/; do includes+=(-I "$folder"); done
mkdir -p .build/docs
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT

for product in LivePlazaKit LivePlazaCombine LivePlazaTransport LivePlazaTesting; do
  if [[ ! -e $modules/$product.swiftmodule ]]; then
    echo "docs: $modules has no $product: build it first" >&2
    exit 1
  fi
  mkdir "$graphs/$product"
  swift symbolgraph-extract -module-name "$product" "${includes[@]}" -target "$(uname -m)-unknown-linux-gnu" \
    -minimum-access-level public -skip-synthesized-members -output-dir "$graphs/$product"
  # LivePlazaKit has a catalog: a first page, articles, and its symbols by topic.
  catalog=Sources/Client/$product/$product.docc
  if [[ ! -d $catalog ]]; then catalog=; fi
  docc convert ${catalog:+"$catalog"} --additional-symbol-graph-dir "$graphs/$product" --warnings-as-errors \
    --fallback-display-name "$product" --fallback-bundle-identifier "org.liveplaza.$product" \
    --output-dir ".build/docs/$product.doccarchive"
  echo "docs: .build/docs/$product.doccarchive"
done
