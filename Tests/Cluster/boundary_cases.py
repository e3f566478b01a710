# SPDX-License-Identifier: Apache-2.0
"""What the scripts of the boundary table share: the values, the tokens, the documented codes, and the report.

boundary_table.py is the program. A case is one request, frame or handshake with a boundary value in one place.
"""
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

# Numbers and texts at the limits of integer types, of floating point, and of the lengths that the protocol allows.
INTEGERS = [base + change for base in (2**63 - 1, -(2**63), 2**31 - 1, -(2**31), 2**53, -(2**53), 2**64 - 1, 0)
            for change in (-1, 0, 1)]
# Integers in forms at which Foundation's decoder ends the process instead of returning an integer.
LONG_NUMBERS = ["0." + "0" * 200 + "9007199254740994e216", "9007199254740994" + "0" * 200 + "e-200"]
NUMBERS = [str(number) for number in INTEGERS] + LONG_NUMBERS + [
    "-0", "-0.0", "0.5", "1e308", "-1e308", "1e309", "1E-400"]
TEXT_LENGTHS = [0, 40, 41, 48, 49, 64, 65, 100, 101, 128, 129, 200, 201, 500, 501, 512, 513, 1000, 1001, 2048, 2049,
                8200]
# Combining marks in the order that takes the longest to sort; a head of 16 KiB has room for them and a token.
MARKS = "a" + "\u0301" * 3700 + "\u0334" * 3700
TEXTS = ["a" * length for length in TEXT_LENGTHS] + [
    "\x00", "\x07\x1b\x7f", "\u0085\u2028", "😀", "😀" * 128, "/", "..", " ", "%00",
    "9223372036854775808", "-1", "9223372036854775807.9223372036854775807.1",
    # Combining marks in the order that takes the longest to sort.
    "a" + "\u0301" * 4000 + "\u0334" * 4000]
# Values as JSON text: lone surrogates, deep and long values, and values of another type.
RAW = ['"\\ud800"', '"\\udc00x"', "[" * 500 + "]" * 500, '{"a":' * 500 + "1" + "}" * 500, "null", "true", "{}", "[]",
       "[null]", '[""]', "[" + ",".join(["1"] * 10000) + "]", '["' + '","'.join("u%d" % i for i in range(1001)) + '"]']
# An object that is larger than a frame may be, and one that is not.
MANY_MEMBERS = "{" + ",".join('"k%d":1' % index for index in range(10000)) + "}"
SOME_MEMBERS = "{" + ",".join('"k%d":1' % index for index in range(5000)) + "}"
# All values for a field, as JSON text.
VALUES = NUMBERS + [json.dumps(text) for text in TEXTS] + RAW

# The names of errors that blame the server or its load: a cluster that nothing else uses has no reason for them.
SERVER_FAULTS = {"timedOut", "overloaded", "unavailable", "internalError"}
# How long an answer may take, in seconds: the documented 10 s, and 5 s more for a slow machine.
ANSWER_LIMIT = 15
# A case that a rate limit rejects is sent again after the wait that the answer demands. After this many waits it must
# be admitted.
MAX_WAITS = 3
# How many bytes a connection to the gateway buffers: 4 MiB.
READ_LIMIT = 1 << 22


class Documented:
    """The codes and statuses that docs/PROTOCOL.md and docs/HTTP-API.md name."""

    def __init__(self, folder):
        def section(page, title):
            text = open(os.path.join(folder, page), encoding="utf-8").read()
            return text.split(f"\n## {title}\n")[1].split("\n## ")[0]

        replies = re.findall(r"^\| (-?\d+) \| `(\w+)` \|", section("PROTOCOL.md", "13. Reply codes"), re.MULTILINE)
        # The codes of errors by their names.
        self.replies = {name: int(code) for code, name in replies}
        closes = re.findall(r"^\| (\d{4}(?:, \d{4})*) \|", section("PROTOCOL.md", "14. Disconnect codes"), re.MULTILINE)
        # The codes with which the server may close a connection.
        self.closes = {int(code) for row in closes for code in row.split(", ")}
        handshake = re.findall(r"(?<!\d)4\d\d(?!\d)", section("PROTOCOL.md", "1. Connecting"))
        # The statuses of the answer to a handshake.
        self.handshake = {101} | {int(status) for status in handshake}
        # The statuses that every HTTP request may get before its operation is known: step 1 of the page's table.
        step = re.search(r"^\| 1 \| .* \| ([\d, ]+) \|$", section("HTTP-API.md", "2. Who may call"), re.MULTILINE)
        self.requests = {int(status) for status in step[1].split(", ")}
        # The pages list more than these numbers; fewer would mean that a pattern above does not match any more.
        sizes = [len(self.replies), len(self.closes), len(self.handshake), len(self.requests)]
        assert all(size > least for size, least in zip(sizes, (50, 10, 5, 3))), f"a page has another form: {sizes}"

    def fault_of(self, error):
        """Why an error is not a documented rejection; None if it is one."""
        if self.replies.get(error.get("name")) != error.get("code"):
            return "not a documented code"
        if error["name"] in SERVER_FAULTS:
            return "a fault of the server"
        if error["name"] == "tooFrequent" and not error.get("retryAfter", 0) > 0:
            return "tooFrequent without retryAfter"
        return None


class Report:
    """Counts cases and answers, and keeps the faults."""

    def __init__(self):
        # The number of cases, the texts of the faults, and how often each kind of answer came.
        self.cases, self.faults, self.answers = 0, [], collections.Counter()

    def fault(self, case, what):
        """Notes that the answer to a case is wrong."""
        self.faults.append(f"{case}: {what}")
        print("wrong:", case[:300], "->", str(what)[:300], flush=True)


def token(user, role="user", header=None, raw=None, **claims):
    """A signed token; `header` and `raw` replace the JSON texts of its header and of its claims."""
    def encoded(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head = {"alg": "HS256", "typ": "JWT", "kid": KEY["kid"]}
    body = {"app": APP, "sub": user, "role": role, "exp": int(time.time()) + 3600, "iat": int(time.time()) - 1}
    body.update(claims)
    text = raw if raw is not None else json.dumps(body)
    signed = encoded((header or json.dumps(head)).encode()) + "." + encoded(text.encode())
    key = base64.urlsafe_b64decode(KEY["k"] + "==")
    return signed + "." + encoded(hmac.new(key, signed.encode(), hashlib.sha256).digest())


def paths(value, path=()):
    """The paths to all values of a JSON value, from the value itself (the empty path) to its leaves."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from paths(child, path + (key,))


def replaced(value, path, raw):
    """The JSON text of `value` in which the value at `path` is replaced by the text `raw`."""
    if path == ():
        return raw
    if isinstance(value, dict):
        return "{" + ",".join(
            json.dumps(key) + ":" + (replaced(child, path[1:], raw) if path[0] == key else json.dumps(child))
            for key, child in value.items()) + "}"
    return "[" + ",".join(
        replaced(child, path[1:], raw) if path[0] == index else json.dumps(child)
        for index, child in enumerate(value)) + "]"
