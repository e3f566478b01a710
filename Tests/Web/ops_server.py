# SPDX-License-Identifier: Apache-2.0
"""Stands in for `plaza dashboard`: the files of the pages, and a cluster that exists only here."""

import json
import math

import static_server


class Cluster:
    """A cluster of sample data in which processes can be killed; a killed one is ready again after some reports."""

    def __init__(self, samples=900):
        self.now = samples * 1000
        self.count = samples
        self.killed = {}
        self.kills = []
        self.recoveries = []

    def sample(self, number):
        wave = math.sin(number / 60)
        return {"at": number * 1000, "connections": 480 + 40 * round(wave * 4),
                "deliveries": 18000 + 2500 * wave + 400 * math.sin(number / 7),
                "messages": 38 + 3 * wave, "p50": 11 + 2 * wave, "p99": 34 + 9 * math.sin(number / 23),
                "dropsByClass": {"barrage": max(0, 2 * wave - 1), "tip": max(0, wave - 0.8)},
                "dropsByReason": {"budget": max(0, 2 * wave - 1), "slowReader": max(0, wave - 0.8)},
                "lag": max(0, 6 * wave), "replays": max(0, math.sin(number / 40) - 0.9), "replaysRefused": 0,
                "deadLetters": 0, "feedGap": 0, "deliveryGap": 0, "ready": 8}

    def process(self, name, kind, pid, **more):
        left = self.killed.get(name, 0)
        if left > 0:
            self.killed[name] = left - 1
            if left == 1:
                self.recoveries[-1]["readyAt"] = self.now
        process = {"name": name, "kind": kind, "pid": pid + 1000 * self.kills.count(name), "isReady": left == 0,
                   "restarts": self.kills.count(name),
                   "partitions": {}, **more}
        if left > 2:
            del process["pid"]
        return process

    def report(self, start):
        self.now += 1000
        self.count += 1
        processes = [
            self.process("redis", "redis", 101), self.process("broker-1", "broker", 102),
            self.process("room-directory-1", "room-directory", 103, partitions={"directory": 2}, memory=31e6),
            self.process("audience-presence-1", "audience-presence", 104, partitions={"audience": 2}, memory=29e6),
            self.process("barrage-fanout-1", "barrage-fanout", 105, partitions={"barrage": 1}, memory=36e6),
            self.process("barrage-fanout-2", "barrage-fanout", 106, partitions={"barrage": 1}, memory=35e6),
            self.process("cohost-battle-1", "cohost-battle", 107, partitions={"seat": 2, "connection": 2}, memory=30e6),
            self.process("gateway-1", "gateway", 108, connections=260, memory=58e6),
            self.process("gateway-2", "gateway", 109, connections=260, memory=57e6),
        ]
        def owners(machine, service, *names):
            alive = {process["name"] for process in processes if "pid" in process}
            return {"machine": machine, "service": service,
                    "partitions": [[f"{service}-{name}"] if f"{service}-{name}" in alive else [] for name in names]}
        return {"now": self.now, "next": self.count,
                "samples": [self.sample(number) for number in range(max(start, self.count - 900), self.count)],
                "processes": processes,
                "owners": [owners("audience", "audience-presence", 1, 1), owners("barrage", "barrage-fanout", 1, 2),
                           owners("connection", "cohost-battle", 1, 1),
                           owners("directory", "room-directory", 1, 1), owners("seat", "cohost-battle", 1, 1)],
                "drops": {"barrage budget": 212, "counter slowReader": 9}, "refusals": {"muted": 3},
                "ledger": {"published": 34212, "admitted": 33997, "refused": 3, "dropped": 212, "feedGap": 0,
                           "due": 16188000, "delivered": 16187900, "shed": 9, "disconnected": 11, "owed": 80,
                           "deliveryGap": 0, "undecided": 0, "uneven": {}, "ends": len(self.kills),
                           "unseenMilliseconds": 20 * len(self.kills)},
                "replays": 14, "replaysRefused": {"gone": 1}, "deadLetters": 0,
                "lag": {"feeds": 2, "tables": 0, "barrage": 1}, "recoveries": self.recoveries}

    def kill(self, name):
        self.kills.append(name)
        self.killed[name] = 4
        self.recoveries.append({"name": name, "isKill": True, "endedAt": self.now})


class Handler(static_server.Handler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        cluster = self.server.cluster
        info = {"liveID": "evening", "liveName": "Evening <b>show</b>",
                "liveOwner": {"userID": "mira", "userName": "Mira"}}
        answers = {
            "/ops/settings": lambda: {"mayKill": True},
            "/ops/report": lambda: cluster.report(int(query.partition("=")[2] or 0)),
            "/ops/lives": lambda: {"result": {"lives": {"cursor": "",
                                                        "items": [{"info": info, "audienceCount": self.server.viewers,
                                                                   "totalViewerCount": 1210}]}}},
            "/ops/lives/evening/count": lambda: {"result": {"count": {"count": {"at": 1, "count": 480, "live": "evening", "totalViewers": 1210}}}},
            "/ops/lives/evening/statistics": lambda: {"result": {"statistics": {"statistics": {"totalLikesReceived": 3120, "totalMessageCount": 9041, "liveDuration": 3725000}}}},
            "/ops/lives/evening/stage": lambda: {"result": {"stage": {"record": {"live": "evening", "revision": 7, "seats": [{"index": 0, "occupant": {"userID": "mira"}}, {"index": 1}]}}}},
        }
        if path in answers:
            return self.answer(200, json.dumps(answers[path]()).encode(), ".json")
        if path == "/":
            self.path = "/pages/ops/index.html"
        return super().do_GET()

    def do_POST(self):
        parts = self.path.split("/")
        if parts[1:3] != ["ops", "processes"] or self.headers.get("Origin") != f"http://{self.headers['Host']}":
            return self.answer(403, b"{}", ".json")
        self.server.cluster.kill(parts[3])
        self.send_response(204)
        self.end_headers()


def serve():
    """Starts on loopback and returns the server; `server.cluster` is what it shows."""
    server = static_server.serve(handler=Handler)
    server.cluster = Cluster()
    server.viewers = 480
    return server
