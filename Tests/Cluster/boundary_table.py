# SPDX-License-Identifier: Apache-2.0
"""Sends boundary values, at which programs break, to every parameter of a running gateway.

usage: boundary_table.py CALLS DOCS WS-URL HTTP-URL [PARTS], with the apps file's path in BOUNDARY_APPS. CALLS is the
catalogue of calls, DOCS the folder of the pages that list the codes. PARTS are some of
calls,frames,tokens,handshakes,http,websocket; without it all are sent. Prints each wrong answer with its case, then the
number of cases; the exit status is 1 if an answer was wrong.

Each case needs an answer in time: a result, or a rejection with a documented code. No answer, a close without a
documented code, an answer that blames the server (`timedOut`, `overloaded`, `unavailable`, `internalError`, any status
from 500 on), and a `tooFrequent` that stays after `retryAfter` are wrong.
"""
import asyncio
import json
import sys
import time
import urllib.parse

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from boundary_cases import (ANSWER_LIMIT, APP, KEY, MANY_MEMBERS, MAX_WAITS, SOME_MEMBERS, VALUES, Documented, Report,
                            paths, replaced, token)
from boundary_http import drive_handshakes, drive_http
from boundary_websocket import drive_websocket


class Client:
    """One user's WebSocket, which connects again when a case closes it."""

    def __init__(self, url, user, role, documented, report):
        self.url, self.user, self.role, self.documented, self.report = url, user, role, documented, report
        # `number` counts the calls on the present connection.
        self.socket, self.number = None, 0

    async def open(self):
        self.socket = await connect(self.url, subprotocols=["liveplaza.v1"], max_size=None, ping_interval=None)
        self.number = 0

    async def close(self):
        if self.socket:
            await self.socket.close()
            self.socket = None

    async def ensure_login(self):
        """Connects and logs in unless there is a connection."""
        if self.socket is None:
            await self.open()
            reply = await self.exchange("login", json.dumps({"token": token(self.user, self.role)}))
            assert "result" in reply, reply

    async def exchange(self, method, params, envelope=None):
        """Sends a call and returns its reply; the reply to a frame that is no call has the id -1.

        `envelope` makes the whole frame from the call's number, in place of the method and the parameters.
        """
        self.number += 1
        text = envelope(self.number) if envelope else f'{{"id":{self.number},"method":"{method}","params":{params}}}'
        await self.socket.send(text)
        while True:
            frame = json.loads(await self.socket.recv())
            reply = frame.get("reply")
            if reply and (envelope or reply["id"] in (self.number, -1)):
                return reply

    async def drive(self, case, method, params, envelope=None, begin=None):
        """Sends one case until no rate limit rejects it, and judges its answer.

        `begin` prepares the connection; without it the client logs in.
        """
        self.report.cases += 1
        for _ in range(1 + MAX_WAITS):
            try:
                async with asyncio.timeout(ANSWER_LIMIT):
                    await (begin or self.ensure_login)()
                    reply = await self.exchange(method, params, envelope)
            except ConnectionClosed as closed:
                self.socket = None
                code = closed.rcvd.code if closed.rcvd else None
                self.report.answers["closed with %s" % code] += 1
                if code not in self.documented.closes:
                    self.report.fault(case, f"closed with {code}")
                return
            except (TimeoutError, OSError) as error:
                await self.close()
                self.report.fault(case, f"no answer: {error!r}")
                return
            error = reply.get("error")
            self.report.answers["reply " + (error["name"] if error else "result")] += 1
            if error is None:
                return
            fault = self.documented.fault_of(error)
            if fault:
                self.report.fault(case, f"{fault}: {error}")
            # The server closes a connection after ten frames that are no calls. A new connection begins at zero.
            if reply["id"] == -1:
                await self.close()
            if fault or error["name"] != "tooFrequent":
                return
            await asyncio.sleep(error["retryAfter"] / 1000)
        self.report.fault(case, f"still refused after {MAX_WAITS} waits of retryAfter: {error}")


async def drive_method(url, number, call, documented, report, limit):
    """All cases of one method. Its caller is the app's server, or the owner of a live that only this method uses."""
    async with limit:
        live, user = f"bt{number}", f"host{number}"
        owner = Client(url, user, "user", documented, report)
        await owner.drive("preparation", "live.create", json.dumps({"live": live}))
        await owner.drive("preparation", "live.join", json.dumps({"live": live}))
        client = Client(url, "shop", "server", documented, report) if call["role"] == "server" else owner
        example = call["params"]
        if "live" in example and call["method"] != "live.create":
            example["live"] = live
        for path in paths(example):
            # A frame with 10,000 members is larger than a frame may be, a frame with 5,000 is not.
            for value in VALUES + ([MANY_MEMBERS, SOME_MEMBERS] if path == () else []):
                name = call["method"] + " " + ".".join(map(str, path)) + " = " + value[:80]
                await client.drive(name, call["method"], replaced(example, path, value))
        await client.close()
        await owner.close()


async def drive_envelopes(url, documented, report):
    """Every field of the frame around a call."""
    client = Client(url, "envelope", "user", documented, report)
    for field in ("id", "method", "params", "age"):
        for value in VALUES:
            def frame(number, field=field, value=value):
                fields = {"id": str(number), "method": '"ping"', "params": "{}"}
                fields[field] = value
                return "{" + ",".join(f'"{key}":{text}' for key, text in fields.items()) + "}"
            await client.drive(f"frame {field} = {value[:80]}", "ping", "{}", frame)
    await client.close()


async def drive_tokens(url, documented, report, limit):
    """Every claim of a token; a gateway closes the connection of a token that it rejects."""
    cases = []
    claims = {"app": APP, "sub": "claim", "role": "user", "exp": int(time.time()) + 3600, "iat": int(time.time()),
              "nbf": 0,
            "name": "N", "avatar": "a", "ver": "1"}
    for claim in claims:
        for value in VALUES:
            cases.append((f"claim {claim} = {value[:80]}", token("x", raw=replaced(claims, (claim,), value))))
    head = {"alg": "HS256", "typ": "JWT", "kid": KEY["kid"], "crit": ["exp"], "jku": "http://127.0.0.1:1/"}
    for field in head:
        for value in VALUES:
            cases.append((f"token header {field} = {value[:80]}", token("x", header=replaced(head, (field,), value))))
    cases += [("token", text) for text in ("", ".", "..", "a.b.c", "é", "a" * 9000, "." * 5000)]

    async def drive_token(case, text):
        async with limit:
            client = Client(url, "claim", "user", documented, report)

            async def begin():
                await client.close()
                await client.open()

            await client.drive(case, "login", json.dumps({"token": text}), begin=begin)
            await client.close()

    await asyncio.gather(*(drive_token(case, text) for case, text in cases))


async def main():
    calls = json.load(open(sys.argv[1]))
    documented, report = Documented(sys.argv[2]), Report()
    ws, http = sys.argv[3], urllib.parse.urlparse(sys.argv[4])
    parts = sys.argv[5].split(",") if len(sys.argv) > 5 else ["calls", "frames", "tokens", "handshakes", "http",
                                                              "websocket"]
    began = time.time()
    # How many methods, and how many HTTP requests, are driven at a time.
    limit, http_limit = asyncio.Semaphore(24), asyncio.Semaphore(16)
    work = []
    if "calls" in parts:
        work += [drive_method(ws, number, call, documented, report, limit) for number, call in enumerate(calls)
                 if call["method"] != "login"]
    if "frames" in parts:
        work.append(drive_envelopes(ws, documented, report))
    if "tokens" in parts:
        work.append(drive_tokens(ws, documented, report, asyncio.Semaphore(8)))
    if "handshakes" in parts:
        work.append(drive_handshakes(report, documented, urllib.parse.urlparse(ws)))
    if "http" in parts:
        work.append(drive_http(report, documented, http, http_limit))
    if "websocket" in parts:
        work.append(drive_websocket(report, documented, urllib.parse.urlparse(ws), asyncio.Semaphore(8)))
    for result in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(result, BaseException):
            report.fault("the table", repr(result))
    print(", ".join(f"{answer}: {count}" for answer, count in report.answers.most_common()))
    print(f"{report.cases} cases, {len(report.faults)} wrong, {time.time() - began:.0f} s")
    sys.exit(1 if report.faults else 0)


asyncio.run(main())
