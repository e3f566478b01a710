// SPDX-License-Identifier: Apache-2.0

/// A JavaScript `import` declaration on one line, in a module of the pages that `ScriptBundle` bundles.
struct ScriptImport {
    /// The names that it binds: `{ a, b as c }`, `* as all`, a name for the default export, or empty.
    let clause: String
    /// The path of the imported module, such as `src/index.js`.
    let path: String

    /// Parses a declaration; nil if it has a form that is not supported.
    ///
    /// - Parameters:
    ///   - line: The declaration, such as `import { a } from './b.js';`.
    ///   - module: The path of the module that contains the declaration.
    init?(_ line: String, in module: String) {
        // The parts before, in and after the quotation marks of the specifier.
        let parts = line.split(separator: "'", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == ";" || parts[2].isEmpty else { return nil }
        let path = ScriptPath.absolute(String(parts[1]), from: module)
        guard path.hasPrefix("/") else { return nil }
        var words = parts[0].dropFirst("import".count).split(separator: " ")
        if words.isEmpty {
            self.clause = ""
        } else {
            guard words.popLast() == "from" else { return nil }
            self.clause = words.joined(separator: " ")
        }
        self.path = String(path.dropFirst())
        // `binding` supports the clause for every object name or for none, so any name such as `x` tests it.
        guard self.clause.isEmpty || self.binding(of: "x") != nil else { return nil }
    }

    /// The declaration, with an absolute path.
    var statement: String { "import \(self.clause)\(self.clause.isEmpty ? "" : " from ")'/\(self.path)';" }

    /// Returns a `const` declaration that binds the same names to the properties of an object.
    ///
    /// - Parameter object: The name of the object that has the module's exports.
    /// - Returns: Nil if the declaration binds no name, or has a form that is not supported.
    func binding(of object: String) -> String? {
        if self.clause.isEmpty { return nil }
        if self.clause.hasPrefix("{"), self.clause.hasSuffix("}") {
            // The entry `b as c` of an import is `b:c` in a `const` declaration.
            let names = self.clause.dropFirst().dropLast().split(separator: ",").map { entry in
                entry.split(separator: " ").filter { $0 != "as" }.joined(separator: ":")
            }
            return "const{\(names.filter { !$0.isEmpty }.joined(separator: ","))}=\(object);"
        }
        let words = self.clause.split(separator: " ")
        if words.count == 3, words[0] == "*", words[1] == "as" { return "const \(words[2])=\(object);" }
        return words.count == 1 && ScriptPath.isName(words[0]) ? "const \(words[0])=\(object).default;" : nil
    }
}

/// A name that a module exports.
struct ScriptExport {
    /// The name by which other modules import it.
    let name: String
    /// The name within the module.
    ///
    /// It differs from `name` only for the default export, where it is `$default`.
    let localName: String

    /// The export as a property of the object that the module returns when it is in the bundle.
    var property: String { self.name == self.localName ? self.name : "\(self.name):\(self.localName)" }

    /// The `export` declaration, for when the module itself stays outside the bundle.
    var statement: String { "export{\(self.localName)\(self.name == self.localName ? "" : " as \(self.name)")};" }

    /// Parses a line that begins with `export`.
    ///
    /// - Parameters:
    ///   - line: The line, such as `export class A {`, `export default {`, or `export { a } from './b.js';`.
    ///   - module: The path of the module that contains the line.
    /// - Returns: `exports` has the exported names, `code` what the line declares, such as `class A {`, and `source`
    ///   the import that the names come from, in `export … from`. Nil if the line has a form that is not supported.
    static func parse(
        _ line: String, in module: String
    ) -> (exports: [ScriptExport], code: String?, source: ScriptImport?)? {
        let code = line.dropFirst("export ".count)
        if code.hasPrefix("default ") {
            let value = code.dropFirst("default ".count)
            // `export default class` and `export default function` may also bind a name within the module. The pages do
            // not use them, so they are not supported.
            if value.hasPrefix("class") || value.hasPrefix("function") || value.hasPrefix("async") { return nil }
            return ([ScriptExport(name: "default", localName: "$default")], "const $default=\(value)", nil)
        }
        if code.hasPrefix("{") {
            guard let end = code.firstIndex(of: "}") else { return nil }
            let entries = code[code.index(after: code.startIndex)..<end].split(separator: ",").map { entry in
                entry.split(separator: " ")
            }
            // An entry with several words, such as `a as b`, is not supported.
            guard entries.allSatisfy({ $0.count == 1 && ScriptPath.isName($0[0]) }) else { return nil }
            let exports = entries.map { ScriptExport(name: String($0[0]), localName: String($0[0])) }
            let suffix = code[code.index(after: end)...]
            if suffix == ";" || suffix.isEmpty { return (exports, nil, nil) }
            guard let source = ScriptImport("import \(code)", in: module) else { return nil }
            return (exports, nil, source)
        }
        for keywords in ["class ", "const ", "function ", "async function ", "function* ", "async function* "]
        where code.hasPrefix(keywords) {
            let name = code.dropFirst(keywords.count).prefix { ScriptPath.isName(Substring(String($0))) }
            guard !name.isEmpty else { return nil }
            return ([ScriptExport(name: String(name), localName: String(name))], String(code), nil)
        }
        return nil
    }
}

/// Names and paths in JavaScript modules.
enum ScriptPath {
    /// Returns whether a text consists only of letters, digits, `_` and `$`.
    static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                // With the bit 0x20, an upper-case letter becomes the lower-case one.
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
                    || $0 == UInt8(ascii: "$")
            }
    }

    /// Returns the absolute path of a relative specifier; returns any other specifier unchanged.
    ///
    /// - Parameters:
    ///   - specifier: The specifier, such as `../lib/dom.js`.
    ///   - module: The path of the module that contains the specifier, such as `pages/live/chat.js`.
    /// - Returns: The absolute path, such as `/pages/lib/dom.js`.
    static func absolute(_ specifier: String, from module: String) -> String {
        guard specifier.hasPrefix("./") || specifier.hasPrefix("../") else { return specifier }
        var parts = module.split(separator: "/").dropLast()
        for part in specifier.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
