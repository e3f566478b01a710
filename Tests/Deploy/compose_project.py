# SPDX-License-Identifier: Apache-2.0
"""docker-compose.yml as a project of a test: an .env, a name and ports of its own, and an end that leaves nothing of it."""
import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import time

from local_cluster import ROOT, Failure, free_ports, say

FILE = os.path.join(ROOT, "docker-compose.yml")
PORTS = ["LIVEPLAZA_PORT", "LIVEPLAZA_HTTP_PORT", "LIVEPLAZA_TLS_PORT", "LIVEPLAZA_PROMETHEUS_PORT", "LIVEPLAZA_GRAFANA_PORT",
         "LIVEPLAZA_JAEGER_PORT"]


def compose_command():
    """`docker compose` or docker-compose, or nothing."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and subprocess.run([*command, "version"], capture_output=True).returncode == 0:
            return command
    return None


def make_environment(folder, choice, *more):
    """The .env that deploy/init-env.sh makes in a folder, as a dictionary."""
    os.makedirs(os.path.join(folder, "deploy"), exist_ok=True)
    shutil.copy(os.path.join(ROOT, "deploy", "init-env.sh"), os.path.join(folder, "deploy"))
    subprocess.run([os.path.join(folder, "deploy", "init-env.sh"), "--profiles", choice, *more], check=True, capture_output=True)
    with open(os.path.join(folder, ".env")) as file:
        lines = [line.rstrip("\n").split("=", 1) for line in file if re.match(r"\w+=", line)]
    return {name: value[1:-1] if value.startswith("'") else value for name, value in lines}


def docker(*arguments, seconds=120):
    """What a command of Docker prints."""
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=seconds)
    if done.returncode != 0:
        raise Failure(f"docker {' '.join(arguments)}: {done.stderr[-800:]}")
    return done.stdout


class Container:
    """One container, as the engine describes it."""

    def __init__(self, description):
        self.id, labels, state = description["Id"], description["Config"]["Labels"], description["State"]
        self.service, self.name = labels["com.docker.compose.service"], description["Name"].lstrip("/")
        self.status, self.health = state["Status"], state.get("Health", {}).get("Status", "none")
        self.restarts, self.exit_code = description["RestartCount"], state["ExitCode"]
        self.is_read_only, self.user = description["HostConfig"]["ReadonlyRootfs"], description["Config"]["User"]
        self.addresses = [network["IPAddress"] for network in description["NetworkSettings"]["Networks"].values()]

    @property
    def is_well(self):
        return self.status == "running" and self.health in ("none", "healthy")


class Project:
    """A cluster of docker-compose.yml, which is taken down with its volumes."""

    def __init__(self, command, folder, choice, settings=None):
        self.name = f"liveplaza-test-{os.getpid()}"
        ports = dict(zip(PORTS, map(str, free_ports(len(PORTS)))))
        self.settings = {**make_environment(folder, choice), **ports, **(settings or {})}
        self.port, self.http = int(ports["LIVEPLAZA_PORT"]), int(ports["LIVEPLAZA_HTTP_PORT"])
        # Not the .env of whoever runs this test.
        self.command = [*command, "--env-file", os.path.join(folder, ".env"), "-p", self.name, "-f", FILE]

    def run(self, *arguments, seconds=300):
        """What a command of compose prints."""
        done = subprocess.run([*self.command, *arguments], env={**os.environ, **self.settings}, capture_output=True, text=True,
                              timeout=seconds)
        if done.returncode != 0:
            raise Failure(f"compose {' '.join(arguments)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout

    def containers(self, service=None):
        """The containers of the services; not those of `compose run`."""
        filters = ["--filter", f"label=com.docker.compose.project={self.name}", "--filter", "label=com.docker.compose.oneoff=False"]
        if service:
            filters += ["--filter", f"label=com.docker.compose.service={service}"]
        ids = docker("ps", "-aq", *filters).split()
        return [Container(each) for each in json.loads(docker("inspect", *ids))] if ids else []

    def wait_well(self, what, seconds):
        """Waits until each container runs and is healthy; returns the seconds that it took."""
        began = time.monotonic()
        while True:
            unwell = [each for each in self.containers() if not each.is_well]
            if not unwell:
                return time.monotonic() - began
            if time.monotonic() - began > seconds:
                states = ", ".join(f"{each.name} {each.status} {each.health}" for each in unwell)
                raise Failure(f"{what}: not well after {seconds} s: {states}")
            time.sleep(0.5)

    def token(self, user):
        """A token of the app `demo`, as its server would sign it."""
        key = json.loads(self.settings["LIVEPLAZA_APPS_JSON"])["apps"]["demo"]["keys"][0]

        def part(value):
            return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

        secret = base64.urlsafe_b64decode(key["k"] + "=" * (-len(key["k"]) % 4))
        head = {"alg": "HS256", "typ": "JWT", "kid": key["kid"]}
        claims = {"app": "demo", "sub": user, "role": "user", "exp": int(time.time()) + 3600}
        signed = ".".join(part(json.dumps(each).encode()) for each in (head, claims))
        return f"{signed}.{part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"

    def leftovers(self):
        """What the engine still has of this project: containers, networks and volumes, and the commands that remove them."""
        kinds = (("ps -aq", "rm -fv"), ("network ls -q", "network rm"), ("volume ls -q", "volume rm"))
        chosen = ["--filter", f"label=com.docker.compose.project={self.name}"]
        found = [(docker(*listing.split(), *chosen).split(), remove.split()) for listing, remove in kinds]
        return [(names, remove) for names, remove in found if names]

    def down(self):
        """Takes the cluster down as a user does; nothing of it may be left."""
        self.run("down", "-v", "-t", "10")
        if left := self.leftovers():
            raise Failure(f"compose down left {left}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            for each in self.containers():
                if not each.is_well:
                    log = subprocess.run(["docker", "logs", "--tail", "15", each.id], capture_output=True, text=True)
                    say(f"{each.name}: {each.status}, {each.health}\n{log.stdout}{log.stderr}")
        for names, remove in self.leftovers():
            docker(*remove, *names)
