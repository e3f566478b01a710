// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import PlazaWire
import Testing

/// One golden file in `Golden/`: a JSON object with one case on each line, in exactly the bytes on the wire.
///
/// `LIVEPLAZA_WRITE_GOLDEN=1` rewrites the files; review the difference before you commit it.
struct GoldenFile {
    let name: String

    private var url: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(self.name).json")
    }

    /// Expects that each value encodes to the JSON on its line of the file, and that this JSON decodes to the value.
    ///
    /// The JSON must also decode to the value after an unknown member was added to each of its objects.
    ///
    /// - Parameters:
    ///   - cases: the name and the value of each case.
    ///   - mapFields: the names of members that are dictionaries. No unknown member is added to them, because it would
    ///     be a new entry.
    /// - Throws: when the file cannot be read, or a value does not decode.
    func expectWireFormat<Value: Codable & Equatable>(
        of cases: [(String, Value)], mapFields: Set<String> = []
    ) throws {
        #expect(Set(cases.map(\.0)).count == cases.count, "two cases of \(self.name) have the same name")
        let lines = cases.map { name, value in
            "\"\(name)\": \(String(decoding: Wire.encode(value), as: UTF8.self))"
        }
        let text = "{\n" + lines.joined(separator: ",\n") + "\n}\n"
        if ProcessInfo.processInfo.environment["LIVEPLAZA_WRITE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: self.url)
        }
        let storedText = String(decoding: try Data(contentsOf: self.url), as: UTF8.self)
        // The first and the last line are the braces of the object.
        let storedLines = storedText.split(separator: "\n").dropFirst().dropLast().map(String.init)
        #expect(storedLines.count == cases.count, "\(self.name) must have one line for each case")
        for ((name, value), line) in zip(cases, storedLines) {
            let prefix = "\"\(name)\": "
            guard line.hasPrefix(prefix) else {
                Issue.record("\(self.name) has another case where \(name) must be")
                continue
            }
            var json = line.dropFirst(prefix.count)
            if json.hasSuffix(",") { json = json.dropLast() }
            let bytes = Array(json.utf8)
            #expect(String(decoding: Wire.encode(value), as: UTF8.self) == json, "\(self.name) \(name)")
            #expect(try Wire.decode(Value.self, from: bytes) == value, "\(self.name) \(name)")
            let extended = Self.withUnknownMembers(bytes, mapFields: mapFields)
            #expect(extended.count > bytes.count, "a member must be added to at least one object")
            #expect(try Wire.decode(Value.self, from: extended) == value, "\(self.name) \(name) with unknown members")
        }
    }

    /// The JSON with one unknown member at the start of each object that is not the value of one of `mapFields`.
    private static func withUnknownMembers(_ json: [UInt8], mapFields: Set<String>) -> [UInt8] {
        let unknownMember = Array("\"zz unknown\":[{\"a\":null},1.5]".utf8)
        var output: [UInt8] = []
        var isInString = false
        var isEscaped = false
        var stringStart = 0
        // The content of the last complete string; if a colon follows it, it is the name of the member.
        var lastString = ""
        for (index, byte) in json.enumerated() {
            output.append(byte)
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    lastString = String(decoding: json[stringStart..<index], as: UTF8.self)
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
                stringStart = index + 1
            } else if byte == UInt8(ascii: "{") {
                let isMemberValue = index > 0 && json[index - 1] == UInt8(ascii: ":")
                if isMemberValue && mapFields.contains(lastString) { continue }
                output += unknownMember
                if index + 1 < json.count, json[index + 1] != UInt8(ascii: "}") { output.append(UInt8(ascii: ",")) }
            }
        }
        return output
    }
}
