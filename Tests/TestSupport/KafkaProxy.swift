// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// A TCP proxy in front of a Kafka broker; it forwards everything, and can deliver one request late.
///
/// The broker must advertise the proxy's port, so that clients reach the broker only through the proxy.
package final class KafkaProxy: Sendable {
    /// The state of the request that is delivered late; `kind` is the request's API key in Kafka's protocol.
    private enum LateRequest {
        case none
        /// The next request of this kind is held back.
        case expected(kind: Int16)
        /// The request is held back. The client repeats it, and the proxy forwards the repetition.
        case held(kind: Int16)
        /// The request is held back until the next request of its kind arrives.
        case due(kind: Int16)
        /// The request was delivered.
        case delivered
    }

    private struct State {
        var lateRequest = LateRequest.none
        var brokerPort: UInt16 = 0
        var sockets: [Int32] = []
        var isStopping = false
    }

    /// The port of 127.0.0.1 on which the proxy listens.
    package let port: UInt16
    private let listener: Int32
    private let state: ConditionVariable<State>

    /// Starts to listen on a free port.
    ///
    /// - Throws: `FreePortError` when there is no free port, or `KafkaProxyError` when the proxy cannot listen.
    package init() throws {
        let port = UInt16(try FreePort.find())
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard unsafe Self.withAddress(of: port, { unsafe bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0
        else { throw KafkaProxyError(errno: errno) }
        let state = ConditionVariable(State())
        self.port = port
        self.listener = listener
        self.state = state
        _ = DedicatedThread("proxy-accept") {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, !state.current.isStopping else { return }
                Self.serve(client, state)
            }
        }
    }

    deinit { self.stop() }

    /// Forwards all further connections to a port of 127.0.0.1.
    package func forward(to brokerPort: UInt16) { self.state.update { $0.brokerPort = brokerPort } }

    /// Holds back the next request of a kind, and ends the client's connection, so that the client repeats the request.
    ///
    /// - Parameter kind: the API key of the request in Kafka's protocol.
    package func holdNextRequest(ofKind kind: Int16) { self.state.update { $0.lateRequest = .expected(kind: kind) } }

    /// Whether a request is held back.
    package var isHolding: Bool {
        if case .held = self.state.current.lateRequest { true } else { false }
    }

    /// Delivers the held request as soon as another request of its kind arrives.
    ///
    /// The proxy forwards the other request half a second later, when the broker has handled the held request.
    package func deliverBeforeNextRequest() {
        self.state.update { state in
            if case .held(let kind) = state.lateRequest { state.lateRequest = .due(kind: kind) }
        }
    }

    /// Whether the held request was delivered.
    package var hasDelivered: Bool {
        if case .delivered = self.state.current.lateRequest { true } else { false }
    }

    /// Ends all connections, so that the threads end.
    package func stop() {
        let sockets = self.state.update { state in
            state.isStopping = true
            // Releases the thread that holds a request back.
            state.lateRequest = .delivered
            defer { state.sockets = [] }
            return state.sockets
        }
        for socket in sockets + [self.listener] { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    // MARK: A connection

    /// Forwards requests and responses of a connection, each direction on a thread of its own.
    private static func serve(_ client: Int32, _ state: ConditionVariable<State>) {
        let broker = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let port = state.current.brokerPort
        guard port != 0, unsafe Self.withAddress(of: port, { unsafe connect(broker, $0, $1) }) == 0 else {
            close(client)
            close(broker)
            return
        }
        for socket in [client, broker] {
            var isOn: Int32 = 1
            _ = unsafe setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        }
        state.update { $0.sockets += [client, broker] }
        _ = DedicatedThread("proxy-requests") {
            while let request = Self.readRequest(client) {
                let wasHeld = Self.holdBackIfNeeded(request, from: client, state)
                guard Self.write(request, to: broker) else { break }
                // The client has lost this connection, so the connection to the broker is closed next. Before that,
                // the broker must read the held request. Nobody waits for this thread, so the pause may be long.
                if wasHeld { DedicatedThread.sleep(for: .seconds(1)) }
            }
            shutdown(broker, Int32(SHUT_WR))
        }
        _ = DedicatedThread("proxy-responses") {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe recv(broker, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                // The write fails if the client has closed its connection while its request was held. That is not an
                // error.
                _ = Self.write(Array(buffer[..<count]), to: client)
            }
            shutdown(client, Int32(SHUT_RDWR))
        }
    }

    /// Updates the state of the late request, and blocks as long as `request` must not reach the broker.
    ///
    /// - Returns: whether the request was held back.
    private static func holdBackIfNeeded(
        _ request: [UInt8], from client: Int32, _ state: ConditionVariable<State>
    ) -> Bool {
        guard request.count >= 6 else { return false }
        // A request begins with four bytes of length and the API key in two bytes.
        let kind = Int16(request[4]) << 8 | Int16(request[5])
        // `held` is the held request itself, `afterHeld` the next request of its kind.
        enum Forwarding { case atOnce, held, afterHeld }
        let forwarding = state.update { state -> Forwarding in
            switch state.lateRequest {
            case .expected(kind):
                state.lateRequest = .held(kind: kind)
                return .held
            case .due(kind):
                state.lateRequest = .delivered
                return .afterHeld
            default: return .atOnce
            }
        }
        switch forwarding {
        case .atOnce: return false
        case .held:
            // The client repeats the request as soon as its connection is lost.
            shutdown(client, Int32(SHUT_RDWR))
            _ = state.wait { state in if case .delivered = state.lateRequest { true } else { nil } }
            return true
        case .afterHeld:
            // The broker must handle the held request first. Half a second is long for a broker on this machine, and
            // well below the 1.9 s after which the client would repeat this request.
            DedicatedThread.sleep(for: .milliseconds(500))
            return false
        }
    }

    // MARK: Sockets

    /// Reads a whole request: four bytes of length, then its content.
    private static func readRequest(_ socket: Int32) -> [UInt8]? {
        guard let length = Self.read(4, from: socket) else { return nil }
        let count = length.reduce(0) { $0 << 8 | Int($1) }
        // By default, Kafka accepts no longer request than about 100 MB.
        guard count <= 100_000_000, let content = Self.read(count, from: socket) else { return nil }
        return length + content
    }

    /// Reads exactly `count` bytes; nil if the connection ends before.
    private static func read(_ count: Int, from socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe recv(socket, buffer.baseAddress, count, Int32(MSG_WAITALL))
        }
        return received == count ? bytes : nil
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { buffer in
                unsafe send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func withAddress(
        of port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // 127.0.0.1.
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe body(generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Why the proxy cannot listen.
package struct KafkaProxyError: Error {
    /// The system's error code.
    package var errno: Int32
}
