// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import Testing

/// The bundle: one file with all scripts that the first module, `p/main.js`, imports statically, directly or not.
///
/// In the bundle each module is a constant `$0`, `$1` and so on: an object with the module's exports. `$default` is a
/// module's default export.
@Suite struct ScriptBundleTests {
    /// The bundle of `scripts`, whose keys are paths; nil if a module cannot be put into a bundle.
    private func bundle(_ scripts: [String: String]) -> ScriptBundle? {
        ScriptBundle(path: "p/bundle.js", entry: "p/main.js", scripts: scripts.mapValues { Array($0.utf8) })
    }

    /// Rules: R13.37.
    @Test func `the modules that the first module imports become one file, in the order of evaluation`() throws {
        let files = try #require(
            self.bundle([
                "p/main.js": "import { a as b } from './a.js';\nb();",
                // `a.js` imports `c.js` in two ways. `c.js` exports `e`, which comes from the module `e.js`.
                "p/a.js":
                    "import c from '../s/c.js';\nimport * as all from '../s/c.js';\nexport const a = () => c + all.d;",
                "s/c.js": "export default 1;\nexport async function d() {}\nexport { e } from './e.js';",
                "s/e.js": "export class e {\n}\n",
            ])
        ).files
        #expect(
            files["p/bundle.js"]
                == """
                export const $0=(()=>{
                class e {
                }
                return{e}
                })();
                export const $1=(()=>{
                const{e}=$0;
                const $default=1;
                async function d() {}
                return{default:$default,d,e}
                })();
                export const $2=(()=>{
                const c=$1.default;
                const all=$1;
                const a = () => c + all.d;
                return{a}
                })();

                """)
        #expect(files["p/main.js"] == "import{$2}from'/p/bundle.js';\nconst{a:b}=$2;\nb();\n")
        #expect(
            files["s/c.js"]
                == "import{$1}from'/p/bundle.js';\nexport const{d,e}=$1;\nexport default $1.default;\n")
    }

    /// Rules: R13.37.
    @Test
    func `a dynamically imported module imports bundled modules from the bundle, and others from their files`()
        throws
    {
        // `a.js` is bundled. `late.js` is imported dynamically, so neither it nor its import `more.js` is bundled.
        let files = try #require(
            self.bundle([
                "p/main.js": "import { a } from './a.js';\nimport('./x/late.js').then(a);",
                "p/a.js": "export const a = 1;",
                "p/x/late.js": "import { a } from '../a.js';\nimport { m } from './more.js';\nexport const b = a + m;",
                "p/x/more.js": "export default { n: 1 };\nexport const m = 1;",
            ])
        ).files
        #expect(files["p/main.js"]?.contains("import('/p/x/late.js').then(a);") == true)
        #expect(
            files["p/x/late.js"]
                == """
                import{$0}from'/p/bundle.js';
                const{a}=$0;
                import { m } from '/p/x/more.js';
                const b = a + m;
                export{b};

                """)
        #expect(
            files["p/x/more.js"]
                == "const $default={ n: 1 };\nconst m = 1;\nexport{$default as default};\nexport{m};\n")
    }

    /// In the order of the arguments: a missing module, a cycle, an exported variable, an export of all names, an
    /// import over several lines, `await` at top level, `import.meta`, a module of another site, an exported pattern, a
    /// class as the default export, and an unfinished literal.
    ///
    /// Rules: R13.37.
    @Test(arguments: [
        "import './none.js';", "import './main.js';", "export let b = 1;", "export * from './b.js';",
        "import {\n  b,\n} from './b.js';", "await 1;", "x = import.meta.url;", "import b from 'https://x/b.js';",
        "export const { b } = c;", "export default class B {}", "const a = '",
    ])
    func `no bundle is made if a module cannot be put into one`(_ source: String) {
        #expect(
            self.bundle(["p/main.js": "import './a.js';", "p/a.js": source, "p/b.js": "export const b = 1;"]) == nil)
    }
}
