// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import Concurrency
import EventLoop
import Glibc
import Testing

/// Tests of `FaultProxies`, which interrupts connections, between a client and an echo server.
struct FaultProxiesTests {
    @Test func `bytes pass in both directions`() throws {
        let path = try EchoPath()
        #expect(path.exchange([1, 2, 3]) == [1, 2, 3])
        #expect(path.proxies.connectionCount(0) == 1)
    }

    @Test func `a cut ends all connections, and each new one until the cut is over`() throws {
        let path = try EchoPath()
        #expect(path.exchange([1]) == [1])
        // 0 is the index of the client's proxy.
        path.proxies.interrupt(0, .cut)
        #expect(path.client.receive(1) == .ended)
        #expect(try Client(port: path.proxies.ports[0]).exchange([2]) == .ended)
        path.proxies.interrupt(0, .none)
        // The proxy's thread ends the interruption a moment later; until then it closes new connections.
        let deadline = ContinuousClock.now + .seconds(10)
        var answer = try Client(port: path.proxies.ports[0]).exchange([3])
        while answer == .ended, ContinuousClock.now < deadline {
            answer = try Client(port: path.proxies.ports[0]).exchange([3])
        }
        #expect(answer == .bytes([3]))
    }

    @Test(arguments: [Set([Direction.toServer]), [.toClient], [.toServer, .toClient]])
    func `bytes that are sent during a silence arrive after it, in order`(directions: Set<Direction>) throws {
        // A silence in either direction keeps the answer of the echo server from the client.
        let path = try EchoPath()
        #expect(path.exchange([1]) == [1])
        // The interruption must begin before the bytes arrive at the proxy.
        try path.interrupt(.silence(directions), witness: 1)
        path.client.send([2])
        path.client.send([3])
        #expect(path.client.isSilent())
        // A new connection waits too.
        let lateClient = try Client(port: path.proxies.ports[0])
        lateClient.send([9])
        #expect(lateClient.isSilent())
        path.proxies.interrupt(0, .none)
        #expect(path.client.receive(2) == .bytes([2, 3]))
        #expect(lateClient.receive(1) == .bytes([9]))
    }

    @Test func `a delay applies in each direction`() throws {
        let path = try EchoPath()
        #expect(path.exchange([1]) == [1])
        try path.interrupt(.delay(milliseconds: 100), witness: 1)
        let began = ContinuousClock.now
        #expect(path.exchange([2, 3]) == [2, 3])
        // Two delays of 100 ms; a timer may fire a few milliseconds early.
        #expect(ContinuousClock.now - began >= .milliseconds(195))
        try path.interrupt(.none, witness: 2)
        #expect(path.exchange([4]) == [4])
    }

    @Test func `when the server closes a connection, the client's side ends too`() throws {
        let path = try EchoPath()
        #expect(path.exchange([1]) == [1])
        path.echo.stop()
        #expect(path.client.receive(1) == .ended)
    }

    @Test func `a large answer reaches a receiver that begins to read late`() throws {
        let path = try EchoPath()
        // Each value is repeated seven times, so that a lost or repeated byte shows.
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let client = path.client
        let sender = DedicatedThread("sender") { client.send(bytes) }
        // The client begins to read 200 ms later. Until then the bytes fill the sockets on their way, and the rest of
        // the 3 MB waits in the proxy. On a very slow machine, fewer bytes wait there; the test passes all the same.
        usleep(200_000)
        #expect(client.receive(bytes.count) == .bytes(bytes))
        sender.join()
    }
}

/// A client, a proxy and an echo server, connected in this order.
private struct EchoPath {
    let echo: LoopThread
    /// Three proxies of the echo server: 0 is the client's, and the tests use 1 and 2 as witnesses of `interrupt`.
    let proxies: FaultProxies
    let client: Client

    init() throws {
        let (echo, port) = try EventLoop.start(name: "echo") { loop throws(LoopError) -> UInt16 in
            try TCPListener(loop: loop, host: "127.0.0.1", port: 0) { stream in
                // 16 MiB, more than any test sends.
                stream.pendingLimitBytes = 16_777_216
                stream.delegate = Echo()
                stream.startReading()
            }.port
        }
        self.echo = echo
        self.proxies = try FaultProxies(servers: [port, port, port])
        self.client = try Client(port: self.proxies.ports[0])
    }

    /// Sends bytes and returns the answer; nil if the answer does not arrive within 10 s.
    func exchange(_ bytes: [UInt8]) -> [UInt8]? {
        if case .bytes(let answer) = self.client.exchange(bytes) { answer } else { nil }
    }

    /// Interrupts the client's connections, and returns when the interruption has begun.
    ///
    /// One thread applies the interruptions of all proxies in order. Once that thread has cut the witness's proxy, the
    /// client's interruption has begun. The proxy of the witness (1 or 2) stays cut: a test may use each only once.
    func interrupt(_ interruption: Interruption, witness: Int) throws {
        let witnessClient = try Client(port: self.proxies.ports[witness])
        #expect(witnessClient.exchange([0]) == .bytes([0]), "the witness must be connected")
        self.proxies.interrupt(0, interruption)
        self.proxies.interrupt(witness, .cut)
        #expect(witnessClient.receive(1) == .ended)
    }
}

/// Sends back all bytes that it receives.
private final class Echo: TCPStreamDelegate {
    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        _ = try? stream.write(SharedBytes(bytes.span))
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {}
}

/// A blocking client; each read waits 10 s at most.
private final class Client: Sendable {
    enum Answer: Equatable {
        case bytes([UInt8])
        /// Too few bytes arrived within the read's 10 s.
        case nothing
        /// The connection has ended.
        case ended
    }

    private struct Failure: Error { var errno: Int32 }
    private let descriptor: Int32

    init(port: UInt16) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(
            self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // 127.0.0.1
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = self.descriptor
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure(errno: errno) }
    }

    deinit { close(self.descriptor) }

    /// Sends bytes, and receives as many.
    func exchange(_ bytes: [UInt8]) -> Answer {
        self.send(bytes)
        return self.receive(bytes.count)
    }

    /// Whether nothing arrives within half a second, in which a proxy without an interruption would long have answered.
    func isSilent() -> Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 500) == 0
    }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { buffer in
                unsafe Glibc.send(self.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Receives exactly `count` bytes, unless the time is over or the connection ends before.
    func receive(_ count: Int) -> Answer {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let read = unsafe bytes[received...].withUnsafeMutableBytes { buffer in
                unsafe recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
            }
            if read > 0 {
                received += read
            } else {
                return read < 0 && errno == EAGAIN ? .nothing : .ended
            }
        }
        return .bytes(bytes)
    }
}
