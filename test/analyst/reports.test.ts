/** Whole reports on a small project, one for each kind of task, and that each quote of them is exact. */
import { afterAll, describe, expect, it } from 'vitest';
import { carry } from './carry.ts';
import { claimCount, folderOf, GO, JAVA, PYTHON, RUST, SHOP, untrue } from './folders.ts';

const NOTED = {
  ...SHOP,
  'src/note.ts': "// TODO: sell coffee, too\nexport const note = 'TODO';\n",
  'CHANGES.md': '# 1.1.0\n\nSells tea.\n\n# 1.0.0\n',
};
const shop = folderOf(NOTED, { git: true });
const others = [PYTHON, GO, RUST, JAVA].map((files) => folderOf(files));
afterAll(() => [shop, ...others].forEach((folder) => folder.remove()));

const TASKS: readonly (readonly [kind: string, task: string])[] = [
  ['overview', 'Give me an overview'],
  ['where', 'Where is `cartTotal` defined?'],
  ['review', 'Review src/ for risky patterns'],
  ['untested', 'Which modules lack tests?'],
  ['todos', 'List all TODO comments'],
  ['dependencies', 'Which dependencies are not used?'],
  ['changes', 'What changed lately?'],
  ['dead-exports', 'Find dead code'],
  ['none', 'Hello'],
];

/** Commits have another id and day each time. */
const still = (text: string): string => text.replaceAll(/\b[0-9a-f]{7} (of )?\d{4}-\d{2}-\d{2}/g, 'COMMIT $1DAY');

describe('a report of the analyst', () => {
  it.each(TASKS)('on %s is exactly this', async (kind, task) => {
    const { answer } = await carry({ root: shop.root, role: 'main', task });
    expect(untrue(shop.root, answer)).toEqual([]);
    await expect(still(answer)).toMatchFileSnapshot(`reports/${kind}.md`);
  });

  it('quotes only lines that are so, in each kind and language', async () => {
    let claims = 0;
    for (const { root } of others) {
      for (const [, task] of TASKS) {
        const { answer } = await carry({ root, role: 'main', task });
        expect(untrue(root, answer)).toEqual([]);
        claims += claimCount(answer);
      }
    }
    expect(claims).toBeGreaterThan(24);
  });
});
