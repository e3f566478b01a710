// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import MachineKit
import Testing

@testable import HTTPServer

/// The connections that a server has chosen to shut down, and that the daemon has not closed yet.
@Suite struct OpenConnectionsTests {
    /// A time after the deadlines of all phases.
    private static let late = MonotonicTime(milliseconds: 1_000_000)

    /// Ten connections of one address, as many as the server may have; connection n was opened at n ms.
    private func connections() throws -> OpenConnections {
        var limits = HTTPLimits()
        limits.connections = 10
        limits.unreadResponseBytes = 100
        var connections = OpenConnections(limits: limits)
        let address = try #require(IPAddress("10.0.0.1"))
        for number in 1...10 {
            let time = MonotonicTime(milliseconds: Int64(number))
            connections.add(UInt(number), from: address, descriptor: Int32(number), at: time)
        }
        return connections
    }

    /// Rules: R13.28, R13.30.
    @Test func `I16 a connection that was evicted gets no new deadline, and its response is not counted`() throws {
        var connections = try self.connections()
        #expect(connections.takeConnectionToEvict() == 1, "the one with the earliest deadline")
        #expect(connections.takeConnectionToEvict() == nil, "nine connections are left")
        // The daemon had read the request before the socket was shut down.
        let time = MonotonicTime(milliseconds: 20)
        connections.enterPhase(.readingBody, of: 1, at: time)
        connections.enterPhase(.handling, of: 1, at: time)
        connections.enterPhase(.sendingResponse, of: 1, at: time)
        connections.addResponse(ofBytes: 500, of: 1)
        #expect(connections.responseBytes == 0 && connections.takeConnectionWithUnreadResponse() == nil)
        let others: [Int32] = [2, 3, 4, 5, 6, 7, 8, 9, 10]
        #expect(connections.takeOverdue(at: Self.late).map(\.descriptor).sorted() == others)
    }

    /// Rules: R13.28.
    @Test func `I16 a connection whose deadline has passed is chosen only once, whatever phase follows`() throws {
        var connections = try self.connections()
        #expect(connections.takeOverdue(at: Self.late).count == 10)
        connections.enterPhase(.readingBody, of: 2, at: Self.late)
        #expect(connections.takeOverdue(at: Self.late + .seconds(1_000)).isEmpty)
        #expect(connections.takeConnectionToEvict() == nil, "all ten are being shut down already")
    }

    /// Rules: R13.40.
    @Test func `I16 a connection that was cut off because of its response is chosen only once`() throws {
        var connections = try self.connections()
        connections.enterPhase(.sendingResponse, of: 3, at: MonotonicTime(milliseconds: 20))
        connections.addResponse(ofBytes: 500, of: 3)
        #expect(connections.takeConnectionWithUnreadResponse() == 3)
        connections.enterPhase(.readingHead, of: 3, at: MonotonicTime(milliseconds: 30))
        let others: [Int32] = [1, 2, 4, 5, 6, 7, 8, 9, 10]
        #expect(connections.takeOverdue(at: Self.late).map(\.descriptor).sorted() == others)
    }
}
