// SPDX-License-Identifier: Apache-2.0
// Prints the example of README.md as a module that the type check can compile.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const [, code] = /<script type="module">\n([\s\S]*?)<\/script>/.exec(readme) ?? [];
if (code === undefined) throw new Error('README.md has no example');
const source = fileURLToPath(new URL('../../src/index.js', import.meta.url));
console.log(code.replace(/'\.\/liveplaza\/src\/index\.js'/, JSON.stringify(source)));
