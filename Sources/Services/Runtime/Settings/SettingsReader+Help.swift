// SPDX-License-Identifier: Apache-2.0

extension SettingsReader {
    /// The maximum length of a line of the help text.
    private static let helpWidth = 100
    /// The column at which the descriptions begin, counted from 0.
    private static let helpIndent = 28

    /// The help text for the settings that have been declared so far.
    package var helpText: String {
        var lines = ["\(self.program): \(self.summary)", ""]
        let names = self.positionals.map { " \($0.placeholder)" }.joined()
        lines.append("Usage: \(self.program)\(self.declarations.isEmpty ? "" : " [options]")\(names)")
        if !self.positionals.isEmpty {
            lines.append("")
            lines += self.positionals.flatMap { Self.entry($0.name, [$0.help]) }
        }
        var section: String?
        for declaration in self.declarations {
            if declaration.section != section {
                lines += ["", declaration.section.isEmpty ? "Options" : declaration.section]
                section = declaration.section
            }
            // A flag has no placeholder.
            let placeholder = declaration.placeholder.isEmpty ? "" : " \(declaration.placeholder)"
            let defaultText =
                switch declaration.defaultText {
                case nil: "required"
                case "": "not set unless given"
                case let text?: "default \(text)"
                }
            let title = "--\(declaration.name)\(placeholder)"
            lines += Self.entry(title, [declaration.help, "(\(defaultText); \(declaration.variable))"])
        }
        if !self.declarations.isEmpty {
            lines += ["", "The name after each default is an environment variable that sets the same; an option wins."]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Formats a title and its text: in a column beside the title, or below a long title.
    private static func entry(_ title: String, _ paragraphs: [String]) -> [String] {
        let text = paragraphs.flatMap { Self.wrapped($0, width: Self.helpWidth - Self.helpIndent) }
        let column = text.map { String(repeating: " ", count: Self.helpIndent) + $0 }
        let head = "  " + title
        guard head.count < Self.helpIndent, let first = text.first else { return [head] + column }
        return [head + String(repeating: " ", count: Self.helpIndent - head.count) + first] + column.dropFirst()
    }

    /// Splits a text between words into lines of at most `width` characters, if no word is longer.
    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
