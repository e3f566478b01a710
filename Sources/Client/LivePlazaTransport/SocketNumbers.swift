// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// Numbers the WebSockets of a transport; can be used on any thread.
final class SocketNumbers: Sendable {
    private let lastNumber = Locked<UInt64>(0)

    /// Returns a number that no other WebSocket of the transport has.
    func next() -> UInt64 {
        self.lastNumber.withLock { number in
            number += 1
            return number
        }
    }
}
