// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Foundation
import Glibc
import WebSocket

/// One room, many viewers: what a delivery costs the thread of a shard, beside a loop of nothing but `send()`.
///
/// Rounds of both alternate, so that what else the machine does falls on both alike. Each message is encoded once, as
/// in the gateway; the limit loop sends the same bytes, made beforehand. CPU time is that of this thread alone; the
/// receivers are another process.
enum FanoutBench {
    static let benchmark = Benchmark(
        name: "fanout", summary: "deliveries per CPU second of a shard's thread, beside a plain send() loop",
        run: { try FanoutBench.measure() })

    static let viewers = 1_000
    private static let rounds = 7
    private static let messagesPerRound = 100
    private static let payloadBytes = 200
    private static let pauseMilliseconds: UInt64 = 15
    /// What the shard is to keep of the limit.
    private static let wantedRatio = 0.9

    private static func measure() throws -> BenchReport {
        raiseDescriptorLimit()
        let loop = try EventLoop()
        let group = WebSocketGroup(loop: loop)
        let room = Room(wanted: Self.viewers)
        let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: room)
        let plain = try PlainSockets()
        let receivedByteCount = try Receivers.start(
            count: Self.viewers, plainPort: plain.port, webSocketPort: server.port)
        try plain.accept(Self.viewers)

        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: Self.payloadBytes)
        let frame = FrameEncoder.text(payload.span).array
        var ours: [Double] = []
        var limit: [Double] = []
        var sent = 0
        var began = 0.0
        let timer = try LoopTimer(loop: loop) { timer in
            if sent == 0 { began = threadCPUSeconds() }
            room.deliver(FrameEncoder.text(payload.span))
            sent += 1
            if sent < Self.messagesPerRound { return }
            ours.append(threadCPUSeconds() - began)
            sent = 0
            limit.append(plain.round(frame, Self.messagesPerRound, pauseMilliseconds: Self.pauseMilliseconds))
            if limit.count == Self.rounds {
                loop.stop()
            } else {
                loop.updateNow()
                timer.start(
                    afterMilliseconds: Self.pauseMilliseconds, repeatingMilliseconds: Self.pauseMilliseconds)
            }
        }
        room.complete = {
            timer.start(afterMilliseconds: 200, repeatingMilliseconds: Self.pauseMilliseconds)
        }
        loop.run()
        plain.close()
        let receivedBytes = try receivedByteCount()

        let deliveries = Double(Self.viewers * Self.messagesPerRound)
        let expected = 2 * Self.rounds * Self.messagesPerRound * Self.viewers * frame.count
        var report = BenchReport()
        let ratio = median(zip(limit, ours).map { $0 / $1 })
        report.values = [
            ("viewers", Double(Self.viewers)),
            ("payload_bytes", Double(Self.payloadBytes)),
            ("shard_deliveries_per_cpu_second", (deliveries / median(ours)).rounded()),
            ("send_loop_deliveries_per_cpu_second", (deliveries / median(limit)).rounded()),
            ("ratio", ratio),
            ("ratio_of_best_rounds", (limit.min() ?? 0) / (ours.min() ?? 1)),
            ("queued_deliveries", Double(room.queued)),
            ("send_loop_short_sends", Double(plain.shortSends)),
            ("all_received", receivedBytes >= expected ? 1 : 0),
        ]
        report.isGood = ratio >= Self.wantedRatio && receivedBytes >= expected
        return report
    }
}

/// The viewers of the room.
private final class Room: WebSocketDelegate {
    private let wanted: Int
    private var viewers: [WebSocketConnection] = []
    var complete: (() -> Void)?
    private(set) var queued = 0

    init(wanted: Int) { self.wanted = wanted }

    func deliver(_ frame: SharedBytes) {
        for viewer in self.viewers {
            if case .queued = viewer.send(frame) { self.queued += 1 }
        }
    }

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.viewers.append(connection)
        if self.viewers.count == self.wanted { self.complete?() }
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {}
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {}
}

/// The limit: sockets with nothing around them.
private final class PlainSockets {
    private let listener: Int32
    private var sockets: [Int32] = []
    let port: UInt16
    private(set) var shortSends = 0

    init() throws {
        self.listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                unsafe bind(listener, name, length) == 0 && listen(listener, 4_096) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        if !isListening { throw BenchFailure(description: "cannot listen") }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    func accept(_ count: Int) throws {
        for _ in 0..<count {
            let socket = Glibc.accept(self.listener, nil, nil)
            if socket < 0 { throw BenchFailure(description: "cannot accept") }
            var on: Int32 = 1
            unsafe setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            self.sockets.append(socket)
        }
    }

    /// Sends `bytes` to all, `messages` times.
    ///
    /// - Returns: CPU seconds.
    func round(_ bytes: [UInt8], _ messages: Int, pauseMilliseconds: UInt64) -> Double {
        var due = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &due)
        let began = threadCPUSeconds()
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        for _ in 0..<messages {
            due.tv_nsec += Int(pauseMilliseconds) * 1_000_000
            if due.tv_nsec >= 1_000_000_000 {
                due.tv_nsec -= 1_000_000_000
                due.tv_sec += 1
            }
            unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nil)
            unsafe bytes.withUnsafeBytes { raw in
                for socket in self.sockets {
                    if unsafe send(socket, raw.baseAddress, raw.count, flags) != raw.count { self.shortSends += 1 }
                }
            }
        }
        return threadCPUSeconds() - began
    }

    func close() {
        for socket in self.sockets { _ = Glibc.close(socket) }
        _ = Glibc.close(self.listener)
        self.sockets = []
    }
}
