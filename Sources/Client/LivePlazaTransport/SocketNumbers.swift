// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// Counts the WebSockets of a transport, on any thread.
final class SocketNumbers: Sendable {
    private let last = Locked<UInt64>(0)

    /// A number that no other WebSocket has.
    func next() -> UInt64 {
        self.last.withLock { last in
            last += 1
            return last
        }
    }
}
