// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A variable that closures share, protected by a lock.
final class ValueBox<Value> {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { self.stored = value }

    var value: Value {
        get { self.lock.withLock { self.stored } }
        set {
            // The replaced value is released after the lock, because its deinitializer may call back.
            let replaced = self.lock.withLock {
                defer { self.stored = newValue }
                return self.stored
            }
            _ = replaced
        }
    }

    /// Decrements a count that is above zero.
    ///
    /// - Returns: Whether the count was above zero.
    func decrementIfPositive() -> Bool where Value == Int {
        self.lock.withLock {
            if self.stored == 0 { return false }
            self.stored -= 1
            return true
        }
    }
}
#endif
