// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EventLoop
import LivePlazaKit
import Testing
import WebSocket

@testable import LivePlazaTransport

/// How gateway addresses are read, and connections without TLS.
@Suite struct LoopTransportTests {
    @Test(arguments: [
        ("ws://gateway/v1", "gateway", 80, "/v1"), ("ws://127.0.0.1:9001", "127.0.0.1", 9001, "/"),
        ("ws://[::1]:9001/v1", "::1", 9001, "/v1"), ("ws://[::1]/", "::1", 80, "/"),
    ])
    func `host, port and path are read from an address, with the scheme's default port`(
        text: String, host: String, port: Int, path: String
    ) throws {
        let address = try GatewayAddress(text)
        #expect(address.host == host && address.port == UInt16(port) && address.path == path)
        let secure = try GatewayAddress("wss" + text.dropFirst("ws".count))
        #expect(secure.isSecure && !address.isSecure)
        // An address without a port has the default port of its scheme: 80 of `ws`, 443 of `wss`.
        let expectedSecurePort = port == 80 ? 443 : port
        #expect(secure.host == host && secure.port == UInt16(expectedSecurePort) && secure.path == path)
    }

    @Test(arguments: [
        "wss:gateway/v1", "http://gateway", "gateway", "ws://", "ws://gateway:x/", "ws://gateway:0/", "ws://[::1/",
        "ws://gateway:70000/", "ws://[::1]9/",
    ])
    func `an invalid gateway address is an invalid parameter`(text: String) throws {
        let transport = try LoopTransport()
        #expect { try transport.connect(to: text) { _ in } } throws: { ($0 as? ErrorInfo)?.name == .invalidParameter }
    }

    @Test func `a client gets the texts that the server sends, and the code with which the server closes`() throws {
        let server = try EchoServer()
        defer { server.stop() }
        let transport = try LoopTransport()
        let log = EventLog()
        let connection = try transport.connect(to: "ws://127.0.0.1:\(server.port)/v1") { log.add($0) }
        #expect(log.events(waitingForCount: 1) == [.opened])
        connection.send(Array("hello".utf8))
        #expect(log.events(waitingForCount: 2).last == .text(Array("hello".utf8)))
        // This text makes the echo server close the connection with the code 4102.
        connection.send(Array("close 4102".utf8))
        #expect(log.events(waitingForCount: 3).last == .closed(code: 4102))
    }

    @Test func `a connection that cannot be opened is closed with the code 1006, like a lost connection`() throws {
        let server = try EchoServer()
        let port = server.port
        // Nothing listens at this port any more.
        server.stop()
        let transport = try LoopTransport()
        let log = EventLog()
        _ = try transport.connect(to: "ws://127.0.0.1:\(port)/v1") { log.add($0) }
        #expect(log.events(waitingForCount: 1) == [.closed(code: 1006)])
    }
}
