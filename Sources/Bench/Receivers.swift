// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import EventLoop
import Foundation

/// The other side of the socket benchmarks, in a process of its own: connections that read and forget.
enum Receivers {
    /// Starts the process; it ends when all its connections have ended.
    ///
    /// - Parameters:
    ///   - count: How many connections it makes to each port.
    ///   - plainPort: Where it only connects; 0 for none.
    ///   - webSocketPort: Where it asks for a WebSocket; 0 for none.
    /// - Returns: Waits for its end, and gives how many bytes came.
    /// - Throws: When the process cannot be started.
    static func start(count: Int, plainPort: UInt16, webSocketPort: UInt16) throws -> () throws -> Int {
        let output = Pipe()
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let pid = try ChildProcess.start(
            [program, "receive", String(count), String(plainPort), String(webSocketPort)],
            environment: ProcessInfo.processInfo.environment, endsWithThread: true,
            output: .descriptor(output.fileHandleForWriting.fileDescriptor), errors: .descriptor(2))
        try output.fileHandleForWriting.close()
        return {
            let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            _ = ChildProcess.reap(pid)
            return Int(said.split(separator: "\n").first ?? "") ?? 0
        }
    }

    /// The process itself.
    static func run(_ arguments: [String]) {
        raiseDescriptorLimit()
        let numbers = arguments.compactMap { UInt16($0) }
        guard numbers.count == 3, let loop = try? EventLoop() else { return }
        let receiver = Receiver(loop: loop, count: Int(numbers[0]), plainPort: numbers[1], webSocketPort: numbers[2])
        receiver.connectMore()
        loop.run()
        print(receiver.byteCount)
    }
}

/// All connections of the process.
private final class Receiver: TCPStreamDelegate {
    private static let request = SharedBytes(
        "GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    /// Connections under way at a time; fewer than the listeners' backlogs take.
    private static let mostUnderWay = 200

    private let loop: EventLoop
    /// The ports still to connect to, the last one first.
    private var waiting: [(port: UInt16, isWebSocket: Bool)]
    private var isWebSocket: Set<ObjectIdentifier> = []
    private var underWay = 0
    private var standing = 0
    private(set) var byteCount = 0

    init(loop: EventLoop, count: Int, plainPort: UInt16, webSocketPort: UInt16) {
        self.loop = loop
        self.waiting = []
        if webSocketPort > 0 { self.waiting += Array(repeating: (webSocketPort, true), count: count) }
        if plainPort > 0 { self.waiting += Array(repeating: (plainPort, false), count: count) }
    }

    func connectMore() {
        while self.underWay < Self.mostUnderWay, let (port, isWebSocket) = self.waiting.popLast() {
            guard let stream = try? TCPStream.connect(loop: self.loop, host: "127.0.0.1", port: port, delegate: self)
            else { continue }
            self.underWay += 1
            if isWebSocket { self.isWebSocket.insert(ObjectIdentifier(stream)) }
        }
    }

    func streamConnected(_ stream: TCPStream) {
        self.standing += 1
        stream.startReading()
        if self.isWebSocket.remove(ObjectIdentifier(stream)) != nil {
            _ = try? stream.write(Self.request)
        } else {
            self.underWay -= 1
            self.connectMore()
        }
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        self.byteCount += bytes.count
        // While connections are made, all that comes is the answers to the requests, one each.
        if self.underWay > 0, self.standing > 0 {
            self.underWay -= 1
            self.connectMore()
        }
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        self.standing -= 1
        if self.standing == 0, self.waiting.isEmpty { self.loop.stop() }
    }
}
