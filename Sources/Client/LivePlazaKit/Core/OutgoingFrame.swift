// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The frames that a client sends.
enum OutgoingFrame {
    /// The maximum size of the parameters in bytes: a whole frame has at most 64 KiB, of which 256 bytes are reserved
    /// for its other fields.
    private static let maxParams = (64 << 10) - 256

    /// Writes a call.
    ///
    /// `age`: the time since the call was first sent; nil if it is sent for the first time.
    static func call(_ id: Int64, _ method: String, _ params: [UInt8], age: Milliseconds? = nil) -> [UInt8] {
        var bytes = Array("{".utf8)
        if let age { bytes += Array("\"age\":\(age.count),".utf8) }
        bytes += Array("\"id\":\(id),\"method\":".utf8) + Wire.encode(method) + Array(",\"params\":".utf8)
        bytes += params
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Writes the parameters of a call.
    ///
    /// - Throws: `invalidParameter` for a number that JSON cannot express; `messageTooLong` for parameters so long that
    ///   the server would close the connection.
    static func params(_ params: [String: JSONValue]) throws(ErrorInfo) -> [UInt8] {
        guard params.values.allSatisfy(Self.isJSON) else {
            throw ErrorInfo(.invalidParameter, "a parameter is no finite number")
        }
        let bytes = Wire.encode(JSONValue.object(params))
        guard bytes.count <= Self.maxParams else {
            throw ErrorInfo(.messageTooLong, "the parameters have more than 64 KiB")
        }
        return bytes
    }

    /// Whether JSON can express a value: numbers must be finite.
    private static func isJSON(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let number): number.isFinite
        case .array(let values): values.allSatisfy(Self.isJSON)
        case .object(let members): members.values.allSatisfy(Self.isJSON)
        case .null, .bool, .integer, .text: true
        }
    }
}
