// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import TallyMachine
import Testing

/// Tests of `MachineProcessor`: a machine with its rows (its state) for one partition.
///
/// The machine is `TallyMachine`. It has a row for each live, writes an item for each text of a live, and numbers the
/// items from 1. The text "alarm" makes the live's row due 300 ms later, and the due row adds the item "rang".
@Suite struct MachineProcessorTests {
    static let live = LiveKey("app", "room")

    /// An input with a text of the live, received at this time in milliseconds.
    static func textInput(_ text: String, at milliseconds: Int64, offset: Int64) -> InboxInput {
        let caller = Caller(
            user: UserInfo(userID: "u"), role: .user, request: RequestID(session: "s", counter: offset), replyTo: "g")
        let input = BarrageInput(Self.live, .sendText(text: text, extensionInfo: nil, caller: caller))
        return InboxInput(
            moment: Moment(now: Timestamp(milliseconds: milliseconds), offset: offset),
            payload: .record(Wire.encode(input)))
    }

    /// The numbers of the feed items among the effects.
    static func itemNumbers(_ effects: [Effect]) -> [Int64] {
        effects.compactMap { if case .feed(let item) = $0 { item.position.number } else { nil } }
    }

    /// A processor without rows that has acquired the partition at time 0, and the counter of its malformed records.
    func makeProcessor() -> (processor: MachineProcessor<TallyMachine>, malformed: Counter) {
        let malformed = Counter()
        let processor = MachineProcessor(TallyMachine(), log: .none, malformed: malformed)
        processor.acquired(generation: 0, committedMetadata: "", at: Timestamp(milliseconds: 0))
        return (processor, malformed)
    }

    @Test func `a batch that is decided again after a rollback has the same effects`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process([Self.textInput("a", at: 10, offset: 0)], effects: &effects)
        processor.committed()
        let batch = [Self.textInput("b", at: 20, offset: 1), Self.textInput("c", at: 30, offset: 2)]
        var effectsBeforeRollback: [Effect] = []
        processor.process(batch, effects: &effectsBeforeRollback)
        processor.rolledBack()
        #expect(processor.changes.isEmpty)
        var effectsAfterRollback: [Effect] = []
        processor.process(batch, effects: &effectsAfterRollback)
        #expect(effectsAfterRollback == effectsBeforeRollback)
        #expect(Self.itemNumbers(effectsAfterRollback) == [2, 3])
    }

    @Test func `a malformed record is counted, and the inputs after it are processed`() {
        let (processor, malformed) = self.makeProcessor()
        var effects: [Effect] = []
        let malformedInput = InboxInput(
            moment: Moment(now: Timestamp(milliseconds: 5), offset: 0), payload: .record(Array("{nonsense".utf8)))
        processor.process([malformedInput, Self.textInput("a", at: 10, offset: 1)], effects: &effects)
        #expect(Self.itemNumbers(effects) == [1])
        #expect(malformed.value == 1)
    }

    @Test func `a stored row that cannot be read counts until another version of it, or its removal, is restored`() {
        let (processor, malformed) = self.makeProcessor()
        processor.restore(key: "tally/app/a", row: Array("{nonsense".utf8))
        processor.restore(key: "tally/app/b", row: Array("{}".utf8))
        processor.restore(key: "of another version/app/c", row: Array(#"{"count":1,"alarm":""}"#.utf8))
        processor.restore(key: "tally/app/d", row: Array(#"{"count":1,"alarm":""}"#.utf8))
        #expect(processor.unreadableRowCount == 3)
        #expect(processor.rowCount == 1)
        #expect(malformed.value == 3)
        processor.restore(key: "tally/app/a", row: Array(#"{"count":2,"alarm":""}"#.utf8))
        processor.restore(key: "tally/app/b", row: nil)
        processor.restore(key: "of another version/app/c", row: nil)
        #expect(processor.unreadableRowCount == 0)
        #expect(processor.rowCount == 2)
    }

    @Test func `a row that is due before an input is handled before this input`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process([Self.textInput("alarm", at: 1_000, offset: 0)], effects: &effects)
        #expect(processor.nextDue == Timestamp(milliseconds: 1_300))
        effects = []
        processor.process([Self.textInput("late", at: 1_400, offset: 1)], effects: &effects)
        let texts = effects.compactMap { effect -> String? in
            guard case .feed(let item) = effect, case .text(_, let text, _) = item.content else { return nil }
            return text
        }
        #expect(texts == ["rang", "late"])
        #expect(processor.nextDue == nil)
    }

    @Test func `I16 many rows that are due at once are handled in several calls, and then the input`() {
        let (processor, _) = self.makeProcessor()
        let lives = (0..<100).map { LiveKey("app", LiveID("live-\($0)")) }
        for live in lives {
            let row = TallyMachine.Row(count: 0, due: Timestamp(milliseconds: 1_000))
            processor.restore(key: TallyMachine.Key(live).text, row: Wire.encode(row))
        }
        let input = Self.textInput("after", at: 2_000, offset: 7)
        var items: [FeedItem] = []
        var callCount = 0
        var decidedCount = 0
        while decidedCount == 0, callCount < 200 {
            var effects: [Effect] = []
            decidedCount = processor.process([input], effects: &effects)
            #expect(processor.causeIndexes.count == effects.count)
            let newItems = effects.compactMap { effect -> FeedItem? in
                if case .feed(let item) = effect { item } else { nil }
            }
            #expect(newItems.count <= 17, "at most 16 due rows, and the input")
            items += newItems
            callCount += 1
        }
        #expect(decidedCount == 1)
        // Each due row has one item, in the order in which the rows are due, and the input has the last one.
        #expect(Set(items.dropLast().map(\.key)) == Set(lives))
        #expect(items.count == 101)
        #expect(items.last?.key == Self.live)
        #expect(processor.nextDue == nil)
    }

    @Test func `time never goes back, even if a new owner receives an earlier time`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process([Self.textInput("a", at: 5_000, offset: 0)], effects: &effects)
        processor.committed()
        let (successor, _) = self.makeProcessor()
        successor.acquired(generation: 1, committedMetadata: processor.offsetMetadata, at: Timestamp(milliseconds: 100))
        effects = []
        successor.process([Self.textInput("b", at: 100, offset: 1)], effects: &effects)
        guard case .feed(let item)? = effects.first else {
            Issue.record("there is no feed item")
            return
        }
        #expect(
            item.at == Timestamp(milliseconds: 5_000), "expected the time of the last owner, not the earlier 100 ms")
    }

    @Test func `a new owner restores the rows that its predecessor has changed`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process([Self.textInput("alarm", at: 1_000, offset: 0)], effects: &effects)
        let (successor, _) = self.makeProcessor()
        for change in processor.changes { successor.restore(key: change.key, row: change.row) }
        #expect(successor.nextDue == Timestamp(milliseconds: 1_300))
        effects = []
        successor.process([Self.textInput("b", at: 1_100, offset: 1)], effects: &effects)
        #expect(Self.itemNumbers(effects) == [2], "the restored row has counted one item")
    }

    @Test func `each effect names the input that caused it`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process(
            [Self.textInput("a", at: 10, offset: 0), Self.textInput("b", at: 20, offset: 1)], effects: &effects)
        // Each text has two effects, a feed item and a reply. The cause of an effect is an index in the batch.
        #expect(processor.causeIndexes == [0, 0, 1, 1])
    }

    /// Rules: R16.12.
    @Test
    func `a long time without input counts as a standstill, even for the next owner, unless the batch is rolled back`()
    {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process(
            [Self.textInput("a", at: 5_000, offset: 0), Self.textInput("b", at: 7_000, offset: 1)], effects: &effects)
        processor.committed()
        #expect(
            processor.offsetMetadata == "7000", "2 s without input are no standstill, so only the latest time is stored"
        )
        processor.process([Self.textInput("c", at: 90_000, offset: 2)], effects: &effects)
        // The metadata are the machine's latest time, 90 s, and the total standstill of the partition, both in
        // milliseconds. There was no input from 7 s to 90 s, so the standstill is 83 s.
        #expect(processor.offsetMetadata == "90000 83000")
        processor.rolledBack()
        #expect(processor.offsetMetadata == "7000")
        processor.process([Self.textInput("c", at: 90_000, offset: 2)], effects: &effects)
        processor.committed()
        let (successor, _) = self.makeProcessor()
        successor.acquired(
            generation: 1, committedMetadata: processor.offsetMetadata, at: Timestamp(milliseconds: 95_000))
        successor.process([Self.textInput("d", at: 95_000, offset: 3)], effects: &effects)
        // The 5 s from 90 s to 95 s are a standstill, too: 83 s + 5 s = 88 s.
        #expect(successor.offsetMetadata == "95000 88000")
    }
}
