#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the public API of the products for apps to docs/api, or compares it with what stands there.

    swift build && deploy/api-dump.py            # after a change of the API that is meant
    deploy/api-dump.py --check                   # exit status 1 and the differences if the API is another
    deploy/apple-check.sh --write                # the same for what Apple systems alone have: LivePlazaKit-Apple.txt

A line for each public declaration, with the types that it is declared in, sorted. The toolchain's
`swift symbolgraph-extract` reads it from the built modules.
"""
import argparse
import difflib
import json
import pathlib
import platform
import subprocess
import sys
import tempfile

PRODUCTS = ["LivePlazaKit", "LivePlazaCombine", "LivePlazaTransport", "LivePlazaTesting"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
C_MODULES = [option for path in sorted(ROOT.glob("Sources/Platform/C/*")) for option in ("-I", str(path))]
# A module is no declaration.
KINDS = {"swift.module"}


def graphs(product, modules, folder):
    """The symbol graphs of a module: its own, and those of its extensions of other modules' types."""
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", product, "-I", str(modules), *C_MODULES,
         "-target", f"{platform.machine()}-unknown-linux-gnu", "-minimum-access-level", "public",
         "-skip-synthesized-members", "-output-dir", folder],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for path in sorted(pathlib.Path(folder).glob(f"{product}*.symbols.json")):
        yield json.loads(path.read_text())


def api(product, modules):
    """The lines of a product's API."""
    lines = set()
    with tempfile.TemporaryDirectory() as folder:
        for graph in graphs(product, modules, folder):
            names = {s["identifier"]["precise"]: ".".join(s["pathComponents"]) for s in graph["symbols"]}
            for symbol in graph["symbols"]:
                if symbol["kind"]["identifier"] in KINDS:
                    continue
                text = "".join(piece["spelling"] for piece in symbol.get("declarationFragments", []))
                owner = ".".join(symbol["pathComponents"][:-1])
                lines.add(f"{owner}: {' '.join(text.split())}" if owner else " ".join(text.split()))
            for edge in graph["relationships"]:
                # A conformance that the compiler derives for each enumeration and structure says nothing.
                if edge["kind"] == "conformsTo" and edge["source"] in names:
                    target = edge.get("targetFallback", names.get(edge["target"], edge["target"]))
                    target = target.removeprefix("Swift.")
                    if target not in ("Copyable", "Escapable", "SendableMetatype"):
                        lines.add(f"{names[edge['source']]}: conforms to {target}")
    return sorted(lines)


def apple_api(modules):
    """What LivePlazaKit has for Apple systems alone: the lines that docs/api/LivePlazaKit.txt does not have."""
    known = set((ROOT / "docs/api/LivePlazaKit.txt").read_text().splitlines())
    return [line for line in api("LivePlazaKit", modules) if line not in known]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with docs/api and write nothing")
    parser.add_argument("--modules", type=pathlib.Path, default=ROOT / ".build/debug/Modules",
                        help="the folder of the built modules (%(default)s)")
    parser.add_argument("--apple", action="store_true",
                        help="the API for Apple systems alone; the modules are those of deploy/apple-check.sh")
    options = parser.parse_args()
    if not options.modules.is_dir():
        sys.exit(f"{options.modules} is no folder: run `swift build` first, or name it with --modules")
    changed = False
    for product in ["LivePlazaKit-Apple"] if options.apple else PRODUCTS:
        path = ROOT / "docs/api" / f"{product}.txt"
        try:
            lines = apple_api(options.modules) if options.apple else api(product, options.modules)
        except subprocess.CalledProcessError as error:
            sys.exit(f"the API of {product} cannot be read: {error.stderr.decode()}")
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(lines) + "\n")
            print(f"{path.relative_to(ROOT)}: {len(lines)} lines")
            continue
        known = path.read_text().splitlines() if path.exists() else []
        for line in difflib.unified_diff(known, lines, f"docs/api/{product}.txt", "the built module", n=0, lineterm=""):
            changed = True
            print(line)
    if changed:
        command = "deploy/apple-check.sh --write" if options.apple else "deploy/api-dump.py"
        sys.exit(f"the public API is another: run {command} if that is meant, and commit docs/api")


if __name__ == "__main__":
    main()
