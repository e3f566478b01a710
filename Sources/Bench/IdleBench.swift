// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Foundation
import Glibc
import WebSocket

/// What an open WebSocket on which nothing happens costs in memory of the process.
enum IdleBench {
    static let benchmark = Benchmark(
        name: "idle", summary: "bytes of memory per idle WebSocket, all of the process counted",
        run: { try IdleBench.measure() })

    private static let connections = 10_000
    /// Most bytes that one may take.
    private static let mostBytes = 1_536.0

    private static func measure() throws -> BenchReport {
        raiseDescriptorLimit()
        let loop = try EventLoop()
        let group = WebSocketGroup(loop: loop)
        let counter = Counter(wanted: Self.connections)
        let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: counter)
        // The first one brings in what all of them share.
        let before = Self.residentBytes()
        let receivedByteCount = try Receivers.start(
            count: Self.connections, plainPort: 0, webSocketPort: server.port)
        var after = before
        let timer = try LoopTimer(loop: loop) { _ in
            after = Self.residentBytes()
            loop.stop()
        }
        counter.complete = { timer.start(afterMilliseconds: 500) }
        loop.run()
        _ = try receivedByteCount()
        let bytes = (Double(after - before) / Double(Self.connections)).rounded()
        return BenchReport(
            values: [("connections", Double(Self.connections)), ("bytes_per_connection", bytes)],
            isGood: bytes <= Self.mostBytes)
    }

    private static func residentBytes() -> Int {
        guard let statistics = try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8) else {
            return 0
        }
        let fields = statistics.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}

/// Counts what opens.
private final class Counter: WebSocketDelegate {
    private let wanted: Int
    private var count = 0
    var complete: (() -> Void)?

    init(wanted: Int) { self.wanted = wanted }

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.count += 1
        if self.count == self.wanted { self.complete?() }
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {}
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {}
}
