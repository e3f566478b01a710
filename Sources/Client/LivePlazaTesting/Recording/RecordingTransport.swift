// SPDX-License-Identifier: Apache-2.0
public import LivePlazaKit
internal import MachineKit

/// Records the frames of a client, and passes them to another transport.
///
/// ```swift
/// let recorder = RecordingTransport(try LoopTransport())
/// let plaza = LivePlaza(options: PlazaOptions(gateways: [address], transport: recorder))
/// // …
/// try recorder.recording.lines.write(to: file, atomically: true, encoding: .utf8)
/// ```
///
/// In the example, `LoopTransport` (of `LivePlazaTransport`) connects to a real gateway, also on systems on which
/// URLSession has no WebSockets.
public final class RecordingTransport: Transport {
    private let transport: any Transport
    private let log: RecordingLog

    /// Records the connections over `transport`.
    public init(_ transport: any Transport) {
        self.transport = transport
        let start = ContinuousClock.now
        self.log = RecordingLog { Milliseconds(ContinuousClock.now - start) }
    }

    /// Records the connections over a transport of a simulated cluster, with the times of the cluster's clock.
    public init(_ transport: any Transport, on cluster: SimulatedCluster) {
        self.transport = transport
        let clock = cluster.clock
        self.log = RecordingLog { clock.elapsed }
    }

    /// The recording so far.
    public var recording: SessionRecording { self.log.recording }

    /// Begins to open a WebSocket; see `Transport`.
    public func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        let log = self.log
        log.append(.connects)
        let connection = try self.transport.connect(to: address) { event in
            switch event {
            case .opened: log.append(.opened)
            case .text(let text): log.append(.received, text: text)
            // The protocol has no binary frames.
            case .binary: break
            case .closed(let code): log.append(.closed, code: code)
            }
            onEvent(event)
        }
        return RecordingConnection(connection: connection, log: log)
    }
}

private struct RecordingConnection: TransportConnection {
    let connection: any TransportConnection
    let log: RecordingLog

    func send(_ text: [UInt8]) {
        self.log.append(.sent, text: text)
        self.connection.send(text)
    }

    /// Closes the connection; the event `closed`, which the transport then reports, is recorded instead of this call.
    func close(code: Int) { self.connection.close(code: code) }
}

private final class RecordingLog: Sendable {
    private let state = Locked(SessionRecording())
    /// The time since the beginning of the recording, or of the cluster.
    private let elapsed: @Sendable () -> Milliseconds

    init(elapsed: @escaping @Sendable () -> Milliseconds) { self.elapsed = elapsed }

    var recording: SessionRecording { self.state.withLock { $0 } }

    func append(_ kind: SessionRecording.Entry.Kind, text: [UInt8]? = nil, code: Int? = nil) {
        let time = self.elapsed()
        self.state.withLock { $0.append(kind, at: time, text: text, code: code) }
    }
}
