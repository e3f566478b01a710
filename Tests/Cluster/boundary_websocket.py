# SPDX-License-Identifier: Apache-2.0
"""The raw WebSocket frames of the boundary table (boundary_table.py): every field of a head, control frames,
fragments."""
import asyncio
import json
import os
import struct

from boundary_cases import ANSWER_LIMIT, READ_LIMIT, TEXTS, token

MASK = b"\x5a\x00\xff\x01"
CONTINUATION, TEXT, BINARY, CLOSE, PING = 0, 1, 2, 8, 9
CALL = b'{"id":1,"method":"ping","params":{}}'
# Lengths for a head, whatever the payload's length is, as (bits, value): the extremes of each of the three encodings,
# also where a shorter encoding is required.
LENGTHS = [(7, 0), (7, 125), (16, 0), (16, 125), (16, 126), (16, 2**15), (16, 2**16 - 1), (64, 0), (64, 125),
           (64, 2**16),
           (64, 2**31 - 1), (64, 2**31), (64, 2**32), (64, 2**53), (64, 2**63 - 1), (64, 2**63), (64, 2**64 - 1)]
CLOSE_CODES = [0, 1, 999, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1011, 1014, 1015, 1016, 2999, 3000, 3999,
               4000, 4999, 5000, 2**15, 2**16 - 1]


def frame(opcode, payload=b"", fin=1, rsv=0, masked=True, length=None):
    """The bytes of a frame; `length` is (bits, value) of a length in the head that may differ from the payload's."""
    size = len(payload)
    bits, value = length or (7 if size < 126 else 16 if size < 2**16 else 64, size)
    head = bytes([fin << 7 | rsv << 4 | opcode])
    mask = 0x80 if masked else 0
    if bits == 7:
        head += bytes([mask | value])
    else:
        head += bytes([mask | (126 if bits == 16 else 127)]) + struct.pack(">H" if bits == 16 else ">Q", value)
    if not masked:
        return head + payload
    return head + MASK + bytes(byte ^ MASK[index % 4] for index, byte in enumerate(payload))


def cases():
    """Name and bytes of each case; after the bytes the client sends a call (see `drive_case`)."""
    for opcode in range(16):
        for fin in (0, 1):
            for rsv in range(8):
                yield f"opcode {opcode} fin {fin} rsv {rsv}", frame(opcode, CALL, fin, rsv)
        for payload in (b"", b"\x00", b"\xff" * 125, b"\xff" * 126):
            yield f"opcode {opcode}, {len(payload)} bytes", frame(opcode, payload)
        yield f"opcode {opcode} without mask", frame(opcode, CALL, masked=False)
    for opcode in (TEXT, BINARY, PING, CLOSE):
        for length in LENGTHS:
            for payload in (b"", CALL):
                yield f"opcode {opcode}, length {length}, {len(payload)} bytes", frame(opcode, payload, length=length)
    for code in CLOSE_CODES:
        for reason in (b"", b"bye", b"\xff\xfe", b"\xf0\x9f\x98\x80" * 30):
            yield f"close {code} {reason!r}", frame(CLOSE, struct.pack(">H", code) + reason)
    yield "close with one byte", frame(CLOSE, b"\x03")
    for name, payload in [(repr(text[:20]), text.encode("utf-8", "surrogatepass")) for text in TEXTS] + [
            ("a lone surrogate", b"\xed\xa0\x80"), ("overlong", b"\xc0\x80"), ("beyond Unicode", b"\xf4\x90\x80\x80"),
            ("half a character", b"\xf0\x9f\x98"), ("500 levels", b"[" * 500), ("10,000 members", b'{"a":1,' * 10000)]:
        yield f"text {name} x {len(payload)}", frame(TEXT, payload)
        # The end of a fragment may be within a character, and a control frame may be between fragments.
        yield f"fragments of {name} x {len(payload)}", b"".join(
            [frame(TEXT, payload[:1], fin=0), frame(PING, b"p"), frame(CONTINUATION, payload[1:2], fin=0),
             frame(CONTINUATION, payload[2:])])
    yield "a fragment that begins twice", frame(TEXT, CALL, fin=0) + frame(TEXT, CALL)
    yield "a continuation of nothing", frame(CONTINUATION, CALL)
    yield "1,000 empty fragments", (
        frame(TEXT, b"", fin=0) + frame(CONTINUATION, b"", fin=0) * 1000 + frame(CONTINUATION, CALL))
    yield "a message that is too large, in fragments", (
        frame(TEXT, b" " * 60_000, fin=0) + frame(CONTINUATION, b" " * 60_000, fin=0) * 20)
    for count in (1, 7, 25):
        yield f"{count} random bytes", os.urandom(count)


async def read_frame(reader):
    """Opcode and payload of the next frame of the server."""
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size == 126:
        size = struct.unpack(">H", await reader.readexactly(2))[0]
    elif size == 127:
        size = struct.unpack(">Q", await reader.readexactly(8))[0]
    return first & 0x0F, await reader.readexactly(size)


async def connect(address, netloc, user=None):
    """Connects, and logs in as `user` unless it is None."""
    reader, writer = await asyncio.open_connection(*address, limit=READ_LIMIT)
    writer.write((f"GET /v1 HTTP/1.1\r\nHost: {netloc}\r\nUpgrade: websocket\r\nConnection: "
                  f"Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
                  "liveplaza.v1\r\n\r\n").encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in head, head
    if user:
        call = {"id": 0, "method": "login", "params": {"token": token(user)}}
        writer.write(frame(TEXT, json.dumps(call).encode()))
        while True:
            opcode, payload = await read_frame(reader)
            assert opcode != CLOSE, payload
            if b'"reply"' in payload:
                assert b'"result"' in payload, payload
                break
    return reader, writer


async def read_outcome(reader):
    """What the server does, and the code of a close frame, None if it has none.

    It replies to the call after the case (`reply`), closes (`close CODE` or `close without code`), or cuts (`cut`).
    """
    while True:
        try:
            opcode, payload = await read_frame(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            return "cut", None
        if opcode == CLOSE:
            code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
            return f"close {'without code' if code is None else code}", code
        # The call that follows each case has the id 7.
        if opcode == TEXT and json.loads(payload).get("reply", {}).get("id") == 7:
            return "reply", None


async def drive_case(report, documented, address, netloc, name, data, user):
    """Sends the bytes of one case and then a call, and judges what the server does."""
    report.cases += 1
    case = f"frame, {'logged in' if user else 'before the login'}: {name}"
    writer = None
    try:
        async with asyncio.timeout(ANSWER_LIMIT):
            reader, writer = await connect(address, netloc, user)
            writer.write(data)
            writer.write(frame(TEXT, b'{"id":7,"method":"ping","params":{}}'))
            # If the length in the head is too large, the server takes the call as part of the payload. Only the end
            # of input ends that payload.
            writer.write_eof()
            outcome, code = await read_outcome(reader)
    except (TimeoutError, OSError, AssertionError) as error:
        report.fault(case, f"no answer: {error!r}")
        return
    finally:
        if writer:
            writer.close()
    report.answers["frame: " + outcome] += 1
    # The server answers a close frame with the client's code, which need not be documented.
    is_echo = data[:1] == bytes([0x80 | CLOSE])
    if outcome.startswith("close") and not is_echo and code != 1000 and code not in documented.closes:
        report.fault(case, outcome)


async def drive_websocket(report, documented, ws, limit):
    """Every case before the login and after it, and then an honest client, which must be served."""
    address = (ws.hostname, ws.port)

    async def drive_limited(name, data, user):
        async with limit:
            await drive_case(report, documented, address, ws.netloc, name, data, user)

    await asyncio.gather(*(drive_limited(name, data, user) for user in (None, "raw") for name, data in cases()))
    await drive_case(report, documented, address, ws.netloc, "an honest client", b"", "raw")
    # Many cases are valid frames, after which a connection must still answer.
    if report.answers["frame: reply"] < 20:
        report.fault("raw frames", "almost no connection outlived its case")
