#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs deploy/haproxy/haproxy.cfg before two gateways of a real cluster, and checks what clients see.

WebSocket and HTTP pass on each port, with TLS too. Gateways see each client's address, and ignore what a client claims
about its own. A gateway that is stopped drains (asks its clients to reconnect), and no new client is refused meanwhile;
the proxy lets its connections go on for a while when it is stopped.

Needs haproxy (2.6 or later) and openssl, and the built programs. Listens on loopback only, takes about a minute, at
most four, and ends everything that it starts. Exit status 0: every check passed.
"""
import argparse
import base64
import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

from local_cluster import PROGRAMS, ROOT, Cluster, Failure, Processes, bin_directory, free_ports, get, program, say, wait_until
from other_proxy import check_other_proxy

CONFIGURATION = os.path.join(ROOT, "deploy", "haproxy")
# The limit of WebSockets of one address at one gateway.
CONNECTIONS_PER_ADDRESS = 5


class WebSocket:
    """A client: it makes the handshake, sends and receives text frames, and reads the code of a close."""

    def __init__(self, port, source="127.0.0.9", tls=None, headers=()):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=8, source_address=(source, 0))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET /v1 HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: liveplaza.v1",
                 *headers]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())
        # The head is read byte by byte, so that no byte of a frame is taken.
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            if not byte:
                break
            head += byte
        self.status = int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else 0

    def send(self, value):
        """Sends JSON of at most 65,535 bytes as a text frame."""
        payload, mask = json.dumps(value).encode(), os.urandom(4)
        size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
        self.socket.sendall(b"\x81" + size + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)))

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            received = self.socket.recv(count - len(data))
            if not received:
                raise ConnectionError("closed without a close frame")
            data += received
        return data

    def receive(self):
        """The next frame: ("text", JSON) or ("close", code); pings are skipped."""
        while True:
            first, second = self.read_exactly(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self.read_exactly(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.read_exactly(8))[0]
            payload = self.read_exactly(size)
            if first & 0x0F == 1:
                return "text", json.loads(payload)
            if first & 0x0F == 8:
                return "close", struct.unpack(">H", payload[:2])[0] if payload else 0

    def call(self, number, method, params):
        """Makes a call and returns its reply."""
        self.send({"id": number, "method": method, "params": params})
        while True:
            kind, value = self.receive()
            if kind == "close":
                raise Failure(f"{method} was answered by a close with {value}")
            if value.get("reply", {}).get("id") == number:
                return value["reply"]

    def login(self, token, session="one"):
        """Logs in; returns the name of the gateway."""
        reply = self.call(1, "login", {"token": token, "session": session})
        if "loggedIn" not in reply.get("result", {}):
            raise Failure(f"login was answered by {reply}")
        return reply["result"]["loggedIn"]["gateway"]

    def close(self):
        self.socket.close()


def programs_with_limits(processes, source):
    """A folder of the programs in which the gateway is a script that lowers the limit of connections of an address.

    The limit that `plaza up` gives a gateway is too high to be reached.
    """
    folder = processes.path("bin")
    os.mkdir(folder)
    for name in PROGRAMS:
        if name != "gateway":
            os.symlink(os.path.join(source, name), os.path.join(folder, name))
    with open(os.path.join(folder, "gateway"), "w") as file:
        file.write(f"""#!/bin/bash
arguments=(); last=
for argument; do
  [[ $last == --connections-per-address ]] && argument={CONNECTIONS_PER_ADDRESS}
  arguments+=("$argument"); last=$argument
done
exec {os.path.join(source, "gateway")} "${{arguments[@]}}"
""")
    os.chmod(file.name, 0o755)
    return folder


def make_certificate(folder):
    """Makes a certificate of the name localhost in a folder; returns the file with it and its key, and the file with it
    alone."""
    key, certificate, both = (os.path.join(folder, name) for name in ("key.pem", "certificate.pem", "both.pem"))
    subprocess.run([program("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
                    certificate], check=True, capture_output=True)
    with open(both, "w") as file:
        for name in (certificate, key):
            with open(name) as part:
                file.write(part.read())
    return both, certificate


class Proxy:
    """HAProxy with the shipped configuration, before the gateways of a cluster."""

    def __init__(self, processes, cluster):
        self.port, self.http, self.tls_port, self.ops = free_ports(4)
        haproxy = program("haproxy", "haproxy")
        certificate, trusted = make_certificate(processes.folder)
        self.trust = ssl.create_default_context(cafile=trusted)
        with open(os.path.join(CONFIGURATION, "gateways-hosts.cfg")) as file:
            gateways = file.read()
        for number, gateway in enumerate(cluster.instances("gateway"), 1):
            for shipped_port, port in ((8080, gateway["ports"]["ws"]), (8081, gateway["ports"]["http"])):
                gateways = re.sub(rf"10\.0\.0\.1{number}:{shipped_port}(.*) port 9100",
                                  rf"127.0.0.1:{port}\1 port {gateway['opsPort']}", gateways)
        if "10.0.0." in gateways:
            raise Failure("gateways-hosts.cfg names other servers than this test replaces")
        with open(processes.path("gateways.cfg"), "w") as file:
            file.write(gateways)
        environment = {**os.environ, "PROXY_HOST": "127.0.0.1", "PROXY_PORT": str(self.port),
                       "PROXY_HTTP_PORT": str(self.http),
                       "PROXY_TLS_PORT": str(self.tls_port), "PROXY_CERTIFICATES": certificate,
                       "PROXY_OPS_HOST": "127.0.0.1", "PROXY_OPS_PORT": str(self.ops), "PROXY_DRAIN": "6s"}
        files = ["-f", os.path.join(CONFIGURATION, "haproxy.cfg"), "-f", file.name]
        result = subprocess.run([haproxy, "-c", *files], env=environment, capture_output=True, text=True)
        if result.returncode != 0 or "WARNING" in result.stderr:
            raise Failure(f"haproxy -c: {result.stderr}")
        self.process = processes.start("haproxy.log", [haproxy, "-W", "-db", *files], env=environment)
        wait_until("the proxy has a gateway", lambda: self.readiness() == 200, 20)

    def readiness(self):
        """The status of the proxy's /readyz."""
        return get(f"http://127.0.0.1:{self.ops}/readyz")[0]

    def servers_up(self):
        """The number of gateways that the proxy sends WebSockets to."""
        text = get(f"http://127.0.0.1:{self.ops}/metrics")[1]
        return len(re.findall(r'haproxy_server_status\{proxy="gateways_websocket",server="[^"]*",state="UP"\} 1', text))


def check_configurations():
    """HAProxy accepts its configuration with each file of gateways, with and without TLS and another proxy before it.

    Behind another proxy it is also run, before a stub.
    """
    haproxy, count = program("haproxy", "haproxy"), 0
    with tempfile.TemporaryDirectory(prefix="liveplaza-proxy-") as folder:
        certificate, trusted = make_certificate(folder)
        for gateways in ("gateways-compose.cfg", "gateways-hosts.cfg"):
            for certificates in ("", certificate):
                for accepts_proxy in ("", "1"):
                    environment = {**os.environ, "PROXY_CERTIFICATES": certificates, "PROXY_ACCEPT_PROXY": accepts_proxy}
                    files = ["-f", os.path.join(CONFIGURATION, "haproxy.cfg"), "-f", os.path.join(CONFIGURATION, gateways)]
                    result = subprocess.run([haproxy, "-c", *files], env=environment, capture_output=True, text=True)
                    if result.returncode != 0 or "WARNING" in result.stderr:
                        raise Failure(f"haproxy -c, {gateways}, PROXY_CERTIFICATES={certificates}, "
                                      f"PROXY_ACCEPT_PROXY={accepts_proxy}: {result.stderr}")
                    count += 1
        say(f"haproxy accepts its configuration in {count} cases: gateways by name and by address, TLS, another proxy before it")
        check_other_proxy(certificate, trusted)


def http_status(port, path, token, source, tls=None, headers=()):
    """Sends one HTTP request from the address `source` of loopback; returns the status, 0 if there was no answer."""
    client = socket.create_connection(("127.0.0.1", port), timeout=8, source_address=(source, 0))
    try:
        if tls:
            client = tls.wrap_socket(client, server_hostname="localhost")
        lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Connection: close", f"Authorization: Bearer {token}",
                 *headers]
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = b""
        while received := client.recv(65536):
            answer += received
        return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0
    finally:
        client.close()


def check_ports(cluster, proxy):
    """WebSocket and HTTP pass on each port of the proxy, and WebSockets reach both gateways."""
    token = cluster.token("walker")
    reached_gateways = set()
    ports = [("plain", proxy.port, None), ("plain, the HTTP port", proxy.http, None),
             ("TLS", proxy.tls_port, proxy.trust)]
    for name, port, tls in ports:
        for number in range(4):
            client = WebSocket(port, tls=tls)
            if client.status != 101:
                raise Failure(f"WebSocket, {name}: {client.status}")
            reached_gateways.add(client.login(token, f"s{number}"))
            client.close()
        status = http_status(port, "/v1/lives", token, "127.0.0.9", tls)
        if status != 200:
            raise Failure(f"HTTP, {name}: {status}")
    if len(reached_gateways) != 2:
        raise Failure(f"all of twelve WebSockets went to {reached_gateways}")
    say("WebSocket and HTTP pass: plain on both ports, and by TLS; WebSockets reach both gateways")
    demo = cluster.plaza("demo", "--gateway", f"127.0.0.1:{proxy.port}", timeout=90)
    if demo.returncode != 0:
        raise Failure(f"plaza demo through the proxy: {demo.stdout[-800:]}{demo.stderr[-400:]}")
    say("plaza demo passes through the proxy")


def check_addresses(cluster, proxy):
    """Gateways count connections and requests for each client's address, and take connections only from the proxy."""
    gateways = cluster.instances("gateway")
    limit = CONNECTIONS_PER_ADDRESS * len(gateways)
    clients = [WebSocket(proxy.port, "127.0.0.2", headers=[f"X-Forwarded-For: 10.1.1.{number}"])
               for number in range(limit + 4)]
    statuses = [client.status for client in clients]
    if statuses.count(101) != limit or statuses.count(429) != 4:
        raise Failure(f"{limit} WebSockets of one address are allowed, the statuses were {statuses}")
    other_client = WebSocket(proxy.port, "127.0.0.3")
    if other_client.status != 101:
        raise Failure(f"another address got {other_client.status} while the first was at its limit")
    for client in [*clients, other_client]:
        client.close()
    say(f"gateways count WebSockets of each client's address: {limit} pass, further ones get 429, another address "
        "passes")
    # More requests with a wrong token than one address may make.
    statuses = [http_status(proxy.http, "/v1/lives", "wrong", "127.0.0.4",
                            headers=[f"X-Forwarded-For: 10.2.2.{number}"])
                for number in range(60)]
    if 429 not in statuses or http_status(proxy.http, "/v1/lives", "wrong", "127.0.0.5") != 401:
        raise Failure(f"refused tokens are counted for an address; the statuses were {statuses}")
    say(f"gateways count HTTP requests alike, whatever a client writes in X-Forwarded-For: {statuses.count(429)} of 60 "
        "got 429")
    # A connection from the proxy's address without the PROXY header, which names the client.
    direct_client = WebSocket(gateways[0]["ports"]["ws"], "127.0.0.1")
    if direct_client.status != 0:
        raise Failure(f"a gateway answered {direct_client.status} to a connection without a PROXY header")


def check_drain_of_gateway(cluster, proxy):
    """Stops a gateway: its clients are closed with a code, no new client is refused, and clients of the other stay."""
    gateway = cluster.instances("gateway")[0]
    token, closes, refused = cluster.token("drainer"), [], []
    clients = [WebSocket(proxy.port, f"127.0.1.{number + 1}") for number in range(12)]
    names = [client.login(cluster.token(f"drained-{number}")) for number, client in enumerate(clients)]

    # Receives until a close, and notes its code, or the error.
    def await_close(client):
        client.socket.settimeout(20)
        try:
            while True:
                kind, value = client.receive()
                if kind == "close":
                    return closes.append(value)
        except OSError as error:
            closes.append(str(error))

    drained_clients = [client for client, name in zip(clients, names) if name == gateway["name"]]
    threads = [threading.Thread(target=await_close, args=[client], daemon=True) for client in drained_clients]
    for thread in threads:
        thread.start()
    os.kill(gateway["pid"], signal.SIGTERM)
    # `noticed` is the time in seconds until the proxy had one server; each round sends a new WebSocket and a request.
    stopped, noticed, number = time.monotonic(), None, 0
    while time.monotonic() < stopped + 12:
        number += 1
        try:
            client = WebSocket(proxy.port, f"127.0.{2 + number % 200}.1")
            if client.status == 101:
                client.login(token, f"n{number % 15}")
            client.close()
            if client.status != 101:
                refused.append(f"WebSocket {client.status} after {time.monotonic() - stopped:.1f} s")
        except (OSError, Failure) as error:
            refused.append(f"WebSocket {error} after {time.monotonic() - stopped:.1f} s")
        status = http_status(proxy.http, "/v1/lives", token, f"127.0.{2 + number % 200}.1")
        if status != 200:
            refused.append(f"HTTP {status} after {time.monotonic() - stopped:.1f} s")
        if noticed is None and proxy.servers_up() == 1:
            noticed = time.monotonic() - stopped
        time.sleep(0.05)
    for thread in threads:
        thread.join(10)
    if len(closes) != len(drained_clients) or any(not isinstance(code, int) for code in closes):
        raise Failure(f"{len(drained_clients)} clients of the gateway that was stopped saw {closes}")
    if noticed is None:
        raise Failure("the proxy did not notice that a gateway was stopped")
    staying = [client for client, name in zip(clients, names) if name != gateway["name"]]
    for client in staying:
        client.call(7, "ping", {})
    if refused:
        raise Failure(f"{len(refused)} of {2 * number} new clients were refused: {refused[:8]}")
    say(f"a gateway drains: the proxy noticed after {noticed:.1f} s; "
        f"its {len(drained_clients)} clients were closed with {sorted(set(closes))}; "
        f"{number} WebSockets and {number} requests in 12 s passed, none was refused; {len(staying)} other clients "
        "stayed")
    wait_until("both gateways are back", lambda: proxy.servers_up() == 2, 30)
    for client in clients:
        client.close()


def check_drain_of_proxy(cluster, proxy):
    """Stops the proxy: its WebSocket goes on, new ones are refused, and it ends after PROXY_DRAIN."""
    client = WebSocket(proxy.port, "127.0.0.7")
    client.login(cluster.token("last"))
    proxy.process.send_signal(signal.SIGUSR1)
    time.sleep(1)
    client.call(8, "ping", {})
    try:
        WebSocket(proxy.port)
        raise Failure("a proxy that was stopped took a new client")
    except ConnectionRefusedError:
        pass
    # The proxy was stopped about a second before.
    began = time.monotonic()
    proxy.process.wait(20)
    say("the proxy drains: a WebSocket went on, new ones were refused, and it ended after "
        f"{time.monotonic() - began + 1:.0f} s "
        f"(PROXY_DRAIN is 6 s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="the folder of the built programs; default: .build/release, then .build/debug")
    parser.add_argument("--files-only", action="store_true", help="check the configuration, and start no cluster")
    options = parser.parse_args()
    # Ends at once if one is missing.
    program("haproxy", "haproxy"), program("openssl", "openssl")
    check_configurations()
    if options.files_only:
        return
    with Processes("proxy", seconds=240) as processes:
        folder = programs_with_limits(processes, bin_directory(options.bin))
        say("starting a cluster with two gateways, and HAProxy before them")
        cluster = Cluster(processes, folder, ["--scale", "gateway=2", "--shards", "1"], {
            "LIVEPLAZA_PROXY_PROTOCOL": "true", "LIVEPLAZA_TRUSTED_PROXIES": "127.0.0.1/32",
            "LIVEPLAZA_DRAIN_MILLISECONDS": "4000"})
        cluster.wait_ready()
        proxy = Proxy(processes, cluster)
        wait_until("both gateways are up", lambda: proxy.servers_up() == 2, 20)
        check_ports(cluster, proxy)
        check_addresses(cluster, proxy)
        check_drain_of_gateway(cluster, proxy)
        check_drain_of_proxy(cluster, proxy)
        say("all of it held")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        raise SystemExit(f"proxy_test: FAILED: {failure}")
