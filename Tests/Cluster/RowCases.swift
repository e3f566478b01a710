// SPDX-License-Identifier: Apache-2.0
import Foundation
import KafkaClient
import PlazaModel
import PlazaWire

/// Damaged rows of one state topic: the rows of the fuzz corpora with a boundary value in one field, each under a key
/// of its own, and garbage as keys and values.
struct RowCases {
    /// Each state topic, and the corpus that has its rows.
    static let corpora: [(PlazaTopic, String)] = [
        (.directoryState, "DirectoryRows"), (.audienceState, "Leases"), (.barrageState, "BarrageRows"),
        (.seatState, "SeatRows"), (.connectionState, "ConnectionRows"),
    ]

    let topic: PlazaTopic
    let partitions: Int
    /// The folder of the corpus.
    let corpus: String

    /// All cases.
    func cases() throws -> [RecordCases.Case] {
        var cases = self.garbageCases()
        for (index, row) in try self.rows().enumerated() {
            let partition = index % self.partitions
            let app = RecordCases.app(inPartition: partition, of: self.partitions)
            let text = RecordCases.text(row.text, in: LiveKey(app, "concert"))
            let tree = try Wire.decode(JSONValue.self, from: Array(text.utf8))
            for variant in RecordCases.variants(of: tree, named: row.key, longAt: index) {
                let key = Self.key(row.key, app, number: cases.count)
                cases.append(self.makeCase(variant.name, key, Array(variant.text.utf8), partition))
            }
        }
        return cases
    }

    /// The rows of the corpus; if several have the same key, only the longest of them.
    private func rows() throws -> [(key: String, text: String)] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fuzz/Corpus/\(self.corpus)")
        var longest: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let script = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for line in script.split(separator: "\n") {
                guard let tab = line.firstIndex(of: "\t"), !line.hasPrefix("metadata") else { continue }
                let (key, text) = (String(line[..<tab]), String(line[line.index(after: tab)...]))
                if text.utf8.count > longest[key]?.utf8.count ?? 0 { longest[key] = text }
            }
        }
        return longest.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }
    }

    /// The key of a row, changed to another live, or to another app if the key has no live.
    private static func key(_ key: String, _ app: AppID, number: Int) -> String {
        var parts = key.split(separator: "/").map(String.init)
        if parts.count > 2 {
            parts[1] = app.text
            parts[2] += "-\(number)"
        } else if parts.count == 2 {
            parts[1] = "\(app.text)-\(number)"
        }
        return parts.joined(separator: "/")
    }

    /// Records whose key or value does not belong to a row.
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
