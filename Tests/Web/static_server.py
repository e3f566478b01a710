# SPDX-License-Identifier: Apache-2.0
"""Serves clients/web as a gateway with `--pages on` does: the same paths, the same Content-Security-Policy.

For looking at the pages, and for tests of the pages alone. With gateways it also answers settings and demo tokens.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import threading
import time

# LIVEPLAZA_PAGES names another folder, such as one of files that a gateway has put together.
ROOT = pathlib.Path(os.environ.get("LIVEPLAZA_PAGES")
                    or pathlib.Path(__file__).resolve().parents[2] / "clients" / "web")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json"}


def policy(gateways):
    connect = " ".join(["'self'", *gateways])
    return ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"connect-src {connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unbase64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def token(key, kid, app, user, seconds=3600, **claims):
    """A token of an app: HS256 with `key` (PROTOCOL.md, section 15)."""
    head = base64url(json.dumps({"alg": "HS256", "kid": kid, "typ": "JWT"}).encode())
    body = base64url(json.dumps({"app": app, "sub": user, "exp": int(time.time()) + seconds, **claims}).encode())
    signature = hmac.new(key, f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{base64url(signature)}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/pages/settings.json":
            return self.answer(200,
                               json.dumps({"gateways": self.server.gateways,
                                           "demoTokens": self.server.mint is not None}).encode(), ".json")
        file = ROOT / ("pages/index.html" if path == "/" else path.lstrip("/"))
        is_served = path == "/" or path.startswith(("/pages/", "/src/"))
        if ".." in path or not is_served or not file.is_file() or file.suffix not in TYPES:
            return self.answer(404, b"", ".json")
        return self.answer(200, file.read_bytes(), file.suffix)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self.path != "/pages/demo-token" or self.server.mint is None:
            return self.answer(404, b"{}", ".json")
        return self.answer(200, json.dumps({"token": self.server.mint(body["user"], body.get("name"))}).encode(),
                           ".json")

    def answer(self, status, body, suffix):
        self.send_response(status)
        self.send_header("Content-Type", TYPES[suffix])
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", policy(self.server.gateways))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


def serve(gateways=(), mint=None, port=0, handler=Handler):
    """Starts a server on loopback and returns it; `server.server_port` is its port."""
    server = Server(("127.0.0.1", port), handler)
    server.gateways = list(gateways)
    server.mint = mint
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
