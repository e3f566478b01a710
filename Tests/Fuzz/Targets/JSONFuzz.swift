// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

/// Any JSON: the decoder must reject everything that the scan rejects, and must be able to decode what was encoded.
public enum JSONFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        let isValid = StrictJSON(input) != nil
        do throws(WireError) {
            let value = try Wire.decode(JSONValue.self, from: input)
            precondition(isValid, "malformed JSON was decoded")
            // A number may change its kind: 1.0 is written as 1.
            let decodedAgain = try? Wire.decode(JSONValue.self, from: Wire.encode(value))
            precondition(decodedAgain != nil, "a value was encoded as something else")
        } catch {
            if !isValid { precondition(error == .notJSON) }
            _ = error.message
        }
        _ = try? Wire.decode(LoginParams.self, from: input)
    }
}
