// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The topic, key and value of the record that each effect of a machine writes (`docs/TOPICS.md`).
@Suite struct TopicRecordTests {
    private static let notice = Notice(
        to: UserKey(Samples.app, "bob"), live: Samples.live, at: Samples.at, content: .battleNotStarted(battle: "b-6"))
    private static let reply = Reply(to: Samples.caller, app: Samples.app, .success(result: .done))
    private static let create = DirectoryInput(
        app: Samples.app,
        .create(live: Samples.live, changes: LiveChanges(), owner: Samples.bob, caller: Samples.caller))
    private static let end = DirectoryInput(app: Samples.app, .end(live: Samples.live, caller: Samples.caller))
    private static let join = AudienceInput(Samples.key, .join(caller: Samples.caller))
    private static let publish = BarrageInput(Samples.key, .publish(content: .adminSet(user: "bob")))
    private static let seat = SeatInput(Samples.key, .ended(ending: Samples.ending))
    private static let exit = ConnectionInput(app: Samples.app, .exit(live: Samples.live, caller: Samples.caller))
    private static let app = AppRecord(app: Samples.app, revision: 5, settings: Samples.appSettings)
    private static let epoch = PresenceEpochRecord(partition: 7, epoch: "e")

    @Test func `each effect is written to its topic under its key`() {
        let liveKey = "demo/concert"
        // Each effect with its topic, key and value; a record without a value removes the key from a compacted topic.
        let cases: [(Effect, PlazaTopic, String, [UInt8]?)] = [
            (.directory(Self.create), .directoryInbox, "demo/bob", Wire.encode(Self.create)),
            (.directory(Self.end), .directoryInbox, liveKey, Wire.encode(Self.end)),
            (.audience(Self.join), .audienceInbox, liveKey, Wire.encode(Self.join)),
            (.barrage(Self.publish), .barrageInbox, liveKey, Wire.encode(Self.publish)),
            (.seat(Self.seat), .seatInbox, liveKey, Wire.encode(Self.seat)),
            (.connection(Self.exit), .connectionInbox, "demo", Wire.encode(Self.exit)),
            (.live(Samples.liveRecord), .rooms, liveKey, Wire.encode(Samples.liveRecord)),
            (.liveRemoved(Samples.key), .rooms, liveKey, nil),
            (.stage(Samples.stage), .stages, liveKey, Wire.encode(Samples.stage)),
            (.stageRemoved(Samples.key), .stages, liveKey, nil),
            (.count(Samples.count), .audienceCounts, liveKey, Wire.encode(Samples.count)),
            (.countRemoved(Samples.key), .audienceCounts, liveKey, nil),
            (.app(Self.app), .apps, "demo", Wire.encode(Self.app)),
            (.webhook(Samples.webhook), .webhooks, liveKey, Wire.encode(Samples.webhook)),
            (.notice(Self.notice), .userNotices, "demo/bob", Wire.encode(Self.notice)),
            (.reply(Self.reply), .replies, "gateway-1", Wire.encode(Self.reply)),
        ]
        for (effect, topic, key, value) in cases {
            let record = TopicRecord(effect)
            #expect(record == TopicRecord(topic, key: key, value: value), "\(effect)")
            #expect(record.partition == nil && record.headers.isEmpty)
            switch effect {
            case .directory, .audience, .barrage, .seat, .connection, .live, .liveRemoved, .stage, .stageRemoved,
                .count, .countRemoved, .presenceEpoch, .feed, .notice, .reply, .app, .webhook:
                // A new effect does not compile until it is listed here; add it to `cases`, or add a test for it below.
                break
            }
        }
    }

    @Test func `I5 a presence epoch is written to the partition that it names`() {
        let record = TopicRecord(.presenceEpoch(Self.epoch))
        #expect(
            record
                == TopicRecord(.audienceCounts, key: "#epoch/7", partition: 7, value: Wire.encode(Self.epoch)))
    }

    @Test func `I7 the record of a feed item has its position in headers, and only client data in its value`() throws {
        for (name, content) in GoldenRecordTests.feedContents {
            let item = FeedItem(key: Samples.key, position: Samples.position, at: Samples.at, content: content)
            let record = TopicRecord(.feed(item))
            #expect(record.topic == .roomFeed && record.key == "demo/concert" && record.partition == nil)
            let value = try #require(record.value)
            #expect(
                try Wire.decode(FeedEntry.self, from: value) == FeedEntry(n: 12, at: Samples.at, content: content))
            let end = String(decoding: value.suffix(8), as: UTF8.self)
            #expect(end == #","n":12}"#, "\(name): the number must be the last member")
            let headers = FeedHeaders { headerName in record.headers.first { $0.name == headerName }?.value }
            #expect(
                headers
                    == FeedHeaders(
                        position: Samples.position, feedClass: content.feedClass, isEnd: name == "liveEnded"))
        }
    }

    @Test func `records with different headers are not equal`() {
        let record = TopicRecord(.rooms, key: "k", value: [1])
        var recordWithHeader = record
        recordWithHeader.headers.append((name: "traceparent", value: [2]))
        #expect(record != recordWithHeader)
    }

    @Test(
        // `p` is the position: epoch and number. `c` is the feed class, 0 to 4. `k` marks the end of the live.
        arguments: [
            (["p": "77.12", "c": "0"], true), (["p": "77.12", "c": "4", "k": "end"], true),
            (["p": "77.12"], false), (["c": "0"], false), (["p": "77", "c": "0"], false),
            (["p": ".12", "c": "0"], false),
            (["p": "77.", "c": "0"], false), (["p": "77.12", "c": "5"], false), (["p": "77.12", "c": "x"], false),
            (["p": "99999999999999999999.1", "c": "0"], false), ([:], false),
            (["p": "77.9223372036854775807", "c": "0"], false), (["p": "9223372036854775807.1", "c": "0"], false),
            (["p": "77.-1", "c": "0"], false),
        ] as [([String: String], Bool)])
    func `feed headers are read only if position and class are valid`(headers: [String: String], isValid: Bool) {
        let parsed = FeedHeaders { headers[$0].map { Array($0.utf8) } }
        #expect((parsed != nil) == isValid)
        if let parsed {
            #expect(parsed.position == Samples.position)
            #expect(parsed.isEnd == (headers["k"] == "end"))
            #expect(parsed.headers.map(\.name) == (parsed.isEnd ? ["p", "c", "k"] : ["p", "c"]))
        }
    }
}
