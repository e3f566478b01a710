// SPDX-License-Identifier: Apache-2.0

/// Any JSON value, for JSON without a Swift type: unchecked request bodies, and the API's description.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A whole number that fits an `Int64`.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The members of an object; empty for anything else.
    package var members: [String: JSONValue] {
        if case .object(let members) = self { return members }
        return [:]
    }
}

extension JSONValue: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes any JSON value; `decoder` must be the decoder of `Wire.decode`.
    ///
    /// - Throws: `DecodingError` for a number outside the range of `Double`, or for another decoder.
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? StrictJSONDecoder else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: "can be decoded only by Wire.decode"))
        }
        self = try decoder.jsonValue()
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .integer(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .text(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, later in later })
    }
}
