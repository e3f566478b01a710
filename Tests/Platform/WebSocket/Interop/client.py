# SPDX-License-Identifier: Apache-2.0
"""A client of the package `websockets` against our echo server: client.py PORT. Exits 0 if all is as RFC 6455 says."""
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

# Ends this process if it hangs.
signal.alarm(50)
URL = f"ws://127.0.0.1:{sys.argv[1]}/"


def connection(**options):
    return connect(URL, subprotocols=["other", "liveplaza.v1"], max_size=None, **options)


async def sizes():
    async with connection() as ws:
        assert ws.subprotocol == "liveplaza.v1", ws.subprotocol
        for size in [0, 1, 124, 125, 126, 127, 1_000, 65_534, 65_535, 65_536, 65_537, 300_000]:
            text = ("aé端😀" * (size // 4 + 1))[:size]
            await ws.send(text)
            assert await ws.recv() == text, size
            data = bytes(i % 251 for i in range(size))
            await ws.send(data)
            assert await ws.recv() == data, size


async def fragments():
    async with connection(compression=None) as ws:
        for parts in [["a", "", "é", "端" * 50_000], [""] * 5 + ["end"], ["x"] * 300]:
            await ws.send(parts)
            assert await ws.recv() == "".join(parts)
        await ws.send([b"\x00\xff", b"", b"\xfe" * 70_000])
        assert await ws.recv() == b"\x00\xff" + b"\xfe" * 70_000


async def many_messages():
    async with connection() as ws:
        texts = [f"{i} " + "x" * (i % 400) for i in range(5_000)]

        async def send():
            for text in texts:
                await ws.send(text)

        sending = asyncio.ensure_future(send())
        for text in texts:
            assert await ws.recv() == text
        await sending


async def pings():
    async with connection(ping_interval=None) as ws:
        await (await ws.ping(b"sign of life"))
        await (await ws.ping(b""))
        await (await ws.ping(b"x" * 125))
        # Meanwhile the server sends several pings of its own; one without a pong would end the connection.
        await asyncio.sleep(0.8)
        await ws.send("still here")
        assert await ws.recv() == "still here"


async def closes():
    async with connection() as ws:
        await ws.close(3001, "clïent is done")
        assert ws.close_code == 3001, ws.close_code
    async with connection() as ws:
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


class ByteByByteClient:
    """The protocol without IO, on a socket that sends and receives every byte alone."""

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
    client = ByteByByteClient()
    client.protocol.send_text("hél".encode(), fin=False)
    client.protocol.send_ping(b"between")
    client.protocol.send_continuation("lo 端".encode(), fin=True)
    client.flush()
    pong = client.receive(lambda event: isinstance(event, Frame))
    assert (pong.opcode, pong.data) == (Opcode.PONG, b"between"), pong
    echo = client.receive(lambda event: event.opcode == Opcode.TEXT)
    assert echo.data.decode() == "héllo 端", echo
    client.protocol.send_close(1000, "bye")
    client.flush()
    client.receive(lambda event: False)
    assert client.protocol.close_rcvd.code == 1000


def closed_by_server(bytes_sent, code):
    """Sends bytes that violate the protocol, and expects the server's close code."""
    client = ByteByByteClient()
    client.socket.sendall(bytes_sent)
    client.receive(lambda event: False)
    assert client.protocol.close_rcvd.code == code, (bytes_sent, client.protocol.close_rcvd)


async def main():
    for scenario in [sizes, fragments, many_messages, pings, closes]:
        await scenario()
        print("ok", scenario.__name__, flush=True)
    byte_by_byte()
    print("ok byte_by_byte", flush=True)
    # Text that is no UTF-8, a frame without a mask, a reserved bit, and a message over the server's limit.
    closed_by_server(b"\x81\x82\x00\x00\x00\x00\xc3\x28", 1007)
    closed_by_server(b"\x81\x01a", 1002)
    closed_by_server(b"\xc1\x80\x00\x00\x00\x00", 1002)
    closed_by_server(b"\x82\xff\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00", 1009)
    print("ok closed_by_server", flush=True)
    print("all with websockets", websockets.__version__, flush=True)


asyncio.run(main())
