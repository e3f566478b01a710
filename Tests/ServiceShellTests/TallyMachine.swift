// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// A machine for tests of the shell: counts what each live was told and passes every text on into the feed.
///
/// A live that gets the text "alarm" has an item of its own 300 ms later.
struct TallyMachine: Machine {
    struct Key: RowKey {
        var text: String
        init(_ text: String) { self.text = text }
        init?(text: String) {
            guard text.hasPrefix("tally/") else { return nil }
            self.text = text
        }
        static func < (a: Key, b: Key) -> Bool { a.text < b.text }
    }

    struct Row: JournalRow, Codable {
        var count: Int64
        var due: Timestamp?
    }

    func handle(
        _ input: BarrageInput, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect]
    ) {
        guard case .sendText(let text, _, let caller) = input.command else { return }
        let key = Key("tally/" + input.key.text)
        let count = (journal[key]?.count ?? 0) + 1
        journal[key] = Row(count: count, due: text == "alarm" ? moment.now + Milliseconds(300) : journal[key]?.due)
        effects.append(self.item(input.key, count, text, moment))
        effects.append(.success(.sent(position: FeedPosition(epoch: 1, number: count)), to: caller, app: input.key.app))
    }

    func due(_ key: Key, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect]) {
        guard var row = journal[key], let live = LiveKey(text: key.text.dropFirst(6)) else { return }
        row.count += 1
        row.due = nil
        journal[key] = row
        effects.append(self.item(live, row.count, "rang", moment))
    }

    private func item(_ key: LiveKey, _ count: Int64, _ text: String, _ moment: Moment) -> Effect {
        .feed(
            FeedItem(
                key: key, position: FeedPosition(epoch: 1, number: count), at: moment.now,
                content: .text(sender: UserInfo(userID: "tally"), text: text, extensionInfo: nil)))
    }
}
