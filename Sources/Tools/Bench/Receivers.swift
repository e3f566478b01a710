// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import EventLoop
import Foundation
import Glibc

/// The clients of the socket benchmarks, in their own process: connections that read and discard all bytes.
enum Receivers {
    /// How long the connections may take to open; a benchmark that still lacks one then fails.
    static let connectSeconds = 60
    /// The failure of a benchmark that lacks connections.
    static let missingConnections = BenchFailure(
        description: "the receivers did not open all connections within \(Self.connectSeconds) s")

    /// Starts the process, which ends when all its connections have ended, or when one could not be opened.
    ///
    /// - Parameters:
    ///   - count: the number of connections to each port.
    ///   - plainPort: the port for plain TCP connections; 0 for none.
    ///   - webSocketPort: the port for WebSocket connections; 0 for none.
    /// - Returns: a function that waits for the end of the process and returns the number of bytes it received.
    /// - Throws: an error when the process cannot be started.
    static func start(count: Int, plainPort: UInt16, webSocketPort: UInt16) throws -> () throws -> Int {
        let output = Pipe()
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let pid = try ChildProcess.start(
            [program, "receive", String(count), String(plainPort), String(webSocketPort)],
            environment: ProcessInfo.processInfo.environment, endsWithThread: true,
            output: .descriptor(output.fileHandleForWriting.fileDescriptor), errors: .descriptor(2))
        try output.fileHandleForWriting.close()
        return {
            let printed = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            _ = ChildProcess.reap(pid)
            return Int(printed.split(separator: "\n").first ?? "") ?? 0
        }
    }

    /// The main function of the receiving process; prints the number of bytes received when all connections have ended.
    ///
    /// - Parameter arguments: the three numbers that `start` passes: the count and the two ports.
    static func run(_ arguments: [String]) {
        raiseDescriptorLimit()
        let numbers = arguments.compactMap { UInt16($0) }
        guard numbers.count == 3, let loop = try? EventLoop() else { return }
        let connections = ReceiverConnections(
            loop: loop, count: Int(numbers[0]), plainPort: numbers[1], webSocketPort: numbers[2])
        connections.connectMore()
        loop.run()
        print(connections.byteCount)
    }
}

/// All connections of the receiving process.
private final class ReceiverConnections: TCPStreamDelegate {
    /// The request of a WebSocket handshake, with the sample key of RFC 6455.
    private static let request = SharedBytes(
        "GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    /// The maximum number of connections that are being set up at a time; less than the backlog of the listeners.
    private static let maximumInSetup = 200

    private let loop: EventLoop
    /// The connections that are not begun yet; the last one is begun next.
    private var unconnected: [(port: UInt16, isWebSocket: Bool)]
    /// The streams that are being set up, WebSocket handshake included.
    private var streamsInSetup: Set<ObjectIdentifier> = []
    /// The streams that send a WebSocket handshake as soon as they are connected.
    private var streamsForWebSocket: Set<ObjectIdentifier> = []
    /// The number of open connections.
    private var openCount = 0
    private(set) var byteCount = 0

    init(loop: EventLoop, count: Int, plainPort: UInt16, webSocketPort: UInt16) {
        self.loop = loop
        self.unconnected = []
        if webSocketPort > 0 {
            self.unconnected += Array(repeating: (port: webSocketPort, isWebSocket: true), count: count)
        }
        if plainPort > 0 { self.unconnected += Array(repeating: (port: plainPort, isWebSocket: false), count: count) }
    }

    /// Begins connections, until `maximumInSetup` are being set up or none is left to begin.
    func connectMore() {
        while self.streamsInSetup.count < Self.maximumInSetup, let (port, isWebSocket) = self.unconnected.popLast() {
            do throws(LoopError) {
                let stream = try TCPStream.connect(loop: self.loop, host: "127.0.0.1", port: port, delegate: self)
                self.streamsInSetup.insert(ObjectIdentifier(stream))
                if isWebSocket { self.streamsForWebSocket.insert(ObjectIdentifier(stream)) }
            } catch {
                Self.fail(error)
            }
        }
    }

    func streamConnected(_ stream: TCPStream) {
        stream.startReading()
        if self.streamsForWebSocket.remove(ObjectIdentifier(stream)) != nil {
            _ = try? stream.write(Self.request)
        } else {
            self.finishSetup(of: stream)
        }
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        self.byteCount += bytes.count
        // The first bytes that a WebSocket receives are the response to its handshake.
        if !self.streamsInSetup.isEmpty { self.finishSetup(of: stream) }
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        if self.streamsInSetup.contains(ObjectIdentifier(stream)) { Self.fail(error) }
        self.openCount -= 1
        if self.openCount == 0, self.streamsInSetup.isEmpty, self.unconnected.isEmpty { self.loop.stop() }
    }

    /// Counts a stream as open if it was being set up, and begins the next connection.
    private func finishSetup(of stream: TCPStream) {
        guard self.streamsInSetup.remove(ObjectIdentifier(stream)) != nil else { return }
        self.openCount += 1
        self.connectMore()
    }

    /// Ends the process because a connection could not be opened: a benchmark needs all of its connections.
    private static func fail(_ error: LoopError) -> Never {
        FileHandle.standardError.write(Data("a connection could not be opened: \(error)\n".utf8))
        exit(1)
    }
}
