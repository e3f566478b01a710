// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// One Swift source of the package.
package struct SourceFile: Sendable, CustomStringConvertible {
    /// The path relative to the package, such as `Sources/Model/MachineKit/Journal.swift`.
    package var path: String
    package var lines: [String]
    /// The lines without their comments, with line numbers from one.
    ///
    /// The rest of a line from `//` on counts as a comment, even if `//` is inside a string.
    package var code: [(number: Int, text: String)]

    package var description: String { self.path }
    /// The name of the target whose folder contains the file; empty if there is none.
    package let target: String

    /// The modules that the file imports.
    package var imports: [String] {
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

    package init(path: String, lines: [String]) {
        self.path = path
        self.target = SourceTree.target(of: path)
        self.lines = lines
        self.code = lines.enumerated().map { index, line in
            let bytes = Array(line.utf8)
            let slash = UInt8(ascii: "/")
            let comment = bytes.indices.first { $0 + 1 < bytes.count && bytes[$0] == slash && bytes[$0 + 1] == slash }
            return (index + 1, comment.map { String(decoding: bytes[..<$0], as: UTF8.self) } ?? line)
        }
    }
}

/// The package's Swift sources on disk.
package enum SourceTree {
    package static let sources = Self.files(under: "Sources")
    package static let tests = Self.files(under: "Tests")

    /// The name of each target by its folder, as `Package.swift` declares them with `in:`.
    ///
    /// If an executable and a library share a folder, the folder's files belong to the library.
    private static let targetsByFolder: [String: String] = {
        guard let manifest = try? Repository.text("Package.swift") else { return [:] }
        var targets: [String: String] = [:]
        for (opening, root) in [
            ("library(", "Sources"), ("executable(", "Sources"), ("tests(", "Tests"), ("appCode(", "Tests"),
        ] {
            for declaration in manifest.components(separatedBy: opening).dropFirst() {
                // The rest of a declaration begins with `"Name", in: "Folder"`, on one line or on two.
                let words = declaration.split(separator: "\"", maxSplits: 4, omittingEmptySubsequences: false)
                guard words.count == 5, words[2].hasSuffix("in: ") else { continue }
                let folder = words[3].hasPrefix("../") ? String(words[3].dropFirst(3)) : "\(root)/\(words[3])"
                if targets[folder] == nil { targets[folder] = String(words[1]) }
            }
        }
        return targets
    }()

    /// The target that a file belongs to: that of the nearest enclosing folder; empty if there is none.
    static func target(of path: String) -> String {
        var folder = path[...]
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            if let target = Self.targetsByFolder[String(folder)] { return target }
        }
        return ""
    }

    private static func files(under folder: String) -> [SourceFile] {
        let root = Repository.root
        var unreadFolders = [folder]
        var files: [SourceFile] = []
        while let path = unreadFolders.popLast() {
            let url = root.appending(path: path)
            for name in (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [] {
                let inner = "\(path)/\(name)"
                var isFolder = false
                _ = FileManager.default.fileExists(atPath: root.appending(path: inner).path, isDirectory: &isFolder)
                if isFolder {
                    unreadFolders.append(inner)
                } else if name.hasSuffix(".swift"), let data = try? Data(contentsOf: root.appending(path: inner)) {
                    let text = String(decoding: data, as: UTF8.self)
                    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                    files.append(SourceFile(path: inner, lines: text.hasSuffix("\n") ? lines.dropLast() : lines))
                }
            }
        }
        return files.sorted { $0.path < $1.path }
    }
}
