// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import Testing

/// The removal of comments and white space from JavaScript, for the pages that a gateway serves.
@Suite struct ScriptTextTests {
    /// Each argument has a source and its text without comments.
    ///
    /// Rules: R13.37.
    @Test(
        arguments: [
            ("// note\nconst a = 1; // why\n\n  a();", "const a = 1;\na();\n"),
            ("/** Doc\n * of a. */\nexport function a() {\n  return 1;\n}\n", "export function a() {\nreturn 1;\n}\n"),
            ("return/* a */b", "return b\n"), ("a /*\n*/ b", "a\nb\n"),
            ("x = '// no' + \"/* no */\";", "x = '// no' + \"/* no */\";\n"),
            ("x = 'it\\'s // so';", "x = 'it\\'s // so';\n"), ("x  =   'a  b';", "x = 'a  b';\n"),
            ("x = `a // b\n\n  c ${d /* e */ + `${f}//`} g  \n`; // h", "x = `a // b\n\n  c ${d + `${f}//`} g  \n`;\n"),
            ("x = `\\`// ${ {a: 1}.a }`;", "x = `\\`// ${ {a: 1}.a }`;\n"),
            // A slash begins a regular expression after an operator or a keyword such as `return` or `of`. After a
            // name, `)` or `]` it is a division. After a dot, `of` is not a keyword but a name.
            ("x = /[/'\"]\\//.test(y); // z", "x = /[/'\"]\\//.test(y);\n"),
            ("return /'/; // a", "return /'/;\n"), ("x = a / b / c; // d", "x = a / b / c;\n"),
            ("x = (a) / 2; y[0] / 2; // '", "x = (a) / 2; y[0] / 2;\n"), ("x = y.of / 2; // '", "x = y.of / 2;\n"),
            ("x = '𠮷'; // 🦊", "x = '𠮷';\n"), ("", ""),
        ])
    func `comments, indentation and empty lines are removed, and literals stay`(_ source: String, _ compact: String) {
        #expect(ScriptText(Array(source.utf8))?.text == compact)
    }

    /// Rules: R13.37.
    @Test(arguments: ["'a", "'a\n'", "`a", "`${a`", "/* a", "x = /a\n/", "(", ")", "(]", "x = `${a"])
    func `a source with an unfinished literal or comment, or with unpaired brackets, gives no text`(_ source: String) {
        #expect(ScriptText(Array(source.utf8)) == nil)
    }

    /// Rules: R13.37.
    @Test func `the scan of each prefix of a source ends without a crash`() {
        let source = Array("a(`x${'y' + /[/]z/}`); // c\n/* d */ export const e = { f: [1] };".utf8)
        for count in 0...source.count { _ = ScriptText(Array(source.prefix(count))) }
    }

    /// Rules: R13.37.
    @Test func `a line at top level is outside all brackets and literals, and a dynamic import gets its resolved path`()
        throws
    {
        // Here a path is resolved by putting `/x/` before it.
        let script = try #require(
            ScriptText(
                Array("import a from 'b';\n{\nimport('./c.js');\n}\n`\nimport d\n`;".utf8), resolve: { "/x/\($0)" }))
        #expect(script.lines.map(\.text).prefix(3) == ["import a from 'b';", "{", "import('/x/./c.js');"])
        let topLevelTexts = script.lines.filter(\.isTopLevel).map(\.text)
        // The line `import d` is inside a template literal.
        #expect(topLevelTexts.contains("import d") == false)
        #expect(topLevelTexts.first == "import a from 'b';")
    }
}
