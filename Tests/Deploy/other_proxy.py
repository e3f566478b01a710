# SPDX-License-Identifier: Apache-2.0
"""Checks the shipped HAProxy behind another proxy (PROXY_ACCEPT_PROXY), before a stub in place of the gateways."""
import os
import re
import socket
import ssl
import struct
import subprocess
import tempfile
import threading

from local_cluster import ROOT, Failure, free_ports, get, program, say, wait_until

CONFIGURATION = os.path.join(ROOT, "deploy", "haproxy")
# The address that the other proxy names as the client's: one of those for documents, so nobody has it.
CLIENT = "203.0.113.7"
# The beginning of a PROXY header of version 2.
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


class StubGateway:
    """Answers each request with the addresses of its client: that of a PROXY header, and that of X-Forwarded-For."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=[client], daemon=True).start()

    def answer(self, client):
        try:
            with client, client.makefile("rb") as stream:
                named = "none"
                while line := stream.readline():
                    if line == b"\r\n":
                        # The rest of a PROXY header: 10 bytes of signature, version, family, size, addresses.
                        rest = stream.read(14)
                        named = socket.inet_ntoa(stream.read(struct.unpack(">H", rest[-2:])[0])[:4])
                        line = stream.readline()
                    forwarded = "none"
                    while (header := stream.readline()) not in (b"\r\n", b""):
                        name, value = header.decode().split(":", 1)
                        forwarded = value.strip() if name.lower() == "x-forwarded-for" else forwarded
                    body = f"{named} {forwarded}".encode()
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        except OSError:
            pass

    def close(self):
        self.listener.close()


def request(port, header, tls=None, headers=()):
    """Sends a PROXY header and a request, by TLS if given one; returns the body of the answer, empty if there was
    none."""
    with socket.create_connection(("127.0.0.1", port), timeout=8) as client:
        client.sendall(header)
        stream = tls.wrap_socket(client, server_hostname="localhost") if tls else client
        stream.sendall("\r\n".join(["GET /v1 HTTP/1.1", "Host: localhost", "Connection: close", "X-Forwarded-For: 10.3.3.3",
                                    *headers, "", ""]).encode())
        answer = b""
        try:
            while received := stream.recv(65536):
                answer += received
                if b"\r\n\r\n" in answer and b"." in answer.split(b"\r\n\r\n", 1)[1]:
                    break
        except ConnectionError:
            pass
        return answer.split(b"\r\n\r\n", 1)[1].decode() if answer.startswith(b"HTTP/1.1 200") else ""


def check_other_proxy(certificate, trusted):
    """Clients' addresses are those that the other proxy names; a connection without its header gets no answer.

    `certificate` is a file with a certificate of localhost and its key, `trusted` one with the certificate alone.
    """
    stub, (port, http, tls_port, ops) = StubGateway(), free_ports(4)
    tls = ssl.create_default_context(cafile=trusted)
    with open(os.path.join(CONFIGURATION, "gateways-hosts.cfg")) as file:
        gateways = re.sub(r"10\.0\.0\.1\d:\d+(.*) port 9100", rf"127.0.0.1:{stub.port}\1 port {stub.port}", file.read())
    with tempfile.TemporaryDirectory(prefix="liveplaza-proxy-") as folder:
        with open(os.path.join(folder, "gateways.cfg"), "w") as file:
            file.write(gateways)
        environment = {**os.environ, "PROXY_HOST": "127.0.0.1", "PROXY_PORT": str(port), "PROXY_HTTP_PORT": str(http),
                       "PROXY_TLS_PORT": str(tls_port), "PROXY_CERTIFICATES": certificate, "PROXY_OPS_HOST": "127.0.0.1",
                       "PROXY_OPS_PORT": str(ops), "PROXY_ACCEPT_PROXY": "1"}
        command = [program("haproxy", "haproxy"), "-db", "-f", os.path.join(CONFIGURATION, "haproxy.cfg"), "-f", file.name]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until("the proxy has a gateway", lambda: get(f"http://127.0.0.1:{ops}/readyz")[0] == 200, 20)
            version_1 = f"PROXY TCP4 {CLIENT} 127.0.0.1 40000 {port}\r\n".encode()
            addresses = socket.inet_aton(CLIENT) + socket.inet_aton("127.0.0.1") + struct.pack(">HH", 40000, port)
            version_2 = SIGNATURE + b"\x21\x11" + struct.pack(">H", len(addresses)) + addresses
            websocket = ("Upgrade: websocket",)
            cases = [("HTTP", http, None, (), f"none {CLIENT}"), ("WebSocket", port, None, websocket, f"{CLIENT} {CLIENT}"),
                     ("HTTP by TLS", tls_port, tls, (), f"none {CLIENT}"),
                     ("WebSocket by TLS", tls_port, tls, websocket, f"{CLIENT} {CLIENT}")]
            for name, number, context, headers, expected in cases:
                for header in (version_1, version_2):
                    if (seen := request(number, header, context, headers)) != expected:
                        raise Failure(f"behind another proxy, {name}: a gateway saw {seen!r} instead of {expected!r}")
            if seen := request(http, b""):
                raise Failure(f"a connection without the other proxy's header was answered: {seen!r}")
        finally:
            process.kill()
            process.wait()
            stub.close()
    say("behind another proxy: gateways see the addresses that it names, by WebSocket and HTTP, with TLS too; without them nobody passes")
