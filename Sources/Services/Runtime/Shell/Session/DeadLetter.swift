// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import PlazaModel
internal import PlazaWire

/// A record of the topic `dead.letters`: an input, or a row, that can never be processed (docs/TOPICS.md).
///
/// It has the key, value and headers of the original, so that an operator can submit the original again. It also has the
/// headers of `DeadLetterOrigin`.
struct DeadLetter {
    /// The maximum size of a stored value, below the broker's limit with room for the headers; a larger value is omitted.
    private static let maxValueBytes = 500_000
    /// The maximum sizes of a stored key and of all stored headers; larger ones are omitted.
    ///
    /// The key and headers of an input may alone be as large as the broker accepts. With the headers of
    /// `DeadLetterOrigin` the dead letter would be too large, and the input's partition would stop permanently.
    private static let maxKeyBytes = 100_000
    private static let maxHeaderBytes = 100_000
    /// An upper bound for the bytes that the record format adds to each header.
    private static let headerOverheadBytes = 16

    private let input: IncomingRecord
    private var key: [UInt8]?
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

    /// Makes this the dead letter of a row: rows that are due are handled before the input, and this one failed.
    ///
    /// The offset and the headers stay the input's.
    mutating func replaceInput(byRow row: [UInt8], key: String, of state: PlazaTopic) {
        self.key = Array(key.utf8)
        self.value = row
        self.origin.topic = state.rawValue
    }

    /// The record for the topic `dead.letters`.
    var outgoing: OutgoingRecord {
        var origin = self.origin
        var storedValue = self.value
        var storedKey = self.key
        var headers = self.input.headers.filter { !$0.name.hasPrefix(DeadLetterOrigin.prefix) }
        var omittedBytes = 0
        if let value = self.value, value.count > Self.maxValueBytes {
            omittedBytes += value.count
            storedValue = nil
        }
        if let key = self.key, key.count > Self.maxKeyBytes {
            omittedBytes += key.count
            storedKey = nil
        }
        let headerBytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + Self.headerOverheadBytes }
        if headerBytes > Self.maxHeaderBytes {
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
