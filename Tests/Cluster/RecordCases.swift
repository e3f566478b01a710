// SPDX-License-Identifier: Apache-2.0
import Foundation
import KafkaClient
import PlazaModel
import PlazaWire

/// Damaged records of one topic: golden records (samples of the wire format) with a boundary value in one field, and
/// records whose value, key or headers are garbage.
struct RecordCases {
    /// A record, and what was changed in it.
    struct Case {
        /// What was changed.
        var name: String
        var record: OutgoingRecord
    }

    /// The name of the Kafka header that holds the case's name, so that a dead letter names its case.
    static let nameHeader = "case"

    /// Stands for the changed field, until a boundary value replaces it.
    private static let fieldPlaceholder = "@field@"
    /// Stands for each request's counter, until a number replaces it.
    private static let counterPlaceholder = "@counter@"

    /// The boundary values for a field, as JSON; no encoder would write some of them.
    private static let boundaryValues: [String] = {
        let int64Limits: [String] = [
            "9223372036854775807", "9223372036854775808", "9223372036854775806", "-9223372036854775808",
            "-9223372036854775809", "-9223372036854775807",
        ]
        let bases: [Int64] = [Int64(Int32.max), Int64(Int32.min), 1 << 53, -(1 << 53), 0]
        var valuesNearOtherLimits: [String] = []
        for base in bases {
            for difference: Int64 in -1...1 { valuesNearOtherLimits.append(String(base + difference)) }
        }
        let texts: [String] = [
            #""""#, #""\u0000\u0007""#, "\"\u{7F}\"", "\"😀\"", #""\ud800""#, #""x/y""#,
            "\"\(String(repeating: "a", count: 64))\"", "\"\(String(repeating: "a", count: 5_000))\"",
        ]
        let deepArray = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        let otherValues: [String] = ["-0", "0.5", "1e308", "1e309", deepArray, "null", "true", "{}", "[]", "[null]"]
        return int64Limits + valuesNearOtherLimits + texts + otherValues
    }()

    /// An object with very many members.
    ///
    /// Only one field of each record gets it, because otherwise all cases together would have too many bytes.
    private static let manyMembers = "{" + (0..<10_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"

    let topic: PlazaTopic
    /// The number of partitions of the topic.
    let partitions: Int
    /// The file of the topic's golden records, without `.json`.
    let goldenFile: String

    /// An app whose key belongs to one partition of `count`.
    ///
    /// It is never the demo app, because afterwards the tests use lives of the demo app, to check that the services
    /// still work.
    static func app(inPartition partition: Int, of count: Int) -> AppID {
        for number in 0... {
            let app = AppID("bounds\(number)")
            if PlazaTopic.partition(of: app.text, among: count) == partition { return app }
        }
        preconditionFailure("the numbers do not end")
    }

    /// A live of `app` whose key belongs to one partition of `count`; the live's id begins with `prefix`.
    static func live(_ prefix: String, of app: AppID, inPartition partition: Int, of count: Int) -> LiveKey {
        for number in 0... {
            let key = LiveKey(app, LiveID("\(prefix)-\(number)"))
            if PlazaTopic.partition(of: key.text, among: count) == partition { return key }
        }
        preconditionFailure("the numbers do not end")
    }

    /// The golden records of the topic: the name and the JSON text of each.
    private func goldenRecords() throws -> [(name: String, text: String)] {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Model/PlazaWire/Golden/\(self.goldenFile).json")
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst().dropLast().map { line in
            // Each line between the braces of the file is `"name": record,`, the last one without the comma.
            let parts = line.split(separator: ": ", maxSplits: 1)
            let text = parts[1].hasSuffix(",") ? parts[1].dropLast() : parts[1]
            return (String(parts[0].dropFirst().dropLast()), String(text))
        }
    }

    /// The golden record called `name` with the app and live of `key` and with `session`; nil if there is no such
    /// record.
    func record(_ name: String, in key: LiveKey, session: String, partition: Int) throws -> OutgoingRecord? {
        guard let golden = try self.goldenRecords().first(where: { $0.name == name }) else { return nil }
        // The golden records are calls of the session `s-1`.
        let text = Self.replacingLive(in: golden.text, with: key).replacing("\"s-1\"", with: "\"\(session)\"")
        return self.outgoing(Array(text.utf8), key: self.key(of: key), partition: partition)
    }

    /// All cases with a changed field, one group for each golden record.
    ///
    /// Each group begins with the unchanged first record of the topic. In an inbox, this record (`create` or `opened`)
    /// makes the live known to the machine.
    func fieldCases() throws -> [[Case]] {
        let records = try self.goldenRecords()
        return try records.enumerated().map { index, golden in
            let partition = index % self.partitions
            let app = Self.app(inPartition: partition, of: self.partitions)
            let key = Self.live("r\(index)", of: app, inPartition: partition, of: self.partitions)
            var cases: [Case] = []
            func add(_ name: String, _ text: String) {
                // Each call has its own counter. A call with a used counter would get the earlier outcome, from the
                // idempotency window. The counters of golden records are below 1000.
                let counter = 1_000 + cases.count
                let bytes = Array(text.replacing("\"\(Self.counterPlaceholder)\"", with: "\(counter)").utf8)
                let headers = self.feedHeaders(index: cases.count)
                let record = self.outgoing(bytes, key: self.key(of: key), partition: partition, headers: headers)
                cases.append(Case(name: "\(self.topic.rawValue) \(name)", record: record))
            }
            add("\(records[0].name) unchanged", Self.replacingLive(in: records[0].text, with: key))
            let text = Self.replacingLive(in: golden.text, with: key)
            let tree = Self.replacingCounters(in: try Wire.decode(JSONValue.self, from: Array(text.utf8)))
            for variant in Self.variants(of: tree, named: golden.name, manyMembersAt: index) {
                add(variant.name, variant.text)
            }
            return cases
        }
    }

    /// The variants of a JSON value in which one field has a boundary value.
    ///
    /// - Parameters:
    ///   - tree: the value.
    ///   - name: the beginning of the variants' names.
    ///   - index: the index, modulo the number of fields, of the one field that also gets an object with very many
    ///     members.
    /// - Returns: for each variant, the path of the field with its new value, and the JSON text.
    static func variants(of tree: JSONValue, named name: String, manyMembersAt index: Int) -> [(
        name: String, text: String
    )] {
        let copies = Self.copiesWithPlaceholder(tree, at: name)
        var variants: [(name: String, text: String)] = []
        for (number, copy) in copies.enumerated() {
            let text = String(decoding: Wire.encode(copy.value), as: UTF8.self)
            let getsManyMembers = number == index % copies.count
            for value in Self.boundaryValues + (getsManyMembers ? [Self.manyMembers] : []) {
                let changed = text.replacing("\"\(Self.fieldPlaceholder)\"", with: value)
                variants.append(("\(copy.path) = \(value.prefix(40))", changed))
            }
        }
        return variants
    }

    /// Records with a garbage value, key or header, for each partition.
    func garbageCases() -> [Case] {
        var cases: [Case] = []
        let texts = [
            "", " ", "{", "}", "null", "[]", "{}", "\"\"", "0", "1e309", #"{"v":1}"#, #"{"v":2}"#,
            #"{"v":9223372036854775808}"#,
            #"{"v":1,"command":{}}"#, #"{"v":1,"command":{"unknown":{}}}"#, Self.manyMembers,
            String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 600),
            String(repeating: "a", count: 600_000),
        ]
        let values: [[UInt8]?] =
            [nil, [0], [0xFF, 0xFE], [0xED, 0xA0, 0x80], [0x7B, 0xFF, 0x7D]] + texts.map { Array($0.utf8) }
        // Keys that begin with `#` are those of the services' own records: ticks, epoch claims, and counts of attempts
        // to process a record.
        let keys: [[UInt8]?] =
            [nil, [0], [0xFF]]
            + [
                "", "#", "#tick", "#epoch/", "#epoch/-1", "#epoch/9223372036854775808", "#attempts", "a", "a/", "/",
                "a/b/c", "😀",
                String(repeating: "k", count: 10_000),
            ].map { Array($0.utf8) }
        // The headers that readers know: of feed items (`p`, `c`, `k`), of appended batches (`e`, `b`, `r`), of ticks
        // (`take`), of traces, and of dead letters.
        let headerNames = ["p", "c", "k", "e", "b", "r", "take", "traceparent", "dead-topic", "dead-offset", ""]
        // Forms like those of valid headers (`epoch.number`, `traceparent`), with a missing part or a number beyond a
        // limit. No case has a valid epoch in `e`, or `take` on a record with the key `#tick`, because such a record
        // would take the partition from its owner.
        let headerTexts = [
            "", ".", "-", "1.", "1.-1", "9223372036854775807.9223372036854775807", "9223372036854775808.1", "-1.-1",
            "1e308 1",
            "00-00000000000000000000000000000000-0000000000000000-00", "00-" + String(repeating: "f", count: 5_000),
        ]
        for partition in 0..<self.partitions {
            func add(_ name: String, _ key: [UInt8]?, _ value: [UInt8]?, _ headers: [KafkaHeader] = []) {
                let record = self.outgoing(value, key: key, partition: partition, headers: headers)
                cases.append(Case(name: "\(self.topic.rawValue)/\(partition) \(name)", record: record))
            }
            for (number, key) in keys.enumerated() {
                // Large values go with the first key only, because otherwise the cases would be too large together.
                let isFirstKey = number == 0
                for (index, value) in values.enumerated() where isFirstKey || (value?.count ?? 0) < 1_000 {
                    add("key \(number), value \(index)", key, value)
                }
            }
            // The key of the live `x` of the app `bounds`.
            let keyOfLive = Array("bounds/x".utf8)
            for name in headerNames {
                for text in headerTexts {
                    for value in [Array("{}".utf8), nil] {
                        let header = KafkaHeader(name: name, text: text)
                        add("header \(name) = \(text.prefix(40))", keyOfLive, value, [header])
                    }
                }
                let headerOfBytes = KafkaHeader(name: name, value: [0xFF, 0])
                add("header \(name) = bytes", keyOfLive, [], [headerOfBytes])
            }
        }
        return cases
    }

    /// The text of a record about the live `demo/concert`, changed so that it is about another live.
    static func replacingLive(in text: String, with key: LiveKey) -> String {
        text.replacing("\"demo\"", with: "\"\(key.app.text)\"").replacing("\"concert\"", with: "\"\(key.live.text)\"")
    }

    /// The key of a record about a live.
    ///
    /// The inbox of connections and the apps topic have one key for each app.
    private func key(of live: LiveKey) -> [UInt8] {
        Array((self.topic == .connectionInbox || self.topic == .apps ? live.app.text : live.text).utf8)
    }

    /// The headers of a feed item; empty for other topics.
    ///
    /// The header `p` has the epoch, which may be any number (here 77), and the item's number, from 1. The header `c`
    /// has one of the five feed classes, 0 to 4.
    private func feedHeaders(index: Int) -> [KafkaHeader] {
        guard self.topic == .roomFeed else { return [] }
        return [KafkaHeader(name: "p", text: "77.\(index + 1)"), KafkaHeader(name: "c", text: "\(index % 5)")]
    }

    private func outgoing(
        _ value: [UInt8]?, key: [UInt8]?, partition: Int, headers: [KafkaHeader] = []
    ) -> OutgoingRecord {
        OutgoingRecord(
            topic: self.topic.rawValue, partition: Int32(partition), key: key, value: value, headers: headers)
    }

    /// A copy of the record in which a placeholder replaces the counter of each request.
    private static func replacingCounters(in value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, member in
                        (name, name == "counter" ? .text(Self.counterPlaceholder) : Self.replacingCounters(in: member))
                    }))
        case .array(let elements): .array(elements.map { Self.replacingCounters(in: $0) })
        default: value
        }
    }

    /// Copies of a record, each with a placeholder in one field, and the path of that field.
    private static func copiesWithPlaceholder(_ value: JSONValue, at path: String) -> [(path: String, value: JSONValue)]
    {
        var copies: [(path: String, value: JSONValue)] = [(path, .text(Self.fieldPlaceholder))]
        switch value {
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                for inner in Self.copiesWithPlaceholder(member, at: "\(path).\(name)") {
                    var changed = members
                    changed[name] = inner.value
                    copies.append((inner.path, .object(changed)))
                }
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                for inner in Self.copiesWithPlaceholder(element, at: "\(path).\(index)") {
                    var changed = elements
                    changed[index] = inner.value
                    copies.append((inner.path, .array(changed)))
                }
            }
        default: break
        }
        return copies
    }
}
