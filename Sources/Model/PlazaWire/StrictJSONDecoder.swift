// SPDX-License-Identifier: Apache-2.0

/// Decodes one value of a JSON text that `StrictJSON` has scanned.
///
/// Throws `DecodingError` with the path of the value. A number that does not fit its type is a type mismatch.
struct StrictJSONDecoder: Decoder {
    /// The text with its entries: one entry for each value and each member's name, in the order of the text. (A member
    /// is a name with its value in a JSON object.)
    let json: StrictJSON
    /// The index of the value's entry.
    let index: Int

    var codingPath: [any CodingKey] { self.json.path(to: self.index) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard self.kind == .object else { throw self.mismatch([String: Any].self) }
        return KeyedDecodingContainer(Members(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard self.kind == .list else { throw self.mismatch([Any].self) }
        return Elements(self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    fileprivate var kind: StrictJSON.Kind { self.json.entries[self.index].kind }

    /// A decoder of another value of the same text.
    fileprivate func decoder(at index: Int) -> Self { Self(json: self.json, index: index) }

    /// The error for a value that is null or of another type than `type`.
    private func mismatch(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: self.codingPath, debugDescription: "not a \(type)")
        return self.kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    fileprivate func bool() throws -> Bool {
        switch self.kind {
        case .trueLiteral: return true
        case .falseLiteral: return false
        default: throw self.mismatch(Bool.self)
        }
    }

    fileprivate func text() throws -> String {
        guard self.kind.isText else { throw self.mismatch(String.self) }
        return self.json.text(at: self.index)
    }

    fileprivate func integer<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        guard let integer = self.json.integer(type, at: self.index) else { throw self.mismatch(type) }
        return integer
    }

    fileprivate func double() throws -> Double {
        guard let number = self.json.double(at: self.index) else { throw self.mismatch(Double.self) }
        return number
    }

    /// The value with its contents.
    ///
    /// The conversion is not recursive, so that deep nesting cannot overflow the stack. It goes from the last entry to
    /// the first, so that contents are converted before their container. A member's name is converted like a value, but
    /// that result is not used. Of several members with the same name, the first counts.
    ///
    /// - Throws: `DecodingError` for a number that would be rounded to infinity or to zero.
    func jsonValue() throws -> JSONValue {
        let entryRange = self.index..<self.json.index(after: self.index)
        // The value of each entry in the range; the first is the result.
        var values = [JSONValue](repeating: .null, count: entryRange.count)
        for index in entryRange.reversed() {
            let value: JSONValue
            switch self.json.entries[index].kind {
            case .null: value = .null
            case .falseLiteral: value = .bool(false)
            case .trueLiteral: value = .bool(true)
            case .plainText, .text: value = .text(self.json.text(at: index))
            case .integer, .number:
                if let integer = self.json.integer(Int64.self, at: index) {
                    value = .integer(integer)
                } else {
                    value = .number(try self.decoder(at: index).double())
                }
            case .list:
                var elements: [JSONValue] = []
                self.json.forEachElement(of: index) { elements.append(values[$0 - entryRange.lowerBound]) }
                value = .array(elements)
            case .object:
                var members: [String: JSONValue] = [:]
                self.json.forEachMember(of: index) { name, valueIndex in
                    if members[name] == nil { members[name] = values[valueIndex - entryRange.lowerBound] }
                }
                value = .object(members)
            }
            values[index - entryRange.lowerBound] = value
        }
        return values[0]
    }
}

extension StrictJSONDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { self.kind == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try self.bool() }
    func decode(_ type: String.Type) throws -> String { try self.text() }
    func decode(_ type: Double.Type) throws -> Double { try self.double() }
    func decode(_ type: Float.Type) throws -> Float { Float(try self.double()) }
    func decode(_ type: Int.Type) throws -> Int { try self.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try self.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try self.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try self.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try self.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try self.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try self.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try self.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try self.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try self.integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

/// The members of an object.
private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    /// The decoder of the object.
    let object: StrictJSONDecoder
    /// The indices of the values' entries by the bytes of the name; nil for a small object, whose members are searched
    /// in order.
    ///
    /// The keys are bytes, because hashing a string takes a time that grows with the square of its combining marks.
    let valueIndices: [ArraySlice<UInt8>: Int]?

    /// The largest number of entries of an object without `valueIndices`; a member has at least two entries, for its
    /// name and its value.
    private static var maxSearchedEntries: Int { 64 }

    init(_ object: StrictJSONDecoder) {
        self.object = object
        let json = object.json
        guard json.index(after: object.index) - object.index > Self.maxSearchedEntries else {
            self.valueIndices = nil
            return
        }
        var valueIndices: [ArraySlice<UInt8>: Int] = [:]
        json.forEachMemberIndex(of: object.index) { index in
            let name = json.utf8(at: index)
            if valueIndices[name] == nil { valueIndices[name] = index + 1 }
        }
        self.valueIndices = valueIndices
    }

    var codingPath: [any CodingKey] { self.object.codingPath }

    var allKeys: [Key] {
        // Swift treats canonically equivalent strings as equal, so a dictionary has only one key for such names. The
        // first of the names counts.
        var (names, known): ([String], Set<String>) = ([], [])
        self.object.json.forEachMember(of: self.object.index) { name, _ in
            if known.insert(name).inserted { names.append(name) }
        }
        return names.compactMap { Key(stringValue: $0) }
    }

    /// The value of the first member with this name, even if it is null; nil if there is no such member.
    private func find(_ name: String) -> StrictJSONDecoder? {
        let index: Int?
        if let valueIndices {
            index = valueIndices[ArraySlice(name.utf8)]
        } else {
            index = self.object.json.member(name, of: self.object.index)
        }
        return index.map { self.object.decoder(at: $0) }
    }

    /// The value of a member, which may be null; throws if the member is missing.
    private func value(_ key: some CodingKey) throws -> StrictJSONDecoder {
        guard let value = self.find(key.stringValue) else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: self.codingPath, debugDescription: "no \(key.stringValue)"))
        }
        return value
    }

    /// The value of a member; nil if the member is missing or null.
    private func presentValue(_ key: Key) -> StrictJSONDecoder? {
        guard let value = self.find(key.stringValue), value.kind != .null else { return nil }
        return value
    }

    func contains(_ key: Key) -> Bool { self.find(key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try self.value(key).decodeNil() }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try self.value(key).bool() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try self.value(key).text() }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try self.value(key).double() }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { Float(try self.value(key).double()) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try self.value(key).integer(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try self.value(key).integer(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try self.value(key).integer(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try self.value(key).integer(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try self.value(key).integer(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try self.value(key).integer(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try self.value(key).integer(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try self.value(key).integer(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try self.value(key).integer(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try self.value(key).integer(type) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(from: self.value(key))
    }

    // The default implementations of these methods would search for a member three times. Integers of other sizes and
    // floating-point numbers still use the default implementations.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try self.presentValue(key)?.bool() }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try self.presentValue(key)?.text() }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try self.presentValue(key)?.integer(type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try self.presentValue(key)?.integer(type)
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try self.presentValue(key).map { try Value(from: $0) }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.value(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.value(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try self.value(JSONKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try self.value(key) }
}

/// The elements of a list.
private struct Elements: UnkeyedDecodingContainer {
    /// The decoder of the list.
    let list: StrictJSONDecoder
    /// The index of the next element's entry.
    private var nextEntry: Int
    /// The index of the first entry after the list's contents.
    private let endEntry: Int
    /// The number of elements that were read.
    private(set) var currentIndex = 0

    init(_ list: StrictJSONDecoder) {
        self.list = list
        self.nextEntry = list.index + 1
        self.endEntry = list.json.index(after: list.index)
    }

    var codingPath: [any CodingKey] { self.list.codingPath }
    /// Not known without a scan of the list.
    var count: Int? { nil }
    var isAtEnd: Bool { self.nextEntry >= self.endEntry }

    /// Reads the next element, and advances to the following element unless `read` throws.
    private mutating func readNext<Value>(_ read: (StrictJSONDecoder) throws -> Value) throws -> Value {
        guard !self.isAtEnd else {
            let path = self.codingPath + [JSONKey(intValue: self.currentIndex)]
            throw DecodingError.valueNotFound(
                Value.self, DecodingError.Context(codingPath: path, debugDescription: "the list has ended"))
        }
        let value = try read(self.list.decoder(at: self.nextEntry))
        self.nextEntry = self.list.json.index(after: self.nextEntry)
        self.currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        // At the end of the list, `readNext` throws.
        guard self.isAtEnd || self.list.decoder(at: self.nextEntry).decodeNil() else { return false }
        return try self.readNext { $0.decodeNil() }
    }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try self.readNext { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try self.readNext { try $0.text() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try self.readNext { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try self.readNext { Float(try $0.double()) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try self.readNext { try $0.integer(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try self.readNext { try $0.integer(type) } }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try self.readNext { try Value(from: $0) }
    }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.readNext { try $0.container(keyedBy: type) }
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try self.readNext { try $0.unkeyedContainer() }
    }
    mutating func superDecoder() throws -> any Decoder { try self.readNext { $0 } }
}
