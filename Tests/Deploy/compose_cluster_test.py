#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs docker-compose.yml with this machine's Docker engine, and checks what its users would see.

Builds the image and measures it. Starts one cluster after another, with one broker, with three, with the evening and
with `observe`, each as a project, with ports on loopback and an .env of its own. In each, all containers become
healthy, clients exchange messages through the proxy, and `down` leaves nothing. With one broker each service is scaled
to two under load, and the limits of an address are reached; with three, one is killed.

Needs Docker with `docker compose` or docker-compose 1.29, and Python; no Swift. Base images are fetched if they are
missing; those that cannot be fetched are named at the end, with what was therefore not tried. The build takes 10 to 40
minutes, the rest about ten. At the end all is removed, whatever happens, except base images and the builder's cache.
Exit status 0: every check passed; 1: one failed; 2: there is no Docker, or an image could not be fetched, so that
something was not tried.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from compose_project import FILE, Project, compose_command, docker
from local_cluster import ROOT, SERVICES, Failure, get, say, wait_until
from proxy_test import WebSocket

IMAGE = "liveplaza:local"
# The size of the image beyond that of its base image.
MAX_MEGABYTES = 150
# The limit of WebSockets of one address, which this test sets: more than its demo and its load open.
CONNECTIONS_PER_ADDRESS = 30
# The load of this test, without its duration.
LOAD = ["plaza", "load", "--gateway", "proxy:8080", "--rooms", "2", "--viewers", "10", "--rate", "5", "--json"]


class ImageMissing(Exception):
    """An image that this machine neither has nor can fetch."""


def require_image(name):
    """Fetches an image unless this machine has it."""
    found = subprocess.run(["docker", "image", "inspect", name], capture_output=True)
    if found.returncode != 0 and subprocess.run(["docker", "pull", "-q", name], capture_output=True,
                                                timeout=900).returncode != 0:
        raise ImageMissing(name)


def image_of(name):
    """The image of this name, with the version that docker-compose.yml has."""
    with open(FILE) as file:
        return re.search(rf"^ +image: ({re.escape(name)}:\S+)$", file.read(), re.M).group(1)


def check_image(builds, project):
    """Builds the image twice, the second time from the cache, and measures it."""
    base = re.findall(r"^FROM (\S+)$", open(os.path.join(ROOT, "deploy", "Dockerfile")).read(), re.M)[-1]
    if builds:
        say("building the image")
        began = time.monotonic()
        project.run("build", seconds=3600)
        say(f"built in {(time.monotonic() - began) / 60:.0f} min")
        id_before, began = docker("image", "inspect", IMAGE, "--format", "{{.Id}}"), time.monotonic()
        project.run("build", "gateway", seconds=3600)
        if docker("image", "inspect", IMAGE, "--format", "{{.Id}}") != id_before:
            raise Failure("a second build without a change made another image")
        say(f"a second build changes nothing, in {time.monotonic() - began:.0f} s")
    image = json.loads(docker("image", "inspect", IMAGE))[0]
    require_image(base)
    added_megabytes = (image["Size"] - int(docker("image", "inspect", base, "--format", "{{.Size}}"))) / 1e6
    say(f"the image is {added_megabytes:.0f} MB above {base}, and runs as {image['Config']['User']}")
    if added_megabytes > MAX_MEGABYTES:
        raise Failure(f"that is more than {MAX_MEGABYTES} MB")


def start(project, what, *options):
    """Starts the cluster and waits until it is healthy and reachable; `what` names it in the output."""
    began = time.monotonic()
    project.run("up", "-d", "--no-build", *options)
    project.wait_healthy(what, 240)
    # A gateway answers 401 to a request without a token.
    wait_until("the proxy has a gateway", lambda: get(f"http://127.0.0.1:{project.http}/v1/lives")[0] == 401, 60)
    if restarted := [container for container in project.containers() if container.restarts]:
        logs = "".join(container.last_lines(60) for container in restarted)
        raise Failure(f"{what}: restarted: {[container.name for container in restarted]}\n{logs}")
    say(f"{what}: all containers are healthy {time.monotonic() - began:.0f} s after `up`, and none has restarted")


def check_clients(project, what):
    """Runs the demo, and then a client by WebSocket and one by HTTP, all through the proxy."""
    if "Every step went as expected" not in (output := project.run("run", "--rm", "-T", "demo")):
        raise Failure(f"{what}: the demo: {output[-800:]}")
    client = WebSocket(project.port)
    client.login(project.token("somebody"))
    client.close()
    status, text = get(f"http://127.0.0.1:{project.http}/v1/lives",
                       {"Authorization": f"Bearer {project.token('somebody')}"})
    if status != 200:
        raise Failure(f"{what}: HTTP through the proxy: {status} {text[:200]}")
    say(f"{what}: the demo passes through the proxy; this host's clients pass by WebSocket and HTTP")


def check_containers(project):
    """No service runs as root or can write to its root file system; prints the memory of each container."""
    for container in project.containers():
        if container.service in SERVICES and (not container.is_read_only or container.user in ("", "0", "root")):
            raise Failure(f"{container.name} runs as {container.user!r}, read only: {container.is_read_only}")
    gateway = project.containers("gateway")[0]
    result = subprocess.run(["docker", "exec", gateway.id, "sh", "-c", "id -u; echo x >/usr/local/x"],
                            capture_output=True, text=True)
    if result.returncode == 0 or result.stdout.strip() == "0":
        raise Failure(f"in a gateway, user {result.stdout.strip()} wrote to the root file system")
    lines = docker("stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").splitlines()
    memory = {line.split()[0]: line.split()[1] for line in lines if project.name in line}
    say("memory: " + ", ".join(sorted(f"{container.service} {memory[container.name]}"
                                      for container in project.containers())))


def check_limits(project):
    """Clients of one address reach their limit, and others do not notice."""
    # Four more than are allowed.
    clients = [WebSocket(project.port) for _ in range(CONNECTIONS_PER_ADDRESS + 4)]
    statuses = [client.status for client in clients]
    if statuses.count(101) != CONNECTIONS_PER_ADDRESS or statuses.count(429) != 4:
        raise Failure(f"{CONNECTIONS_PER_ADDRESS} WebSockets of one address are allowed, the statuses were {statuses}")
    # The load runs in a container, so it has another address.
    project.run("run", "--rm", "-T", "--no-deps", "demo", *LOAD, "--seconds", "3")
    for client in clients:
        client.close()
    say(f"an address has {CONNECTIONS_PER_ADDRESS} WebSockets, further ones get 429; meanwhile a client of another "
        "address passes")


def check_scaling(project):
    """Each service is scaled from one container to two and back, while clients exchange messages."""
    command = [*project.command, "run", "--rm", "-T", "--no-deps", "demo", *LOAD, "--seconds", "60"]
    load = subprocess.Popen(command, env={**os.environ, **project.settings}, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    try:
        time.sleep(5)
        for number in (2, 1):
            scales = [part for name in SERVICES for part in ("--scale", f"{name}={number}")]
            project.run("up", "-d", "--no-build", "--no-recreate", *scales)
            project.wait_healthy(f"each service {number} times", 120)
            for name in SERVICES:
                if len(project.containers(name)) != number:
                    raise Failure(f"{name} was scaled to {number}: {len(project.containers(name))} containers")
            if number == 2:
                time.sleep(5)
        output = load.communicate(timeout=150)[0]
    finally:
        load.kill()
        load.wait()
    report = json.loads(output[output.index("{"):])
    if load.returncode != 0:
        raise Failure(f"the load while services were scaled: {output[-1500:]}")
    say(f"each service goes from one to two and back; {report['admitted']} messages meanwhile, none lost or out "
        "of order")


def check_default(project):
    start(project, "default")
    check_containers(project)
    check_clients(project, "default")
    check_limits(project)
    check_scaling(project)
    project.down()
    say("default: down leaves no container, network or volume")


def check_ha(project):
    start(project, "ha")
    not_doubled = [name for name in SERVICES if len(project.containers(name)) != 2]
    if not_doubled or len([container for container in project.containers()
                           if container.service.startswith("kafka")]) != 3:
        raise Failure(f"ha: three brokers and two of each service are expected; not so: {not_doubled}")
    check_clients(project, "ha")
    docker("kill", project.containers("kafka-2")[0].id)
    began = time.monotonic()
    while True:
        try:
            check_clients(project, f"{time.monotonic() - began:.0f} s after one of three brokers was killed")
            break
        except Failure:
            # Calls are refused until the other brokers lead the partitions of the killed one.
            if time.monotonic() - began > 60:
                raise
    docker("start", project.containers("kafka-2")[0].id)
    project.wait_healthy("the broker is back", 120)
    project.down()


def check_evening(project):
    start(project, "evening")
    token = {"Authorization": f"Bearer {project.token('somebody')}"}

    def live_count():
        return get(f"http://127.0.0.1:{project.http}/v1/lives", token)[1].count('"liveID"')

    wait_until("four lives are on", lambda: live_count() >= 4, 60, 1)
    status, text = get(f"http://127.0.0.1:{project.http}/")
    if status != 200 or "<html" not in text.lower():
        raise Failure(f"the pages: {status}")
    say(f"evening: {live_count()} lives, and the pages are served")
    project.down()


def check_prometheus(project):
    require_image(image_of("prom/prometheus"))
    base = f"http://127.0.0.1:{project.settings['LIVEPLAZA_PROMETHEUS_PORT']}/api/v1"
    start(project, "prometheus", "proxy", "prometheus", *SERVICES)

    # The jobs none of whose targets is reached.
    def unreached_jobs():
        status, text = get(f"{base}/targets?state=active")
        targets = json.loads(text)["data"]["activeTargets"] if status == 200 else []
        reached = {target["labels"]["job"] for target in targets if target["health"] == "up"}
        return {*SERVICES, "proxy"} - reached

    wait_until(f"Prometheus reaches {unreached_jobs()}", lambda: not unreached_jobs(), 60, 1)
    rules = [rule for group in json.loads(get(f"{base}/rules")[1])["data"]["groups"] for rule in group["rules"]]
    if not rules or any(rule["health"] == "err" for rule in rules):
        raise Failure(f"rules: {[(rule['name'], rule['health']) for rule in rules]}")
    say(f"observe: Prometheus reaches every service and the proxy, and has {len(rules)} rules")
    project.down()


def check_observe(project):
    for name in ("grafana/grafana", "jaegertracing/all-in-one"):
        require_image(image_of(name))
    start(project, "observe")
    grafana = f"http://127.0.0.1:{project.settings['LIVEPLAZA_GRAFANA_PORT']}"
    wait_until("Grafana answers", lambda: get(f"{grafana}/api/health")[0] == 200, 60, 1)
    check_clients(project, "observe")
    jaeger = f"http://127.0.0.1:{project.settings['LIVEPLAZA_JAEGER_PORT']}/api/services"
    wait_until("Jaeger has traces of a gateway", lambda: "gateway" in get(jaeger)[1], 60, 1)
    say("observe: Grafana answers, and Jaeger has traces")
    project.down()


def run_all(command, builds, chosen):
    """Runs the checks of the chosen clusters; `builds` is whether the image is built first.

    Returns whether all of them were tried: false if an image is missing.
    """
    missing_images = []
    # The profiles, the check, and the settings of each cluster.
    stages = (("default", check_default, {"LIVEPLAZA_CONNECTIONS_PER_ADDRESS": str(CONNECTIONS_PER_ADDRESS)}),
              ("ha", check_ha, {}),
              ("evening", check_evening, {}), ("observe", check_prometheus, {"LIVEPLAZA_TRACES": ""}),
              ("observe", check_observe, {"LIVEPLAZA_TRACE_SAMPLE": "1"}))
    for number, (profiles, check, settings) in enumerate(stage for stage in stages if not chosen or stage[0] in chosen):
        with tempfile.TemporaryDirectory() as folder, Project(command, folder, profiles, settings) as project:
            try:
                if number == 0:
                    check_image(builds, project)
                check(project)
            except ImageMissing as image:
                missing_images.append(str(image))
                say(f"NOT TRIED: {check.__name__}, because there is no image {image}")
    if missing_images:
        say(f"what was tried held; NOT TRIED for want of images: {', '.join(missing_images)}")
    else:
        say("all of it held")
    return not missing_images


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clusters", nargs="*", metavar="CLUSTER",
                        help="default, ha, evening, observe; all if none is named")
    parser.add_argument("--no-build", action="store_true", help=f"use the image {IMAGE} as it is, and keep it")
    parser.add_argument("--minutes", type=int, default=75, help="after this time it ends as failed; 75")
    options = parser.parse_args()
    if unknown := set(options.clusters) - {"default", "ha", "evening", "observe"}:
        parser.error(f"there is no cluster {', '.join(unknown)}")
    command = compose_command()
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True).returncode != 0:
        say("no Docker engine answers `docker info`: install Docker, start it, or join its group")
        return 2
    if not command:
        say("neither `docker compose` nor docker-compose is here: install Docker's compose plugin")
        return 2
    say(f"with {' '.join(command)}")

    def fail_late(*_):
        raise Failure(f"it took longer than {options.minutes} min")

    # Ends the test like Ctrl-C, so that its cluster is taken down.
    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, fail_late)
    signal.signal(signal.SIGTERM, interrupt)
    signal.alarm(60 * options.minutes)
    keeps_image = options.no_build or subprocess.run(["docker", "image", "inspect", IMAGE],
                                                     capture_output=True).returncode == 0
    try:
        return 0 if run_all(command, not options.no_build, options.clusters) else 2
    except Failure as failure:
        say(f"FAILED: {failure}")
        return 1
    finally:
        if not keeps_image:
            subprocess.run(["docker", "image", "rm", IMAGE], capture_output=True)


if __name__ == "__main__":
    raise SystemExit(main())
