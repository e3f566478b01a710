# SPDX-License-Identifier: Apache-2.0
"""Drives every parameter of a running gateway with the values at which programs break.

usage: boundary_table.py CALLS PROTOCOL WS-URL HTTP-URL [PARTS], with the apps file's path in BOUNDARY_APPS. CALLS is the
catalogue of calls, PROTOCOL the page that lists the reply codes. Prints each wrong answer with its case, then the number
of cases; the exit status is 1 if an answer was wrong. PARTS: calls,frames,tokens,handshakes,http.
"""
import asyncio
import base64
import collections
import hashlib
import hmac
import json
import os
import re
import sys
import time
import urllib.parse

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

APP = "demo"
KEY = json.load(open(os.environ["BOUNDARY_APPS"]))["apps"][APP]["keys"][0]
# Close codes of RFC 6455 and of docs/PROTOCOL.md, section 14.
CLOSE_CODES = {1000, 1001, 1002, 1003, 1007, 1009, 1011} | set(range(4001, 4110))
# What a handshake may answer (docs/PROTOCOL.md, section 1).
HANDSHAKE = {101, 400, 404, 405, 426, 429, 431, 503}

INTEGERS = [base + change for base in (2**63 - 1, -(2**63), 2**31 - 1, -(2**31), 2**53, -(2**53), 2**64 - 1, 0)
            for change in (-1, 0, 1)]
NUMBERS = [str(number) for number in INTEGERS] + ["-0", "-0.0", "0.5", "1e308", "-1e308", "1e309", "1E-400"]
LENGTHS = [0, 40, 41, 48, 49, 64, 65, 100, 101, 128, 129, 200, 201, 500, 501, 512, 513, 1000, 1001, 2048, 2049, 8200]
TEXTS = ["a" * length for length in LENGTHS] + ["\x00", "\x07\x1b\x7f", "\u0085\u2028", "😀", "😀" * 128, "/", "..", " ", "%00",
                                              "9223372036854775808", "-1", "9223372036854775807.9223372036854775807.1"]
RAW = ['"\\ud800"', '"\\udc00x"', "[" * 500 + "]" * 500, '{"a":' * 500 + "1" + "}" * 500, "null", "true", "{}", "[]",
       "[null]", '[""]', "[" + ",".join(["1"] * 10000) + "]", '["' + '","'.join("u%d" % i for i in range(1001)) + '"]']
MANY_MEMBERS = "{" + ",".join('"k%d":1' % index for index in range(10000)) + "}"
SOME_MEMBERS = "{" + ",".join('"k%d":1' % index for index in range(5000)) + "}"
VALUES = NUMBERS + [json.dumps(text) for text in TEXTS] + RAW

cases = 0
wrong = []
answers = collections.Counter()


def fault(case, what):
    wrong.append(f"{case}: {what}")
    print("wrong:", case[:300], "->", str(what)[:300], flush=True)


def token(user, role="user", header=None, **claims):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = {"alg": "HS256", "typ": "JWT", "kid": KEY["kid"]}
    raw = claims.pop("raw", None)
    body = {"app": APP, "sub": user, "role": role, "exp": int(time.time()) + 3600, "iat": int(time.time()) - 1}
    body.update(claims)
    text = raw if raw is not None else json.dumps(body)
    signed = part((header or json.dumps(head)).encode()) + "." + part(text.encode())
    key = base64.urlsafe_b64decode(KEY["k"] + "==")
    return signed + "." + part(hmac.new(key, signed.encode(), hashlib.sha256).digest())


def leaves(value, path=()):
    """The paths of all leaves, and of all containers, of an example."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from leaves(child, path + (key,))


def write(value, path, raw):
    """JSON in which the value at `path` is the text `raw`."""
    if path == ():
        return raw
    if isinstance(value, dict):
        return "{" + ",".join(
            json.dumps(key) + ":" + (write(child, path[1:], raw) if path[0] == key else json.dumps(child))
            for key, child in value.items()) + "}"
    return "[" + ",".join(
        write(child, path[1:], raw) if path[0] == index else json.dumps(child)
        for index, child in enumerate(value)) + "]"


class Client:
    """One user's WebSocket, which connects again when a case closes it."""

    def __init__(self, url, user, role, codes):
        self.url, self.user, self.role, self.codes = url, user, role, codes
        self.socket, self.number = None, 0

    async def connected(self):
        if self.socket is None:
            self.socket = await connect(self.url, subprotocols=["liveplaza.v1"], max_size=None, ping_interval=None)
            self.number = 0
            reply = await self.exchange("login", json.dumps({"token": token(self.user, self.role)}))
            assert "result" in reply, reply
        return self.socket

    async def exchange(self, method, params, envelope=None):
        """Sends a call and returns its reply; the reply to a frame that is no call has the id -1."""
        self.number += 1
        text = envelope(self.number) if envelope else f'{{"id":{self.number},"method":"{method}","params":{params}}}'
        await self.socket.send(text)
        while True:
            frame = json.loads(await asyncio.wait_for(self.socket.recv(), 15))
            reply = frame.get("reply")
            if reply and (envelope or reply["id"] in (self.number, -1)):
                return reply

    async def drive(self, case, method, params, envelope=None):
        global cases
        cases += 1
        for _ in range(50):
            await self.connected()
            try:
                reply = await self.exchange(method, params, envelope)
            except ConnectionClosed as closed:
                self.socket = None
                code = closed.rcvd.code if closed.rcvd else None
                answers["closed with %s" % code] += 1
                if code not in CLOSE_CODES:
                    fault(case, f"closed with {code}")
                return None
            except (asyncio.TimeoutError, OSError) as error:
                self.socket = None
                fault(case, f"no answer: {error!r}")
                return None
            error = reply.get("error")
            answers["reply " + (error["name"] if error else "result")] += 1
            if error is None:
                return reply
            if error["code"] == -2:
                await asyncio.sleep(min(2, error.get("retryAfter", 100) / 1000))
                continue
            if error["code"] not in self.codes or error["name"] == "timedOut":
                fault(case, error)
            # Ten frames that are no calls close a connection; a new one begins to count again.
            if reply["id"] == -1 and self.socket:
                await self.socket.close()
                self.socket = None
            return reply
        fault(case, "refused as too frequent 50 times")
        return None


async def drive_method(url, number, call, codes, limit):
    """All cases of one method, by the owner of a live of its own, or by the app's server."""
    async with limit:
        live, user = f"bt{number}", f"host{number}"
        owner = Client(url, user, "user", codes)
        await owner.drive("preparation", "live.create", json.dumps({"live": live}))
        await owner.drive("preparation", "live.join", json.dumps({"live": live}))
        client = Client(url, "shop", "server", codes) if call["role"] == "server" else owner
        example = call["params"]
        if "live" in example and call["method"] != "live.create":
            example["live"] = live
        for path in leaves(example):
            # A frame with 10,000 members is beyond the limit of a frame, with 5,000 within it.
            for value in VALUES + ([MANY_MEMBERS, SOME_MEMBERS] if path == () else []):
                name = call["method"] + " " + ".".join(map(str, path)) + " = " + value[:80]
                await client.drive(name, call["method"], write(example, path, value))
        for other in {client, owner}:
            if other.socket:
                await other.socket.close()


async def drive_envelopes(url, codes):
    client = Client(url, "envelope", "user", codes)
    for field in ("id", "method", "params", "age"):
        for value in VALUES:
            def frame(number, field=field, value=value):
                fields = {"id": str(number), "method": '"ping"', "params": "{}"}
                fields[field] = value
                return "{" + ",".join(f'"{key}":{text}' for key, text in fields.items()) + "}"
            await client.drive(f"frame {field} = {value[:80]}", "ping", "{}", frame)


async def drive_tokens(url, codes, limit):
    """Every claim of a token; each refused token closes its connection."""
    global cases
    bodies = []
    base = {"app": APP, "sub": "claim", "role": "user", "exp": int(time.time()) + 3600, "iat": int(time.time()), "nbf": 0,
            "name": "N", "avatar": "a", "ver": "1"}
    for claim in base:
        for value in VALUES:
            bodies.append((f"claim {claim} = {value[:80]}", token("x", raw=write(base, (claim,), value))))
    head = {"alg": "HS256", "typ": "JWT", "kid": KEY["kid"], "crit": ["exp"], "jku": "http://127.0.0.1:1/"}
    for field in head:
        for value in VALUES:
            bodies.append((f"token header {field} = {value[:80]}", token("x", header=write(head, (field,), value))))
    bodies += [("token", text) for text in ("", ".", "..", "a.b.c", "é", "a" * 9000, "." * 5000)]

    async def one(case, text):
        async with limit:
            client = Client(url, "claim", "user", codes)
            for _ in range(40):
                client.socket = await connect(url, subprotocols=["liveplaza.v1"], max_size=None, ping_interval=None)
                try:
                    reply = await client.exchange("login", json.dumps({"token": text}))
                except ConnectionClosed as closed:
                    code = closed.rcvd.code if closed.rcvd else None
                    if code not in CLOSE_CODES:
                        fault(case, f"closed with {code}")
                    return
                finally:
                    await client.socket.close()
                error = reply.get("error")
                answers["login " + (error["name"] if error else "result")] += 1
                if error is None or error["code"] != -2:
                    if error and (error["code"] not in codes or error["name"] == "timedOut"):
                        fault(case, error)
                    return
                await asyncio.sleep(0.25)

    cases += len(bodies)
    await asyncio.gather(*(one(case, text) for case, text in bodies))


async def raw_request(host, port, data, case, statuses, is_closed_fine=True):
    """Sends bytes; checks the status of the response, if there is one."""
    global cases
    cases += 1
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 22)
    try:
        writer.write(data)
        await writer.drain()
        line = await asyncio.wait_for(reader.readline(), 30)
        if not line:
            if not is_closed_fine:
                fault(case, "closed without a response")
            return None, b""
        status = int(line.split()[1])
        answers["status %d" % status] += 1
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        length = [int(part.split(b":")[1]) for part in head.lower().split(b"\r\n") if part.startswith(b"content-length:")]
        body = await asyncio.wait_for(reader.readexactly(length[0]), 30) if length and status != 101 else b""
        if status not in statuses:
            fault(case, f"status {status} {body[:200]!r}")
        return status, body
    except (ConnectionError, asyncio.IncompleteReadError):
        return None, b""
    except asyncio.TimeoutError:
        fault(case, "no response")
        return None, b""
    finally:
        writer.close()


HEADER_VALUES = ["", "a" * 300, "a" * 9000, "\x01", "é", "9223372036854775808", "-1", "0", "1e308", ",", ";", "=", "\"", "*/*;q=9",
                 ", ".join(["a"] * 200)]


async def drive_handshakes(ws):
    headers = {"Host": ws.netloc, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "liveplaza.v1",
               "Sec-WebSocket-Extensions": "permessage-deflate", "Origin": "http://a", "X-Forwarded-For": "1.1.1.1",
               "Content-Length": "0"}
    for name in headers:
        for value in HEADER_VALUES:
            changed = dict(headers, **{name: value})
            text = "GET /v1 HTTP/1.1\r\n" + "".join(f"{key}: {given}\r\n" for key, given in changed.items()) + "\r\n"
            await raw_request(ws.hostname, ws.port, text.encode(), f"handshake {name} = {value[:60]!r}", HANDSHAKE)
    for line in ("GET  HTTP/1.1", "GET /v1", "POST /v1 HTTP/1.1", "GET /" + "a" * 9000 + " HTTP/1.1", "GET /v1 HTTP/9.9", "\x00", "é"):
        await raw_request(ws.hostname, ws.port, line.encode() + b"\r\n\r\n", f"request line {line[:60]!r}", HANDSHAKE | {505})


def example_of(schema, document, depth=0):
    """A value that a schema describes."""
    while "$ref" in schema:
        node = document
        for part in schema["$ref"].lstrip("#/").split("/"):
            node = node[part]
        schema = node
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return example_of(schema[key][0], document, depth + 1)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: example_of(child, document, depth + 1) for name, child in schema.get("properties", {}).items()} if depth < 5 else {}
    if kind == "array":
        return [example_of(schema.get("items", {}), document, depth + 1)]
    return {"integer": schema.get("minimum", 1), "number": 1, "boolean": True}.get(kind, "a")


async def drive_http(http, codes, limit):
    """Every path, query and body field and header of every operation of the description."""
    _, text = await raw_request(http.hostname, http.port, f"GET /openapi.json HTTP/1.1\r\nHost: {http.netloc}\r\nConnection: close\r\n\r\n".encode(), "description", {200}, False)
    document = json.loads(text)
    bearer = "Bearer " + token("shop", "server")
    requests = []

    def add(case, method, path, query, body, statuses, headers=()):
        target = path + ("?" + query if query else "")
        given = {"Host": http.netloc, "Connection": "close", "Authorization": bearer}
        data = body.encode("utf-8", "surrogatepass") if body is not None else b""
        if data:
            given.update({"Content-Type": "application/json", "Content-Length": str(len(data))})
        given.update(headers)
        head = f"{method} {target} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in given.items()) + "\r\n"
        requests.append((case, head.encode() + data, statuses))

    for path, item in document["paths"].items():
        shared = item.get("parameters", [])
        for method in ("get", "put", "post", "delete", "patch"):
            if method not in item:
                continue
            operation = item[method]
            statuses = {int(status) for status in operation["responses"]} | {400, 404, 413, 414, 429, 431}
            parameters = []
            for parameter in shared + operation.get("parameters", []):
                while "$ref" in parameter:
                    node = document
                    for part in parameter["$ref"].lstrip("#/").split("/"):
                        node = node[part]
                    parameter = node
                parameters.append(parameter)
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            body = example_of(content["schema"], document) if content else None
            plain = path
            for parameter in parameters:
                if parameter["in"] == "path":
                    plain = plain.replace("{" + parameter["name"] + "}", "bt-http")
            name = operation.get("operationId", method + path)
            whole = json.dumps(body) if body is not None else None
            for parameter in parameters:
                for text in TEXTS + NUMBERS:
                    case = f"{name} {parameter['in']} {parameter['name']} = {text[:60]!r}"
                    quoted = urllib.parse.quote(text, safe="")
                    if parameter["in"] == "path":
                        target = path.replace("{" + parameter["name"] + "}", quoted)
                        for other in parameters:
                            target = target.replace("{" + other["name"] + "}", "bt-http")
                        add(case, method.upper(), target, "", whole, statuses | {405})
                    elif parameter["in"] == "query":
                        add(case, method.upper(), plain, parameter["name"] + "=" + quoted, whole, statuses)
            for header in ("Authorization", "Idempotency-Key", "Idempotency-Age", "Content-Length", "Content-Type", "X-Forwarded-For", "Accept", "traceparent",
                           "Expect", "Origin", "If-None-Match", "Accept-Encoding"):
                for value in HEADER_VALUES:
                    add(f"{name} header {header} = {value[:60]!r}", method.upper(), plain, "", whole, statuses | {401, 411}, {header: value})
            if body is not None:
                for place in leaves(body):
                    for value in VALUES + [MANY_MEMBERS]:
                        add(f"{name} body {'.'.join(map(str, place))} = {value[:60]}", method.upper(), plain, "", write(body, place, value), statuses)

    async def one(case, data, statuses):
        async with limit:
            for _ in range(60):
                status, body = await raw_request(http.hostname, http.port, data, case, statuses)
                if status != 429:
                    break
                await asyncio.sleep(0.5)
            if status is not None and status >= 400 and body:
                try:
                    code = json.loads(body).get("error", {}).get("code")
                except ValueError:
                    code = None
                if code is not None and code not in codes:
                    fault(case, body[:200])

    # The requests of one operation have a common rate, so those of different ones take turns.
    by_name = {}
    for request in requests:
        by_name.setdefault(request[0].split(" ")[0], []).append(request)
    turns = [group[index] for index in range(max(map(len, by_name.values()))) for group in by_name.values() if index < len(group)]
    await asyncio.gather(*(one(*request) for request in turns))


async def main():
    calls = json.load(open(sys.argv[1]))
    page = open(sys.argv[2], encoding="utf-8").read().split("## 13. Reply codes")[1].split("\n## ")[0]
    codes = {int(code) for code in re.findall(r"^\| (-?\d+) \| `", page, re.MULTILINE)}
    assert len(codes) > 50
    ws, http = sys.argv[3], urllib.parse.urlparse(sys.argv[4])
    parts = sys.argv[5].split(",") if len(sys.argv) > 5 else ["calls", "frames", "tokens", "handshakes", "http"]
    began = time.time()
    limit, http_limit = asyncio.Semaphore(24), asyncio.Semaphore(16)
    work = []
    if "calls" in parts:
        work += [drive_method(ws, number, call, codes, limit) for number, call in enumerate(calls) if call["method"] != "login"]
    if "frames" in parts:
        work.append(drive_envelopes(ws, codes))
    if "tokens" in parts:
        work.append(drive_tokens(ws, codes, asyncio.Semaphore(8)))
    if "handshakes" in parts:
        work.append(drive_handshakes(urllib.parse.urlparse(ws)))
    if "http" in parts:
        work.append(drive_http(http, codes, http_limit))
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            fault("the table", repr(result))
    print(", ".join(f"{answer}: {count}" for answer, count in answers.most_common()))
    print(f"{cases} cases, {len(wrong)} wrong, {time.time() - began:.0f} s")
    sys.exit(1 if wrong else 0)


asyncio.run(main())
