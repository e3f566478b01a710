# SPDX-License-Identifier: Apache-2.0
"""What the parts of the boundary table share: the values, the tokens, the documented codes, and the count of faults."""
import base64
import collections
import hashlib
import hmac
import json
import os
import re
import time

APP = "demo"
KEY = json.load(open(os.environ["BOUNDARY_APPS"]))["apps"][APP]["keys"][0]

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

# Answers that blame the server or its load: a cluster that nothing else uses has no reason for them.
SERVER_FAULTS = {"timedOut", "overloaded", "unavailable", "internalError"}
# How long an answer may take in seconds: the documented 10 s, and what the machine takes to give it.
ANSWER_LIMIT = 15
# After each wait of `retryAfter` the same case is sent again; it must be admitted by the last one.
MAX_WAITS = 3


class Documented:
    """The codes and statuses that docs/PROTOCOL.md and docs/HTTP-API.md name."""

    def __init__(self, folder):
        def section(page, title):
            text = open(os.path.join(folder, page), encoding="utf-8").read()
            return text.split(f"\n## {title}\n")[1].split("\n## ")[0]

        replies = re.findall(r"^\| (-?\d+) \| `(\w+)` \|", section("PROTOCOL.md", "13. Reply codes"), re.MULTILINE)
        self.replies = {name: int(code) for code, name in replies}
        closes = re.findall(r"^\| (\d{4}(?:, \d{4})*) \|", section("PROTOCOL.md", "14. Disconnect codes"), re.MULTILINE)
        self.closes = {int(code) for row in closes for code in row.split(", ")}
        handshake = re.findall(r"(?<!\d)4\d\d(?!\d)", section("PROTOCOL.md", "1. Connecting"))
        self.handshake = {101} | {int(status) for status in handshake}
        # What every request may get, before its operation is known.
        step = re.search(r"^\| 1 \| .* \| ([\d, ]+) \|$", section("HTTP-API.md", "2. Who may call"), re.MULTILINE)
        self.requests = {int(status) for status in step[1].split(", ")}
        sizes = [len(self.replies), len(self.closes), len(self.handshake), len(self.requests)]
        assert all(size > least for size, least in zip(sizes, (50, 10, 5, 3))), f"a page has another form: {sizes}"

    def fault_of(self, error):
        """Why an error is not a documented refusal; None if it is one."""
        if self.replies.get(error.get("name")) != error.get("code"):
            return "not a documented code"
        if error["name"] in SERVER_FAULTS:
            return "a fault of the server"
        if error["name"] == "tooFrequent" and not error.get("retryAfter", 0) > 0:
            return "tooFrequent without retryAfter"
        return None


class Report:
    """Counts cases and answers, and keeps the wrong ones."""

    def __init__(self):
        self.cases, self.wrong, self.answers = 0, [], collections.Counter()

    def fault(self, case, what):
        self.wrong.append(f"{case}: {what}")
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
