// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The records of all topics; a gateway's read model applies those of the public topics.
///
/// The first byte selects the kind of record, the others are its value. A record that can be decoded must not change when it
/// is encoded and decoded again.
public enum RecordsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let json = Array(input.dropFirst())
        switch first {
        case UInt8(ascii: "a"): Self.check(DirectoryInput.self, json)
        case UInt8(ascii: "b"): Self.check(AudienceInput.self, json)
        case UInt8(ascii: "c"): Self.check(BarrageInput.self, json)
        case UInt8(ascii: "d"): Self.check(SeatInput.self, json)
        case UInt8(ascii: "e"): Self.check(ConnectionInput.self, json)
        case UInt8(ascii: "f"): if let record = Self.check(LiveRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "g"): if let record = Self.check(StageRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "h"): if let record = Self.check(CountRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "i"): Self.check(PresenceEpochRecord.self, json)
        case UInt8(ascii: "j"): Self.check(FeedEntry.self, json)
        case UInt8(ascii: "k"): Self.check(Notice.self, json)
        case UInt8(ascii: "l"): if let record = Self.check(AppRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "m"): Self.check(WebhookEvent.self, json)
        case UInt8(ascii: "n"): Self.check(Reply.self, json)
        default: return
        }
    }

    @discardableResult private static func check<Value: Codable & Equatable>(
        _ type: Value.Type, _ json: [UInt8]
    ) -> Value? {
        guard let value = try? Wire.decode(type, from: json) else { return nil }
        let decodedAgain = try? Wire.decode(type, from: Wire.encode(value))
        precondition(decodedAgain == value, "a record changed")
        return value
    }

    private static func applyAndRead(_ record: LiveRecord) {
        var model = ReadModel()
        model.apply(record)
        model.apply(record)
        model.apply(
            CountRecord(
                app: record.app, live: record.info.liveID, epoch: record.epoch, count: 1, totalViewers: 2,
                at: record.info.createTime))
        _ = model.details(record.key)
        _ = model.listEntry(record.key, category: 1)
        var ranking = Ranking(gateway: "g")
        let now = MonotonicTime(milliseconds: 1_700_000_000_000)
        ranking.refresh(model.rankingEntries(), at: now)
        ranking.refresh(model.rankingEntries(), at: now)
        _ = try? ranking.page(app: record.app, cursor: "", count: 5, at: now) { model.listEntry($0, category: nil) }
    }

    private static func applyAndRead(_ record: StageRecord) {
        var model = ReadModel()
        model.apply(record)
        _ = model.stage(record.key)
    }

    private static func applyAndRead(_ record: CountRecord) {
        var model = ReadModel()
        model.apply(record)
        model.apply(record)
        _ = model.count(record.key)
    }

    private static func applyAndRead(_ record: AppRecord) {
        var model = ReadModel()
        model.apply(record)
        let filter = WordFilter(record.settings.words)
        _ = filter.matches("any text")
        for category in record.settings.gifts { _ = category.localized(to: "en") }
    }
}
