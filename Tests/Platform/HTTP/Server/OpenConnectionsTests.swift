// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import MachineKit
import Testing

@testable import HTTPServer

/// Tests of `OpenConnections`, which chooses the connections that the HTTP server shuts down.
///
/// A chosen connection counts no longer, although the server's daemon closes it only later.
@Suite struct OpenConnectionsTests {
    /// A time after the deadlines of all phases.
    private static let late = MonotonicTime(milliseconds: 1_000_000)

    /// Makes ten connections of one address, as many as the server may have; connection n was opened at n ms.
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
        #expect(connections.takeConnectionToEvict() == 1, "the one that has waited the longest")
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

    /// Rules: R13.30.
    @Test func `I16 responses that the clients of many addresses do not read give way to new connections`() throws {
        var connections = OpenConnections(limits: HTTPLimits())
        // Ten addresses have 90 connections each, 900 in all, and read none of their responses.
        for number in 0..<900 {
            let address = try #require(IPAddress("10.0.0.\(number % 10)"))
            let time = MonotonicTime(milliseconds: Int64(number))
            connections.add(UInt(number), from: address, descriptor: Int32(number), at: time)
            connections.enterPhase(.sendingResponse, of: UInt(number), at: time)
        }
        #expect(connections.takeConnectionToEvict() == nil, "a tenth is free")
        let time = MonotonicTime(milliseconds: 1_000)
        for number in 900..<1_000 {
            let address = try #require(IPAddress("10.1.0.\(number - 900)"))
            connections.add(UInt(number), from: address, descriptor: Int32(number), at: time)
            // The oldest connections are evicted first. Each of them belongs to one of the ten first addresses.
            #expect(connections.takeConnectionToEvict() == Int32(number - 900))
            connections.remove(UInt(number - 900))
        }
    }

    /// Rules: R13.30.
    @Test func `I16 of one address the connection that has waited the longest for its client is evicted`() throws {
        var connections = try self.connections()
        // At 20 ms connection 1 waits for its handler, 2 begins to send, and 3 waits for its next request. All other
        // connections wait for their first request since they were opened at up to 10 ms.
        let time = MonotonicTime(milliseconds: 20)
        connections.enterPhase(.handling, of: 1, at: time)
        connections.enterPhase(.sendingResponse, of: 2, at: time)
        connections.enterPhase(.readingHead, of: 3, at: time + Milliseconds(1))
        var evicted: [Int32] = []
        while let descriptor = connections.takeConnectionToEvict() {
            evicted.append(descriptor)
            connections.remove(UInt(descriptor))
            // The address opens a new connection in place of the evicted one, later than all other connections.
            let id = UInt(100 + evicted.count)
            connections.add(id, from: IPAddress("10.0.0.1"), descriptor: Int32(id), at: time + Milliseconds(2))
            if evicted.count == 9 { break }
        }
        #expect(evicted == [4, 5, 6, 7, 8, 9, 10, 2, 3], "never connection 1, whose handler runs")
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
