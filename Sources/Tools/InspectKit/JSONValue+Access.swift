// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

extension JSONValue {
    /// A member of an object; nil if the object has no such member, or if the value is not an object.
    subscript(_ name: String) -> JSONValue? { self.members[name] }

    /// The text; nil for a value of another type.
    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// The whole number; nil for a value of another type.
    var integer: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }
}
