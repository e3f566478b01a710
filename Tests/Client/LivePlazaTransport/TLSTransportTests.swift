// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import LivePlazaKit
import TestSupport
import Testing

@testable import LivePlazaTransport

/// Connections with TLS to a server whose certificate a private authority signed.
@Suite(.enabled(if: PrivateAuthority.isAvailable, "install openssl"), .serialized, .timeLimit(.minutes(1)))
struct TLSTransportTests {
    @Test func `texts of all sizes go both ways through TLS, and the server's close code arrives`() throws {
        let server = try SecureEchoServer()
        defer { server.stop() }
        let transport = try LoopTransport(certificateAuthorities: server.authority.certificate)
        let log = EventLog()
        let connection = try transport.connect(to: "wss://127.0.0.1:\(server.port)/v1") { log.add($0) }
        #expect(log.events(waitingForCount: 1) == [.opened])
        // A text of the last size needs many TLS records, and exceeds the buffers of the sockets.
        for (index, size) in [1, 125, 16_384, 65_536, 900_000].enumerated() {
            let text = (0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) }
            connection.send(text)
            // The events are `opened`, and a text for each size so far.
            let isEchoed = log.events(waitingForCount: index + 2).last == .text(text)
            #expect(isEchoed, "expected that the server sends \(size) bytes back")
        }
        // This text makes the echo server close the connection with the code 4102.
        connection.send(Array("close 4102".utf8))
        // The events are `opened`, five texts, and `closed`.
        #expect(log.events(waitingForCount: 7).last == .closed(code: 4102))
    }

    @Test func `many texts that are sent at once arrive in order`() throws {
        let server = try SecureEchoServer()
        defer { server.stop() }
        let transport = try LoopTransport(certificateAuthorities: server.authority.certificate)
        let log = EventLog()
        let connection = try transport.connect(to: "wss://127.0.0.1:\(server.port)/v1") { log.add($0) }
        #expect(log.events(waitingForCount: 1) == [.opened])
        let texts = (0..<500).map { Array("\($0) \(String(repeating: "x", count: $0))".utf8) }
        for text in texts { connection.send(text) }
        // The events are `opened` and 500 texts.
        #expect(log.events(waitingForCount: 501).dropFirst() == ArraySlice(texts.map { .text($0) }))
    }

    @Test func `a client trusts a server only by its authority and at the address in its certificate`() throws {
        let server = try SecureEchoServer()
        defer { server.stop() }
        let otherAuthority = try PrivateAuthority()
        // The client trusts another authority, or only the system's authorities (nil), or connects to a host that is
        // not in the certificate.
        for (host, authorities) in [
            ("127.0.0.1", otherAuthority.certificate), ("127.0.0.1", nil), ("localhost", server.authority.certificate),
        ] {
            let transport = try LoopTransport(certificateAuthorities: authorities)
            let log = EventLog()
            _ = try transport.connect(to: "wss://\(host):\(server.port)/v1") { log.add($0) }
            // 1015 is the close code of a failed TLS handshake.
            #expect(
                log.events(waitingForCount: 1) == [.closed(code: 1015)],
                "\(host), \(authorities ?? "the system's authorities")")
        }
    }

    /// 1015 is the close code of a failed TLS handshake, and 1006 the close code of an end without a close frame.
    @Test(arguments: [(SecureEchoServer.Mode.answersInClearText, 1015), (.closesDuringHandshake, 1006)])
    func `a connection to a server without TLS, or to one that closes during the handshake, is closed`(
        _ mode: SecureEchoServer.Mode, code: Int
    ) throws {
        let server = try SecureEchoServer(mode)
        defer { server.stop() }
        let transport = try LoopTransport(certificateAuthorities: server.authority.certificate)
        let log = EventLog()
        _ = try transport.connect(to: "wss://127.0.0.1:\(server.port)/v1") { log.add($0) }
        #expect(log.events(waitingForCount: 1) == [.closed(code: code)])
    }

    @Test func `a missing file of authorities, or a file without certificates, is an invalid parameter`() throws {
        for path in ["/no/such/file.pem", "/dev/null"] {
            let error = #expect(throws: ErrorInfo.self) { _ = try LoopTransport(certificateAuthorities: path) }
            #expect(error?.name == .invalidParameter)
        }
    }
}

/// An echo server behind a TLS proxy, which is a Python process.
final class SecureEchoServer {
    /// What the proxy does with a connection.
    enum Mode: String, Sendable {
        /// The proxy decrypts what clients send, and forwards it to the echo server.
        case forwards
        /// The proxy answers as a server without TLS does.
        case answersInClearText
        /// The proxy closes each connection before it has answered the handshake.
        case closesDuringHandshake
    }

    let authority: PrivateAuthority
    let port: UInt16
    private let echo: EchoServer
    private let proxy: TestProcess

    /// Starts the echo server and the proxy.
    ///
    /// - Parameter mode: what the proxy does with a connection.
    /// - Throws: when a process or a certificate cannot be made.
    init(_ mode: Mode = .forwards) throws {
        self.authority = try PrivateAuthority()
        self.echo = try EchoServer()
        self.proxy = try TestProcess([
            "python3", "-c", Self.script, self.authority.serverCertificate, self.authority.serverKey,
            String(self.echo.port), mode.rawValue,
        ])
        var printedPort = ""
        while !printedPort.hasSuffix("\n") {
            let chunk = self.proxy.output.availableData
            if chunk.isEmpty { break }
            printedPort += String(decoding: chunk, as: UTF8.self)
        }
        self.port = try #require(UInt16(printedPort.dropLast()), "the proxy printed '\(printedPort)'")
    }

    func stop() {
        try? self.proxy.input.close()
        _ = self.proxy.waitForEnd()
        self.echo.stop()
    }

    /// The proxy's program; it prints its port, and ends when its standard input is closed.
    private static let script = """
        import asyncio, ssl, sys
        certificate, key, target_port, mode = sys.argv[1:]

        async def pipe(reader, writer):
            try:
                while data := await reader.read(65536):
                    writer.write(data)
                    await writer.drain()
            except (OSError, ssl.SSLError):
                pass
            finally:
                writer.close()

        async def forward(reader, writer):
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", int(target_port))
            await asyncio.gather(pipe(reader, target_writer), pipe(target_reader, writer))

        async def refuse(reader, writer):
            await reader.read(1)
            if mode == "answersInClearText":
                writer.write(b"HTTP/1.1 400 Bad Request\\r\\n\\r\\n")
            writer.close()

        async def main():
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            if mode != "forwards":
                server = await asyncio.start_server(refuse, "127.0.0.1", 0)
            else:
                server = await asyncio.start_server(forward, "127.0.0.1", 0, ssl=context)
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

        asyncio.run(main())
        """
}
