// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The records of all topics; a gateway's read model applies those of the public topics.
///
/// The first byte, `a` to `n`, selects the kind of record; the other bytes are its JSON. A record that can be decoded
/// must not change when it is encoded and decoded again.
public enum RecordsFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        guard let kind = input.first else { return }
        let json = Array(input.dropFirst())
        switch kind {
        case UInt8(ascii: "a"): Self.roundTrip(DirectoryInput.self, json)
        case UInt8(ascii: "b"): Self.roundTrip(AudienceInput.self, json)
        case UInt8(ascii: "c"): Self.roundTrip(BarrageInput.self, json)
        case UInt8(ascii: "d"): Self.roundTrip(SeatInput.self, json)
        case UInt8(ascii: "e"): Self.roundTrip(ConnectionInput.self, json)
        case UInt8(ascii: "f"): if let record = Self.roundTrip(LiveRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "g"): if let record = Self.roundTrip(StageRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "h"): if let record = Self.roundTrip(CountRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "i"): Self.roundTrip(PresenceEpochRecord.self, json)
        case UInt8(ascii: "j"): Self.roundTrip(FeedEntry.self, json)
        case UInt8(ascii: "k"): Self.roundTrip(Notice.self, json)
        case UInt8(ascii: "l"): if let record = Self.roundTrip(AppRecord.self, json) { Self.applyAndRead(record) }
        case UInt8(ascii: "m"): Self.roundTrip(WebhookEvent.self, json)
        case UInt8(ascii: "n"): Self.roundTrip(Reply.self, json)
        default: return
        }
    }

    /// Decodes a record, and checks that it is the same after it was encoded and decoded; nil if it cannot be decoded.
    @discardableResult private static func roundTrip<Value: Codable & Equatable>(
        _ type: Value.Type, _ json: [UInt8]
    ) -> Value? {
        guard let value = try? Wire.decode(type, from: json) else { return nil }
        let decodedAgain = try? Wire.decode(type, from: Wire.encode(value))
        precondition(decodedAgain == value, "a record changed when it was encoded")
        return value
    }

    private static func applyAndRead(_ record: LiveRecord) {
        var model = ReadModel()
        // A reader may get a record twice.
        model.apply(record)
        model.apply(record)
        model.apply(
            CountRecord(
                app: record.app, live: record.info.liveID, epoch: record.epoch, count: 1, totalViewers: 2,
                at: record.info.createTime))
        _ = model.details(record.key)
        _ = model.listEntry(record.key, category: 1)
        var ranking = Ranking(gateway: "gateway-1")
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
