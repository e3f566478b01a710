// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Foundation
import Glibc
import WebSocket

/// Measures by how much each idle WebSocket increases the process's memory.
enum IdleBench {
    static let benchmark = Benchmark(
        name: "idle", summary: "bytes of the process's resident memory per idle WebSocket",
        run: { try IdleBench.measure() })

    private static let connections = 10_000
    /// The target: the maximum number of bytes per connection (1.5 KiB).
    private static let maximumBytes = 1_536.0

    private static func measure() throws -> BenchReport {
        raiseDescriptorLimit()
        let loop = try EventLoop()
        let group = WebSocketGroup(loop: loop)
        let counter = ConnectionCounter(expected: Self.connections)
        let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: counter)
        let before = Self.residentBytes()
        let waitForReceivedBytes = try Receivers.start(
            count: Self.connections, plainPort: 0, webSocketPort: server.port)
        // Read when all connections are open.
        var bytesWithConnections: Int?
        let timer = try LoopTimer(loop: loop) { _ in
            bytesWithConnections = Self.residentBytes()
            loop.stop()
        }
        let deadline = try LoopTimer(loop: loop) { _ in loop.stop() }
        deadline.start(after: .seconds(Receivers.connectSeconds))
        // The delay lets the last handshake finish before the memory is read.
        counter.onAllConnected = {
            deadline.close()
            timer.start(after: .milliseconds(500))
        }
        loop.run()
        guard let after = bytesWithConnections else { throw Receivers.missingConnections }
        _ = try waitForReceivedBytes()
        let bytes = (Double(after - before) / Double(Self.connections)).rounded()
        return BenchReport(
            values: [("connections", Double(Self.connections)), ("bytes_per_connection", bytes)],
            reachesTarget: bytes <= Self.maximumBytes)
    }

    private static func residentBytes() -> Int {
        guard let statistics = try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8) else {
            return 0
        }
        // The second field is the number of resident pages.
        let fields = statistics.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}

/// Counts the connections that have opened.
private final class ConnectionCounter: WebSocketDelegate {
    private let expected: Int
    private var count = 0
    /// Called when the expected number of connections is open.
    var onAllConnected: (() -> Void)?

    init(expected: Int) { self.expected = expected }

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.count += 1
        if self.count == self.expected { self.onAllConnected?() }
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {}
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {}
}
