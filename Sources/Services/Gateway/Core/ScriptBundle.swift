// SPDX-License-Identifier: Apache-2.0

/// A JavaScript bundle: the modules that a page always loads, in one file (R13.37).
///
/// In the bundle, each module is a function that is called at once and returns an object with the module's exports. So
/// equal names in different modules do not conflict. The modules keep their order of evaluation. Modules outside of the
/// bundle, such as those of a dynamic `import`, import from the bundle, so that each module is evaluated once. The
/// sources are plain modules, and work without a bundle.
package struct ScriptBundle: Sendable {
    /// The path of the bundle.
    package let path: String
    /// The rewritten files by path: the bundle, and every module that was parsed.
    package private(set) var files: [String: String] = [:]

    /// A parsed module.
    private struct Module {
        var imports: [ScriptImport] = []
        var exports: [ScriptExport] = []
        /// The lines without imports and without the keyword `export`.
        var code: [String] = []
    }

    /// The parsed modules by path.
    private var modules: [String: Module] = [:]
    /// The paths of the bundle's modules in their order of evaluation.
    private var evaluationOrder: [String] = []

    /// Creates a bundle of the modules that `entry` imports, directly or indirectly.
    ///
    /// Nil if the modules cannot be bundled: a module is missing or cannot be parsed, modules import each other in a
    /// cycle, or a module exports a variable that may change. The files are then served without changes.
    ///
    /// - Parameters:
    ///   - path: The bundle's path, at which there is no script, such as `pages/bundle.js`.
    ///   - entry: The path of the module that the page loads. It is not part of the bundle, because it starts the page.
    ///   - scripts: The sources by path.
    package init?(path: String, entry: String, scripts: [String: [UInt8]]) {
        self.path = path
        guard scripts[path] == nil else { return nil }
        for (modulePath, source) in scripts { self.modules[modulePath] = Self.parse(source, at: modulePath) }
        var visited: Set<String> = []
        // The entry is the last module to be evaluated. It is removed from the order, because it is not bundled.
        guard self.visit(entry, &visited), self.evaluationOrder.popLast() == entry else { return nil }
        // The bundle exports the object with a module's exports under a name: `$0`, `$1` and so on.
        var objectNames: [String: String] = [:]
        for (index, modulePath) in self.evaluationOrder.enumerated() { objectNames[modulePath] = "$\(index)" }
        self.files[path] = self.evaluationOrder.map { self.bundledText(of: $0, objectNames) }.joined()
        for (modulePath, module) in self.modules {
            self.files[modulePath] =
                objectNames[modulePath].map { self.forwardingText(of: module, to: $0) }
                ?? self.unbundledText(of: module, objectNames)
        }
    }

    /// Appends a module to `evaluationOrder`, after all modules that it imports.
    ///
    /// Returns false if a module is missing, or if modules import each other in a cycle.
    private mutating func visit(_ modulePath: String, _ visited: inout Set<String>) -> Bool {
        if self.evaluationOrder.contains(modulePath) { return true }
        // A module that was visited, but is not yet in the order, is being visited: it imports itself in a cycle.
        guard let module = self.modules[modulePath], visited.insert(modulePath).inserted else { return false }
        for declaration in module.imports {
            guard self.visit(declaration.path, &visited) else { return false }
        }
        self.evaluationOrder.append(modulePath)
        return true
    }

    /// Returns the text of a module in the bundle: a function that returns the module's exports as an object.
    private func bundledText(of modulePath: String, _ objectNames: [String: String]) -> String {
        guard let module = self.modules[modulePath], let objectName = objectNames[modulePath] else { return "" }
        let bindings = module.imports.compactMap { declaration in
            objectNames[declaration.path].flatMap { declaration.binding(of: $0) }
        }
        let exports = module.exports.map(\.property).joined(separator: ",")
        return (["export const \(objectName)=(()=>{"] + bindings + module.code + ["return{\(exports)}", "})();"])
            .map { $0 + "\n" }.joined()
    }

    /// Returns the file of a bundled module at the module's own path: it exports the module's names from the bundle.
    private func forwardingText(of module: Module, to objectName: String) -> String {
        var text = "import{\(objectName)}from'/\(self.path)';\n"
        let names = module.exports.map(\.name).filter { $0 != "default" }
        if !names.isEmpty { text += "export const{\(names.joined(separator: ","))}=\(objectName);\n" }
        if names.count < module.exports.count { text += "export default \(objectName).default;\n" }
        return text
    }

    /// Returns the file of a module that is not in the bundle; it imports the bundle's modules from the bundle.
    private func unbundledText(of module: Module, _ objectNames: [String: String]) -> String {
        let importedNames = module.imports.compactMap { objectNames[$0.path] }
        var lines =
            importedNames.isEmpty ? [] : ["import{\(importedNames.joined(separator: ","))}from'/\(self.path)';"]
        lines += module.imports.map { declaration in
            if let objectName = objectNames[declaration.path] {
                // Empty for a declaration that binds no name.
                declaration.binding(of: objectName) ?? ""
            } else {
                declaration.statement
            }
        }
        lines += module.code
        for export in module.exports {
            lines.append(export.statement)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Parses a module; nil if it has a form that is not supported.
    private static func parse(_ source: [UInt8], at modulePath: String) -> Module? {
        guard let script = ScriptText(source, resolve: { ScriptPath.absolute($0, from: modulePath) }),
            !script.text.contains("import.meta")
        else { return nil }
        var module = Module()
        for line in script.lines {
            if line.isTopLevel, line.text.hasPrefix("import ") || line.text.hasPrefix("import{") {
                guard let declaration = ScriptImport(line.text, in: modulePath) else { return nil }
                module.imports.append(declaration)
            } else if line.isTopLevel, line.text.hasPrefix("export") {
                guard let (exports, code, sourceImport) = ScriptExport.parse(line.text, in: modulePath) else {
                    return nil
                }
                module.exports += exports
                if let code { module.code.append(code) }
                if let sourceImport { module.imports.append(sourceImport) }
            } else if line.isTopLevel, line.text.hasPrefix("await ") {
                // The function of a bundled module is not asynchronous.
                return nil
            } else {
                module.code.append(line.text)
            }
        }
        return module
    }
}
