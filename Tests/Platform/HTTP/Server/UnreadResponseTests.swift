// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import MachineKit
import Synchronization
import Testing

@testable import HTTPServer

/// Tests of the server's limit for the total size of all responses that clients have not read.
@Suite(.timeLimit(.minutes(1))) struct UnreadResponseTests {
    /// Collects the refusals that the server reports.
    private final class RefusalLog: Sendable {
        let refusals = Mutex<[HTTPRefusal]>([])
    }

    /// Makes open connections, numbered from 1, each with an unread response; `responseSizes` are the sizes in bytes.
    ///
    /// Connections 1 and 2 have one address, and all further connections have a second address. The response of
    /// connection n began at n seconds.
    private func makeConnections(responseSizes: [Int], limit: Int) throws -> OpenConnections {
        var limits = HTTPLimits()
        limits.unreadResponseBytes = limit
        var connections = OpenConnections(limits: limits)
        for (index, byteCount) in responseSizes.enumerated() {
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
    @Test func `beyond the limit, the oldest response of the address with the most unread bytes is given up`() throws {
        var connections = try self.makeConnections(responseSizes: [30, 40, 50], limit: 100)
        #expect(connections.responseBytes == 120)
        #expect(connections.takeConnectionWithUnreadResponse() == 1, "its address has 70 bytes, the other one has 50")
        // 90 bytes are left, which is within the limit.
        #expect(connections.takeConnectionWithUnreadResponse() == nil && connections.responseBytes == 90)
        connections.remove(1)
        #expect(connections.responseBytes == 90, "the response of connection 1 is not subtracted twice")
        // At 100 s the responses of the other connections are overdue.
        #expect(connections.takeOverdue(at: MonotonicTime(milliseconds: 100_000)).map(\.descriptor).sorted() == [2, 3])
    }

    /// Rules: R13.40.
    @Test func `a response that was received, and a response of a closed connection, do not count any more`() throws {
        var connections = try self.makeConnections(responseSizes: [30, 40, 50], limit: 100)
        // The server reads the next request of connection 2, so the client has received the response.
        connections.enterPhase(.readingHead, of: 2, at: MonotonicTime(milliseconds: 9_000))
        #expect(connections.responseBytes == 80 && connections.takeConnectionWithUnreadResponse() == nil)
        connections.remove(3)
        #expect(connections.responseBytes == 30)
        let unknownID: UInt = 77
        connections.addResponse(ofBytes: 500, of: unknownID)
        #expect(connections.responseBytes == 30)

        connections.enterPhase(.sendingResponse, of: 1, at: MonotonicTime(milliseconds: 9_000))
        connections.addResponse(ofBytes: 200, of: 1)
        #expect(connections.takeConnectionWithUnreadResponse() == 1, "its response alone exceeds the limit")
        #expect(connections.takeConnectionWithUnreadResponse() == nil && connections.responseBytes == 0)
    }

    /// Rules: R13.40.
    @Test func `beyond the limit a client that reads nothing is disconnected, and one that reads is served`() throws {
        var limits = HTTPLimits()
        limits.unreadResponseBytes = 80 << 20
        let refusalLog = RefusalLog()
        // The response to `/` has 5 bytes, any other response has 32 MiB.
        let server = try WebServer(
            port: 0, limits: limits,
            refusalObserver: { refusal in refusalLog.refusals.withLock { $0.append(refusal) } },
            headHandler: { request in
                .reject(
                    HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: request.path == "/" ? 5 : 32 << 20)))
            })
        defer { server.stop() }
        // Three responses exceed the limit of 80 MiB. When the third one begins, the server closes the first
        // connection.
        let silentClients = try (0..<3).map { _ in try RawClient(port: server.port) }
        for client in silentClients { client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n") }
        let readingClient = try RawClient(port: server.port)
        let giveUpAt = ContinuousClock.now + .seconds(10)
        repeat {
            readingClient.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try readingClient.readResponse().status == 200)
        } while refusalLog.refusals.withLock({ $0.isEmpty }) && ContinuousClock.now < giveUpAt
        #expect(refusalLog.refusals.withLock { $0 } == [.unreadResponses])
    }
}
