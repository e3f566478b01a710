#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docker-compose.yml, .env and the Dockerfile; with --run, runs all of it.

Without --run it needs no Docker: each setting must be one of its program's, every service can be scaled (no port of the host,
no name of its own), nothing runs with a writable root file system, and what .env must hold is made by deploy/init-env.sh. If
`docker compose` or docker-compose is there, it reads the file with each choice of profiles.

With --run it builds the image, starts the cluster, scales each service to two, plays the demo, does the same with three
brokers, and takes all of it down: some minutes, and the build of the programs besides. It uses a project, ports and an .env of
its own. Exit status 0: all of it held.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from local_cluster import ROOT, SERVICES, Failure, bin_directory, free_ports, get, say, wait_until

sys.path.append(os.path.join(ROOT, ".build", "python-deploy"))
try:
    import yaml
except ImportError:
    raise SystemExit("PyYAML is missing: python3 -m pip install --target .build/python-deploy --requirement Tests/Deploy/requirements.txt")

# Names with a volume or a port of their own: one of each.
SINGLE = {"proxy", "kafka", "kafka-2", "kafka-3", "redis", "prometheus", "grafana", "jaeger", "demo", "evening"}
# Writes its configuration at its start.
WRITABLE = {"kafka", "kafka-2", "kafka-3"}
CHOICES = ["default", "ha", "observe", "ha,observe", "evening"]


def compose_command():
    """`docker compose` or docker-compose, or nothing."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and subprocess.run([*command, "version"], capture_output=True).returncode == 0:
            return command
    return None


def check_file(file, folder):
    faults = []
    for name, service in file["services"].items():
        if name not in SINGLE and set(service) & {"ports", "container_name", "hostname"}:
            faults.append(f"{name} cannot be scaled: {set(service) & {'ports', 'container_name', 'hostname'}}")
        if name not in WRITABLE and not service.get("read_only"):
            faults.append(f"{name} has a writable root file system")
        if service.get("cap_drop") != ["ALL"] or "no-new-privileges:true" not in service.get("security_opt", []):
            faults.append(f"{name} keeps capabilities")
        if "max-size" not in service.get("logging", {}).get("options", {}):
            faults.append(f"{name}: its logs have no bound")
        for port in service.get("ports", []):
            if not re.match(r"(\$\{LIVEPLAZA_LISTEN:-127\.0\.0\.1\}|127\.0\.0\.1):\$\{\w+:-\d+\}:\d+$", port):
                faults.append(f"{name}: the port {port} is not on loopback unless chosen")
        if name in SERVICES:
            text = subprocess.run([os.path.join(folder, name), "--help"], capture_output=True, text=True, timeout=20).stdout
            for setting in service["environment"]:
                if not re.search(rf"\b{setting}\b", text):
                    faults.append(f"{name} has no setting {setting}")
    if not set(SERVICES) <= set(file["services"]):
        faults.append("a service is missing")
    with open(os.path.join(ROOT, "deploy", "Dockerfile")) as dockerfile:
        text = dockerfile.read()
    faults += missing_in_context(text)
    user = re.findall(r"^USER (\S+)", text, re.M)
    if not user or user[-1].split(":")[0] in ("root", "0"):
        faults.append("the image runs as root")
    return faults


def missing_in_context(dockerfile):
    """What the Dockerfile copies from the build context, although .dockerignore leaves it out."""
    with open(os.path.join(ROOT, ".dockerignore")) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    kept = [line[1:] for line in lines if line.startswith("!")]
    sources = re.findall(r"^COPY (?!--from)(\S+) \S+", dockerfile, re.M)
    if "*" not in lines or not sources:
        return ["the check of the build context finds no rule or no COPY"]
    return [
        f"the image's build lacks {source}: name it in .dockerignore"
        for source in sources
        if not any(source == path or source.startswith(path + "/") for path in kept)
    ]


def make_environment(folder, choice, *more):
    """The .env that deploy/init-env.sh makes in a folder, as a dictionary."""
    os.makedirs(os.path.join(folder, "deploy"), exist_ok=True)
    shutil.copy(os.path.join(ROOT, "deploy", "init-env.sh"), os.path.join(folder, "deploy"))
    subprocess.run([os.path.join(folder, "deploy", "init-env.sh"), "--profiles", choice, *more], check=True, capture_output=True)
    with open(os.path.join(folder, ".env")) as file:
        lines = [line.rstrip("\n").split("=", 1) for line in file if re.match(r"\w+=", line)]
    return {name: value[1:-1] if value.startswith("'") else value for name, value in lines}


def check_choices(text, command):
    required = set(re.findall(r"\$\{(\w+):\?", text))
    with tempfile.TemporaryDirectory() as folder:
        for choice in CHOICES:
            environment = make_environment(folder, choice)
            if required - set(environment):
                raise Failure(f"deploy/init-env.sh does not make {required - set(environment)}")
            brokers = environment.get("LIVEPLAZA_KAFKA", "kafka:9092").split(",")
            voters = environment.get("LIVEPLAZA_KAFKA_VOTERS", "1@kafka:9093").split(",")
            if [broker.split(":")[0] for broker in brokers] != [re.split("[@:]", voter)[1] for voter in voters]:
                raise Failure(f"{choice}: brokers {brokers}, voters {voters}")
            copies = environment.get("LIVEPLAZA_REPLICATION", "1")
            if (copies, len(brokers)) != (("3", 3) if "ha" in choice else ("1", 1)):
                raise Failure(f"{choice}: {environment}")
            if (environment.get("LIVEPLAZA_TRACES") == "http://jaeger:4318") != ("observe" in choice):
                raise Failure(f"{choice}: traces go to {environment.get('LIVEPLAZA_TRACES')}")
            if not command:
                continue
            done = subprocess.run(
                [*command, "--env-file", os.path.join(folder, ".env"), "-f", os.path.join(ROOT, "docker-compose.yml"), "config"],
                capture_output=True, text=True, cwd=folder, env={**os.environ, **environment})
            if done.returncode != 0:
                raise Failure(f"{' '.join(command)} config, {choice}: {done.stderr}")
            services = yaml.safe_load(done.stdout)["services"]
            if "kafka:9092" not in services["gateway"]["environment"]["LIVEPLAZA_KAFKA"]:
                raise Failure(f"{choice}: gateways are told of no broker")
    say(f"profiles {'; '.join(CHOICES)}: .env is complete" + (f", {' '.join(command)} reads the file" if command else
        "; neither `docker compose` nor docker-compose is here to read the file"))


def check_demo_tokens(text):
    """Signing in by any name is off until --demo-tokens turns it on, loudly, and --no-demo-tokens turns it off again."""
    with tempfile.TemporaryDirectory() as folder:
        for arguments, expected in ([], None), (["--demo-tokens"], "demo"), ([], "demo"), (["--no-demo-tokens"], None):
            found = make_environment(folder, "evening", *arguments).get("LIVEPLAZA_DEMO_TOKENS")
            if found != expected:
                raise Failure(f"init-env.sh {arguments}: LIVEPLAZA_DEMO_TOKENS is {found}, not {expected}")
        script = os.path.join(folder, "deploy", "init-env.sh")
        said = subprocess.run([script, "--demo-tokens"], capture_output=True, text=True, check=True).stderr
        if "WARNING" not in said:
            raise Failure(f"init-env.sh --demo-tokens does not warn: {said}")
    if "${LIVEPLAZA_DEMO_TOKENS:-}" not in text:
        raise Failure("docker-compose.yml gives demo tokens by default, or never")
    say("tokens for any name are off until deploy/init-env.sh --demo-tokens, which warns")


class Project:
    """The compose file as a project of its own, which is taken down with its volumes."""

    def __init__(self, command, folder, choice):
        self.port, self.http, tls, prometheus, grafana, jaeger = free_ports(6)
        self.environment = {**os.environ, **make_environment(folder, choice), "LIVEPLAZA_PORT": str(self.port),
                            "LIVEPLAZA_HTTP_PORT": str(self.http), "LIVEPLAZA_TLS_PORT": str(tls),
                            "LIVEPLAZA_PROMETHEUS_PORT": str(prometheus), "LIVEPLAZA_GRAFANA_PORT": str(grafana),
                            "LIVEPLAZA_JAEGER_PORT": str(jaeger)}
        # Not the .env of whoever runs this test.
        self.command = [*command, "--env-file", os.path.join(folder, ".env"), "-p", f"liveplaza-test-{os.getpid()}", "-f",
                        os.path.join(ROOT, "docker-compose.yml")]

    def run(self, *arguments, seconds=600):
        done = subprocess.run([*self.command, *arguments], env=self.environment, capture_output=True, text=True, timeout=seconds)
        if done.returncode != 0:
            raise Failure(f"compose {' '.join(arguments)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            say(subprocess.run([*self.command, "ps"], env=self.environment, capture_output=True, text=True).stdout)
        subprocess.run([*self.command, "down", "-v", "-t", "10"], env=self.environment, capture_output=True)

    def check(self, what):
        wait_until("the proxy has a gateway", lambda: get(f"http://127.0.0.1:{self.http}/v1/lives")[0] == 401, 240, 1)
        done = self.run("run", "--rm", "demo", seconds=300)
        if "Every step went as expected" not in done:
            raise Failure(f"{what}: the demo: {done[-800:]}")
        say(f"{what}: the demo passes")


def run_all(command):
    with tempfile.TemporaryDirectory() as folder:
        for choice in ("default", "ha"):
            with Project(command, folder, choice) as project:
                if choice == "default":
                    say("building the image")
                    project.run("build", seconds=3600)
                say(f"{choice}: starting")
                project.run("up", "-d")
                project.check(choice)
                if choice == "default":
                    project.run("up", "-d", *[part for name in SERVICES for part in ("--scale", f"{name}=2")])
                    project.check("each service twice")
    inspected = subprocess.run(["docker", "image", "inspect", "liveplaza:local"], capture_output=True, text=True, check=True)
    image = json.loads(inspected.stdout)[0]
    base = re.findall(r"^FROM (\S+)$", open(os.path.join(ROOT, "deploy", "Dockerfile")).read(), re.M)[-1]
    found = subprocess.run(["docker", "image", "inspect", base, "--format", "{{.Size}}"], capture_output=True, text=True)
    if found.returncode == 0:
        above = (image["Size"] - int(found.stdout)) / 1e6
        say(f"the image is {above:.0f} MB above its base")
        if above > 150:
            raise Failure("that is more than 150 MB")
    say(f"it runs as {image['Config']['User']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of the built programs; default: .build/release, then .build/debug")
    parser.add_argument("--run", action="store_true", help="build and run it, with the Docker engine of this machine")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "docker-compose.yml")) as file:
        text = file.read()
    command = compose_command()
    faults = check_file(yaml.safe_load(text), bin_directory(options.bin))
    for fault in faults:
        say(f"FAULT: {fault}")
    if faults:
        raise Failure(f"{len(faults)} faults")
    say("every service can be scaled, its settings exist, and no container can write to its root file system or log without bound")
    check_choices(text, command)
    check_demo_tokens(text)
    if options.run:
        if not command or subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
            raise SystemExit("--run needs a Docker engine, and `docker compose` or docker-compose")
        run_all(command)
    say("all of it held")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"compose_test: FAILED: {failure}")
