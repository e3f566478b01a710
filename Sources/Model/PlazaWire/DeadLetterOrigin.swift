// SPDX-License-Identifier: Apache-2.0

/// Where the original of a record of the topic `dead.letters` comes from, and why the original could not be processed.
///
/// The original is an input, or a row that was due before an input. The record stores its origin in headers whose names
/// begin with `dead-`.
package struct DeadLetterOrigin: Equatable, Sendable {
    /// The prefix of the headers' names; no other header's name begins with it.
    package static let prefix = "dead-"
    /// The maximum number of characters of a reason.
    private static let maxReasonLength = 1000

    /// The topic of the original: the inbox of an input, or the state topic of a row.
    package var topic: String
    /// The partition of the original, which is the same for the input and the row.
    package var partition: Int32
    /// The offset of the input, or of the input before which the row was due.
    package var offset: Int64
    /// The machine that could not process the original.
    package var machine: String
    /// Why the machine could not process the original, as a text for operators.
    package var reason: String
    /// How many bytes of the original were omitted because its value, key or headers were too large; nil if none were.
    package var omittedBytes: Int?

    package init(
        topic: String, partition: Int32, offset: Int64, machine: String, reason: String, omittedBytes: Int? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.machine = machine
        self.reason = String(reason.prefix(Self.maxReasonLength))
        self.omittedBytes = omittedBytes
    }

    /// Parses the headers of a record; nil if one is missing or malformed.
    ///
    /// - Parameter header: returns the value of the header with this name.
    package init?(_ header: (String) -> [UInt8]?) {
        func text(_ name: String) -> String? {
            header(Self.prefix + name).map { String(decoding: $0, as: UTF8.self) }
        }
        guard let topic = text("topic"), let partition = text("partition").flatMap({ Int32($0) }),
            let offset = text("offset").flatMap({ Int64($0) }), let machine = text("machine"),
            let reason = text("reason")
        else { return nil }
        self.init(
            topic: topic, partition: partition, offset: offset, machine: machine, reason: reason,
            omittedBytes: text("omitted-bytes").flatMap { Int($0) })
    }

    /// The names and values of the headers.
    package var headers: [(name: String, value: [UInt8])] {
        var headers = [
            ("topic", self.topic), ("partition", "\(self.partition)"), ("offset", "\(self.offset)"),
            ("machine", self.machine), ("reason", self.reason),
        ]
        if let omittedBytes = self.omittedBytes { headers.append(("omitted-bytes", "\(omittedBytes)")) }
        return headers.map { name, value in (name: Self.prefix + name, value: Array(value.utf8)) }
    }
}
