// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// A call as it is sent: a frame that asks the server to carry out a method.
struct OutgoingCall {
    let id: Int64
    let method: String
    /// The parameters as JSON; empty for a call without parameters.
    var params: [UInt8] = []
    /// The time since the call was first sent; nil when it is sent for the first time.
    ///
    /// The server remembers the outcome of a call only for a while. It rejects a resent call that is older, because it
    /// cannot know whether the call was applied before (PROTOCOL.md, section 4.1).
    var age: Milliseconds?

    /// The frame as JSON.
    var bytes: [UInt8] {
        var bytes = Array("{".utf8)
        if let age = self.age { bytes += Array("\"age\":\(age.count),".utf8) }
        bytes += Array("\"id\":\(self.id),\"method\":\"\(self.method)\"".utf8)
        if !self.params.isEmpty {
            bytes += Array(",\"params\":".utf8)
            bytes += self.params
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
