// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TallyMachine

@testable import ServiceShell

/// A processor of `TallyMachine` that rejects each batch with the text "rejected".
///
/// The processor of presence rejects a batch in the same way when Redis answers with an error.
final class RejectingProcessor: PartitionProcessor {
    private let processor: MachineProcessor<TallyMachine>

    init(_ context: ProcessorContext) { self.processor = MachineProcessor(TallyMachine(), context) }

    func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError) -> Int {
        for input in inputs {
            guard case .record(let bytes) = input.payload, String(decoding: bytes, as: UTF8.self).contains("rejected")
            else { continue }
            throw .rejected("an input is rejected")
        }
        return self.processor.process(inputs, effects: &effects)
    }

    var causeIndexes: [Int] { self.processor.causeIndexes }
    var changes: [(key: String, row: [UInt8]?)] { self.processor.changes }
    var offsetMetadata: String { self.processor.offsetMetadata }
    var nextDue: Timestamp? { self.processor.nextDue }

    func restore(key: String, row: [UInt8]?) { self.processor.restore(key: key, row: row) }
    func acquired(generation: Int64, committedMetadata: String, at now: Timestamp) {
        self.processor.acquired(generation: generation, committedMetadata: committedMetadata, at: now)
    }
    func committed() { self.processor.committed() }
    func rolledBack() { self.processor.rolledBack() }
}
