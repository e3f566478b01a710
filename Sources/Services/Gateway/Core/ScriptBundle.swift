// SPDX-License-Identifier: Apache-2.0

/// The modules that a page always loads, in one file (R13.37).
///
/// Each module is a function that returns what it exports, so names of different modules do not meet. The modules keep
/// their order of evaluation. The other modules, such as those of a dynamic `import`, take what they import from the
/// bundle, so that each module exists once. The sources stay plain modules, and work without this step.
package struct ScriptBundle: Sendable {
    /// The path of the bundle.
    package let path: String
    /// The files by path, all in their new form: the bundle, its modules, and those that import them.
    package private(set) var files: [String: String] = [:]

    /// A module as it was read.
    private struct Module {
        var imports: [ScriptImport] = []
        var exports: [ScriptExport] = []
        var code: [String] = []
    }

    /// The modules by path, and the place of each in the bundle.
    private var modules: [String: Module] = [:]
    private var order: [String] = []

    /// Makes a bundle of the modules that `entry` imports, and of the ones that they import.
    ///
    /// - Parameters:
    ///   - path: a free path, such as `pages/bundle.js`.
    ///   - entry: the path of the module that the page loads; it is not part of the bundle, for it does things.
    ///   - scripts: the sources by path.
    ///
    /// Nil if the modules cannot be put together: one is missing or not understood, they import each other
    /// in a circle, or one exports a variable that may change. Then they are served as they are.
    package init?(path: String, entry: String, scripts: [String: [UInt8]]) {
        self.path = path
        guard scripts[path] == nil else { return nil }
        for (name, source) in scripts { self.modules[name] = Self.module(source, at: name) }
        var entered: Set<String> = []
        guard self.visit(entry, &entered), self.order.popLast() == entry else { return nil }
        let inBundle = Dictionary(uniqueKeysWithValues: self.order.enumerated().map { ($1, "$\($0)") })
        self.files[path] = self.order.map { self.wrapped($0, inBundle) }.joined()
        for (name, module) in self.modules {
            self.files[name] = inBundle[name].map { self.forward(module, to: $0) } ?? self.outside(module, inBundle)
        }
    }

    /// Appends a module to the order after all that it imports.
    private mutating func visit(_ name: String, _ entered: inout Set<String>) -> Bool {
        if self.order.contains(name) { return true }
        guard let module = self.modules[name], entered.insert(name).inserted else { return false }
        for imported in module.imports where !self.visit(imported.from, &entered) { return false }
        self.order.append(name)
        return true
    }

    private func wrapped(_ name: String, _ inBundle: [String: String]) -> String {
        guard let module = self.modules[name], let own = inBundle[name] else { return "" }
        let lines = module.imports.compactMap { entry in inBundle[entry.from].flatMap { entry.binding(of: $0) } }
        let exports = module.exports.map(\.property).joined(separator: ",")
        return (["export const \(own)=(()=>{"] + lines + module.code + ["return{\(exports)}", "})();"])
            .map { $0 + "\n" }.joined()
    }

    /// A module of the bundle at its own address, for who imports it by that.
    private func forward(_ module: Module, to own: String) -> String {
        var text = "import{\(own)}from'/\(self.path)';\n"
        let names = module.exports.map(\.name).filter { $0 != "default" }
        if !names.isEmpty { text += "export const{\(names.joined(separator: ","))}=\(own);\n" }
        if names.count < module.exports.count { text += "export default \(own).default;\n" }
        return text
    }

    /// A module that is not in the bundle.
    private func outside(_ module: Module, _ inBundle: [String: String]) -> String {
        let taken = module.imports.compactMap { inBundle[$0.from] }
        var lines = taken.isEmpty ? [] : ["import{\(taken.joined(separator: ","))}from'/\(self.path)';"]
        lines += module.imports.map { entry in
            if let own = inBundle[entry.from] { entry.binding(of: own) ?? "" } else { entry.statement }
        }
        lines += module.code
        for export in module.exports {
            lines.append(export.statement)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func module(_ source: [UInt8], at name: String) -> Module? {
        guard let script = ScriptText(source, resolve: { ScriptPath.absolute($0, from: name) }),
            !script.text.contains("import.meta")
        else { return nil }
        var module = Module()
        for line in script.lines {
            if line.isTopLevel, line.text.hasPrefix("import ") || line.text.hasPrefix("import{") {
                guard let entry = ScriptImport(line.text, in: name) else { return nil }
                module.imports.append(entry)
            } else if line.isTopLevel, line.text.hasPrefix("export") {
                guard let (entries, code, from) = ScriptExport.read(line.text, in: name) else { return nil }
                module.exports += entries
                if let code { module.code.append(code) }
                if let from { module.imports.append(from) }
            } else if line.isTopLevel, line.text.hasPrefix("await ") {
                return nil
            } else {
                module.code.append(line.text)
            }
        }
        return module
    }
}
