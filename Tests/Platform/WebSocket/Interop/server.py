# SPDX-License-Identifier: Apache-2.0
"""A server of the package `websockets` for our client.

Prints two ports; the server at the second sends every byte alone. Ends when its standard input ends.
"""
import asyncio
import signal
import socket
import sys
import threading

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode
from websockets.server import ServerProtocol

# Ends this process if it hangs.
signal.alarm(50)


async def handle(ws):
    try:
        async for message in ws:
            if message == "fragments":
                await ws.send(["frag", "", "mén", "ts " + "端" * 1_000])
            elif message == "ping":
                await asyncio.wait_for(await ws.ping(b"are you there"), 10)
                await ws.send("pong came")
            elif message == "large":
                await ws.send("L" * 200_000)
            elif message == "close":
                await ws.close(4003, "sérver closes")
            else:
                await ws.send(message)
    except ConnectionClosed:
        pass


def refuse(connection, request):
    if request.path == "/refused":
        return connection.respond(403, "no\n")


def serve_byte_by_byte(listener):
    """Serves one connection: echoes each text with "!" appended, and sends every byte alone."""
    sock, _ = listener.accept()
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    protocol = ServerProtocol(subprotocols=["liveplaza.v1"])

    def flush():
        for data in protocol.data_to_send():
            for i in range(len(data)):
                sock.send(data[i : i + 1])

    is_open = False
    while True:
        data = sock.recv(65_536)
        if not data:
            protocol.receive_eof()
            return
        protocol.receive_data(data)
        for event in protocol.events_received():
            if not is_open:
                protocol.send_response(protocol.accept(event))
                is_open = True
            elif event.opcode == Opcode.TEXT:
                protocol.send_text(event.data, fin=False)
                protocol.send_ping(b"in between")
                protocol.send_continuation(b"!", fin=True)
        flush()
        if protocol.close_expected() and not any(protocol.data_to_send()):
            sock.close()
            return


async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve_byte_by_byte, args=(listener,), daemon=True).start()
    async with serve(
        handle, "127.0.0.1", 0, subprotocols=["liveplaza.v1"], process_request=refuse, ping_interval=None
    ) as server:
        print(server.sockets[0].getsockname()[1], listener.getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
