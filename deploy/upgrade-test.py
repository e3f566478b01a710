#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Upgrades a loaded cluster in place, instance by instance, from one build to another and back, and checks that nothing
is lost.

  deploy/upgrade-test.py --from COMMIT            builds that commit and this checkout, each once, then tests
  deploy/upgrade-test.py --old DIR --new DIR      takes programs that are built already

It starts a cluster of the old build on a real Kafka with two instances of every service, makes state of every kind by
the server API, and starts `plaza load`. While the load runs it replaces the programs and restarts one instance after
the other: first old to new, then new to old. After each direction the state read by the API must be what it was, and
`plaza demo` of the build that now runs must pass, and calls that were answered before the upgrade must be answered
alike when they are sent again with their idempotency key. Meanwhile a guest sits on a seat, an application and a
co-host request are open, and a battle takes scores (`upgrade-stage.js`): all of them must last over the upgrade, for
those who were there and for a new viewer, and then end once. At the end the load's own ledger decides: nothing
acknowledged may be missing, repeated or out of order.

Everything runs on loopback, in a directory of its own, and ends with this script. Exit status 0: all of it held.
"""
import argparse
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROGRAMS = ["plaza", "room-directory", "audience-presence", "barrage-fanout", "cohost-battle", "gateway"]
SERVICES = ["room-directory", "audience-presence", "barrage-fanout", "cohost-battle", "gateway"]


def say(text):
    print(f"upgrade: {text}", flush=True)


REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(source):
    """Builds the programs of a source tree for release, and returns their folder."""
    say(f"building {source}")
    command = ["swift", "build", "-c", "release", "--disable-index-store"]
    # The tests and benchmarks of a release build would take most of the time.
    for name in PROGRAMS:
        subprocess.run([*command, "--product", name], cwd=source, check=True, stdout=subprocess.DEVNULL)
    result = subprocess.run([*command, "--show-bin-path"], cwd=source, check=True, capture_output=True, text=True)
    return result.stdout.strip()


def build_commit(name):
    """Builds a commit in a work tree of its own under `.build/upgrade`, which later runs use again."""
    git = ["git", "-C", REPOSITORY]
    commit = subprocess.run(
        [*git, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"], capture_output=True, text=True).stdout.strip()
    if not commit:
        raise Failure(f"there is no commit {name}")
    tree = os.path.join(REPOSITORY, ".build", "upgrade", commit[:12])
    if not os.path.isdir(tree):
        # A work tree whose folder was deleted is still registered, and git would refuse to add it again.
        subprocess.run([*git, "worktree", "prune"], check=True)
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", tree, commit], check=True)
    say(f"the build before is {commit[:12]}")
    return build(tree)


class Failure(Exception):
    """Something that was promised did not hold."""


class Cluster:
    """A cluster that `plaza up` runs from a folder whose programs can be replaced."""

    def __init__(self, folder, old, kafka_home):
        self.bin, self.run = os.path.join(folder, "bin"), os.path.join(folder, "run")
        os.mkdir(self.bin)
        self.install(old, PROGRAMS)
        # All clients have one address, and an old supervisor does not know these limits of a new gateway.
        limits = {f"LIVEPLAZA_{name}": "1000000" for name in
                  ["CONNECTIONS_PER_ADDRESS", "HANDSHAKES_PER_SECOND", "HTTP_CONNECTIONS_PER_ADDRESS"]}
        self.environment = {**limits, **os.environ, "LIVEPLAZA_BIN_DIR": self.bin}
        self.log = open(os.path.join(folder, "up.log"), "w")
        # The supervisor itself is the old build's to the end: an upgrade concerns the services.
        self.supervisor = os.path.join(folder, "plaza-up")
        shutil.copy(os.path.join(old, "plaza"), self.supervisor)
        self.process = subprocess.Popen(
            [self.supervisor, "up", "--run-dir", self.run, "--kafka-home", kafka_home, "--port", "0", "--http-port",
             "0", "--ops-port", "0", "--scale", ",".join(f"{name}=2" for name in SERVICES)],
            env=self.environment, stdout=self.log, stderr=subprocess.STDOUT)

    def install(self, source, programs):
        """Puts programs in place of those that stand there; running processes keep the file that they were started
        from."""
        for name in programs:
            fresh = os.path.join(self.bin, name + ".new")
            shutil.copy(os.path.join(source, name), fresh)
            os.rename(fresh, os.path.join(self.bin, name))

    def plaza(self, *arguments, **options):
        command = [os.path.join(self.bin, "plaza"), *arguments, "--run-dir", self.run]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, **options)

    def wait_ready(self, seconds=90):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise Failure(f"the cluster ended: see {self.log.name}")
            if os.path.exists(os.path.join(self.run, "state.json")) and self.plaza("status").returncode == 0:
                return
            time.sleep(0.5)
        raise Failure(f"the cluster was not ready within {seconds} s: {self.plaza('status').stdout}")

    def state(self):
        with open(os.path.join(self.run, "state.json")) as file:
            return json.load(file)

    def restart(self, service, seconds=60):
        """Restarts the instances of a service one after the other, each by SIGTERM as an orchestrator would."""
        for process in [p for p in self.state()["processes"] if p["kind"] == service]:
            begin = time.monotonic()
            os.kill(process["pid"], signal.SIGTERM)
            while time.monotonic() - begin < seconds:
                time.sleep(0.2)
                now = next(p for p in self.state()["processes"] if p["name"] == process["name"])
                if now.get("pid", 0) not in (0, process["pid"]) and now["ready"]:
                    break
            else:
                raise Failure(f"{process['name']} did not come back within {seconds} s")
            self.wait_ready()
            program = os.readlink(f"/proc/{now['pid']}/exe")
            if program != os.path.join(self.bin, service):
                raise Failure(f"{process['name']} runs {program}")
            say(f"  {process['name']}: replaced in {time.monotonic() - begin:.1f} s")

    def token(self, user, role="server"):
        return self.plaza("token", "--user", user, "--role", role, check=True).stdout.strip()

    def call(self, method, path, body=None, token=None, key=None):
        gateway = self.state()["gateways"][0]["http"]
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(
            gateway + path, method=method, data=None if body is None else json.dumps(body).encode(), headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


class Stage:
    """The clients whose seat, requests and battle last over an upgrade: `upgrade-stage.js`, run by Node."""

    USERS = ["stage-a", "stage-b", "stage-c", "stage-guest", "stage-fan", "stage-newcomer"]
    # Longer than all steps of a command may take together.
    SECONDS = 180

    def __init__(self, cluster, server_token):
        gateways = cluster.state()["gateways"]
        setting = {"urls": [gateway["webSocket"] + "/v1" for gateway in gateways], "http": gateways[0]["http"],
                   "server": server_token, "tokens": {user: cluster.token(user, "user") for user in self.USERS}}
        self.process = subprocess.Popen(
            ["node", os.path.join(REPOSITORY, "deploy", "upgrade-stage.js"), json.dumps(setting)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.read_answer("the clients of the stage")
        except Failure:
            self.stop()
            raise

    def read_answer(self, what):
        if not select.select([self.process.stdout], [], [], self.SECONDS)[0]:
            raise Failure(f"{what}: no answer within {self.SECONDS} s")
        answer = self.process.stdout.readline().strip()
        if not answer.startswith("ok: "):
            raise Failure(f"{what}: {answer or 'upgrade-stage.js ended'}")
        say(f"{what}: {answer.removeprefix('ok: ')}")

    def do(self, command, what):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.read_answer(what)

    def stop(self):
        self.process.kill()
        self.process.wait()


def make_state(cluster, token):
    """State of every kind that the server API can make; returns the paths that read it back."""
    post = lambda method, path, body=None: cluster.call(method, path, body, token)
    post("PUT", "/v1/app/words", {"words": ["badword", "worse"]})
    post("PUT", "/v1/app/gift-categories/fun", {"name": "Fun"})
    post("PUT", "/v1/app/gifts/rose", {"category": "fun", "name": "Rose", "coins": 5, "extensionInfo": "e"})
    paths = ["/v1/app", "/v1/app/gifts"]
    for number in range(6):
        live = f"kept-{number}"
        post("POST", "/v1/lives", {"live": live, "owner": f"host-{number}", "liveName": f"Live {number}"})
        post("PATCH", f"/v1/lives/{live}/metadata", {"metadata": {"product": f"item-{number}", "note": "ü" * 20}})
        post("POST", f"/v1/lives/{live}/bans", {"users": [f"troll-{number}"], "duration": 3600, "reason": "spam"})
        post("POST", f"/v1/lives/{live}/mutes", {"users": [f"loud-{number}"], "duration": 3600})
        post("PATCH", f"/v1/lives/{live}/seats/{number % 3 + 1}", {"locked": True})
        for text in range(3):
            post("POST", f"/v1/lives/{live}/messages", {"text": f"message {text}"})
        paths += [f"/v1/lives/{live}{part}" for part in
                  ["", "/metadata?key=product&key=note", "/bans", "/mutes", "/stage", "/statistics"]]
    return paths


def read_state(cluster, token, paths):
    """What the API reads, without what goes on by itself: how long a live lasts, what a ban has left, and when the
    answer was made (`at`)."""
    moving = {"liveDuration", "duration", "remaining", "at"}

    def settled(value):
        if isinstance(value, dict):
            return {k: settled(v) for k, v in value.items() if k not in moving}
        return [settled(v) for v in value] if isinstance(value, list) else value
    return {path: settled(cluster.call("GET", path, token=token)) for path in paths}


def send_keyed_calls(cluster, token, direction):
    """Calls to three services with idempotency keys; sent again, they must be answered alike and applied once."""
    calls = [("POST", "/v1/lives/resent/messages", {"text": direction}),
             ("PATCH", "/v1/lives/resent/metadata", {"metadata": {"direction": direction}}),
             ("PATCH", "/v1/lives/resent/seats/2", {"locked": True})]
    key = direction.replace(" ", "-")
    return [cluster.call(*call, token, key=f"{key}-{number}") for number, call in enumerate(calls)]


def check_sent_again(cluster, token, direction, answers, expected_messages):
    if send_keyed_calls(cluster, token, direction) != answers:
        raise Failure(f"{direction}: a call that was sent again was answered differently")
    count = cluster.call("GET", "/v1/lives/resent/statistics", token=token)["result"]["statistics"]["statistics"]
    if count["totalMessageCount"] != expected_messages:
        raise Failure(f"{direction}: a message that was sent again was counted twice: {count}")
    say(f"{direction}: {len(answers)} calls sent again were answered alike and applied once")


def check_same(before, after, what):
    for path, value in before.items():
        if after[path] != value:
            raise Failure(f"{what}: {path} was {json.dumps(value)[:600]} and is {json.dumps(after[path])[:600]}")
    say(f"{what}: {len(before)} answers of the API are the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    before = parser.add_mutually_exclusive_group()
    before.add_argument("--from", dest="commit", default="HEAD~1", metavar="COMMIT",
                        help="the commit before, which is built in .build/upgrade (default HEAD~1)")
    before.add_argument("--old", metavar="DIR", help="the programs of the build before, such as DIR/.build/release")
    parser.add_argument("--new", metavar="DIR", help="the programs of the build after (default: builds this checkout)")
    parser.add_argument("--kafka-home", default=os.environ.get("KAFKA_HOME"), metavar="DIR",
                        help="an unpacked Apache Kafka 4 (default: KAFKA_HOME)")
    parser.add_argument("--rooms", default="4", metavar="N", help="lives under load (default 4)")
    parser.add_argument("--viewers", default="50", metavar="N", help="viewers of each (default 50)")
    parser.add_argument("--rate", default="10", metavar="N", help="messages a second in each (default 10)")
    parser.add_argument("--seconds", default="240", metavar="N", help="how long the load runs (default 240)")
    options = parser.parse_args()
    if not options.kafka_home:
        parser.error("name an unpacked Apache Kafka 4 by --kafka-home or KAFKA_HOME")
    try:
        options.old = options.old or build_commit(options.commit)
        options.new = options.new or build(REPOSITORY)
    except (Failure, subprocess.CalledProcessError) as problem:
        say(f"FAILED: {problem}")
        return 1
    for folder in (options.old, options.new):
        missing = [name for name in PROGRAMS if not os.access(os.path.join(folder, name), os.X_OK)]
        if missing:
            parser.error(f"{folder} lacks {', '.join(missing)}: build with `swift build -c release`")
    folder = tempfile.mkdtemp(prefix="liveplaza-upgrade-")
    cluster, load, stage, status = Cluster(folder, options.old, options.kafka_home), None, None, 1
    try:
        cluster.wait_ready()
        token = cluster.token("operator")
        paths = make_state(cluster, token)
        before = read_state(cluster, token, paths)
        say(f"a cluster of the old build runs, with {len(paths)} answers to compare")
        load = subprocess.Popen(
            [cluster.supervisor, "load", "--run-dir", cluster.run, "--rooms", options.rooms, "--viewers",
             options.viewers, "--rate", options.rate, "--seconds", options.seconds],
            env=cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(5)
        cluster.call("POST", "/v1/lives", {"live": "resent", "owner": "resender"}, token)
        stage = Stage(cluster, token)
        begin, expected_messages = time.monotonic(), 0
        for direction, source in [("old to new", options.new), ("new to old", options.old)]:
            say(f"{direction}:")
            answers = send_keyed_calls(cluster, token, direction)
            expected_messages += 1
            stage.do("begin", direction)
            for service in SERVICES:
                cluster.install(source, [service])
                cluster.restart(service)
            cluster.install(source, ["plaza"])
            check_sent_again(cluster, token, direction, answers, expected_messages)
            stage.do("check", direction)
            check_same(before, read_state(cluster, token, paths), direction)
            demo = cluster.plaza("demo", timeout=120)
            if demo.returncode != 0:
                raise Failure(f"{direction}: plaza demo failed: {demo.stdout[-1500:]}{demo.stderr[-500:]}")
            say(f"{direction}: plaza demo passed")
        stage.do("end", "the stage")
        if load.poll() is not None:
            say(f"the load had ended before the upgrades had ({time.monotonic() - begin:.0f} s): give more --seconds")
            raise Failure("not all of the upgrade happened under load")
        say("waiting for the load to end")
        output, _ = load.communicate(timeout=float(options.seconds) + 120)
        print(output[max(0, output.rfind("\nload ")):])
        if load.returncode != 0:
            raise Failure(f"the load's ledger does not balance: exit status {load.returncode}")
        say("held: upgraded and taken back under load, with nothing lost, repeated or out of order")
        status = 0
    except (Failure, urllib.error.URLError, subprocess.SubprocessError) as problem:
        detail = problem.read().decode() if isinstance(problem, urllib.error.HTTPError) else ""
        say(f"FAILED: {problem} {detail}")
        say(f"logs are in {folder}")
    finally:
        if load and load.poll() is None:
            load.kill()
        if stage:
            stage.stop()
        cluster.stop()
        if status == 0:
            shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
