// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Foundation
import Glibc
import WebSocket

/// Measures the CPU time that a shard (an event loop of a gateway with its thread) takes to deliver messages to many
/// viewers of one live, and compares it with that of a plain `send()` loop.
///
/// Rounds of the shard and rounds of the plain loop alternate, so that other load on the machine affects both. The
/// shard encodes each message once, as the gateway does. The plain loop sends the same bytes, encoded in advance. The
/// receivers run in another process, and only the CPU time of this thread is measured.
enum FanoutBench {
    static let benchmark = Benchmark(
        name: "fanout", summary: "deliveries per CPU second of a shard's thread, beside a plain send() loop",
        run: { try FanoutBench.measure() })

    static let viewerCount = 1_000
    /// The number of rounds of the shard, and also of the plain loop.
    private static let roundCount = 7
    private static let messagesPerRound = 100
    private static let payloadBytes = 200
    /// The time between two messages.
    private static let pauseMilliseconds: UInt64 = 15
    /// The target: the minimum number of deliveries per CPU second, relative to the plain loop.
    private static let minimumRatio = 0.9

    private static func measure() throws -> BenchReport {
        raiseDescriptorLimit()
        let loop = try EventLoop()
        let group = WebSocketGroup(loop: loop)
        let viewers = LiveViewers(expectedCount: Self.viewerCount)
        let server = try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: viewers)
        let plain = try PlainSockets()
        let waitForReceivedBytes = try Receivers.start(
            count: Self.viewerCount, plainPort: plain.port, webSocketPort: server.port)
        try plain.accept(Self.viewerCount)

        let payload = [UInt8](repeating: UInt8(ascii: "x"), count: Self.payloadBytes)
        let frame = FrameEncoder.text(payload.span).array
        // The CPU seconds of each round of the shard and of the plain loop.
        var shardSeconds: [Double] = []
        var plainSeconds: [Double] = []
        // The number of messages that the shard has sent in the current round.
        var sentInRound = 0
        // The CPU time of the thread when the current round of the shard began.
        var roundStartSeconds = 0.0
        let timer = try LoopTimer(loop: loop) { timer in
            if sentInRound == 0 { roundStartSeconds = threadCPUSeconds() }
            viewers.deliver(FrameEncoder.text(payload.span))
            sentInRound += 1
            if sentInRound < Self.messagesPerRound { return }
            shardSeconds.append(threadCPUSeconds() - roundStartSeconds)
            sentInRound = 0
            // A round of the plain loop follows each round of the shard.
            plainSeconds.append(plain.runRound(frame, Self.messagesPerRound, pauseMilliseconds: Self.pauseMilliseconds))
            if plainSeconds.count == Self.roundCount {
                loop.stop()
            } else {
                // The round of the plain loop has blocked the event loop, so its time is out of date.
                loop.updateNow()
                timer.start(
                    after: .milliseconds(Self.pauseMilliseconds), repeating: .milliseconds(Self.pauseMilliseconds))
            }
        }
        let deadline = try LoopTimer(loop: loop) { _ in loop.stop() }
        deadline.start(after: .seconds(Receivers.connectSeconds))
        // The delay of 200 ms lets the last handshakes finish.
        viewers.onAllConnected = {
            deadline.close()
            timer.start(after: .milliseconds(200), repeating: .milliseconds(Self.pauseMilliseconds))
        }
        loop.run()
        plain.close()
        if plainSeconds.count < Self.roundCount { throw Receivers.missingConnections }
        let receivedBytes = try waitForReceivedBytes()

        let deliveriesPerRound = Double(Self.viewerCount * Self.messagesPerRound)
        // The shard and the plain loop both send every message. The receivers also count the handshake responses.
        let expectedBytes = 2 * Self.roundCount * Self.messagesPerRound * Self.viewerCount * frame.count
        var report = BenchReport()
        // The shard and the plain loop send the same number of messages, so the ratio of their rates is the inverse
        // ratio of their seconds.
        let ratio = median(zip(plainSeconds, shardSeconds).map { $0 / $1 })
        report.values = [
            ("viewers", Double(Self.viewerCount)),
            ("payload_bytes", Double(Self.payloadBytes)),
            ("shard_deliveries_per_cpu_second", (deliveriesPerRound / median(shardSeconds)).rounded()),
            ("send_loop_deliveries_per_cpu_second", (deliveriesPerRound / median(plainSeconds)).rounded()),
            ("ratio", ratio),
            ("ratio_of_best_rounds", (plainSeconds.min() ?? 0) / (shardSeconds.min() ?? 1)),
            ("queued_deliveries", Double(viewers.queuedDeliveries)),
            ("send_loop_short_sends", Double(plain.shortSends)),
            ("all_received", receivedBytes >= expectedBytes ? 1 : 0),
        ]
        report.reachesTarget = ratio >= Self.minimumRatio && receivedBytes >= expectedBytes
        return report
    }
}

/// The server's side of the viewers' connections.
private final class LiveViewers: WebSocketDelegate {
    private let expectedCount: Int
    private var viewers: [WebSocketConnection] = []
    /// Called when the expected number of viewers is connected.
    var onAllConnected: (() -> Void)?
    /// The number of deliveries that a socket did not accept at once.
    private(set) var queuedDeliveries = 0

    init(expectedCount: Int) { self.expectedCount = expectedCount }

    func deliver(_ frame: SharedBytes) {
        for viewer in self.viewers {
            if case .queued = viewer.send(frame) { self.queuedDeliveries += 1 }
        }
    }

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.viewers.append(connection)
        if self.viewers.count == self.expectedCount { self.onAllConnected?() }
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {}
    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {}
}

/// The plain loop: bare sockets without an event loop or WebSocket framing.
private final class PlainSockets {
    private let listener: Int32
    private var sockets: [Int32] = []
    let port: UInt16
    /// The number of `send` calls that failed or did not send all bytes.
    private(set) var shortSends = 0

    init() throws {
        self.listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // 127.0.0.1.
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = self.listener
        // Limits how long `accept` waits for a viewer.
        var timeout = timeval(tv_sec: Receivers.connectSeconds, tv_usec: 0)
        unsafe setsockopt(
            listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                // The queue of 4,096 holds all viewers, which connect before `accept` is called.
                unsafe bind(listener, generic, length) == 0 && listen(listener, 4_096) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        if !isListening { throw BenchFailure(description: "cannot listen") }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    func accept(_ count: Int) throws {
        for _ in 0..<count {
            let socket = Glibc.accept(self.listener, nil, nil)
            if socket < 0 {
                throw errno == EAGAIN ? Receivers.missingConnections : BenchFailure(description: "cannot accept")
            }
            var on: Int32 = 1
            unsafe setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            self.sockets.append(socket)
        }
    }

    /// Sends `bytes` to all sockets, `messages` times, with a pause before each time.
    ///
    /// - Returns: the CPU seconds used.
    func runRound(_ bytes: [UInt8], _ messages: Int, pauseMilliseconds: UInt64) -> Double {
        var due = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &due)
        let startSeconds = threadCPUSeconds()
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        for _ in 0..<messages {
            // `tv_nsec` is in nanoseconds and must stay below one second.
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
        return threadCPUSeconds() - startSeconds
    }

    func close() {
        for socket in self.sockets { _ = Glibc.close(socket) }
        _ = Glibc.close(self.listener)
        self.sockets = []
    }
}
