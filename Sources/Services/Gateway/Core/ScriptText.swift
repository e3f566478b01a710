// SPDX-License-Identifier: Apache-2.0

/// A compact JavaScript module: without comments, indentation and empty lines, which a browser does not need.
///
/// The scanner recognizes strings, template literals and regular expressions, and copies them unchanged. It reads each
/// byte once. A source that it cannot scan to the end has no compact form, and is served unchanged.
package struct ScriptText: Sendable, Equatable {
    /// A line of the compact module.
    package struct Line: Sendable, Equatable {
        /// The text without its newline.
        package var text: String
        /// Whether the line begins outside of all brackets and literals.
        package let isTopLevel: Bool
    }

    /// The lines of the compact module.
    ///
    /// A template literal with newlines occupies several lines.
    package private(set) var lines: [Line] = []

    /// The whole text.
    package var text: String { self.lines.map { $0.text + "\n" }.joined() }

    /// Compacts a module.
    ///
    /// Returns nil if the source cannot be scanned, for example because it ends within a string.
    ///
    /// - Parameters:
    ///   - source: The module's source in UTF-8.
    ///   - resolve: Converts the specifier of each dynamic `import('…')`, for example to another path.
    package init?(_ source: [UInt8], resolve: (String) -> String = { $0 }) {
        var scanner = ScriptScanner(source)
        guard let lines = scanner.scanLines(resolve: resolve) else { return nil }
        self.lines = lines
    }
}

/// Scans a module once, from the beginning to the end.
private struct ScriptScanner {
    private let source: [UInt8]
    /// The index of the next byte to read.
    private var index = 0
    private var lines: [ScriptText.Line] = []
    /// The line that is being written.
    private var line: [UInt8] = []
    /// Whether `line` begins outside of all brackets and literals.
    private var isTopLevel = true
    /// The closing bytes of the open brackets; a backquote stands for the `${` of a template literal.
    private var closingBytes: [UInt8] = []
    /// The last byte of code that is not a blank; `'` after any literal; 0 before the first byte.
    ///
    /// This byte decides whether a `/` begins a regular expression or is a division.
    private var lastByte: UInt8 = 0
    /// The name, keyword or number that ends with `lastByte`; empty if that byte is not part of one.
    private var lastWord: [UInt8] = []

    /// The words after which a `/` begins a regular expression; after any other word, a `/` is a division.
    private static let wordsBeforeRegularExpression: Set<[UInt8]> = Set(
        ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield"].map {
            Array($0.utf8)
        })

    init(_ source: [UInt8]) { self.source = source }

    /// Scans the whole module; nil if that is not possible.
    ///
    /// The methods that scan one part of the module return false if the part has no end, or a bracket does not match.
    mutating func scanLines(resolve: (String) -> String) -> [ScriptText.Line]? {
        while self.index < self.source.count {
            let byte = self.source[self.index]
            // 0 stands for the end of the source.
            let next = self.index + 1 < self.source.count ? self.source[self.index + 1] : 0
            let isScanned =
                switch (byte, next) {
                case (UInt8(ascii: "/"), UInt8(ascii: "/")): self.skipLineComment()
                case (UInt8(ascii: "/"), UInt8(ascii: "*")): self.replaceBlockComment()
                case (UInt8(ascii: "/"), _) where self.isRegularExpressionNext: self.copyRegularExpression()
                case (UInt8(ascii: "'"), _), (UInt8(ascii: "\""), _): self.copyString(closedBy: byte, resolve: resolve)
                case (UInt8(ascii: "`"), _): self.copyTemplate()
                default: self.scanCode(byte)
                }
            guard isScanned else { return nil }
        }
        self.endLine()
        return self.closingBytes.isEmpty ? self.lines : nil
    }

    /// Whether a `/` as the next byte would begin a regular expression.
    private var isRegularExpressionNext: Bool {
        if !self.lastWord.isEmpty { return Self.wordsBeforeRegularExpression.contains(self.lastWord) }
        // After a `}`, which may end a block or an object, a `/` is taken for a division.
        return ![UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "'")].contains(self.lastByte)
    }

    /// Scans a byte that begins neither a comment nor a literal.
    private mutating func scanCode(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"):
            self.endLine()
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
            self.writeBlank()
        case UInt8(ascii: "("): self.openBracket(byte, closedBy: UInt8(ascii: ")"))
        case UInt8(ascii: "["): self.openBracket(byte, closedBy: UInt8(ascii: "]"))
        case UInt8(ascii: "{"): self.openBracket(byte, closedBy: UInt8(ascii: "}"))
        case UInt8(ascii: "}") where self.closingBytes.last == UInt8(ascii: "`"):
            // The brace ends a `${` expression, so the template literal continues.
            self.closingBytes.removeLast()
            return self.copyTemplate()
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
            guard self.closingBytes.popLast() == byte else { return false }
            self.write(byte)
        default:
            self.write(byte)
        }
        self.index += 1
        return true
    }

    private mutating func openBracket(_ byte: UInt8, closedBy closingByte: UInt8) {
        self.write(byte)
        self.closingBytes.append(closingByte)
    }

    /// Writes a byte of code.
    private mutating func write(_ byte: UInt8) {
        if self.line.isEmpty { self.isTopLevel = self.closingBytes.isEmpty }
        if Self.isWord(byte) {
            // A word begins if the line's last byte, which may be a blank, is not part of a word. After a dot, a word
            // such as `of` is a name and not a keyword. So after a dot the first byte is stored twice: `oof` is not
            // among `wordsBeforeRegularExpression`.
            if !Self.isWord(self.line.last ?? 0) { self.lastWord = self.lastByte == UInt8(ascii: ".") ? [byte] : [] }
            self.lastWord.append(byte)
        } else {
            self.lastWord = []
        }
        self.lastByte = byte
        self.line.append(byte)
    }

    /// Writes one blank for any number of blanks between two bytes of a line, and none at the beginning of a line.
    private mutating func writeBlank() {
        if let lastLineByte = self.line.last, lastLineByte != UInt8(ascii: " ") { self.line.append(UInt8(ascii: " ")) }
    }

    /// Ends the line, if it is not empty.
    private mutating func endLine() {
        while self.line.last == UInt8(ascii: " ") { self.line.removeLast() }
        guard !self.line.isEmpty else { return }
        self.appendLine()
    }

    /// Appends the line, which may be empty, to `lines`, and begins the next one.
    private mutating func appendLine() {
        self.lines.append(
            ScriptText.Line(text: String(decoding: self.line, as: UTF8.self), isTopLevel: self.isTopLevel))
        self.line = []
    }

    private mutating func skipLineComment() -> Bool {
        while self.index < self.source.count, self.source[self.index] != UInt8(ascii: "\n") { self.index += 1 }
        return true
    }

    /// Replaces a comment by a blank, or a comment that contains a newline by a newline.
    ///
    /// The newline must stay, because JavaScript may end a statement there.
    private mutating func replaceBlockComment() -> Bool {
        var end = self.index + 2
        var hasNewline = false
        while end + 1 < self.source.count {
            if self.source[end] == UInt8(ascii: "*"), self.source[end + 1] == UInt8(ascii: "/") {
                self.index = end + 2
                if hasNewline { self.endLine() } else { self.writeBlank() }
                return true
            }
            hasNewline = hasNewline || self.source[end] == UInt8(ascii: "\n")
            end += 1
        }
        return false
    }

    /// Copies a string; if it is the specifier of a dynamic `import(…)`, converts it with `resolve`.
    private mutating func copyString(closedBy quote: UInt8, resolve: (String) -> String) -> Bool {
        var end = self.index + 1
        while end < self.source.count, self.source[end] != quote {
            if self.source[end] == UInt8(ascii: "\n") { return false }
            // A backslash escapes the next byte, which may be the quote.
            end += self.source[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < self.source.count else { return false }
        var literal = Array(self.source[(self.index + 1)..<end])
        if self.line.suffix("import(".utf8.count).elementsEqual(Array("import(".utf8)) {
            literal = Array(resolve(String(decoding: literal, as: UTF8.self)).utf8)
        }
        self.copy([quote] + literal + [quote])
        self.index = end + 1
        return true
    }

    /// Copies a template literal, from its backquote or from the brace that ends an expression in the literal.
    private mutating func copyTemplate() -> Bool {
        self.copy([self.source[self.index]])
        self.index += 1
        while self.index < self.source.count {
            let byte = self.source[self.index]
            self.index += 1
            switch byte {
            case UInt8(ascii: "`"):
                self.copy([byte])
                return true
            case UInt8(ascii: "\\") where self.index < self.source.count:
                self.copy([byte, self.source[self.index]])
                self.index += 1
            case UInt8(ascii: "$") where self.index < self.source.count && self.source[self.index] == UInt8(ascii: "{"):
                self.index += 1
                self.copy([byte, UInt8(ascii: "{")])
                self.closingBytes.append(UInt8(ascii: "`"))
                // This byte replaces the `'` of `copy`: a `/` at the beginning of the expression begins a regular
                // expression.
                self.lastByte = UInt8(ascii: "{")
                return true
            case UInt8(ascii: "\n"):
                // The lines of a literal keep their blanks, and may be empty.
                self.appendLine()
                self.isTopLevel = false
            default:
                self.line.append(byte)
            }
        }
        return false
    }

    /// Copies a regular expression; a `/` in a character class, such as `[/]`, does not end it.
    private mutating func copyRegularExpression() -> Bool {
        var end = self.index + 1
        var isInCharacterClass = false
        while end < self.source.count, isInCharacterClass || self.source[end] != UInt8(ascii: "/") {
            switch self.source[end] {
            case UInt8(ascii: "\n"): return false
            case UInt8(ascii: "\\"): end += 1
            case UInt8(ascii: "["): isInCharacterClass = true
            case UInt8(ascii: "]"): isInCharacterClass = false
            default: break
            }
            end += 1
        }
        guard end < self.source.count else { return false }
        self.copy(Array(self.source[self.index...end]))
        self.index = end + 1
        return true
    }

    /// Copies a literal, or the first or last part of a literal; a `/` after a literal is a division.
    private mutating func copy(_ bytes: [UInt8]) {
        if self.line.isEmpty { self.isTopLevel = self.closingBytes.isEmpty }
        self.line += bytes
        self.lastWord = []
        // The closing quote of a string stands for the end of any literal.
        self.lastByte = UInt8(ascii: "'")
    }

    /// Returns whether a byte may be part of a name or a keyword; bytes from 0x80 on belong to letters beyond ASCII.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
