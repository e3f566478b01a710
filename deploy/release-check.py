#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Type-checks each module of Sources/ as a release build compiles it: all files at once, without DEBUG.

A debug build compiles files in batches. There a file can see what another file of its batch imports, so code can
compile that the release build refuses. This check finds such code in less than a minute, after a debug build:

    swift build && deploy/release-check.py

It reads the commands of the debug build from .build/debug.yaml, so it checks with the same options and modules.
Exit status 0: every module would compile; 1: one would not; 2: there is no debug build.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a type check does not take, or what makes a build a debug build: alone, and with a value after it.
LEFT_OUT = {
    "-c", "-g", "-Onone", "-enable-testing", "-enable-batch-mode", "-incremental", "-emit-dependencies", "-emit-module",
    "-emit-objc-header", "-parseable-output", "-serialize-diagnostics", "-DDEBUG",
}
LEFT_OUT_WITH_VALUE = {
    "-emit-module-path", "-emit-objc-header-path", "-index-store-path", "-output-file-map",
}


def type_check(arguments):
    """The command that checks types only, as a release build would; `arguments` are those of the debug build."""
    command, rest = [], iter(arguments)
    for argument in rest:
        if argument == "-Xcc":
            command += [argument, next(rest)]
        elif argument in LEFT_OUT_WITH_VALUE:
            next(rest)
        elif argument not in LEFT_OUT:
            command.append(argument)
    return [command[0], "-typecheck", "-whole-module-optimization", *command[1:]]


def modules(manifest):
    """The name and the arguments of each module of Sources/ that the debug build compiles.

    The manifest also names the test modules, whose lists of sources exist only where the tests were built.
    """
    for match in re.finditer(r'^ +args: (\[".*swiftc","-module-name".*\])$', manifest, re.MULTILINE):
        arguments = json.loads(match[1])
        sources = next((argument[1:] for argument in arguments if argument.startswith("@")), None)
        listed = sources and pathlib.Path(sources)
        if listed and listed.exists() and f"{ROOT}/Sources/" in listed.read_text():
            yield arguments[arguments.index("-module-name") + 1], type_check(arguments)


def check(module):
    name, command = module
    result = subprocess.run(command, capture_output=True, text=True)
    return name, result.returncode == 0, result.stderr


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["--help"], ["-h"]) else 64
    manifest = ROOT / ".build" / "debug.yaml"
    found = list(modules(manifest.read_text())) if manifest.exists() else []
    if not found:
        print("release-check: there is no debug build: run `swift build` first", file=sys.stderr)
        return 2
    failed = False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, passed, errors in pool.map(check, found):
            if not passed:
                failed = True
                print(f"release-check: {name} would not compile in a release build:\n{errors}", file=sys.stderr)
    print(f"release-check: {len(found)} modules {'checked, see the errors above' if failed else 'would compile'}")
    return 1 if failed else 0


sys.exit(main())
