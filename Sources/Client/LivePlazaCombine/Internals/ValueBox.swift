// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A variable shared by closures, behind a lock.
final class ValueBox<Value> {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { self.stored = value }

    var value: Value {
        get { self.lock.withLock { self.stored } }
        set {
            // The earlier value is released after the lock, because its deinitializer may call back.
            let earlier = self.lock.withLock {
                defer { self.stored = newValue }
                return self.stored
            }
            _ = earlier
        }
    }

    /// Decrements a count, unless it is zero.
    ///
    /// - Returns: Whether it was not zero.
    func takeOne() -> Bool where Value == Int {
        self.lock.withLock {
            if self.stored == 0 { return false }
            self.stored -= 1
            return true
        }
    }
}
#endif
