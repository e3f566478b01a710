// SPDX-License-Identifier: Apache-2.0

/// Finds the number that made a decoder give up: it says only that the data are bad, and a caller wants to know where.
enum NumberFinder {
    /// Where a value stands in its object or list.
    private enum Place {
        case key(String)
        case index(Int)

        var text: String {
            switch self {
            case .key(let key): key
            case .index(let index): "\(index)"
            }
        }
    }

    /// The path of the first number that is not whole or not in range.
    ///
    /// - Parameter json: known to be JSON.
    /// - Returns: nil when there is none.
    static func path(in json: [UInt8]) -> String? {
        var places: [Place] = []
        var index = 0
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "{"): places.append(.key(""))
            case UInt8(ascii: "["): places.append(.index(0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = places.popLast()
            case UInt8(ascii: ","):
                if case .index(let number)? = places.last { places[places.count - 1] = .index(number + 1) }
            case UInt8(ascii: "\""):
                let start = index + 1
                index = Self.endOfText(json, from: start)
                var next = index + 1
                while next < json.count, json[next] <= 0x20 { next += 1 }
                if next < json.count, json[next] == UInt8(ascii: ":"), !places.isEmpty {
                    places[places.count - 1] = .key(String(decoding: json[start..<index], as: UTF8.self))
                }
            case UInt8(ascii: "-"), 0x30...0x39:
                let start = index
                while index + 1 < json.count, Self.isOfNumber(json[index + 1]) { index += 1 }
                let text = String(decoding: json[start...index], as: UTF8.self)
                if !Self.fits(text) { return places.map(\.text).joined(separator: ".") }
            default: break
            }
            index += 1
        }
        return nil
    }

    /// Whether a whole number's field can hold it; `1.0` and `1e2` are whole numbers too.
    private static func fits(_ number: String) -> Bool {
        if number.utf8.contains(where: { $0 == 0x2E || $0 | 0x20 == 0x65 }) {
            return Double(number).flatMap { Int64(exactly: $0) } != nil
        }
        return Int64(number) != nil
    }

    /// Where the closing quotation mark stands.
    static func endOfText(_ json: [UInt8], from start: Int) -> Int {
        var index = start
        while index < json.count, json[index] != UInt8(ascii: "\"") {
            index += json[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, json.count)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E || byte | 0x20 == 0x65
    }
}
