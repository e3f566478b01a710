// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import MachineKit
import Synchronization
import Testing

@testable import HTTPServer

/// The memory of responses that clients do not read, all together (I16).
@Suite(.timeLimit(.minutes(1))) struct UnreadResponseTests {
    private final class RefusalLog: Sendable {
        let refusals = Mutex<[HTTPRefusal]>([])
    }

    /// Open connections, numbered from 1, that each have an unread response of the size in `unreadBytes`.
    ///
    /// Connections 1 and 2 have one address, all further ones a second address. Connection n began its response at
    /// second n.
    private func connections(unreadBytes: [Int], limit: Int) throws -> OpenConnections {
        var limits = HTTPLimits()
        limits.unreadResponseBytes = limit
        var connections = OpenConnections(limits: limits)
        for (index, byteCount) in unreadBytes.enumerated() {
            let id = UInt(index + 1)
            let time = MonotonicTime(milliseconds: 1_000 * Int64(id))
            connections.add(
                id, from: try #require(IPAddress(index < 2 ? "10.0.0.1" : "10.0.0.2")), descriptor: Int32(id), at: time)
            connections.enterPhase(.sendingResponse, of: id, at: time)
            connections.addResponse(ofBytes: byteCount, of: id)
        }
        return connections
    }

    /// Rules: R13.40.
    @Test func `beyond the limit, the address with the most unread bytes loses its oldest response`() throws {
        var connections = try self.connections(unreadBytes: [30, 40, 50], limit: 100)
        #expect(connections.responseBytes == 120)
        #expect(connections.takeConnectionWithUnreadResponse() == 1, "its address has 70 bytes, the other has 50")
        #expect(connections.takeConnectionWithUnreadResponse() == nil && connections.responseBytes == 90)
        connections.remove(1)
        #expect(connections.responseBytes == 90, "the taken response was not counted any more")
        // At 100 s the responses of the other connections are overdue.
        #expect(connections.takeOverdue(at: MonotonicTime(milliseconds: 100_000)).map(\.descriptor).sorted() == [2, 3])
    }

    /// Rules: R13.40.
    @Test func `a response that was received, and one of a closed connection, count no longer`() throws {
        var connections = try self.connections(unreadBytes: [30, 40, 50], limit: 100)
        // Connection 2 reads its next request, so its client has received the response.
        connections.enterPhase(.readingHead, of: 2, at: MonotonicTime(milliseconds: 9_000))
        #expect(connections.responseBytes == 80 && connections.takeConnectionWithUnreadResponse() == nil)
        connections.remove(3)
        #expect(connections.responseBytes == 30)
        let unknownID: UInt = 77
        connections.addResponse(ofBytes: 500, of: unknownID)
        #expect(connections.responseBytes == 30)

        connections.enterPhase(.sendingResponse, of: 1, at: MonotonicTime(milliseconds: 9_000))
        connections.addResponse(ofBytes: 200, of: 1)
        #expect(connections.takeConnectionWithUnreadResponse() == 1, "alone it exceeds the limit")
        #expect(connections.takeConnectionWithUnreadResponse() == nil && connections.responseBytes == 0)
    }

    /// Rules: R13.40.
    @Test func `clients that read nothing lose their responses, and others are served`() throws {
        var limits = HTTPLimits()
        limits.unreadResponseBytes = 80 << 20
        let refusalLog = RefusalLog()
        // Each path but `/` has a response of 32 MiB.
        let server = try WebServer(
            port: 0, limits: limits,
            refusalObserver: { refusal in refusalLog.refusals.withLock { $0.append(refusal) } },
            headHandler: { request in
                .reject(
                    HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: request.path == "/" ? 5 : 32 << 20)))
            })
        defer { server.stop() }
        // Three of these exceed the limit of 80 MiB: the server closes the first connection when the third begins.
        let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
        for client in clients { client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n") }
        let readingClient = try RawClient(port: server.port)
        let giveUpAt = ContinuousClock.now + .seconds(10)
        repeat {
            readingClient.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try readingClient.readResponse().status == 200)
        } while refusalLog.refusals.withLock({ $0.isEmpty }) && ContinuousClock.now < giveUpAt
        #expect(refusalLog.refusals.withLock { $0 } == [.unreadResponses])
    }
}
