// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import PlazaModel
internal import PlazaWire

/// A record of the topic `dead.letters`: an input, or a row, that can never be processed (docs/TOPICS.md).
///
/// A row is a record of a machine's compacted state topic.
/// The dead letter of an input has the input's key, value and headers, so that an operator can submit the input again.
/// The dead letter of a row has the row's key and value, and the headers of the input before which the row was due.
/// Both also have the headers of `DeadLetterOrigin`.
struct DeadLetter {
    /// The maximum size of a stored value; a larger value is omitted.
    ///
    /// The largest value, key and headers together are below the broker's limit for a record. A dead letter above that
    /// limit could not be written, and the input's partition would stop permanently.
    private static let maxValueBytes = 500_000
    /// The maximum size of a stored key; a larger key is omitted.
    private static let maxKeyBytes = 100_000
    /// The maximum size of all stored headers of the input; larger headers are all omitted.
    private static let maxHeaderBytes = 100_000
    /// An upper bound for the bytes that the record format adds to each header.
    private static let headerOverheadBytes = 16

    /// The input that could not be processed, or before which the row was due.
    private let input: IncomingRecord
    /// The key of the input or of the row.
    private var key: [UInt8]?
    /// The value of the input, or the row.
    private var value: [UInt8]?
    private var origin: DeadLetterOrigin

    /// Creates the dead letter of an inbox record.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - machine: the machine that could not process the record.
    ///   - reason: the reason, as text for operators.
    init(_ record: IncomingRecord, machine: String, reason: String) {
        self.input = record
        self.key = record.key
        self.value = record.value
        self.origin = DeadLetterOrigin(
            topic: record.topic, partition: record.partition, offset: record.offset, machine: machine, reason: reason)
    }

    /// Makes this the dead letter of a row that could not be handled and was due before the input.
    ///
    /// The key, the value and the topic become those of the row. The partition, the offset and the headers remain those
    /// of the input.
    mutating func setOriginal(toRow row: [UInt8], key: String, in stateTopic: PlazaTopic) {
        self.key = Array(key.utf8)
        self.value = row
        self.origin.topic = stateTopic.rawValue
    }

    /// The record for the topic `dead.letters`; if `hasContent` is false, key, value and headers are all left out.
    func outgoing(hasContent: Bool = true) -> OutgoingRecord {
        var origin = self.origin
        var storedValue = self.value
        var storedKey = self.key
        var headers = self.input.headers.filter { !$0.name.hasPrefix(DeadLetterOrigin.prefix) }
        var omittedBytes = 0
        if let value = self.value, value.count > (hasContent ? Self.maxValueBytes : 0) {
            omittedBytes += value.count
            storedValue = nil
        }
        if let key = self.key, key.count > (hasContent ? Self.maxKeyBytes : 0) {
            omittedBytes += key.count
            storedKey = nil
        }
        let headerBytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + Self.headerOverheadBytes }
        if headerBytes > (hasContent ? Self.maxHeaderBytes : 0) {
            omittedBytes += headerBytes
            headers = []
        }
        if omittedBytes > 0 { origin.omittedBytes = omittedBytes }
        return OutgoingRecord(
            topic: PlazaTopic.deadLetters.rawValue, partition: self.input.partition, key: storedKey,
            value: storedValue,
            headers: headers + origin.headers.map { KafkaHeader(name: $0.name, value: $0.value) })
    }

    /// The reply to the input's caller; nil if the input has no caller.
    func reply(_ failure: InputFailure) -> Effect? {
        guard let value = self.input.value, let (caller, app) = InboxCaller.find(in: value) else { return nil }
        return .failure(failure.replyCode, "the call could not be processed and was set aside", to: caller, app: app)
    }
}
