# SPDX-License-Identifier: Apache-2.0
"""A local cluster for the browser tests: `plaza up` in a directory of its own, and the pages in front of it."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import static_server

ROOT = pathlib.Path(__file__).resolve().parents[2]


def programs():
    """The folder of the built programs."""
    named = os.environ.get("LIVEPLAZA_BIN_DIR")
    for folder in [named] if named else [ROOT / ".build" / "release", ROOT / ".build" / "debug"]:
        if (pathlib.Path(folder) / "plaza").exists():
            return pathlib.Path(folder)
    raise SystemExit("build the programs first (swift build), or name their folder in LIVEPLAZA_BIN_DIR")


def read_json(folder, name):
    return json.loads(pathlib.Path(folder, name).read_text())


def free_ports(gateways):
    """A port from which on the ports of that many gateways are free: they are 10 apart."""
    for base in range(21000, 31000, 100):
        probes = [socket.socket() for _ in range(3 * gateways)]
        try:
            for number, probe in enumerate(probes):
                probe.bind(("127.0.0.1", base + 10 * (number // 3) + number % 3))
            return base
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    raise RuntimeError("no free ports")


class Cluster:
    """Starts with the instance, ends with `stop`. With LIVEPLAZA_RUN_DIR, a cluster that runs already is used."""

    def __init__(self, gateways=2):
        self.server = self.process = self.log = None
        running = os.environ.get("LIVEPLAZA_RUN_DIR")
        self.run = running or self._start(gateways)
        state = read_json(self.run, "state.json")
        self.sockets = [gateway["webSocket"] for gateway in state["gateways"]]
        self.api = state["gateways"][0]["http"]
        apps = read_json(self.run, "apps.json")
        key = apps["apps"]["demo"]["keys"][0]
        self.secret = static_server.unbase64url(key["k"])
        self.kid = key["kid"]
        # Gateways that serve pages themselves are tested as they are, as those of a new cluster must; others get a
        # server of pages in front.
        self.url = self.api
        if not self._serves_pages():
            if not running:
                self.stop()
                raise AssertionError(f"{self.api}/ serves no page: the programs are not in the build folder of a "
                                     "checkout")
            self.server = static_server.serve(self.sockets, mint=lambda user, name: self.token(user, name=name))
            self.url = f"http://127.0.0.1:{self.server.server_port}"

    def _start(self, gateways):
        self.directory = tempfile.mkdtemp(prefix="liveplaza-web-")
        base = free_ports(gateways)
        self.log = open(os.path.join(self.directory, "up.log"), "wb")
        self.process = subprocess.Popen(
            [programs() / "plaza", "up", "--run-dir", os.path.join(self.directory, "run"), "--scale",
             f"gateway={gateways}", "--port", str(base), "--http-port", str(base + 1), "--ops-port", str(base + 2)],
            stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise
        return os.path.join(self.directory, "run")

    def _wait(self):
        path = os.path.join(self.directory, "run", "state.json")
        deadline = time.time() + 180
        while time.time() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError("plaza up ended: " + open(self.log.name).read()[-2000:])
            if os.path.exists(path) and b"LivePlaza is ready" in open(self.log.name, "rb").read():
                return
            time.sleep(0.3)
        raise RuntimeError("the cluster is not ready: " + open(self.log.name).read()[-2000:])

    def _serves_pages(self):
        try:
            return urllib.request.urlopen(self.api + "/", timeout=5).status == 200
        except OSError:
            return False

    def token(self, user, **claims):
        return static_server.token(self.secret, self.kid, "demo", user, **{k: v for k, v in claims.items() if v})

    def call(self, method, params):
        """A call of the app's server."""
        request = urllib.request.Request(
            f"{self.api}/v1/call/{method}", data=json.dumps(params).encode(), method="POST",
            headers={"Authorization": f"Bearer {self.token('backend', role='server')}",
                     "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=15) as response:
            return json.load(response)["result"]

    def send_text(self, live, text, key):
        """A message of the app's server, by the last gateway; repeated with the same key it is the same."""
        gateways = read_json(self.run, "state.json")["gateways"]
        request = urllib.request.Request(
            f"{gateways[-1]['http']}/v1/lives/{live}/messages", data=json.dumps({"text": text}).encode(), method="POST",
            headers={"Authorization": f"Bearer {self.token('backend', role='server')}",
                     "Content-Type": "application/json", "Idempotency-Key": key})
        with urllib.request.urlopen(request, timeout=15) as response:
            response.read()

    def kill_gateway(self, number):
        """Ends a gateway with SIGKILL; the supervisor starts it again."""
        state = read_json(self.run, "state.json")
        process = next(entry for entry in state["processes"] if entry["name"] == f"gateway-{number}")
        os.kill(process["pid"], signal.SIGKILL)

    def stop(self):
        if self.server:
            self.server.shutdown()
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
