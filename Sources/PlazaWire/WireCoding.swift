// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Why bytes are not what they should be.
package enum WireError: Error, Equatable, Sendable {
    /// No JSON.
    case notJSON
    /// JSON, but a field is missing or of another type; `path` names it.
    case badField(path: String, message: String)
    /// A record of a version that this program does not know.
    case unknownVersion(Int)

    /// The error in words, of which the first names what is wrong.
    package var words: String {
        switch self {
        case .badField("", _): "this is not an object"
        case .badField(let path, let message): "\(path) \(message)"
        case .unknownVersion(let version): "version \(version) is not known"
        case .notJSON: "this is not JSON"
        }
    }
}

/// JSON to values and back, for records and frames alike: keys sorted, slashes plain, so that golden files hold.
package enum Wire {
    /// The JSON of `value`.
    package static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            // Our own types hold nothing that JSON cannot say (no NaN, no infinite number).
            preconditionFailure("a model value without JSON: \(error)")
        }
    }

    /// The value that `bytes` spell.
    ///
    /// - Throws: `WireError` with the path of the first field that is wrong.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: [UInt8]) throws(WireError)
        -> Value
    {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw Self.explain(error, bytes)
        } catch {
            throw .notJSON
        }
    }

    /// The value that bytes of others spell, in which nothing may stand that is no JSON (RFC 8259), read or not.
    ///
    /// - Throws: `WireError` with the path of the first field that is wrong.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, ofOthers bytes: [UInt8]
    ) throws(WireError) -> Value {
        guard StrictJSON.holds(bytes) else { throw .notJSON }
        return try Self.decode(type, from: bytes)
    }

    /// Any JSON at all.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    private static func explain(_ error: DecodingError, _ bytes: [UInt8]) -> WireError {
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            (context.codingPath + (last.map { [$0] } ?? [])).map { $0.intValue.map(String.init) ?? $0.stringValue }
                .joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return .badField(path: path(context, key), message: "is missing")
        case .typeMismatch(let type, let context):
            return .badField(path: path(context), message: "is not \(Self.name(of: type))")
        case .valueNotFound(let type, let context):
            return .badField(path: path(context), message: "is null and should be \(Self.name(of: type))")
        case .dataCorrupted(let context):
            if !context.codingPath.isEmpty {
                // Enumerations say it in terms of their Swift type, which no client knows.
                let isChoice = context.debugDescription.hasPrefix("Cannot initialize ")
                return .badField(
                    path: path(context),
                    message: isChoice ? "is none of the values that it can have" : context.debugDescription)
            }
            // The decoder says no more of a number that does not fit than of what is no JSON at all.
            guard (try? JSONDecoder().decode(Anything.self, from: Data(bytes))) != nil,
                let number = NumberFinder.path(in: bytes)
            else { return .notJSON }
            return .badField(path: number, message: "is not a whole number in range")
        @unknown default: return .notJSON
        }
    }

    private static func name(of type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type, is Int64.Type: "a whole number in range"
        default: "of the right type"
        }
    }
}
