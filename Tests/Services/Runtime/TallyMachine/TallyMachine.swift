// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A machine for tests of the shell: copies every text into its live's feed and counts the items of each feed.
///
/// The text "alarm" makes the live's row due 300 ms later; the machine then adds the item "rang". The text "huge" adds
/// an item that no broker accepts; "huge alarm" does so when the row is due. The text "deadly" ends the process;
/// "deadly alarm" does so when the row is due.
package struct TallyMachine: Machine {
    package struct Key: RowKey {
        static let prefix = "tally/"
        package var text: String
        package init(_ text: String) { self.text = text }
        /// The key of the row of a live.
        package init(_ live: LiveKey) { self.text = Self.prefix + live.text }
        package init?(text: String) {
            guard text.hasPrefix(Self.prefix) else { return nil }
            self.text = text
        }
        package static func < (left: Key, right: Key) -> Bool { left.text < right.text }
    }

    package struct Row: JournalRow, Codable {
        /// The number of items in the live's feed.
        package var count: Int64
        /// When the row must be handled without an input; nil if it has no due time.
        package var due: Timestamp?
        /// The text that set the due time.
        package var alarm = ""
    }

    private static let hugeText = String(repeating: "h", count: 2_000_000)

    package init() {}

    package func handle(
        _ input: BarrageInput, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect]
    ) {
        guard case .sendText(let text, _, let caller) = input.command else { return }
        if text == "deadly" { fatalError("a deadly input") }
        let key = Key(input.key)
        let count = (journal[key]?.count ?? 0) + 1
        var row = journal[key] ?? Row(count: 0)
        row.count = count
        if text.hasSuffix("alarm") {
            row.due = moment.now + Milliseconds(300)
            row.alarm = text
        }
        journal[key] = row
        effects.append(self.item(input.key, count, text == "huge" ? Self.hugeText : text, moment))
        effects.append(.success(.sent(position: FeedPosition(epoch: 1, number: count)), to: caller, app: input.key.app))
    }

    package func handleDueRow(
        _ key: Key, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect]
    ) {
        guard var row = journal[key], let live = LiveKey(text: key.text.dropFirst(Key.prefix.count)) else { return }
        if row.alarm == "deadly alarm" { fatalError("a deadly row") }
        row.count += 1
        row.due = nil
        journal[key] = row
        effects.append(self.item(live, row.count, row.alarm == "huge alarm" ? Self.hugeText : "rang", moment))
    }

    /// The item with the number `count` in the live's feed.
    private func item(_ key: LiveKey, _ count: Int64, _ text: String, _ moment: Moment) -> Effect {
        .feed(
            FeedItem(
                key: key, position: FeedPosition(epoch: 1, number: count), at: moment.now,
                content: .text(sender: UserInfo(userID: "tally"), text: text, extensionInfo: nil)))
    }
}
