# SPDX-License-Identifier: Apache-2.0
"""The WebSocket handshakes and the HTTP requests of the boundary table (boundary_table.py)."""
import asyncio
import json
import re
import urllib.parse

from boundary_cases import (ANSWER_LIMIT, MANY_MEMBERS, MARKS, MAX_WAITS, NUMBERS, RAW, READ_LIMIT, TEXTS, VALUES,
                            paths, replaced, token)

# The heads with the two longest values are a little and a lot over the limit of 16 KiB.
HEADER_VALUES = ["", "a" * 300, "a" * 9000, "a" * 16300, "a" * 40000, "\x01", "é", "9223372036854775808", "-1", "0",
                 "1e308", ",", ";", "=", "\"", "*/*;q=9", ", ".join(["a"] * 200)]
# All boundary values without a line break. The gateway parses the headers of every operation in the same way, so only
# the handshake and two operations get these values.
MORE_HEADER_VALUES = NUMBERS + [text for text in TEXTS + RAW if not set(text) & set("\r\n")]
OPERATIONS_WITH_ALL_HEADER_VALUES = {"getLive", "sendText"}
# HTTP methods: one of the greatest length, 32 bytes, one that is longer, and texts without a character that ends it.
METHODS = ["G" * 32, "G" * 33, "get", "\u0301" * 4000 + "\u0334" * 3800] + \
    [text for text in TEXTS if text and not set(text) & set(" \x00\x07\x1b\x7f")]


async def exchange(host, port, data):
    """Sends bytes; returns the status, the fields of the head and the body of the response.

    Raises EOFError if the connection ends before the whole response.
    """
    reader, writer = await asyncio.open_connection(host, port, limit=READ_LIMIT)
    try:
        writer.write(data)
        # The response is read at once, because a gateway may answer a bad head and close before it has read the body.
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        length = 0 if status in (101, 204) else int(fields.get("content-length", 0))
        return status, fields, await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise EOFError(f"closed after {error.partial[:80]!r}") from error
    finally:
        writer.close()


async def respond(report, address, case, data, statuses):
    """Sends one case; returns the response, or None if there is none.

    A missing response and a wrong status are faults.
    """
    report.cases += 1
    try:
        response = await asyncio.wait_for(exchange(*address, data), ANSWER_LIMIT)
    except (OSError, EOFError, asyncio.TimeoutError) as error:
        report.fault(case, f"no response: {error!r}")
        return None
    status, _, body = response
    report.answers["status %d" % status] += 1
    if status not in statuses or status >= 500:
        report.fault(case, f"status {status} {body[:200]!r}")
    return response


async def drive_handshakes(report, documented, ws):
    """Every header of a handshake with every value, and broken request lines."""
    headers = {"Host": ws.netloc, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "liveplaza.v1",
               "Sec-WebSocket-Extensions": "permessage-deflate", "Origin": "http://a", "X-Forwarded-For": "1.1.1.1",
               "Content-Length": "0"}
    address = (ws.hostname, ws.port)
    for name in headers:
        for value in HEADER_VALUES + MORE_HEADER_VALUES:
            changed_headers = dict(headers, **{name: value})
            text = "GET /v1 HTTP/1.1\r\n" + "".join(f"{key}: {content}\r\n"
                                                    for key, content in changed_headers.items()) + "\r\n"
            await respond(report, address, f"handshake {name} = {value[:60]!r}", text.encode(), documented.handshake)
    for line in ("GET  HTTP/1.1", "GET /v1", "POST /v1 HTTP/1.1", "GET /" + "a" * 9000 + " HTTP/1.1",
                 "GET /v1 HTTP/9.9", "\x00", "é"):
        await respond(report, address, f"request line {line[:60]!r}", line.encode() + b"\r\n\r\n", documented.handshake)


def resolved(node, document):
    """The part of the description to which a reference leads; `node` itself if it is no reference."""
    while "$ref" in node:
        target = document
        for part in node["$ref"].lstrip("#/").split("/"):
            target = target[part]
        node = target
    return node


def example_of(schema, document, depth=0):
    """A value that satisfies a schema; objects deeper than 5 levels are empty, because a schema may contain itself."""
    schema = resolved(schema, document)
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return example_of(schema[key][0], document, depth + 1)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: example_of(child, document, depth + 1)
                for name, child in schema.get("properties", {}).items()} if depth < 5 else {}
    if kind == "array":
        return [example_of(schema.get("items", {}), document, depth + 1)]
    return {"integer": schema.get("minimum", 1), "number": 1, "boolean": True}.get(kind, "a")


class Operation:
    """One operation of the description with all its cases.

    `item` is the description of the path, with an operation for each method. Each case is the arguments of `drive_case`
    after the address.
    """

    def __init__(self, document, documented, netloc, path, method, item):
        operation = item[method]
        self.common_statuses = documented.requests
        self.name = operation.get("operationId", method + path)
        self.method, self.netloc = method.upper(), netloc
        self.bearer = "Bearer " + token("shop", "server")
        self.responses = {int(status): resolved(response, document)
                          for status, response in operation["responses"].items()}
        # Cases with a changed Authorization header are kept apart (see `drive_http`).
        self.cases, self.token_cases = [], []
        parameters = [resolved(parameter, document)
                      for parameter in item.get("parameters", []) + operation.get("parameters", [])]
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        body = example_of(content["schema"], document) if content else None
        body_text = json.dumps(body) if content else None

        def target(name=None, value=None):
            """The path with `value` for the parameter `name`, and an example for each other parameter."""
            text = path
            for parameter in parameters:
                if parameter["in"] == "path":
                    text = text.replace("{" + parameter["name"] + "}",
                                        value if parameter["name"] == name else "bt-http")
            return text

        for parameter in parameters:
            for text in TEXTS + NUMBERS:
                case = f"{parameter['in']} {parameter['name']} = {text[:60]!r}"
                quoted = urllib.parse.quote(text, safe="")
                # A path with an empty part is another path, which may have no such method.
                if parameter["in"] == "path":
                    self.add(case, target(parameter["name"], quoted), body_text, {404, 405} if text == "" else set())
                elif parameter["in"] == "query":
                    self.add(case, target() + f"?{parameter['name']}={quoted}", body_text)
            # A path may also have characters that are not percent-encoded.
            if parameter["in"] == "path":
                self.add(f"path {parameter['name']} = marks", target(parameter["name"], MARKS), body_text)
        for text in TEXTS + NUMBERS:
            self.add(f"query name {text[:60]!r}", target() + f"?{urllib.parse.quote(text, safe='')}=1", body_text)
        self.add("query name of marks", target() + f"?{MARKS}=1", body_text)
        for header in ("Authorization", "Idempotency-Key", "Idempotency-Age", "Content-Length", "Content-Type",
                       "X-Forwarded-For", "Accept", "traceparent", "Expect", "Origin", "If-None-Match",
                       "Accept-Encoding"):
            for value in HEADER_VALUES + (MORE_HEADER_VALUES if self.name in OPERATIONS_WITH_ALL_HEADER_VALUES else []):
                self.add(f"header {header} = {value[:60]!r}", target(), body_text, headers={header: value})
        if content:
            for place in paths(body):
                for value in VALUES + [MANY_MEMBERS]:
                    self.add(f"body {'.'.join(map(str, place))} = {value[:60]}", target(), replaced(body, place, value))

    def add(self, case, target, body, further=frozenset(), headers=None):
        """Adds the case of a request; `further` are statuses beyond those of the description."""
        fields = {"Host": self.netloc, "Connection": "close", "Authorization": self.bearer}
        data = body.encode("utf-8", "surrogatepass") if body is not None else b""
        if data:
            fields.update({"Content-Type": "application/json", "Content-Length": str(len(data))})
        fields.update(headers or {})
        head = f"{self.method} {target} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n"
                                                                for key, value in fields.items()) + "\r\n"
        length = fields.get("Content-Length", "0")
        # A length must be a number of 64 bits; otherwise the bytes are no HTTP request (RFC 9112, section 6.3).
        is_http = re.fullmatch(r"\d+", length) is not None and int(length) < 2**64
        if is_http and len(data) < int(length) < 2**16:
            return  # No case: the gateway waits for the rest of the body, as it should.
        cases = self.token_cases if "Authorization" in (headers or {}) else self.cases
        statuses = set(self.responses) | self.common_statuses | set(further)
        cases.append((self, f"{self.name} {case}", head.encode() + data, statuses, is_http))

    def has_body(self, status, is_http):
        """Whether a response of this status must have JSON: if the description says so, or does not know the status.

        Two rejections need no JSON: that of bytes that are no HTTP request (400 or 413), and that of a head over 32 KiB
        (414 or 431).
        """
        return status not in (414, 431) and (is_http or status not in (400, 413)) and \
            "content" in self.responses.get(status, {"content": {}})


async def drive_case(report, documented, address, operation, case, data, statuses, is_http):
    """Sends a case until no rate limit rejects it, and judges its answer."""
    for _ in range(1 + MAX_WAITS):
        response = await respond(report, address, case, data, statuses)
        if response is None:
            return
        status, fields, body = response
        if status < 400 or not operation.has_body(status, is_http):
            return
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError):
            report.fault(case, f"status {status} without an error in JSON: {body[:200]!r}")
            return
        report.answers["error %s" % error.get("name")] += 1
        fault = documented.fault_of(error)
        if fault:
            report.fault(case, f"status {status}, {fault}: {error}")
            return
        if status != 429:
            return
        if not fields.get("retry-after", "").isdigit():
            report.fault(case, f"429 without Retry-After: {error}")
            return
        await asyncio.sleep(int(fields["retry-after"]))
    report.fault(case, f"still refused after {MAX_WAITS} waits of Retry-After: {error}")


async def drive_http(report, documented, http, limit):
    """Every parameter of a path or query, every body field and every header of every operation of the description."""
    address = (http.hostname, http.port)
    for method in METHODS:
        request = f"{method} /v1/lives HTTP/1.1\r\nHost: {http.netloc}\r\nConnection: close\r\n\r\n"
        await respond(report, address, f"method {method[:60]!r}", request.encode(), {400, 405, 414, 429, 431})
    request = f"GET /openapi.json HTTP/1.1\r\nHost: {http.netloc}\r\nConnection: close\r\n\r\n"
    response = await respond(report, address, "description", request.encode(), {200})
    document = json.loads(response[2])
    operations = [Operation(document, documented, http.netloc, path, method, item)
                  for path, item in document["paths"].items()
                  for method in ("get", "put", "post", "delete", "patch") if method in item]

    # The requests of one operation have a common rate limit, so each operation sends one at a time.
    async def drive(cases):
        for case in cases:
            async with limit:
                await drive_case(report, documented, address, *case)

    await asyncio.gather(*(drive(operation.cases) for operation in operations))
    # The rejected tokens of an address have a common rate limit, beyond which its valid tokens are rejected, too. So
    # these cases come last.
    await drive([case for operation in operations for case in operation.token_cases])
