# SPDX-License-Identifier: Apache-2.0
"""A client by others against our echo server: client.py PORT. Exits 0 when all is as RFC 6455 says."""
import asyncio
import signal
import socket
import sys

import websockets
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

signal.alarm(50)
URL = f"ws://127.0.0.1:{sys.argv[1]}/"


def opened(**options):
    return connect(URL, subprotocols=["other", "liveplaza.v1"], max_size=None, **options)


async def sizes():
    async with opened() as ws:
        assert ws.subprotocol == "liveplaza.v1", ws.subprotocol
        for size in [0, 1, 124, 125, 126, 127, 1_000, 65_534, 65_535, 65_536, 65_537, 300_000]:
            text = ("aé端😀" * (size // 4 + 1))[:size]
            await ws.send(text)
            assert await ws.recv() == text, size
            data = bytes(i % 251 for i in range(size))
            await ws.send(data)
            assert await ws.recv() == data, size


async def fragments():
    async with opened(compression=None) as ws:
        for parts in [["a", "", "é", "端" * 50_000], [""] * 5 + ["end"], ["x"] * 300]:
            await ws.send(parts)
            assert await ws.recv() == "".join(parts)
        await ws.send([b"\x00\xff", b"", b"\xfe" * 70_000])
        assert await ws.recv() == b"\x00\xff" + b"\xfe" * 70_000


async def many():
    async with opened() as ws:
        texts = [f"{i} " + "x" * (i % 400) for i in range(5_000)]

        async def send():
            for text in texts:
                await ws.send(text)

        sending = asyncio.ensure_future(send())
        for text in texts:
            assert await ws.recv() == text
        await sending


async def pings():
    async with opened(ping_interval=None) as ws:
        await (await ws.ping(b"sign of life"))
        await (await ws.ping(b""))
        await (await ws.ping(b"x" * 125))
        # The server asks too, several times in this while; one that had no answer would end the connection.
        await asyncio.sleep(0.8)
        await ws.send("still here")
        assert await ws.recv() == "still here"


async def closes():
    async with opened() as ws:
        await ws.close(3001, "clïent is done")
        assert ws.close_code == 3001, ws.close_code
    async with opened() as ws:
        await ws.send("close 4002 sërver is done")
        try:
            await ws.recv()
            raise AssertionError("not closed")
        except ConnectionClosed as closed:
            assert (closed.rcvd.code, closed.rcvd.reason) == (4002, "sërver is done"), closed
            assert closed.rcvd_then_sent
    try:
        async with connect(URL + "nowhere"):
            raise AssertionError("opened")
    except InvalidStatus as refused:
        assert refused.response.status_code == 404


class Plain:
    """The protocol without IO, and a socket on which every byte goes alone."""

    def __init__(self):
        self.protocol = ClientProtocol(parse_uri(URL), max_size=None)
        self.socket = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.protocol.send_request(self.protocol.connect())
        self.flush()
        self.receive(lambda event: True)

    def flush(self):
        for data in self.protocol.data_to_send():
            for i in range(len(data)):
                self.socket.send(data[i : i + 1])

    def receive(self, wanted):
        """Reads byte by byte until an event is wanted."""
        while True:
            for event in self.protocol.events_received():
                if wanted(event):
                    return event
            byte = self.socket.recv(1)
            if byte:
                self.protocol.receive_data(byte)
            else:
                self.protocol.receive_eof()
                return None
            self.flush()


def byte_by_byte():
    plain = Plain()
    plain.protocol.send_text("hél".encode(), fin=False)
    plain.protocol.send_ping(b"between")
    plain.protocol.send_continuation("lo 端".encode(), fin=True)
    plain.flush()
    pong = plain.receive(lambda event: isinstance(event, Frame))
    assert (pong.opcode, pong.data) == (Opcode.PONG, b"between"), pong
    echo = plain.receive(lambda event: event.opcode == Opcode.TEXT)
    assert echo.data.decode() == "héllo 端", echo
    plain.protocol.send_close(1000, "bye")
    plain.flush()
    plain.receive(lambda event: False)
    assert plain.protocol.close_rcvd.code == 1000


def broken(bytes_sent, code):
    plain = Plain()
    plain.socket.sendall(bytes_sent)
    plain.receive(lambda event: False)
    assert plain.protocol.close_rcvd.code == code, (bytes_sent, plain.protocol.close_rcvd)


async def main():
    for scenario in [sizes, fragments, many, pings, closes]:
        await scenario()
        print("ok", scenario.__name__, flush=True)
    byte_by_byte()
    print("ok byte_by_byte", flush=True)
    broken(b"\x81\x82\x00\x00\x00\x00\xc3\x28", 1007)
    broken(b"\x81\x01a", 1002)
    broken(b"\xc1\x80\x00\x00\x00\x00", 1002)
    broken(b"\x82\xff\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00", 1009)
    print("ok broken", flush=True)
    print("all with websockets", websockets.__version__, flush=True)


asyncio.run(main())
