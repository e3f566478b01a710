#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docker-compose.yml, .env and the Dockerfile; compose_cluster_test.py runs them.

It needs no Docker: each setting must be one of its program's, every service can be scaled (no port of the host, no name
of its own), nothing runs with a writable root file system, every image has an exact version, and what .env must hold is
made by deploy/init-env.sh. If `docker compose` or docker-compose is there, it reads the file with each choice of
profiles. Exit status 0: every check passed.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from compose_project import compose_command, make_environment
from local_cluster import ROOT, SERVICES, Failure, bin_directory, say

sys.path.append(os.path.join(ROOT, ".build", "python-deploy"))
try:
    import yaml
except ImportError:
    raise SystemExit("PyYAML is missing: python3 -m pip install --target .build/python-deploy --requirement "
                     "Tests/Deploy/requirements.txt")

# The services of which there is one each, because they have a volume or a port of the host.
SINGLE = {"proxy", "kafka", "kafka-2", "kafka-3", "redis", "prometheus", "grafana", "jaeger", "demo", "evening"}
# A broker writes its configuration when it starts.
WRITABLE = {"kafka", "kafka-2", "kafka-3"}
# The tested choices of profiles.
CHOICES = ["default", "ha", "observe", "ha,observe", "evening"]


def check_file(compose_file, bin_folder):
    """The faults of docker-compose.yml (parsed) and of the Dockerfile, as texts."""
    faults = []
    for name, service in compose_file["services"].items():
        if name not in SINGLE and set(service) & {"ports", "container_name", "hostname"}:
            faults.append(f"{name} cannot be scaled: {set(service) & {'ports', 'container_name', 'hostname'}}")
        if name not in WRITABLE and not service.get("read_only"):
            faults.append(f"{name} has a writable root file system")
        if service.get("cap_drop") != ["ALL"] or "no-new-privileges:true" not in service.get("security_opt", []):
            faults.append(f"{name} keeps capabilities")
        if "max-size" not in service.get("logging", {}).get("options", {}):
            faults.append(f"{name}: its logs have no size limit")
        if service["image"] != "liveplaza:local" and not re.search(r":v?\d+\.\d+\.\d+(-\w+)?$|@sha256:[0-9a-f]{64}$",
                                                                   service["image"]):
            faults.append(f"{name}: {service['image']} is not an exact version")
        for port in service.get("ports", []):
            if not re.match(r"(\$\{LIVEPLAZA_LISTEN:-127\.0\.0\.1\}|127\.0\.0\.1):\$\{\w+:-\d+\}:\d+$", port):
                faults.append(f"{name}: the port {port} is not on loopback unless chosen")
        if name in SERVICES:
            text = subprocess.run([os.path.join(bin_folder, name), "--help"], capture_output=True, text=True,
                                  timeout=20).stdout
            for setting in service["environment"]:
                if not re.search(rf"\b{setting}\b", text):
                    faults.append(f"{name} has no setting {setting}")
    if not set(SERVICES) <= set(compose_file["services"]):
        faults.append("a service is missing")
    with open(os.path.join(ROOT, "deploy", "Dockerfile")) as dockerfile:
        text = dockerfile.read()
    faults += missing_in_context(text)
    users = re.findall(r"^USER (\S+)", text, re.M)
    if not users or users[-1].split(":")[0] in ("root", "0"):
        faults.append("the image runs as root")
    return faults


def missing_in_context(dockerfile):
    """What the Dockerfile copies from the build context, although .dockerignore leaves it out."""
    with open(os.path.join(ROOT, ".dockerignore")) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    # .dockerignore leaves out everything (`*`) except the paths behind `!`.
    included = [line[1:] for line in lines if line.startswith("!")]
    sources = re.findall(r"^COPY (?!--from)(\S+) \S+", dockerfile, re.M)
    if "*" not in lines or not sources:
        return ["the check of the build context finds no rule or no COPY"]
    return [
        f"the image's build lacks {source}: name it in .dockerignore"
        for source in sources
        if not any(source == path or source.startswith(path + "/") for path in included)
    ]


def check_choices(text, command):
    """Checks the .env of each choice of profiles against docker-compose.yml, whose text is `text`."""
    # The variables without which compose refuses the file: ${NAME:?error}.
    required = set(re.findall(r"\$\{(\w+):\?", text))
    with tempfile.TemporaryDirectory() as folder:
        for choice in CHOICES:
            environment = make_environment(folder, choice)
            if "LIVEPLAZA_SESSION_KEY" not in required:
                raise Failure("gateways start without a session key")
            if required - set(environment):
                raise Failure(f"deploy/init-env.sh does not make {required - set(environment)}")
            brokers = environment.get("LIVEPLAZA_KAFKA", "kafka:9092").split(",")
            voters = environment.get("LIVEPLAZA_KAFKA_VOTERS", "1@kafka:9093").split(",")
            if [broker.split(":")[0] for broker in brokers] != [re.split("[@:]", voter)[1] for voter in voters]:
                raise Failure(f"{choice}: brokers {brokers}, voters {voters}")
            replication = environment.get("LIVEPLAZA_REPLICATION", "1")
            if (replication, len(brokers)) != (("3", 3) if "ha" in choice else ("1", 1)):
                raise Failure(f"{choice}: {environment}")
            if (environment.get("LIVEPLAZA_TRACES") == "http://jaeger:4318") != ("observe" in choice):
                raise Failure(f"{choice}: traces go to {environment.get('LIVEPLAZA_TRACES')}")
            if not command:
                continue
            result = subprocess.run(
                [*command, "--env-file", os.path.join(folder, ".env"), "-f", os.path.join(ROOT, "docker-compose.yml"),
                 "config"],
                capture_output=True, text=True, cwd=folder, env={**os.environ, **environment})
            if result.returncode != 0:
                raise Failure(f"{' '.join(command)} config, {choice}: {result.stderr}")
            if unreplaced := re.search(r"(?<!\$)\$\{.*", result.stdout):
                raise Failure(f"{choice}: {' '.join(command)} leaves {unreplaced.group()}")
            services = yaml.safe_load(result.stdout)["services"]
            if "kafka:9092" not in services["gateway"]["environment"]["LIVEPLAZA_KAFKA"]:
                raise Failure(f"{choice}: gateways are told of no broker")
    say(f"profiles {'; '.join(CHOICES)}: .env is complete" + (f", {' '.join(command)} reads the file" if command else
        "; neither `docker compose` nor docker-compose is here to read the file"))


def check_demo_tokens(text):
    """Signing in by any name is off until --demo-tokens turns it on, with a warning, and --no-demo-tokens turns it
    off."""
    with tempfile.TemporaryDirectory() as folder:
        for arguments, expected in ([], None), (["--demo-tokens"], "demo"), ([], "demo"), (["--no-demo-tokens"], None):
            value = make_environment(folder, "evening", *arguments).get("LIVEPLAZA_DEMO_TOKENS")
            if value != expected:
                raise Failure(f"init-env.sh {arguments}: LIVEPLAZA_DEMO_TOKENS is {value}, not {expected}")
        script = os.path.join(folder, "deploy", "init-env.sh")
        errors = subprocess.run([script, "--demo-tokens"], capture_output=True, text=True, check=True).stderr
        if "WARNING" not in errors:
            raise Failure(f"init-env.sh --demo-tokens does not warn: {errors}")
    if "${LIVEPLAZA_DEMO_TOKENS:-}" not in text:
        raise Failure("docker-compose.yml gives demo tokens by default, or never")
    say("tokens for any name are off until deploy/init-env.sh --demo-tokens, which warns")


def check_limits_of_an_address(gateway):
    """Checks the script that starts a gateway.

    While only clients of this host can reach the ports, it sets limits for an address that nobody reaches; otherwise it
    leaves the gateway's own limits. What the .env sets holds in each case.
    """
    script = gateway["command"][2].replace("$$", "$")
    names = [name for name in gateway["environment"] if re.search(r"_PER_ADDRESS|HANDSHAKES|_ANONYMOUS|_REFUSED", name)]
    with tempfile.TemporaryDirectory() as folder:
        # In place of the gateway, a program that prints the variables.
        with open(os.path.join(folder, "gateway"), "w") as stub:
            stub.write("#!/bin/sh\necho " + ",".join(f"${name}" for name in names) + "\n")
        os.chmod(stub.name, 0o755)
        # `is_high` is whether the limits must be high; `chosen` are limits that the .env sets.
        for settings, is_high, chosen in (
            ({}, True, {}), ({"LIVEPLAZA_LISTEN": "127.0.0.1"}, True, {}),
            ({}, True, {"LIVEPLAZA_CONNECTIONS_PER_ADDRESS": "7"}),
            ({"LIVEPLAZA_LISTEN": "0.0.0.0"}, False, {}), ({"LIVEPLAZA_ACCEPT_PROXY": "1"}, False, {}),
            ({"LIVEPLAZA_LISTEN": "::"}, False, {"LIVEPLAZA_HANDSHAKES_PER_SECOND": "9"}),
        ):
            # The shell replaces ${NAME:-default} as compose does.
            environment = {"PATH": f"{folder}:{os.environ['PATH']}", **settings, **chosen}
            limits = subprocess.run(["sh", "-c", script], env=environment, capture_output=True,
                                    text=True).stdout.strip().split(",")
            if len(limits) != len(names):
                raise Failure(f"the script of the gateway printed {limits}")
            for name, limit in zip(names, limits):
                if limit != chosen[name] if name in chosen else (int(limit or 0) >= 1000) != is_high:
                    raise Failure(f"with {settings} and {chosen}, {name} is {limit or 'not set'}")
    say(f"{len(names)} limits of an address are as good as none while only this host reaches the ports, and the "
        "gateway's own otherwise")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of the built programs; default: .build/release, then .build/debug")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "docker-compose.yml")) as file:
        text = file.read()
    command = compose_command()
    # `$$` is for the shell of a container, so it is no default of compose.
    if nested := re.search(r"(?<!\$)\$\{[^{}]*\$\{[^{}]*\}", text):
        raise Failure(f"docker-compose 1.29 knows no default in a default: {nested.group()}")
    compose_file = yaml.safe_load(text)
    faults = check_file(compose_file, bin_directory(options.bin))
    for fault in faults:
        say(f"FAULT: {fault}")
    if faults:
        raise Failure(f"{len(faults)} faults")
    say("every service can be scaled, its settings exist, and no container can write to its root file system or log "
        "without bound")
    check_choices(text, command)
    check_demo_tokens(text)
    check_limits_of_an_address(compose_file["services"]["gateway"])
    say("all of it held")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"compose_test: FAILED: {failure}")
