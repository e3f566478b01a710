// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import TallyMachine
import Testing

/// Tests of a processor, which is a machine with its rows for one partition.
///
/// The machine counts the texts of a live and writes an item with the count for each; the text "alarm" makes the live's
/// row due 300 ms later, which adds the item "rang" (see `TallyMachine`).
@Suite struct MachineProcessorTests {
    static let live = LiveKey("app", "room")

    /// A text message of the live, received at a time in milliseconds.
    static func textInput(_ text: String, at milliseconds: Int64, offset: Int64) -> InboxInput {
        let caller = Caller(
            user: UserInfo(userID: "u"), role: .user, request: RequestID(session: "s", counter: offset), replyTo: "g")
        let input = BarrageInput(Self.live, .sendText(text: text, extensionInfo: nil, caller: caller))
        return InboxInput(
            moment: Moment(now: Timestamp(milliseconds: milliseconds), offset: offset),
            payload: .record(Wire.encode(input)))
    }

    /// The numbers of the feed items, which count the items of the live from 1.
    static func numbers(_ effects: [Effect]) -> [Int64] {
        effects.compactMap { if case .feed(let item) = $0 { item.position.number } else { nil } }
    }

    /// A processor that has acquired the partition, and the counter of its malformed records.
    func makeProcessor() -> (processor: MachineProcessor<TallyMachine>, malformed: Counter) {
        let malformed = Counter()
        let processor = MachineProcessor(TallyMachine(), log: .none, malformed: malformed)
        processor.acquired(generation: 0, committedMetadata: "", at: Timestamp(milliseconds: 0))
        return (processor, malformed)
    }

    @Test func `a batch that was rolled back is decided again with the same effects`() {
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
        #expect(Self.numbers(effectsAfterRollback) == [2, 3])
    }

    @Test func `a record that cannot be read is counted and does not stop the partition`() {
        let (processor, malformed) = self.makeProcessor()
        var effects: [Effect] = []
        let unreadable = InboxInput(
            moment: Moment(now: Timestamp(milliseconds: 5), offset: 0), payload: .record(Array("{nonsense".utf8)))
        processor.process([unreadable, Self.textInput("a", at: 10, offset: 1)], effects: &effects)
        #expect(Self.numbers(effects) == [1])
        #expect(malformed.value == 1)
    }

    @Test func `a row that is due is handled before the input that made time pass`() {
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

    @Test func `time never goes back, not even for a new owner`() {
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
        #expect(item.at == Timestamp(milliseconds: 5_000))
    }

    @Test func `rows survive being written and restored`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process([Self.textInput("alarm", at: 1_000, offset: 0)], effects: &effects)
        let (successor, _) = self.makeProcessor()
        for change in processor.changes { successor.restore(key: change.key, row: change.row) }
        #expect(successor.nextDue == Timestamp(milliseconds: 1_300))
        effects = []
        successor.process([Self.textInput("b", at: 1_100, offset: 1)], effects: &effects)
        #expect(Self.numbers(effects) == [2])
    }

    @Test func `each effect names the input that caused it`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process(
            [Self.textInput("a", at: 10, offset: 0), Self.textInput("b", at: 20, offset: 1)], effects: &effects)
        // Each text has a feed item and a reply; a cause is the index of an input in its batch.
        #expect(processor.causeIndexes == [0, 0, 1, 1])
    }

    /// Rules: R16.12.
    @Test func `a time without input is counted as a standstill, also by the next owner, and not by a rollback`() {
        let (processor, _) = self.makeProcessor()
        var effects: [Effect] = []
        processor.process(
            [Self.textInput("a", at: 5_000, offset: 0), Self.textInput("b", at: 7_000, offset: 1)], effects: &effects)
        processor.committed()
        #expect(processor.offsetMetadata == "7000", "a gap of 2 s is no standstill, so only the time is stored")
        processor.process([Self.textInput("c", at: 90_000, offset: 2)], effects: &effects)
        // The metadata are the latest time of the machine and the partition's total standstill (time without an owner
        // or an input), in milliseconds. The standstill is 90 s - 7 s here, and gains 95 s - 90 s below.
        #expect(processor.offsetMetadata == "90000 83000")
        processor.rolledBack()
        #expect(processor.offsetMetadata == "7000")
        processor.process([Self.textInput("c", at: 90_000, offset: 2)], effects: &effects)
        processor.committed()
        let (successor, _) = self.makeProcessor()
        successor.acquired(
            generation: 1, committedMetadata: processor.offsetMetadata, at: Timestamp(milliseconds: 95_000))
        successor.process([Self.textInput("d", at: 95_000, offset: 3)], effects: &effects)
        #expect(successor.offsetMetadata == "95000 88000")
    }
}
