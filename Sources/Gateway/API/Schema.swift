// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// The form of a JSON value: bodies are checked by it, and it is what the API's description shows.
///
/// A body is checked for its form alone: types, names, choices. How long, how many and how large things may be is shown,
/// but checked by the machine that the call goes to, so a limit has the same code whichever way the call comes; lengths
/// there count bytes, here characters.
indirect enum Schema: Hashable, Sendable {
    case boolean
    /// `but`: a number of the range that is none.
    case integer(ClosedRange<Int64>, but: Int64? = nil)
    /// At most so many characters; a pattern that it must match, for readers.
    case text(ClosedRange<Int>, pattern: String? = nil)
    case choice([String])
    case list(of: Schema, ClosedRange<Int>)
    /// Names of the writer's choice, so many; what they must be, for readers.
    case map(of: Schema, ClosedRange<Int>, names: Schema? = nil)
    case object([Field])
    /// One of several objects.
    case either([Schema])
    /// Any object at all.
    case anything
    /// A form that has a name, for answers.
    case named(String)

    /// A member of an object.
    struct Field: Hashable, Sendable {
        var name: String
        var schema: Schema
        var isNeeded: Bool
        /// One sentence, or nothing.
        var summary: String
    }

    /// Any whole number.
    static let int = Schema.integer(Int64.min...Int64.max)
    /// A whole number from 0 on.
    static let count = Schema.integer(0...Int64.max)
    /// Any text.
    static let string = Schema.text(0...Int.max)
    /// A text without control characters.
    static func plain(_ length: ClosedRange<Int>) -> Schema { .text(length, pattern: #"^[^\u0000-\u001F]*$"#) }
}

extension Schema.Field {
    /// A member that must be there.
    static func needed(_ name: String, _ schema: Schema, _ summary: String = "") -> Self {
        Self(name: name, schema: schema, isNeeded: true, summary: summary)
    }
    /// A member that may be left out.
    static func optional(_ name: String, _ schema: Schema, _ summary: String = "") -> Self {
        Self(name: name, schema: schema, isNeeded: false, summary: summary)
    }
}

extension Schema {
    /// What is wrong with the form of `value`; its limits are not looked at.
    ///
    /// - Parameters:
    ///   - value: what came.
    ///   - path: where it stands, for the message.
    /// - Returns: a sentence, or nil when it is of this form.
    func fault(in value: JSONValue, at path: String = "") -> String? {
        let place = path.isEmpty ? "the body" : path
        switch (self, value) {
        case (.boolean, .bool), (.text, .text), (.integer, .integer), (.anything, .object): return nil
        case (.boolean, _): return "\(place) is not true or false"
        case (.anything, _): return "\(place) is not an object"
        case (.integer, _): return "\(place) is not a whole number in range"
        case (.text, _): return "\(place) is not a string"
        case (.choice(let choices), .text(let text)):
            return choices.contains(text) ? nil : "\(place) is not one of \(choices.joined(separator: ", "))"
        case (.choice, _): return "\(place) is not a string"
        case (.list(let form, _), .array(let elements)):
            return elements.indices.lazy.compactMap { form.fault(in: elements[$0], at: "\(place).\($0)") }.first
        case (.list, _): return "\(place) is not a list"
        case (.map(let form, _, _), .object(let members)):
            return members.sorted { $0.key < $1.key }.lazy.compactMap {
                form.fault(in: $0.value, at: "\(place).\($0.key)")
            }.first
        case (.map, _), (.object, .null), (.object, .bool), (.object, .integer), (.object, .number), (.object, .text),
            (.object, .array):
            return "\(place) is not an object"
        case (.object(let fields), .object(let members)): return Self.fault(in: members, of: fields, at: path)
        case (.either(let forms), _):
            let faults = forms.map { $0.fault(in: value, at: path) }
            if faults.contains(nil) { return nil }
            return "\(place) is of none of the possible forms: \(faults.compactMap { $0 }.joined(separator: "; "))"
        case (.named, _): return "\(place) is not taken here"
        }
    }

    /// Which limit a value of a query is beyond, or one in a list of them; a body's limits are its call's.
    func limitFault(in value: JSONValue, at place: String) -> String? {
        switch (self, value) {
        case (.integer(let range, _), .integer(let number)):
            guard !range.contains(number) else { return nil }
            return "\(place) is \(number); \(range.lowerBound) to \(range.upperBound) are possible"
        case (.text(let range, _), .text(let text)):
            let length = text.unicodeScalars.count
            guard !range.contains(length) else { return nil }
            return "\(place) has \(length) characters; \(range.lowerBound) to \(range.upperBound) are possible"
        case (.list(let form, let range), .array(let elements)):
            guard range.contains(elements.count) else {
                return "\(place) has \(elements.count) entries; \(range.lowerBound) to \(range.upperBound) are possible"
            }
            return elements.indices.lazy.compactMap { form.limitFault(in: elements[$0], at: "\(place).\($0)") }.first
        default: return nil
        }
    }

    private static func fault(in members: [String: JSONValue], of fields: [Field], at path: String) -> String? {
        let prefix = path.isEmpty ? "" : "\(path)."
        for field in fields {
            guard let value = members[field.name] else {
                if field.isNeeded { return "\(prefix)\(field.name) is missing" }
                continue
            }
            if let fault = field.schema.fault(in: value, at: prefix + field.name) { return fault }
        }
        let known = Set(fields.map(\.name))
        guard let unknown = members.keys.filter({ !known.contains($0) }).min() else { return nil }
        return "\(prefix)\(unknown.prefix(64)) is not known here"
    }

    /// The form as JSON Schema 2020-12 has it.
    ///
    /// - Parameter isOpen: members that are not named are possible: in answers, which may grow.
    /// - Returns: a schema object.
    func json(isOpen: Bool) -> JSONValue {
        switch self {
        case .boolean: return ["type": "boolean"]
        case .integer(let range, let but):
            var members: [String: JSONValue] = ["type": "integer", "format": "int64"]
            if let but { members["not"] = ["const": .integer(but)] }
            if range.lowerBound > Int64.min { members["minimum"] = .integer(range.lowerBound) }
            if range.upperBound < Int64.max { members["maximum"] = .integer(range.upperBound) }
            return .object(members)
        case .text(let range, let pattern):
            var members: [String: JSONValue] = ["type": "string"]
            if range.lowerBound > 0 { members["minLength"] = .integer(Int64(range.lowerBound)) }
            if range.upperBound < Int.max { members["maxLength"] = .integer(Int64(range.upperBound)) }
            if let pattern { members["pattern"] = .text(pattern) }
            return .object(members)
        case .choice(let choices): return ["type": "string", "enum": .array(choices.map { .text($0) })]
        case .list(let form, let range):
            var members: [String: JSONValue] = ["type": "array", "items": form.json(isOpen: isOpen)]
            if range.lowerBound > 0 { members["minItems"] = .integer(Int64(range.lowerBound)) }
            if range.upperBound < Int.max { members["maxItems"] = .integer(Int64(range.upperBound)) }
            return .object(members)
        case .map(let form, let range, let names):
            var members: [String: JSONValue] = [
                "type": "object", "additionalProperties": form.json(isOpen: isOpen),
            ]
            if let names { members["propertyNames"] = names.json(isOpen: isOpen) }
            if range.lowerBound > 0 { members["minProperties"] = .integer(Int64(range.lowerBound)) }
            if range.upperBound < Int.max { members["maxProperties"] = .integer(Int64(range.upperBound)) }
            return .object(members)
        case .object(let fields):
            var properties: [String: JSONValue] = [:]
            for field in fields {
                var schema = field.schema.json(isOpen: isOpen).members
                // Beside a reference nothing else is read by older tools, so it stays alone.
                if !field.summary.isEmpty, schema["$ref"] == nil { schema["description"] = .text(field.summary) }
                properties[field.name] = .object(schema)
            }
            var members: [String: JSONValue] = ["type": "object", "properties": .object(properties)]
            let needed = fields.filter(\.isNeeded).map { JSONValue.text($0.name) }
            if !needed.isEmpty { members["required"] = .array(needed) }
            if !isOpen { members["additionalProperties"] = false }
            return .object(members)
        case .either(let forms): return ["oneOf": .array(forms.map { $0.json(isOpen: isOpen) })]
        case .anything: return ["type": "object"]
        case .named(let name): return ["$ref": .text("#/components/schemas/\(name)")]
        }
    }
}
