// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// The inputs that the gateway has written for the machines of the other services.
///
/// A record that cannot be decoded is recorded as an issue of the test. If it were only skipped, a test that expects no
/// such record could pass.
extension TopicRecord {
    /// The input of presence; nil for a record of another topic.
    var audienceInput: AudienceInput? { self.topic == .audienceInbox ? self.decoded(as: AudienceInput.self) : nil }
    /// The input of the fan-out; nil for a record of another topic.
    var barrageInput: BarrageInput? { self.topic == .barrageInbox ? self.decoded(as: BarrageInput.self) : nil }
    /// The input of the directory; nil for a record of another topic.
    var directoryInput: DirectoryInput? { self.topic == .directoryInbox ? self.decoded(as: DirectoryInput.self) : nil }

    /// Decodes the record's value; records an issue of the test and returns nil if the value is of another type.
    func decoded<Value: Decodable>(as type: Value.Type) -> Value? {
        do {
            return try Wire.decode(type, from: self.value ?? [])
        } catch {
            Issue.record(error, "a record of \(self.topic) is no \(type)")
            return nil
        }
    }
}
