// SPDX-License-Identifier: Apache-2.0

/// An `import` declaration of one line.
struct ScriptImport {
    /// What it binds: `{ a, b as c }`, `* as all`, a name of the default, or nothing.
    let clause: String
    /// The path of the module, such as `src/index.js`.
    let from: String

    /// Reads a declaration.
    ///
    /// - Parameters:
    ///   - line: such as `import { a } from './b.js';`.
    ///   - module: the path of the module that it is part of.
    ///
    /// Nil for a form that is not understood.
    init?(_ line: String, in module: String) {
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
        self.from = String(path.dropFirst())
        guard self.clause.isEmpty || self.binding(of: "x") != nil else { return nil }
    }

    /// Takes all names of a module, under their own names.
    init(clause: String, from: String) {
        self.clause = clause
        self.from = from
    }

    /// The declaration, with an absolute path.
    var statement: String { "import \(self.clause)\(self.clause.isEmpty ? "" : " from ")'/\(self.from)';" }

    /// The declaration that takes the same names of an object.
    ///
    /// - Parameter object: the name of the object that has the module's exports.
    /// - Returns: nil if nothing is bound.
    func binding(of object: String) -> String? {
        if self.clause.isEmpty { return nil }
        if self.clause.hasPrefix("{"), self.clause.hasSuffix("}") {
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
    /// The name for others.
    let name: String
    /// The name within the module.
    let local: String

    /// The property of the object that a module of the bundle returns.
    var property: String { self.name == self.local ? self.name : "\(self.name):\(self.local)" }

    /// The declaration of a module that is not in the bundle.
    var statement: String { "export{\(self.local)\(self.name == self.local ? "" : " as \(self.name)")};" }

    /// Reads a line that begins with `export`.
    ///
    /// - Parameters:
    ///   - line: such as `export class A {`, `export default {`, or `export { a } from './b.js';`.
    ///   - module: the path of the module that it is part of.
    /// - Returns: the names, the line without the export, and what it imports; nil for a form that is not understood.
    static func read(_ line: String, in module: String) -> ([ScriptExport], code: String?, from: ScriptImport?)? {
        let code = line.dropFirst("export ".count)
        if code.hasPrefix("default ") {
            let value = code.dropFirst("default ".count)
            // A name of a class or function would have to be bound, too; none is exported so here.
            if value.hasPrefix("class") || value.hasPrefix("function") || value.hasPrefix("async") { return nil }
            return ([ScriptExport(name: "default", local: "$default")], "const $default=\(value)", nil)
        }
        if code.hasPrefix("{") {
            guard let end = code.firstIndex(of: "}") else { return nil }
            let names = code[code.index(after: code.startIndex)..<end].split(separator: ",").map { entry in
                entry.split(separator: " ")
            }
            guard names.allSatisfy({ $0.count == 1 && ScriptPath.isName($0[0]) }) else { return nil }
            let exports = names.map { ScriptExport(name: String($0[0]), local: String($0[0])) }
            let rest = code[code.index(after: end)...]
            if rest == ";" || rest.isEmpty { return (exports, nil, nil) }
            guard let from = ScriptImport("import \(code)", in: module) else { return nil }
            return (exports, nil, from)
        }
        for form in ["class ", "const ", "function ", "async function ", "function* ", "async function* "]
        where code.hasPrefix(form) {
            let name = code.dropFirst(form.count).prefix { ScriptPath.isName(Substring(String($0))) }
            guard !name.isEmpty else { return nil }
            return ([ScriptExport(name: String(name), local: String(name))], String(code), nil)
        }
        return nil
    }
}

/// Names and paths in modules.
enum ScriptPath {
    /// Whether a text is made of letters, digits, `_` and `$` alone.
    static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F || $0 == 0x24
            }
    }

    /// The absolute path of a relative specifier; other specifiers stay.
    ///
    /// - Parameters:
    ///   - specifier: such as `../lib/dom.js`.
    ///   - module: the path of the module that has it, such as `pages/live/chat.js`.
    /// - Returns: such as `/pages/lib/dom.js`.
    static func absolute(_ specifier: String, from module: String) -> String {
        guard specifier.hasPrefix("./") || specifier.hasPrefix("../") else { return specifier }
        var parts = module.split(separator: "/").dropLast()
        for part in specifier.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }
}
