// SPDX-License-Identifier: Apache-2.0
import Foundation
import KafkaClient
import PlazaModel
import PlazaWire

/// Damaged rows of one state topic (the stored state of a service): rows of a fuzz corpus with a boundary value in one
/// field, and records whose key or value is garbage.
struct RowCases {
    /// Each state topic, and the fuzz corpus that has rows of this topic: the name of a folder below
    /// `Tests/Fuzz/Corpus`.
    ///
    /// The rows of presence are in the corpus `Leases`, because no fuzz target is about these rows alone.
    static let corpora: [(topic: PlazaTopic, folder: String)] = [
        (.directoryState, "DirectoryRows"), (.audienceState, "Leases"), (.barrageState, "BarrageRows"),
        (.seatState, "SeatRows"), (.connectionState, "ConnectionRows"),
    ]

    let topic: PlazaTopic
    /// The number of partitions of the topic.
    let partitions: Int
    /// The folder below `Tests/Fuzz/Corpus`.
    let corpus: String

    /// All cases: garbage, then each row of the corpus with each boundary value in each field.
    func cases() throws -> [RecordCases.Case] {
        var cases = self.garbageCases()
        for (index, row) in try self.rows().enumerated() {
            let partition = index % self.partitions
            let app = RecordCases.app(inPartition: partition, of: self.partitions)
            // In the row's text only the app is changed; the live stays `concert`. In the row's key the live is changed
            // too (see `uniqueKey`).
            let text = RecordCases.replacingLive(in: row.text, with: LiveKey(app, "concert"))
            let tree = try Wire.decode(JSONValue.self, from: Array(text.utf8))
            for variant in RecordCases.variants(of: tree, named: row.key, manyMembersAt: index) {
                let key = Self.uniqueKey(row.key, in: app, number: cases.count)
                cases.append(self.makeCase(variant.name, key, Array(variant.text.utf8), partition))
            }
        }
        return cases
    }

    /// The rows of the corpus; of several rows with the same key only the longest, because it sets the most fields.
    ///
    /// In a corpus file, a line `key<TAB>row` is a row, unless its key is `metadata`. Lines without a tab are no rows.
    private func rows() throws -> [(key: String, text: String)] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fuzz/Corpus/\(self.corpus)")
        var longestTexts: [String: String] = [:]
        for fileName in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let script = try String(contentsOf: folder.appending(path: fileName), encoding: .utf8)
            for line in script.split(separator: "\n") {
                guard let tab = line.firstIndex(of: "\t"), !line.hasPrefix("metadata") else { continue }
                let key = String(line[..<tab])
                let text = String(line[line.index(after: tab)...])
                let longestCount = longestTexts[key]?.utf8.count ?? 0
                if text.utf8.count > longestCount { longestTexts[key] = text }
            }
        }
        return longestTexts.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
    }

    /// The key of a row, changed so that it names `app` and, by `number`, another live, user or app in each case.
    ///
    /// With the number 7, `live/demo/concert` becomes `live/<app>/concert-7`, and `app/demo` becomes `app/<app>-7`.
    /// Without the number, each case would overwrite the row of the previous case, which would have the same key. The
    /// key `partition` is not changed, because each partition has only one such row.
    private static func uniqueKey(_ key: String, in app: AppID, number: Int) -> String {
        var components = key.split(separator: "/").map(String.init)
        if components.count > 2 {
            components[1] = app.text
            components[2] += "-\(number)"
        } else if components.count == 2 {
            components[1] = "\(app.text)-\(number)"
        }
        return components.joined(separator: "/")
    }

    /// Records with garbage keys and values: each pair of a key and a value, for each partition.
    private func garbageCases() -> [RecordCases.Case] {
        let keys = [
            "", "/", "x", "partition/x", "live/", "live/a/b/c", "stage/a/b", "room/a/b", "feed/a/b/c", "outcomes/a",
            "requests/a/b/-1", "requests/a/b/99999999999999999999", "bans/a/b/99", String(repeating: "k", count: 9_000),
        ]
        let values = [
            "", "{}", "null", "[]", "{\"feed\":{}}", String(repeating: "[", count: 100_000),
            String(repeating: "a", count: 600_000),
        ]
        var cases: [RecordCases.Case] = []
        for partition in 0..<self.partitions {
            for key in keys {
                for (index, value) in values.enumerated() {
                    cases.append(self.makeCase("value \(index)", key, Array(value.utf8), partition))
                }
                cases.append(self.makeCase("bytes", key, [0xFF, 0], partition))
            }
        }
        return cases
    }

    private func makeCase(_ name: String, _ key: String, _ value: [UInt8], _ partition: Int) -> RecordCases.Case {
        let record = OutgoingRecord(
            topic: self.topic.rawValue, partition: Int32(partition), key: Array(key.utf8), value: value)
        return RecordCases.Case(name: "\(self.topic.rawValue) \(name)", record: record)
    }
}
