// SPDX-License-Identifier: Apache-2.0
import { describe, it } from 'node:test';
import { files, runCase } from './support/conformance.js';

for (const file of files) {
  describe(`conformance: ${file.title}`, () => {
    for (const one of file.cases) it(one.name, () => runCase(one));
  });
}
