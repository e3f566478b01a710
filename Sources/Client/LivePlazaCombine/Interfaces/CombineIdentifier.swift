// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The identity of a subscriber or subscription, which may be a value without an object identity.
public struct CombineIdentifier: Hashable, CustomStringConvertible, Sendable {
    private let number: UInt

    /// Makes a new identity.
    public init() { self.number = UInt(IdentifierCounter.shared.next()) }

    /// Makes the identity of an object.
    ///
    /// - Parameter obj: The object; the identity is unique only while the object exists.
    public init(_ obj: AnyObject) { self.number = UInt(bitPattern: ObjectIdentifier(obj)) }

    /// The identity as text, for logs.
    public var description: String { "0x" + String(self.number, radix: 16) }
}

/// A type with an identity.
public protocol CustomCombineIdentifierConvertible {
    /// The identity.
    var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
    /// The identity of the object.
    public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

/// Makes unique odd numbers; they differ from the identities of objects, which are addresses and therefore even.
private final class IdentifierCounter: Sendable {
    static let shared = IdentifierCounter()

    private let lastNumber = LockedValue<UInt64>(1)

    func next() -> UInt64 {
        self.lastNumber.withValue { number in
            number &+= 2
            return number
        }
    }
}
#endif
