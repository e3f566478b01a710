// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The result of decoding an object whose only key names its kind, such as `{"text": {…}}`.
///
/// A kind of a later version is no error, so that an app can be older than the server.
enum TolerantValue<Value: Decodable> {
    case value(Value)
    /// The value is of a kind that this version does not know.
    case unknown
    /// The value violates the protocol.
    case fault(ErrorInfo)

    /// A key of any name.
    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init<Key: CodingKey>(_: Value.Type, in container: KeyedDecodingContainer<Key>, forKey key: Key) {
        do {
            self = .value(try container.decode(Value.self, forKey: key))
        } catch DecodingError.typeMismatch(_, let context)
            where context.codingPath.count <= container.codingPath.count + 1
            && context.debugDescription.hasPrefix("Invalid number of keys")
        {
            // The compiler's decoding of an enum throws this error if the value has no key of a known kind, or several
            // keys. The length of the path tells that the error is not about an inner value. A value without any key is
            // a fault; one with another key or with several keys may come from a later version.
            let keyCount = try? container.nestedContainer(keyedBy: AnyKey.self, forKey: key).allKeys.count
            self = keyCount == 0 ? .fault(.badFrame("\(key.stringValue) without a kind")) : .unknown
        } catch {
            self = .fault(.badFrame("\(key.stringValue) that cannot be read: \(error)"))
        }
    }
}
