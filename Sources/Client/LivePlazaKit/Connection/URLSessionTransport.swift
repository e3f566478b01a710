// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
internal import Foundation

/// The WebSockets of URLSession, on Apple systems.
public struct URLSessionTransport: Transport {
    /// Makes a transport.
    public init() {}

    /// Begins to open a WebSocket; see `Transport`.
    public func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        guard let url = URL(string: address), url.scheme == "wss" || url.scheme == "ws" else {
            // -1001 is the code of `invalidParameter`.
            throw ErrorInfo(code: -1001, message: "'\(address)' is no address of a gateway")
        }
        return URLSessionSocket(url, onEvent)
    }
}

/// A WebSocket of URLSession.
///
/// Its events arrive on the operation queue of its session, one after the other.
private final class URLSessionSocket: NSObject, TransportConnection, URLSessionWebSocketDelegate {
    private let onEvent: @Sendable (TransportEvent) -> Void
    private let task = Locked<URLSessionWebSocketTask?>(nil)
    private let isCloseReported = Locked(false)

    /// The maximum size of a server's message: 4 MiB (PROTOCOL.md, section 12).
    private static let maximumMessageSize = 4 << 20

    init(_ url: URL, _ onEvent: @escaping @Sendable (TransportEvent) -> Void) {
        self.onEvent = onEvent
        super.init()
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
        let task = session.webSocketTask(with: url, protocols: ["liveplaza.v1"])
        task.maximumMessageSize = Self.maximumMessageSize
        self.task.withLock { $0 = task }
        task.resume()
        // The session retains its delegate until it is invalidated, which happens when its last task has ended.
        session.finishTasksAndInvalidate()
    }

    func send(_ text: [UInt8]) {
        let message = URLSessionWebSocketTask.Message.string(String(decoding: text, as: UTF8.self))
        // An error of sending is not reported as the end of the connection. The server may have just closed it with a
        // code that forbids a reconnect, and that code is not known here. `receive` or the delegate reports the end.
        self.task.withLock { $0 }?.send(message) { _ in }
    }

    func close(code: Int) {
        let code = URLSessionWebSocketTask.CloseCode(rawValue: code) ?? .normalClosure
        self.task.withLock { $0 }?.cancel(with: code, reason: nil)
    }

    private func receive(_ task: URLSessionWebSocketTask) {
        task.receive { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(.string(let text)): self.onEvent(.text(Array(text.utf8)))
            case .success: self.onEvent(.binary)
            case .failure:
                let code = task.closeCode
                return self.reportClosed(code: code == .invalid ? ClientCloseCode.lost : code.rawValue)
            }
            self.receive(task)
        }
    }

    /// Reports the end of the connection, unless it was reported before.
    private func reportClosed(code: Int) {
        let wasReported = self.isCloseReported.withLock { isReported in
            defer { isReported = true }
            return isReported
        }
        if !wasReported { self.onEvent(.closed(code: code)) }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        self.onEvent(.opened)
        self.receive(webSocketTask)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        self.reportClosed(code: closeCode.rawValue)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // If the server has sent a close frame, its code was reported before.
        self.reportClosed(code: ClientCloseCode.lost)
    }
}
#endif
