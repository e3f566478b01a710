// SPDX-License-Identifier: Apache-2.0

/// A JavaScript module without its comments, indentation and empty lines: what a browser does not need.
///
/// The scanner knows strings, template literals and regular expressions, and copies them as they are. It looks at each
/// byte once. A source that it cannot follow to its end has no compact form, and is served as it is.
package struct ScriptText: Sendable, Equatable {
    /// A line of the compact module.
    package struct Line: Sendable, Equatable {
        /// The text, without the line's end.
        package var text: String
        /// Whether the line begins outside of all brackets and literals.
        package let isTopLevel: Bool
    }

    /// The lines that are left; a template literal with line ends is several of them.
    package private(set) var lines: [Line] = []

    /// The whole text.
    package var text: String { self.lines.map { $0.text + "\n" }.joined() }

    /// Compacts a module.
    ///
    /// - Parameters:
    ///   - source: the module's source in UTF-8.
    ///   - resolve: gives the specifier of each dynamic `import('…')` another form.
    ///
    /// Nil if the source is not understood, such as one that ends within a string.
    package init?(_ source: [UInt8], resolve: (String) -> String = { $0 }) {
        var scanner = ScriptScanner(source)
        guard let lines = scanner.lines(resolve: resolve) else { return nil }
        self.lines = lines
    }
}

/// Walks through a module once.
private struct ScriptScanner {
    private let source: [UInt8]
    private var at = 0
    private var lines: [ScriptText.Line] = []
    /// The line that is being written.
    private var line: [UInt8] = []
    private var isTopLevel = true
    /// The open brackets, each by the byte that closes it; a backquote stands for `${` in a template literal.
    private var open: [UInt8] = []
    /// The last byte of code that is no blank, and the word that it ends.
    private var last: UInt8 = 0
    private var word: [UInt8] = []

    /// After these words a `/` begins a regular expression; after any other it divides.
    private static let wordsBeforeExpression: Set<[UInt8]> = Set(
        ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await", "yield"].map {
            Array($0.utf8)
        })

    init(_ source: [UInt8]) { self.source = source }

    mutating func lines(resolve: (String) -> String) -> [ScriptText.Line]? {
        while self.at < self.source.count {
            let byte = self.source[self.at]
            let next = self.at + 1 < self.source.count ? self.source[self.at + 1] : 0
            let isRead =
                switch (byte, next) {
                case (UInt8(ascii: "/"), UInt8(ascii: "/")): self.lineComment()
                case (UInt8(ascii: "/"), UInt8(ascii: "*")): self.blockComment()
                case (UInt8(ascii: "/"), _) where self.beginsExpression: self.regularExpression()
                case (UInt8(ascii: "'"), _), (UInt8(ascii: "\""), _): self.string(closedBy: byte, resolve: resolve)
                case (UInt8(ascii: "`"), _): self.template()
                default: self.code(byte)
                }
            guard isRead else { return nil }
        }
        self.endLine()
        return self.open.isEmpty ? self.lines : nil
    }

    private var beginsExpression: Bool {
        if !self.word.isEmpty { return Self.wordsBeforeExpression.contains(self.word) }
        return ![UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "'")].contains(self.last)
    }

    private mutating func code(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"):
            self.endLine()
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
            self.blank()
        case UInt8(ascii: "("): self.begin(byte, closedBy: UInt8(ascii: ")"))
        case UInt8(ascii: "["): self.begin(byte, closedBy: UInt8(ascii: "]"))
        case UInt8(ascii: "{"): self.begin(byte, closedBy: UInt8(ascii: "}"))
        case UInt8(ascii: "}") where self.open.last == UInt8(ascii: "`"):
            self.open.removeLast()
            return self.template()
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
            guard self.open.popLast() == byte else { return false }
            self.write(byte)
        default:
            self.write(byte)
        }
        self.at += 1
        return true
    }

    private mutating func begin(_ byte: UInt8, closedBy end: UInt8) {
        self.write(byte)
        self.open.append(end)
    }

    /// Writes a byte of code.
    private mutating func write(_ byte: UInt8) {
        if self.line.isEmpty { self.isTopLevel = self.open.isEmpty }
        if Self.isWord(byte) {
            // A blank between two words ends the first; `x.of` is a name and no keyword.
            if !Self.isWord(self.line.last ?? 0) { self.word = self.last == UInt8(ascii: ".") ? [byte] : [] }
            self.word.append(byte)
        } else {
            self.word = []
        }
        self.last = byte
        self.line.append(byte)
    }

    private mutating func blank() {
        if let end = self.line.last, end != UInt8(ascii: " ") { self.line.append(UInt8(ascii: " ")) }
    }

    private mutating func endLine() {
        while self.line.last == UInt8(ascii: " ") { self.line.removeLast() }
        guard !self.line.isEmpty else { return }
        self.flush()
    }

    private mutating func flush() {
        self.lines.append(
            ScriptText.Line(text: String(decoding: self.line, as: UTF8.self), isTopLevel: self.isTopLevel))
        self.line = []
    }

    private mutating func lineComment() -> Bool {
        while self.at < self.source.count, self.source[self.at] != UInt8(ascii: "\n") { self.at += 1 }
        return true
    }

    /// A comment is a blank; with a line's end in it, it is one too, since a statement may end there.
    private mutating func blockComment() -> Bool {
        var end = self.at + 2
        var hasLineEnd = false
        while end + 1 < self.source.count {
            if self.source[end] == UInt8(ascii: "*"), self.source[end + 1] == UInt8(ascii: "/") {
                self.at = end + 2
                if hasLineEnd { self.endLine() } else { self.blank() }
                return true
            }
            hasLineEnd = hasLineEnd || self.source[end] == UInt8(ascii: "\n")
            end += 1
        }
        return false
    }

    private mutating func string(closedBy quote: UInt8, resolve: (String) -> String) -> Bool {
        var end = self.at + 1
        while end < self.source.count, self.source[end] != quote {
            if self.source[end] == UInt8(ascii: "\n") { return false }
            end += self.source[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < self.source.count else { return false }
        var literal = Array(self.source[(self.at + 1)..<end])
        if self.line.suffix(7).elementsEqual(Array("import(".utf8)) {
            literal = Array(resolve(String(decoding: literal, as: UTF8.self)).utf8)
        }
        self.copy([quote] + literal + [quote])
        self.at = end + 1
        return true
    }

    /// A template literal from its backquote, or from the brace that ends an expression within it.
    private mutating func template() -> Bool {
        self.copy([self.source[self.at]])
        self.at += 1
        while self.at < self.source.count {
            let byte = self.source[self.at]
            self.at += 1
            switch byte {
            case UInt8(ascii: "`"):
                self.copy([byte])
                return true
            case UInt8(ascii: "\\") where self.at < self.source.count:
                self.copy([byte, self.source[self.at]])
                self.at += 1
            case UInt8(ascii: "$") where self.at < self.source.count && self.source[self.at] == UInt8(ascii: "{"):
                self.at += 1
                self.copy([byte, UInt8(ascii: "{")])
                self.open.append(UInt8(ascii: "`"))
                self.last = UInt8(ascii: "{")
                return true
            case UInt8(ascii: "\n"):
                self.flush()
                self.isTopLevel = false
            default:
                self.line.append(byte)
            }
        }
        return false
    }

    private mutating func regularExpression() -> Bool {
        var end = self.at + 1
        var isInClass = false
        while end < self.source.count, isInClass || self.source[end] != UInt8(ascii: "/") {
            switch self.source[end] {
            case UInt8(ascii: "\n"): return false
            case UInt8(ascii: "\\"): end += 1
            case UInt8(ascii: "["): isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            default: break
            }
            end += 1
        }
        guard end < self.source.count else { return false }
        self.copy(Array(self.source[self.at...end]))
        self.at = end + 1
        return true
    }

    /// Copies a literal, after which a `/` divides.
    private mutating func copy(_ bytes: [UInt8]) {
        if self.line.isEmpty { self.isTopLevel = self.open.isEmpty }
        self.line += bytes
        self.word = []
        self.last = UInt8(ascii: "'")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
