#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Type-checks what LivePlazaKit has for Apple systems alone, on Linux: URLSession's WebSockets as Foundation has them
# here, and views against stubs of Network, UIKit and SwiftUI, which are built apart, because `canImport` sees all that
# a package has built. An app's code is checked in Swift 5 and 6 mode. The public API is compared with
# docs/api/LivePlazaKit-Apple.txt.
#
#   deploy/apple-check.sh
#   deploy/apple-check.sh --write    # writes that file instead, after a change of the API that is meant
#
# It takes about a minute. It does not replace a build on a Mac: the stubs declare what the kit uses, as the kit uses
# it.
set -euo pipefail
cd "$(dirname "$0")/.."
compare=(--check)
if [[ ${1:-} == --write && $# -eq 1 ]]; then
  compare=()
elif [[ $# -gt 0 ]]; then
  sed -n '3,10s/^# \{0,1\}//p' "$0"
  exit $([[ $1 == --help ]] && echo 0 || echo 64)
fi

out=.build/apple-check
rm -rf "$out"
mkdir -p "$out"
strict=(
  -swift-version 6 -package-name liveplaza -strict-memory-safety -warnings-as-errors
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
  -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault
  -enable-upcoming-feature InferIsolatedConformances
)
module() {
  local name=$1
  shift
  echo "apple-check: $name"
  swiftc -emit-module -parse-as-library -module-name "$name" -I "$out" -o "$out/$name.swiftmodule" "$@"
}

for stub in Darwin Network UIKit SwiftUI; do
  module "$stub" -swift-version 6 -enable-upcoming-feature InternalImportsByDefault "deploy/apple/$stub.swift"
done
# On Apple systems URLSession is a part of Foundation.
strict+=(-Xfrontend -import-module -Xfrontend FoundationNetworking)
# All targets of the products for apps, each after those that it imports.
for target in MachineKit=Model/MachineKit PlazaModel=Model/PlazaModel PlazaWire=Model/PlazaWire \
  LivePlazaCombine=Client/LivePlazaCombine LivePlazaKit=Client/LivePlazaKit DirectoryCore=Services/Directory/Core \
  AudienceCore=Services/Audience/Core BarrageCore=Services/Barrage/Core StageCore=Services/Stage/Core \
  GatewayCore=Services/Gateway/Core LivePlazaTesting=Client/LivePlazaTesting; do
  mapfile -t files < <(find "Sources/${target#*=}" -name '*.swift' | sort)
  module "${target%=*}" "${strict[@]}" "${files[@]}"
done
for mode in 5 6; do
  echo "apple-check: an app in Swift $mode mode"
  swiftc -typecheck -parse-as-library -swift-version "$mode" -I "$out" deploy/apple/App.swift
done
echo "apple-check: the public API"
python3 deploy/api-dump.py --apple --modules "$out" "${compare[@]}"
echo "apple-check: passed"
