// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

/// The schema of a JSON value, used to check request bodies and to generate the OpenAPI description.
///
/// Only the structure of a body is checked here: types, property names and choices. The lengths and ranges in a body
/// are only described: the OpenAPI description contains them, and the call's parser or machine checks them. So a
/// violation has the same error code over HTTP and WebSocket. The lengths and ranges of query items are checked
/// (`limitError`). Lengths in a schema are in characters; the limits of parser and machine are in bytes.
indirect enum Schema: Hashable, Sendable {
    case boolean
    /// A whole number in the range, except the number `but`, if given. Both are only described, not checked in a body.
    case integer(ClosedRange<Int64>, but: Int64? = nil)
    /// A text whose length in characters is in the range. The pattern is only described, not checked.
    case text(ClosedRange<Int>, pattern: String? = nil)
    /// One of several texts.
    case choice([String])
    /// A list whose number of elements is in the range. Whether the elements are unique is only described, not checked.
    case list(of: Schema, ClosedRange<Int>, isUnique: Bool = false)
    /// An object whose property names the client chooses, and whose number of properties is in the range. The schema of
    /// the names is only described, not checked.
    case map(of: Schema, ClosedRange<Int>, names: Schema? = nil)
    /// An object with these properties.
    case object([Field])
    /// One of several objects.
    case either([Schema])
    /// An object with any properties.
    case anything
    /// A reference to a named schema; used in responses.
    case named(String)

    /// A property of an object.
    struct Field: Hashable, Sendable {
        var name: String
        var schema: Schema
        var isRequired: Bool
        /// A one-sentence description; may be empty.
        var summary: String
    }

    /// Any whole number.
    static let int = Schema.integer(Int64.min...Int64.max)
    /// A whole number that is not negative.
    static let count = Schema.integer(0...Int64.max)
    /// Any text.
    static let string = Schema.text(0...Int.max)
    /// A text without control characters.
    static func plainText(_ length: ClosedRange<Int>) -> Schema {
        .text(length, pattern: #"^[^\u0000-\u001F\u007F]*$"#)
    }
}

extension Schema.Field {
    /// Returns a required property.
    static func required(_ name: String, _ schema: Schema, _ summary: String = "") -> Self {
        Self(name: name, schema: schema, isRequired: true, summary: summary)
    }
    /// Returns an optional property.
    static func optional(_ name: String, _ schema: Schema, _ summary: String = "") -> Self {
        Self(name: name, schema: schema, isRequired: false, summary: summary)
    }
}

extension Schema {
    /// Checks the structure of `value`, but not its lengths and ranges.
    ///
    /// - Parameters:
    ///   - value: The value to check.
    ///   - path: The path of the value in the body, used in the message.
    /// - Returns: An error message; nil if the value conforms to the schema.
    func validationError(in value: JSONValue, at path: String = "") -> String? {
        let subject = path.isEmpty ? "the body" : path
        switch (self, value) {
        case (.boolean, .bool), (.text, .text), (.integer, .integer), (.anything, .object): return nil
        case (.boolean, _): return "\(subject) is not true or false"
        case (.anything, _): return "\(subject) is not an object"
        // A number beyond `Int64` is not an `.integer` value. The schema's own range is not checked.
        case (.integer, _): return "\(subject) is not a whole number in range"
        case (.text, _): return "\(subject) is not a string"
        case (.choice(let choices), .text(let text)):
            return choices.contains(text) ? nil : "\(subject) is not one of \(choices.joined(separator: ", "))"
        case (.choice, _): return "\(subject) is not a string"
        case (.list(let element, _, _), .array(let elements)):
            return elements.indices.lazy.compactMap {
                element.validationError(in: elements[$0], at: "\(subject).\($0)")
            }
            .first
        case (.list, _): return "\(subject) is not a list"
        case (.map(let property, _, _), .object(let properties)):
            return properties.sorted { $0.key < $1.key }.lazy.compactMap {
                property.validationError(in: $0.value, at: "\(subject).\($0.key)")
            }.first
        case (.map, _), (.object, .null), (.object, .bool), (.object, .integer), (.object, .number), (.object, .text),
            (.object, .array):
            return "\(subject) is not an object"
        case (.object(let fields), .object(let properties)):
            return Self.validationError(in: properties, of: fields, at: path)
        case (.either(let schemas), _):
            let validationErrors = schemas.map { $0.validationError(in: value, at: path) }
            if validationErrors.contains(nil) { return nil }
            return
                "\(subject) is of none of the possible forms: "
                + validationErrors.compactMap { $0 }.joined(separator: "; ")
        // Only responses, which are not checked, have named schemas.
        case (.named, _): return "\(subject) is not taken here"
        }
    }

    /// Returns an error message if the value of a query item exceeds a limit of the schema.
    ///
    /// The values of a body are not checked here: the call's parser or machine checks them.
    func limitError(in value: JSONValue, at path: String) -> String? {
        switch (self, value) {
        case (.integer(let range, let excluded), .integer(let number)):
            if range.contains(number), number != excluded { return nil }
            let exception = excluded.map { " except \($0)" } ?? ""
            return "\(path) is \(number); \(range.lowerBound) to \(range.upperBound)\(exception) are possible"
        case (.text(let range, _), .text(let text)):
            let length = text.unicodeScalars.count
            guard !range.contains(length) else { return nil }
            return "\(path) has \(length) characters; \(range.lowerBound) to \(range.upperBound) are possible"
        case (.list(let element, let range, _), .array(let elements)):
            guard range.contains(elements.count) else {
                return "\(path) has \(elements.count) entries; \(range.lowerBound) to \(range.upperBound) are possible"
            }
            return elements.indices.lazy.compactMap { element.limitError(in: elements[$0], at: "\(path).\($0)") }.first
        default: return nil
        }
    }

    private static func validationError(
        in properties: [String: JSONValue], of fields: [Field], at path: String
    ) -> String? {
        let prefix = path.isEmpty ? "" : "\(path)."
        for field in fields {
            guard let value = properties[field.name] else {
                if field.isRequired { return "\(prefix)\(field.name) is missing" }
                continue
            }
            if let validationError = field.schema.validationError(in: value, at: prefix + field.name) {
                return validationError
            }
        }
        let knownNames = Set(fields.map(\.name))
        guard let unknownName = properties.keys.filter({ !knownNames.contains($0) }).min() else { return nil }
        return "\(prefix)\(unknownName.prefix(64)) is not known here"
    }

    /// Returns the schema in JSON Schema 2020-12.
    ///
    /// - Parameter isOpen: Whether objects may have further properties; true in responses, to which later versions may
    ///   add some.
    /// - Returns: A schema object.
    func json(isOpen: Bool) -> JSONValue {
        switch self {
        case .boolean: return ["type": "boolean"]
        case .integer(let range, let but):
            var keywords: [String: JSONValue] = ["type": "integer", "format": "int64"]
            if let but { keywords["not"] = ["const": .integer(but)] }
            if range.lowerBound > Int64.min { keywords["minimum"] = .integer(range.lowerBound) }
            if range.upperBound < Int64.max { keywords["maximum"] = .integer(range.upperBound) }
            return .object(keywords)
        case .text(let range, let pattern):
            var keywords: [String: JSONValue] = ["type": "string"]
            if range.lowerBound > 0 { keywords["minLength"] = .integer(Int64(range.lowerBound)) }
            if range.upperBound < Int.max { keywords["maxLength"] = .integer(Int64(range.upperBound)) }
            if let pattern { keywords["pattern"] = .text(pattern) }
            return .object(keywords)
        case .choice(let choices): return ["type": "string", "enum": .array(choices.map { .text($0) })]
        case .list(let element, let range, let isUnique):
            var keywords: [String: JSONValue] = ["type": "array", "items": element.json(isOpen: isOpen)]
            if range.lowerBound > 0 { keywords["minItems"] = .integer(Int64(range.lowerBound)) }
            if range.upperBound < Int.max { keywords["maxItems"] = .integer(Int64(range.upperBound)) }
            if isUnique { keywords["uniqueItems"] = .bool(true) }
            return .object(keywords)
        case .map(let property, let range, let names):
            var keywords: [String: JSONValue] = [
                "type": "object", "additionalProperties": property.json(isOpen: isOpen),
            ]
            if let names { keywords["propertyNames"] = names.json(isOpen: isOpen) }
            if range.lowerBound > 0 { keywords["minProperties"] = .integer(Int64(range.lowerBound)) }
            if range.upperBound < Int.max { keywords["maxProperties"] = .integer(Int64(range.upperBound)) }
            return .object(keywords)
        case .object(let fields):
            var properties: [String: JSONValue] = [:]
            for field in fields {
                var schema = field.schema.json(isOpen: isOpen).members
                // Older tools ignore all siblings of a `$ref`, so a reference gets no description.
                if !field.summary.isEmpty, schema["$ref"] == nil { schema["description"] = .text(field.summary) }
                properties[field.name] = .object(schema)
            }
            var keywords: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
            let required = fields.filter(\.isRequired).map { JSONValue.text($0.name) }
            if !required.isEmpty { keywords["required"] = .array(required) }
            if !isOpen { keywords["additionalProperties"] = false }
            return .object(keywords)
        case .either(let schemas): return ["oneOf": .array(schemas.map { $0.json(isOpen: isOpen) })]
        case .anything: return ["type": "object"]
        case .named(let name): return ["$ref": .text("#/components/schemas/\(name)")]
        }
    }
}
