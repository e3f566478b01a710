// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A machine for tests of the shell: it copies each text of a live into the live's feed, as an item.
///
/// A shell is the loop that runs a machine. The items of a live are numbered from 1. Some texts have a meaning:
/// - "huge" becomes an item that no broker accepts;
/// - "large" becomes an item of `largeItemBytes`, about half of what brokers accept;
/// - "flood" becomes `floodCount` items of `largeItemBytes`;
/// - "deadly" ends the process;
/// - "alarm" becomes an item and makes the live's row (the machine's state of this live) due 300 ms later. The due row
///   becomes the item "rang";
/// - "huge alarm" is like "alarm", but the due row becomes an item that no broker accepts;
/// - "large alarm" is like "alarm", but the due row becomes an item of `largeItemBytes`;
/// - "deadly alarm" is like "alarm", but the due row ends the process.
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
        /// The text that set the due time; empty if no text did.
        package var alarm = ""

        /// A row with an empty `alarm`.
        package init(count: Int64, due: Timestamp? = nil) {
            self.count = count
            self.due = due
        }
    }

    /// Larger than the largest record that a broker accepts, about 1 MB.
    private static let hugeText = String(repeating: "h", count: 2_000_000)
    package static let largeItemBytes = 480_000
    package static let floodCount = 100
    private static let largeText = String(repeating: "l", count: Self.largeItemBytes)

    package init() {}

    package func handle(
        _ input: BarrageInput, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect]
    ) {
        guard case .sendText(let text, _, let caller) = input.command else { return }
        if text == "deadly" { fatalError("a deadly input") }
        let key = Key(input.key)
        var row = journal[key] ?? Row(count: 0)
        for _ in 0..<(text == "flood" ? Self.floodCount : 1) {
            row.count += 1
            effects.append(self.item(input.key, number: row.count, Self.itemText(of: text), moment))
        }
        if text.hasSuffix("alarm") {
            row.due = moment.now + Milliseconds(300)
            row.alarm = text
        }
        journal[key] = row
        let position = FeedPosition(epoch: 1, number: row.count)
        effects.append(.success(.sent(position: position), to: caller, app: input.key.app))
    }

    package func handleDueRow(
        _ key: Key, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect]
    ) {
        guard var row = journal[key], let live = LiveKey(text: key.text.dropFirst(Key.prefix.count)) else { return }
        if row.alarm == "deadly alarm" { fatalError("a deadly row") }
        row.count += 1
        row.due = nil
        journal[key] = row
        let itemText =
            switch row.alarm {
            case "huge alarm": Self.hugeText
            case "large alarm": Self.largeText
            default: "rang"
            }
        effects.append(self.item(live, number: row.count, itemText, moment))
    }

    /// The text of an item that an input with this text causes.
    private static func itemText(of text: String) -> String {
        switch text {
        case "huge": Self.hugeText
        case "large", "flood": Self.largeText
        default: text
        }
    }

    /// An item of the live's feed.
    private func item(_ key: LiveKey, number: Int64, _ text: String, _ moment: Moment) -> Effect {
        .feed(
            FeedItem(
                key: key, position: FeedPosition(epoch: 1, number: number), at: moment.now,
                content: .text(sender: UserInfo(userID: "tally"), text: text, extensionInfo: nil)))
    }
}
