/** The faults that `npm run bench -- mutants` plants. */
import { describe, expect, it } from 'vitest';
import { mutantsOf, planted } from './mutants/sites.ts';

/** Each as `line: was => text`. */
const changes = (source: string): readonly string[] =>
  mutantsOf(source).map(({ line, was, text }) => `${line}: ${was} => ${text}`);

describe('the changes of a source', () => {
  it('flip comparisons, connections, negations and truth, count by one more, and settle conditions', () => {
    expect(
      changes('const a = (b: number, c: boolean) => !c && b >= 2;\nexport const d = a(1, true) ? 3 : -4;'),
    ).toEqual([
      '1: ! => ',
      '1: && => ||',
      '1: >= => >',
      '1: 2 => 3',
      '2: a(1, true) => true',
      '2: a(1, true) => false',
      '2: 1 => 2',
      '2: true => false',
      '2: 3 => 4',
      '2: 4 => 5',
    ]);
  });

  it('leave statements and defaults out, return at once, and take one quantifier for the other', () => {
    expect(changes('function f(x?: X[]) {\n  g(x ?? []);\n  if (x!.some(h)) i = j - k;\n}')).toEqual([
      '1: { => { return;',
      '2: g(x ?? []); => ;',
      '2:  ?? [] => ',
      '3: x!.some(h) => true',
      '3: x!.some(h) => false',
      '3: some => every',
      '3: i = j - k; => ;',
      '3: - => +',
    ]);
  });

  it('pass over types, imports and texts', () => {
    const source =
      "import { a } from 'b';\ntype C = { d: true; e: 1 };\nexport const f = (g: 2): true => ('h' + g) as true;\n";
    expect(changes(source)).toEqual([]);
  });

  it('are one place of the text each', () => {
    const source = "const a = 'é' && b;\n";
    expect(mutantsOf(source).map((mutant) => planted(source, mutant))).toEqual(["const a = 'é' || b;\n"]);
  });
});
