# SPDX-License-Identifier: Apache-2.0
"""What the tests of deploy/ share: a cluster of real processes on loopback, and an end for everything that was started."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVICES = ["room-directory", "audience-presence", "barrage-fanout", "cohost-battle", "gateway"]
PROGRAMS = ["plaza", *SERVICES]


class Failure(Exception):
    """Something that was expected did not hold."""


def say(text):
    print(f"{os.path.basename(sys.argv[0])}: {text}", flush=True)


def program(name, package):
    """The path of a program of Debian, or an end with the command that installs it."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise SystemExit(f"{name} is missing: apt-get install {package}")
    return path


def bin_directory(chosen):
    """The folder of the built programs: the one that was chosen, or the newest build of this clone."""
    folders = [chosen] if chosen else [os.path.join(ROOT, ".build", kind) for kind in ("release", "debug")]
    for folder in folders:
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in PROGRAMS):
            return os.path.abspath(folder)
    raise SystemExit(f"no programs in {' or '.join(folders)}: `swift build -c release`, or name a folder with --bin")


def free_ports(count):
    """Ports of loopback that nobody listens on at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def get(url, headers=None, timeout=5):
    """The status and the text of an answer; 0 and the reason when there is none."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def wait_until(what, condition, seconds, interval=0.2):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds} s: {what}")
        time.sleep(interval)


class Processes:
    """The processes of a test, which end with it, and the folder of their files.

    An alarm ends the test, and with it all of them, after the time that it may take at most.
    """

    def __init__(self, name, seconds):
        self.started = []
        self.folder = tempfile.mkdtemp(prefix=f"liveplaza-{name}-")
        self.failed = False

        def too_long(*_):
            raise Failure(f"the test took longer than {seconds} s")

        def asked_to_stop(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, too_long)
        signal.signal(signal.SIGTERM, asked_to_stop)
        signal.alarm(seconds)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        signal.alarm(0)
        for process in reversed(self.started):
            self.stop(process)
        if kind is None and not self.failed:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            say(f"logs are in {self.folder}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, log, command, **options):
        with open(self.path(log), "w") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, **options)
        self.started.append(process)
        return process

    @staticmethod
    def stop(process, seconds=15):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Cluster:
    """A cluster that `plaza up` runs on free ports of loopback."""

    def __init__(self, processes, folder, arguments, environment=None):
        self.bin, self.run = folder, processes.path("run")
        self.environment = {**os.environ, "LIVEPLAZA_BIN_DIR": folder, **(environment or {})}
        self.log = processes.path("up.log")
        self.process = processes.start("up.log", [
            os.path.join(folder, "plaza"), "up", "--run-dir", self.run, "--port", "0", "--http-port", "0", "--ops-port", "0",
            *arguments], env=self.environment)

    def plaza(self, *arguments, **options):
        command = [os.path.join(self.bin, "plaza"), *arguments, "--run-dir", self.run]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, **options)

    def wait_ready(self, seconds=90):
        def is_ready():
            if self.process.poll() is not None:
                with open(self.log) as file:
                    raise Failure(f"the cluster ended: {file.read()[-1000:]}")
            return os.path.exists(os.path.join(self.run, "state.json")) and self.plaza("status").returncode == 0

        wait_until("the cluster is ready", is_ready, seconds, 0.5)

    def state(self):
        with open(os.path.join(self.run, "state.json")) as file:
            return json.load(file)

    def instances(self, kind):
        return sorted((each for each in self.state()["processes"] if each["kind"] == kind), key=lambda each: each["name"])

    def token(self, user, role="user"):
        answer = self.plaza("token", "--app", "demo", "--user", user, "--role", role)
        if answer.returncode != 0:
            raise Failure(f"no token: {answer.stderr}")
        return answer.stdout.strip()
