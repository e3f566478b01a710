# SPDX-License-Identifier: Apache-2.0
"""Runs docker-compose.yml as a project with an .env, a name and ports of its own, of which a test leaves nothing."""
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
# The settings for the ports of the host.
PORT_SETTINGS = ["LIVEPLAZA_PORT", "LIVEPLAZA_HTTP_PORT", "LIVEPLAZA_TLS_PORT", "LIVEPLAZA_PROMETHEUS_PORT",
                 "LIVEPLAZA_GRAFANA_PORT", "LIVEPLAZA_JAEGER_PORT"]


def compose_command():
    """The command `docker compose` or docker-compose; None if neither is installed."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and subprocess.run([*command, "version"], capture_output=True).returncode == 0:
            return command
    return None


def make_environment(folder, profiles, *options):
    """Lets a copy of deploy/init-env.sh make the .env of a folder; returns it as a dictionary."""
    os.makedirs(os.path.join(folder, "deploy"), exist_ok=True)
    shutil.copy(os.path.join(ROOT, "deploy", "init-env.sh"), os.path.join(folder, "deploy"))
    subprocess.run([os.path.join(folder, "deploy", "init-env.sh"), "--profiles", profiles, *options], check=True,
                   capture_output=True)
    with open(os.path.join(folder, ".env")) as file:
        lines = [line.rstrip("\n").split("=", 1) for line in file if re.match(r"\w+=", line)]
    return {name: value[1:-1] if value.startswith("'") else value for name, value in lines}


def docker(*arguments, seconds=120):
    """Runs a command of Docker; returns what it prints."""
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
    def is_healthy(self):
        """Whether the container runs, and is healthy if it has a health check."""
        return self.status == "running" and self.health in ("none", "healthy")

    def last_lines(self, count):
        """The end of what the container wrote, of the runs before a restart too."""
        log = subprocess.run(["docker", "logs", "--tail", str(count), self.id], capture_output=True, text=True)
        return f"{self.name}: {self.status}, {self.health}\n{log.stdout}{log.stderr}"


class Project:
    """A cluster of docker-compose.yml; the end of the `with` block removes what is left of it, volumes too.

    `command` is that of compose; `settings` replace those of the .env.
    """

    def __init__(self, command, folder, profiles, settings=None):
        self.name = f"liveplaza-test-{os.getpid()}"
        ports = dict(zip(PORT_SETTINGS, map(str, free_ports(len(PORT_SETTINGS)))))
        self.settings = {**make_environment(folder, profiles), **ports, **(settings or {})}
        self.port, self.http = int(ports["LIVEPLAZA_PORT"]), int(ports["LIVEPLAZA_HTTP_PORT"])
        # The .env of the repository's folder, which whoever runs this test may have, is not used.
        self.command = [*command, "--env-file", os.path.join(folder, ".env"), "-p", self.name, "-f", FILE]

    def run(self, *arguments, seconds=300):
        """Runs a command of compose; returns what it prints."""
        done = subprocess.run([*self.command, *arguments], env={**os.environ, **self.settings}, capture_output=True,
                              text=True, timeout=seconds)
        if done.returncode != 0:
            raise Failure(f"compose {' '.join(arguments)}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done.stdout

    def containers(self, service=None):
        """The containers of one service, or of all services; those of `compose run` are left out."""
        filters = ["--filter", f"label=com.docker.compose.project={self.name}", "--filter",
                   "label=com.docker.compose.oneoff=False"]
        if service:
            filters += ["--filter", f"label=com.docker.compose.service={service}"]
        ids = docker("ps", "-aq", *filters).split()
        return [Container(description) for description in json.loads(docker("inspect", *ids))] if ids else []

    def wait_healthy(self, what, seconds):
        """Waits until each container is healthy; returns the seconds that it took. `what` begins the text of a
        failure."""
        began = time.monotonic()
        while True:
            unhealthy = [container for container in self.containers() if not container.is_healthy]
            if not unhealthy:
                return time.monotonic() - began
            if time.monotonic() - began > seconds:
                states = ", ".join(f"{container.name} {container.status} {container.health}" for container in unhealthy)
                raise Failure(f"{what}: not healthy after {seconds} s: {states}")
            time.sleep(0.5)

    def token(self, user):
        """A token of the app `demo`, as its server would sign it."""
        key = json.loads(self.settings["LIVEPLAZA_APPS_JSON"])["apps"]["demo"]["keys"][0]

        def encoded(value):
            return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

        secret = base64.urlsafe_b64decode(key["k"] + "=" * (-len(key["k"]) % 4))
        head = {"alg": "HS256", "typ": "JWT", "kid": key["kid"]}
        claims = {"app": "demo", "sub": user, "role": "user", "exp": int(time.time()) + 3600}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{encoded(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"

    def leftovers(self):
        """What the engine still has of this project: the containers, networks and volumes, each kind with the command
        that removes it."""
        kinds = (("ps -aq", "rm -fv"), ("network ls -q", "network rm"), ("volume ls -q", "volume rm"))
        filters = ["--filter", f"label=com.docker.compose.project={self.name}"]
        found = [(docker(*listing.split(), *filters).split(), remove.split()) for listing, remove in kinds]
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
            for container in self.containers():
                if not container.is_healthy:
                    say(container.last_lines(15))
        for names, remove in self.leftovers():
            docker(*remove, *names)
