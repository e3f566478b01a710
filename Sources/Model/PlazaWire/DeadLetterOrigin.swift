// SPDX-License-Identifier: Apache-2.0

/// Where a record of the topic `dead.letters` came from, and why it is there: its headers that begin with `dead-`.
package struct DeadLetterOrigin: Equatable, Sendable {
    /// The prefix of the headers' names; no other header begins so.
    package static let prefix = "dead-"
    /// The most characters of a reason.
    private static let maxReason = 1000

    /// The inbox topic of an input, or the state topic of a row.
    package var topic: String
    /// The partition of the original.
    package var partition: Int32
    /// The offset of the input, or of the input before which the row was due.
    package var offset: Int64
    /// The machine that could not process it.
    package var machine: String
    /// Why it could not be processed, for people.
    package var reason: String
    /// The size in bytes of what was too large to be kept of the original: its value, key or headers; nil if all was
    /// kept.
    package var omittedBytes: Int?

    package init(
        topic: String, partition: Int32, offset: Int64, machine: String, reason: String, omittedBytes: Int? = nil
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.machine = machine
        self.reason = String(reason.prefix(Self.maxReason))
        self.omittedBytes = omittedBytes
    }

    /// Reads the headers of a record; nil if one is missing or malformed.
    ///
    /// - Parameter header: gives the value of the header with a name.
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
        return headers.map { (name: Self.prefix + $0.0, value: Array($0.1.utf8)) }
    }
}
