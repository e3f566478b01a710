# SPDX-License-Identifier: Apache-2.0
"""What the tests of deploy/ share: a cluster of real processes on loopback, and the end of all started processes."""
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
    """Prints a line with the name of the test."""
    print(f"{os.path.basename(sys.argv[0])}: {text}", flush=True)


def program(name, package):
    """The path of a program of Debian. If it is missing, the test ends with the command that installs it."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        raise SystemExit(f"{name} is missing: apt-get install {package}")
    return path


def bin_directory(chosen):
    """The folder of the built programs: `chosen`, or without it the release build of this clone, else its debug
    build."""
    folders = [chosen] if chosen else [os.path.join(ROOT, ".build", kind) for kind in ("release", "debug")]
    for folder in folders:
        if all(os.access(os.path.join(folder, name), os.X_OK) for name in PROGRAMS):
            return os.path.abspath(folder)
    raise SystemExit(f"no programs in {' or '.join(folders)}: `swift build -c release`, or name a folder with --bin")


def free_ports(count):
    """Ports of loopback that nobody listens on at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    for listener in sockets:
        listener.bind(("127.0.0.1", 0))
    ports = [listener.getsockname()[1] for listener in sockets]
    for listener in sockets:
        listener.close()
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
    """Waits until `condition()` is true; raises a Failure that says `what` if it is not within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds} s: {what}")
        time.sleep(interval)


class Processes:
    """The processes of a test, which end with it, and the folder of their files.

    After `seconds` an alarm ends the test as failed. The folder is kept if the test failed, for its logs.
    """

    def __init__(self, name, seconds):
        self.started = []
        self.folder = tempfile.mkdtemp(prefix=f"liveplaza-{name}-")
        self.failed = False

        def fail_late(*_):
            raise Failure(f"the test took longer than {seconds} s")

        # Ends the test like Ctrl-C, so that its processes end too.
        def interrupt(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, fail_late)
        signal.signal(signal.SIGTERM, interrupt)
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
        """The path of a file in the folder of the test."""
        return os.path.join(self.folder, name)

    def start(self, log, command, **options):
        """Starts a process whose output goes to the file `log`."""
        with open(self.path(log), "w") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, **options)
        self.started.append(process)
        return process

    @staticmethod
    def stop(process, seconds=15):
        """Ends a process by SIGINT, or by SIGKILL if it has not ended after `seconds`."""
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Cluster:
    """A cluster that `plaza up` runs on free ports of loopback."""

    def __init__(self, processes, bin_folder, arguments, environment=None):
        # `run` is the run directory.
        self.bin, self.run = bin_folder, processes.path("run")
        self.environment = {**os.environ, "LIVEPLAZA_BIN_DIR": bin_folder, **(environment or {})}
        self.log = processes.path("up.log")
        self.process = processes.start("up.log", [
            os.path.join(bin_folder, "plaza"), "up", "--run-dir", self.run, "--port", "0", "--http-port", "0",
            "--ops-port", "0", *arguments], env=self.environment)

    def plaza(self, *arguments, **options):
        """Runs a `plaza` command on this cluster to its end."""
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
        """The processes of a service as state.json describes them, in the order of their names."""
        instances = (process for process in self.state()["processes"] if process["kind"] == kind)
        return sorted(instances, key=lambda process: process["name"])

    def token(self, user, role="user"):
        answer = self.plaza("token", "--app", "demo", "--user", user, "--role", role)
        if answer.returncode != 0:
            raise Failure(f"no token: {answer.stderr}")
        return answer.stdout.strip()
