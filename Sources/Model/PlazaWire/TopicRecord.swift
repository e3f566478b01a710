// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The record that an effect writes to a topic, before its partition is computed.
package struct TopicRecord: Equatable, Sendable {
    package var topic: PlazaTopic
    /// The record's key, which determines the partition unless `partition` is set.
    package var key: String
    /// The partition that a `PresenceEpochRecord` is about; nil for other records, whose key determines the partition.
    package var partition: Int?
    /// The record's value; nil for a tombstone.
    package var value: [UInt8]?
    package var headers: [(name: String, value: [UInt8])]

    package init(
        _ topic: PlazaTopic, key: String, partition: Int? = nil, value: [UInt8]?,
        headers: [(name: String, value: [UInt8])] = []
    ) {
        self.topic = topic
        self.key = key
        self.partition = partition
        self.value = value
        self.headers = headers
    }

    // Written out, because Swift makes no `==` for a type with tuples.
    package static func == (a: TopicRecord, b: TopicRecord) -> Bool {
        a.topic == b.topic && a.key == b.key && a.partition == b.partition && a.value == b.value
            && a.headers.elementsEqual(b.headers) { $0.name == $1.name && $0.value == $1.value }
    }

    /// The record that `effect` writes.
    package init(_ effect: Effect) {
        switch effect {
        case .directory(let input, let key): self.init(.directoryInbox, key: key, value: Wire.encode(input))
        case .audience(let input): self.init(.audienceInbox, key: input.key.text, value: Wire.encode(input))
        case .barrage(let input): self.init(.barrageInbox, key: input.key.text, value: Wire.encode(input))
        case .seat(let input): self.init(.seatInbox, key: input.key.text, value: Wire.encode(input))
        case .connection(let input): self.init(.connectionInbox, key: input.app.text, value: Wire.encode(input))
        case .live(let record): self.init(.rooms, key: record.key.text, value: Wire.encode(record))
        case .liveRemoved(let key): self.init(.rooms, key: key.text, value: nil)
        case .stage(let record): self.init(.stages, key: record.key.text, value: Wire.encode(record))
        case .stageRemoved(let key): self.init(.stages, key: key.text, value: nil)
        case .count(let record): self.init(.audienceCounts, key: record.key.text, value: Wire.encode(record))
        case .countRemoved(let key): self.init(.audienceCounts, key: key.text, value: nil)
        case .presenceEpoch(let record):
            self.init(
                .audienceCounts, key: record.keyText, partition: record.partition, value: Wire.encode(record))
        case .feed(let item):
            self.init(
                .roomFeed, key: item.key.text,
                value: Wire.encode(FeedEntry(n: item.position.number, at: item.at, content: item.content)),
                headers: FeedHeaders(
                    position: item.position, feedClass: item.content.feedClass, isEnd: item.content.isEnd
                ).headers)
        case .notice(let notice): self.init(.userNotices, key: notice.to.text, value: Wire.encode(notice))
        case .app(let record): self.init(.apps, key: record.app.text, value: Wire.encode(record))
        case .webhook(let event): self.init(.webhooks, key: event.key.text, value: Wire.encode(event))
        case .reply(let reply): self.init(.replies, key: reply.to.text, value: Wire.encode(reply))
        }
    }
}

/// The Kafka headers of a feed record, by which gateways route the record without decoding its JSON.
///
/// `p` is the position (`epoch.number`), `c` the number of the feed class; `k` is `end` on the last item of a live.
package struct FeedHeaders: Equatable, Sendable {
    package var position: FeedPosition
    package var feedClass: FeedClass
    /// Whether this is the live's last item, after which all viewers leave.
    package var isEnd: Bool

    package init(position: FeedPosition, feedClass: FeedClass, isEnd: Bool = false) {
        self.position = position
        self.feedClass = feedClass
        self.isEnd = isEnd
    }

    /// The names and values of the headers.
    package var headers: [(name: String, value: [UInt8])] {
        var headers = [
            (name: "p", value: Array("\(self.position.epoch).\(self.position.number)".utf8)),
            (name: "c", value: Array("\(self.feedClass.rawValue)".utf8)),
        ]
        if self.isEnd { headers.append((name: "k", value: Self.end)) }
        return headers
    }

    /// Parses the headers; nil when `p` or `c` is missing or malformed (`k` is optional).
    ///
    /// - Parameter header: returns the value of the header with the given name; nil if the record has no such header.
    package init?(_ header: (String) -> [UInt8]?) {
        guard let position = header("p"), let dot = position.firstIndex(of: UInt8(ascii: ".")),
            let classNumber = header("c"),
            let epoch = Int64(String(decoding: position[..<dot], as: UTF8.self)),
            let number = Int64(String(decoding: position[(dot + 1)...], as: UTF8.self)),
            FeedPosition.validNumbers.contains(epoch), FeedPosition.validNumbers.contains(number),
            let rawClass = Int(String(decoding: classNumber, as: UTF8.self)),
            let feedClass = FeedClass(rawValue: rawClass)
        else { return nil }
        self.init(
            position: FeedPosition(epoch: epoch, number: number), feedClass: feedClass, isEnd: header("k") == Self.end)
    }

    /// The value of the header `k` on a live's last item.
    private static let end = Array("end".utf8)
}
