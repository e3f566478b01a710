// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A value that any thread may read and change. (`Mutex` is newer than the systems that the kit supports.)
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) { self.value = value }

    /// Runs `body` with the value; no other thread has it meanwhile.
    ///
    /// `body` must not call back.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try self.lock.withLock { try body(&self.value) }
    }
}
