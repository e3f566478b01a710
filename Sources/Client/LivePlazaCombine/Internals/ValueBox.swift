// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A variable that closures share; a lock protects each single read and each single write.
final class ValueBox<Value> {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { self.stored = value }

    var value: Value {
        get { self.lock.withLock { self.stored } }
        set {
            let replaced = self.lock.withLock {
                defer { self.stored = newValue }
                return self.stored
            }
            // The replaced value must live until here, outside the lock, because its deinitializer may call back.
            withExtendedLifetime(replaced) {}
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
