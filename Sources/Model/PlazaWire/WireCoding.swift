// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Why bytes cannot be decoded.
package enum WireError: Error, Equatable, Sendable {
    /// The bytes are not JSON.
    case notJSON
    /// A field is missing or has another type; `path` names it.
    case badField(path: String, message: String)
    /// The record has a version that this program does not know.
    case unknownVersion(Int)

    /// A description of the error, which begins with the name of the wrong field.
    package var message: String {
        switch self {
        // All types that clients send are objects, so an empty path means that the whole value is not an object.
        case .badField("", _): "this is not an object"
        case .badField(let path, let message): "\(path) \(message)"
        case .unknownVersion(let version): "version \(version) is not known"
        case .notJSON: "this is not JSON"
        }
    }
}

/// Encodes and decodes the JSON of records and frames.
///
/// Keys are sorted and slashes are not escaped, so equal values have equal bytes.
package enum Wire {
    /// The JSON of `value`.
    package static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            // Every model value can be encoded: none contains NaN or an infinite number.
            preconditionFailure("a model value without JSON: \(error)")
        }
    }

    /// Decodes a value from bytes, all of which must be valid JSON (RFC 8259).
    ///
    /// Unknown members are ignored. Of several members with the same name, the first is used.
    ///
    /// - Throws: `WireError` with the path of the first field that is wrong.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: [UInt8]) throws(WireError)
        -> Value
    {
        guard let json = StrictJSON(bytes) else { throw .notJSON }
        return try Self.decode(type, from: json, at: 0)
    }

    /// Decodes the value at `index` of a scanned text.
    ///
    /// - Throws: `WireError` with the path of the first field that is wrong.
    static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from json: StrictJSON, at index: Int
    ) throws(WireError) -> Value {
        do {
            return try Value(from: StrictJSONDecoder(json: json, index: index))
        } catch let error as DecodingError {
            throw Self.explain(error)
        } catch {
            // Not expected: types that are decoded here throw only `DecodingError`.
            throw .notJSON
        }
    }

    /// Converts an error of the decoder to one with a path and a message in the words of the protocol.
    private static func explain(_ error: DecodingError) -> WireError {
        func path(_ context: DecodingError.Context, appending key: (any CodingKey)? = nil) -> String {
            let keys = key.map { context.codingPath + [$0] } ?? context.codingPath
            return keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context):
            return .badField(path: path(context, appending: key), message: "is missing")
        case .typeMismatch(let type, let context):
            return .badField(path: path(context), message: "is not \(Self.name(of: type))")
        case .valueNotFound(let type, let context):
            return .badField(path: path(context), message: "is null and should be \(Self.name(of: type))")
        case .dataCorrupted(let context):
            guard !context.codingPath.isEmpty else { return .notJSON }
            // For an enumeration, Swift's message names the Swift type, which clients do not know.
            let isUnknownCase = context.debugDescription.hasPrefix("Cannot initialize ")
            return .badField(
                path: path(context),
                message: isUnknownCase ? "is none of the values that it can have" : context.debugDescription)
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
