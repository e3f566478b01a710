// SPDX-License-Identifier: Apache-2.0
package import PlazaWire
internal import Testing

/// The parameters of a step of a conformance case: usually an object, whose keys are the labels of the parameters.
package struct CaseParams {
    package let value: JSONValue

    package init(value: JSONValue) { self.value = value }

    /// The parameter with this label; `defaultText` if it is missing.
    package func text(_ label: String, default defaultText: String = "") -> String {
        self.optionalText(label) ?? defaultText
    }

    /// The parameter with this label, a text; nil if it is missing.
    package func optionalText(_ label: String) -> String? { self.read(label) { Self.text($0) } }

    /// The parameter with this label, a whole number; `defaultNumber` if it is missing.
    package func number(_ label: String, default defaultNumber: Int64) -> Int64 {
        self.read(label) { if case .integer(let number) = $0 { number } else { nil } } ?? defaultNumber
    }

    /// Whether the parameter with this label is true; false if it is missing.
    package func bool(_ label: String) -> Bool {
        self.read(label) { if case .bool(let isTrue) = $0 { isTrue } else { nil } } ?? false
    }

    /// The texts in the array with this label; empty if it is missing.
    package func texts(_ label: String) -> [String] {
        let values: [JSONValue] = self.read(label) { if case .array(let values) = $0 { values } else { nil } } ?? []
        return values.compactMap { value in
            let text = Self.text(value)
            if text == nil { Issue.record("\(label) has an entry that is no text: \(value)") }
            return text
        }
    }

    /// Whether there is a parameter with this label.
    package func has(_ label: String) -> Bool { self.value.members[label] != nil }

    /// All parameters, which are texts, by their labels.
    package var textMembers: [String: String] {
        Dictionary(uniqueKeysWithValues: self.value.members.keys.map { ($0, self.text($0)) })
    }

    private static func text(_ value: JSONValue) -> String? { if case .text(let text) = value { text } else { nil } }

    /// The parameter with this label, converted by `convert`; nil if it is missing.
    ///
    /// A parameter that cannot be converted is an issue of the test, because with a default value the case would test
    /// something else than it says.
    private func read<Value>(_ label: String, _ convert: (JSONValue) -> Value?) -> Value? {
        guard let value = self.value.members[label] else { return nil }
        let result = convert(value)
        if result == nil { Issue.record("\(label) has the wrong type: \(value)") }
        return result
    }

    /// The parameters in the object with this label; none if the object is missing.
    package func object(_ label: String) -> CaseParams { CaseParams(value: self.value.members[label] ?? .object([:])) }

    /// The entries of the array with this label.
    ///
    /// - Throws: `CaseFailure` if there are none.
    func values(_ label: String) throws(CaseFailure) -> [JSONValue] {
        guard case .array(let values)? = self.value.members[label], !values.isEmpty else {
            throw CaseFailure("\(label) is no array with entries")
        }
        return values
    }
}

/// The error of a case or session that is malformed, or whose expectation the client does not meet.
package struct CaseFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
