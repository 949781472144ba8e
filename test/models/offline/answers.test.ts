/** What the analyst answers about entry points, the riskiest file, imports and folders, looked up on small real projects. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/domain/agent.ts';
import { AgentId, RoleName } from '../../../src/domain/ids.ts';
import { carry } from '../carry.ts';
import { folderOf, SHOP, untrue } from '../folders.ts';

const shop = folderOf(SHOP, { git: true });
afterAll(() => shop.remove());

const findingOf = (role: string, summary: string): Finding => ({
  agent: AgentId.parse('ROOT::S1'),
  task: null,
  role: RoleName.parse(role),
  description: '',
  outcome: 'completed',
  summary,
});

describe('the answers', () => {
  it('oracle: imports of types only close a circle that is said to be harmless; comments and strings close none', async () => {
    const folder = folderOf({
      'a.ts': "import type { B } from './b.js';\n// import { c } from './c.js';\nexport const a = 1;\n",
      'b.ts': "import { a } from './a.js';\nimport type {\n  C,\n} from './c.js';\nexport const b = a;\n",
      'c.ts': 'import { b } from "./b.js";\nexport const c = `import { d } from "./d.js"` + b;\n',
      'd.ts': "import { c } from './c.js';\nexport const d = c;\n",
    });
    const { answer } = await carry({ root: folder.root, role: 'oracle', task: 'Draw the import graph' });
    folder.remove();
    expect(answer).toContain(
      "- a.ts -> b.ts -> a.ts, by `a.ts:1` `import type { B } from './b.js';` (closed by imports of types only: harmless when it runs)",
    );
    expect(answer).not.toContain('d.ts -> c.ts -> d.ts');
    expect(answer).not.toContain('a.ts -> c.ts');
  });

  it('oracle: the way from an entry point to the riskiest file, and how far a change there is felt', async () => {
    const entries = await carry({ root: shop.root, role: 'finder', task: 'Find the entry points of src/' });
    const review = await carry({ root: shop.root, role: 'reviewer', task: 'Find the riskiest file of src/' });
    const findings = [findingOf('finder', entries.answer), findingOf('reviewer', review.answer)];
    const task = 'Draw the import graph of src/ and trace how the entry points lead to the riskiest file.';
    const { answer } = await carry({ root: shop.root, role: 'oracle', task, findings });
    expect(answer.split('\n')[0]).toBe(
      'src/server.ts leads to src/price.ts by 1 import: src/server.ts -> src/price.ts. 2 files import it, 3 with those that reach it through others: so far a change there can be felt.',
    );
  });

  it('reviewer: one riskiest file with its reasons, gone through line by line', async () => {
    const { answer } = await carry({ root: shop.root, role: 'reviewer', task: 'Find the riskiest file of src/' });
    expect(answer.split('\n')[0]).toMatch(
      /^The riskiest file of src\/ is src\/price\.ts: 4 risky lines: .*; 13 lines; imported by 2 files; no test seen that imports it\./,
    );
    expect(answer).toContain('`src/price.ts:7` `return eval(formula);`, in runFormula: text becomes code');
    expect(answer).not.toContain('sk_live');
    expect(untrue(shop.root, answer)).toEqual([]);
  });

  it('finder: entry points of a folder, each with its reason, and what the manifest declares', async () => {
    const { answer } = await carry({ root: shop.root, role: 'finder', task: 'Find the entry points of src/' });
    expect(answer.split('\n')[0]).toContain(
      'src/ begins at `src/server.ts:1` `#!/usr/bin/env node`: a script that is started by its name.',
    );
    expect(answer).toContain('`package.json:4` `"start": "node src/server.js",`: what npm start runs');
    expect(answer).not.toContain('`src` is defined');
  });

  it('finder: a folder that goes by a word comes before mere mentions', async () => {
    const folder = folderOf({
      'README.md': 'The engine reports errors.\n'.repeat(70),
      'lib/engine/run.ts': 'export const outcome = () => { throw new Error("stop"); };\n',
      'lib/other.ts': '// the engine has errors\nexport const other = 1;\n',
    });
    const task = 'Find where `errors` and `engine` are defined and used';
    const { answer } = await carry({ root: folder.root, role: 'finder', task });
    folder.remove();
    expect(answer.split('\n')[0]).toContain('is `lib/engine/run.ts:1`');
  });

  it('every role: a folder that is not there is said not to be there', async () => {
    for (const role of ['finder', 'reviewer']) {
      const { answer } = await carry({ root: shop.root, role, task: 'Find the riskiest entry points of nowhere/' });
      expect(answer).toContain('Not there: nowhere/');
    }
  });
});
