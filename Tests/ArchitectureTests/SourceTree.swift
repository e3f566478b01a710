// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// One Swift source of the package.
struct SourceFile: Sendable, CustomStringConvertible {
    /// Relative to the package, such as `Sources/CoreKit/Journal.swift`.
    var path: String
    var lines: [String]
    /// The lines without what stands behind `//`, with their numbers from one.
    var code: [(number: Int, text: String)]

    var description: String { self.path }
    /// The folders and the file's name.
    var parts: [String] { self.path.split(separator: "/").map(String.init) }
    /// The target, by the folder's name.
    var target: String { self.parts.count > 2 ? self.parts[1] : "" }

    /// The modules that it imports.
    var imports: [String] {
        self.lines.compactMap { line in
            var words = line.split(separator: " ")
            while let first = words.first, first != "import" {
                guard first.hasPrefix("@") || ["public", "package", "internal", "private", "unsafe"].contains(first)
                else { return nil }
                words.removeFirst()
            }
            guard words.count >= 2 else { return nil }
            // `import struct Module.Name` names the module in the third word.
            let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "let", "var", "typealias"]
            let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
            return name.split(separator: ".").first.map(String.init)
        }
    }

    init(path: String, lines: [String]) {
        self.path = path
        self.lines = lines
        self.code = lines.enumerated().map { index, line in
            let bytes = Array(line.utf8)
            let slash = UInt8(ascii: "/")
            let comment = bytes.indices.first { $0 + 1 < bytes.count && bytes[$0] == slash && bytes[$0 + 1] == slash }
            return (index + 1, comment.map { String(decoding: bytes[..<$0], as: UTF8.self) } ?? line)
        }
    }
}

/// The package's Swift sources, as they stand on disk beside this file.
enum SourceTree {
    static let sources = Self.files(under: "Sources")
    static let tests = Self.files(under: "Tests")

    private static func files(under folder: String) -> [SourceFile] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var open = [folder]
        var found: [SourceFile] = []
        while let path = open.popLast() {
            let url = root.appending(path: path)
            for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
                let inner = "\(path)/\(name)"
                var isFolder = false
                _ = FileManager.default.fileExists(atPath: root.appending(path: inner).path, isDirectory: &isFolder)
                if isFolder {
                    open.append(inner)
                } else if name.hasSuffix(".swift"), let data = try? Data(contentsOf: root.appending(path: inner)) {
                    let text = String(decoding: data, as: UTF8.self)
                    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                    found.append(SourceFile(path: inner, lines: text.hasSuffix("\n") ? lines.dropLast() : lines))
                }
            }
        }
        return found.sorted { $0.path < $1.path }
    }
}
