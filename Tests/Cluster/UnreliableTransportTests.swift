// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import Synchronization
import Testing

/// Tests of the cuts that a test plans in a user's network.
struct UnreliableTransportTests {
    /// A client whose network leads to `EchoTransport`.
    private final class Client: Sendable {
        let network = UnreliableTransport(EchoTransport())
        private let receivedEvents = Mutex<[TransportEvent]>([])

        var events: [TransportEvent] { self.receivedEvents.withLock { $0 } }

        /// Connects, sends texts, and returns all events so far.
        func connect(andSend texts: String...) throws -> [TransportEvent] {
            let connection = try self.network.connect(to: "ws://echo") { event in
                self.receivedEvents.withLock { $0.append(event) }
            }
            for text in texts { connection.send(Array(text.utf8)) }
            return self.events
        }
    }

    private static func text(_ text: String) -> TransportEvent { .text(Array(text.utf8)) }

    @Test func `a planned cut comes at the frame after the given number, which is lost`() throws {
        // The frames are: the request to open the connection, its answer, and each text and its echo.
        let (end, a, b) = (TransportEvent.closed(code: 1006), Self.text("a"), Self.text("b"))
        let eventsByCount: [Int: [TransportEvent]] = [
            1: [end], 2: [.opened, end], 3: [.opened, end], 4: [.opened, a, end], 5: [.opened, a, end],
            6: [.opened, a, b],
        ]
        for (count, events) in eventsByCount {
            let client = Client()
            client.network.cut(afterFrames: count)
            #expect(try client.connect(andSend: "a", "b") == events, "cut after \(count) frames")
            #expect(client.network.isCutPlanned == (count == 6))
            #expect(client.network.isOpen == (count == 6))
        }
    }

    @Test func `a planned cut comes once, and a cut replaces it`() throws {
        let client = Client()
        client.network.cut(afterFrames: 2)
        #expect(try client.connect(andSend: "a", "b") == [.opened, .closed(code: 1006)])
        #expect(try client.connect(andSend: "c").suffix(2) == [.opened, Self.text("c")])
        client.network.cut(afterFrames: 0)
        client.network.cut()
        #expect(client.events.last == .closed(code: 1006))
        #expect(try client.connect(andSend: "d").suffix(2) == [.opened, Self.text("d")])
    }
}

/// A transport whose connections are open at once, and return each text.
private struct EchoTransport: Transport {
    func connect(
        to address: String, onEvent: @escaping @Sendable (TransportEvent) -> Void
    ) throws(ErrorInfo) -> any TransportConnection {
        onEvent(.opened)
        return EchoConnection(onEvent: onEvent)
    }
}

private struct EchoConnection: TransportConnection {
    let onEvent: @Sendable (TransportEvent) -> Void

    func send(_ text: [UInt8]) { self.onEvent(.text(text)) }
    func close(code: Int) {}
}
