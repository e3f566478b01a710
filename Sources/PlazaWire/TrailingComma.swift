// SPDX-License-Identifier: Apache-2.0

/// Finds the one thing outside JSON (RFC 8259) that the decoder lets pass at every depth: a comma behind which an object
/// or a list ends.
package enum TrailingComma {
    /// Whether there is one in what may be JSON.
    package static func stands(in json: [UInt8]) -> Bool {
        var isAfterComma = false
        var index = 0
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\""):
                index = NumberFinder.endOfText(json, from: index + 1)
                isAfterComma = false
            case UInt8(ascii: ","): isAfterComma = true
            case UInt8(ascii: "}"), UInt8(ascii: "]"): if isAfterComma { return true }
            case 0x20, 0x09, 0x0A, 0x0D: break
            default: isAfterComma = false
            }
            index += 1
        }
        return false
    }
}
