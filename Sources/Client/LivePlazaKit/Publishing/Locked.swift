// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A value that any thread may read and change.
///
/// It is not a `Mutex`, because the kit supports systems that do not have `Mutex` yet.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not call this method again.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try self.lock.withLock { try body(&self.value) }
    }
}
