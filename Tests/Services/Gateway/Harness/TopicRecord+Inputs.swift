// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// What the gateway has written in a record.
///
/// A value that cannot be decoded is recorded as an issue of the test. If such a record were only skipped, a test that
/// expects no record of this kind could pass.
extension TopicRecord {
    /// The input of presence; nil for a record of another topic.
    var audienceInput: AudienceInput? { self.topic == .audienceInbox ? self.decoded(as: AudienceInput.self) : nil }
    /// The input of the fan-out; nil for a record of another topic.
    var barrageInput: BarrageInput? { self.topic == .barrageInbox ? self.decoded(as: BarrageInput.self) : nil }
    /// The input of the directory; nil for a record of another topic.
    var directoryInput: DirectoryInput? { self.topic == .directoryInbox ? self.decoded(as: DirectoryInput.self) : nil }

    /// The decoded value; nil, with an issue of the test, if it has another form.
    func decoded<Value: Decodable>(as type: Value.Type) -> Value? {
        do {
            return try Wire.decode(type, from: self.value ?? [])
        } catch {
            Issue.record(error, "a record of \(self.topic) is no \(type)")
            return nil
        }
    }
}
