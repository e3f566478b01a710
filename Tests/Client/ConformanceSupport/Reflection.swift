// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
package import PlazaWire

/// Turns values of the SDK into JSON, whose keys are the names of properties, enumeration cases and labels.
package enum Reflection {
    /// A value as JSON: a structure is an object, an enumeration case without associated values is its name.
    package static func json(_ value: Any) -> JSONValue {
        switch value {
        case let value as Bool: return .bool(value)
        case let value as String: return .text(value)
        case let value as any BinaryInteger: return Int64(exactly: value).map { .integer($0) } ?? .null
        case let value as any BinaryFloatingPoint: return Self.number(Double(value))
        case let value as [String: Any]: return .object(value.mapValues { Self.json($0) })
        case let value as TUILiveStatisticsData: return Self.json(value)
        default: break
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { Self.json($0.value) } ?? .null
        case .collection, .set: return .array(mirror.children.map { Self.json($0.value) })
        case .enum: return mirror.children.isEmpty ? .text("\(value)") : .object(Self.members(of: mirror))
        // An empty tuple is the result of a method without a result.
        case .tuple where mirror.children.isEmpty: return .null
        default: return .object(Self.members(of: mirror))
        }
    }

    /// Splits an event, a case of an enumeration, into the case's name and an object of its values by their labels.
    package static func event(_ value: Any) -> (type: String, detail: JSONValue) {
        guard let (label, payload) = Mirror(reflecting: value).children.first else { return ("\(value)", .object([:])) }
        let mirror = Mirror(reflecting: payload)
        let isTuple = mirror.displayStyle == .tuple
        return (label ?? "", isTuple ? .object(Self.members(of: mirror)) : Self.json(payload))
    }

    /// A mirror does not show the properties of this class, because they are computed.
    private static func json(_ value: TUILiveStatisticsData) -> JSONValue {
        [
            "totalViewers": .integer(Int64(value.totalViewers)),
            "totalGiftsSent": .integer(Int64(value.totalGiftsSent)),
            "totalGiftCoins": .integer(Int64(value.totalGiftCoins)),
            "totalUniqueGiftSenders": .integer(Int64(value.totalUniqueGiftSenders)),
            "totalLikesReceived": .integer(Int64(value.totalLikesReceived)),
            "totalMessageCount": .integer(Int64(value.totalMessageCount)),
            "liveDuration": .integer(Int64(value.liveDuration)),
        ]
    }

    private static func members(of mirror: Mirror) -> [String: JSONValue] {
        let members = mirror.children.compactMap { child in child.label.map { ($0, Self.json(child.value)) } }
        return Dictionary(members) { first, _ in first }
    }

    private static func number(_ value: Double) -> JSONValue {
        Int64(exactly: value).map { .integer($0) } ?? .number(value)
    }

    /// Compares a value with the one that a conformance case expects.
    ///
    /// Members that an expected object does not name are ignored. An expected object with `$length`, `$first`, `$last`
    /// or `$contains` describes an array by its length, its first or last entry, or any of its entries; `$length` is
    /// also the number of an object's members.
    ///
    /// - Returns: the first difference; nil if the values match.
    package static func difference(
        _ actual: JSONValue, _ expected: JSONValue, at path: String = ""
    ) -> String? {
        switch (actual, expected) {
        case (.array(let entries), .array(let expectedEntries)):
            guard entries.count == expectedEntries.count else {
                return "\(path) has \(entries.count) entries, not \(expectedEntries.count): \(entries)"
            }
            for (index, (entry, expectedEntry)) in zip(entries, expectedEntries).enumerated() {
                if let difference = Self.difference(entry, expectedEntry, at: "\(path)[\(index)]") {
                    return difference
                }
            }
            return nil
        case (_, .object(let expectedMembers)):
            for (name, expectedMember) in expectedMembers.sorted(by: { $0.key < $1.key }) {
                let found: JSONValue
                switch (name, actual) {
                case ("$contains", .array(let entries)):
                    if entries.contains(where: { Self.difference($0, expectedMember) == nil }) { continue }
                    return "\(path) has no entry like \(expectedMember): \(entries)"
                case ("$length", .array(let entries)): found = .integer(Int64(entries.count))
                case ("$length", .object(let members)): found = .integer(Int64(members.count))
                case ("$first", .array(let entries)): found = entries.first ?? .null
                case ("$last", .array(let entries)): found = entries.last ?? .null
                case (_, .object(let members)): found = members[name] ?? .null
                default: return "\(path) is no object: \(actual)"
                }
                if let difference = Self.difference(found, expectedMember, at: "\(path).\(name)") {
                    return difference
                }
            }
            return nil
        default: return actual == expected ? nil : "\(path) is \(actual), not \(expected)"
        }
    }
}
