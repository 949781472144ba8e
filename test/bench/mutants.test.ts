/** The faults that `npm run bench -- mutants` plants. */
import { describe, expect, it } from 'vitest';
import { testsReaching } from './mutants/callers.ts';
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

describe('the tests that reach a fault', () => {
  const known = {
    calls: [
      { test: 'test/slow.test.ts', functions: { 'src/a.ts': ['f', 'g'] } },
      { test: 'test/quick.test.ts', functions: { 'src/a.ts': ['f'] } },
      { test: 'test/a-any.test.ts', functions: { 'src/a.ts': ['f'] } },
      { test: 'test/other.test.ts', functions: { 'src/b.ts': ['h'] } },
    ],
    importers: new Map([['src/a.ts', ['src/b.ts']]]),
    took: (test: string) => (test.includes('slow') ? 2 : 1),
  };
  const reaching = (inside: string | null): readonly string[] =>
    testsReaching({ file: 'src/a.ts', inside }, known).map((test) => test.slice(5, -8));

  it('are those that call its function: the ones of its name first, then the quickest', () => {
    expect([reaching('f'), reaching('g')]).toEqual([['a-any', 'quick', 'slow'], ['slow']]);
  });

  it('are all of its file and of those that import it where it is in no function, or in one that nobody calls', () => {
    expect(reaching(null)).toEqual(['a-any', 'quick', 'other', 'slow']);
    expect(reaching('unknown')).toEqual(reaching(null));
  });

  it('are found by the name of the innermost function with a name', () => {
    const source =
      'class A { #b() { [].map(() => 1); } }\nconst c = (d = 2) => d;\nconst e = { f: () => 3, g() { return 4; } };';
    expect(mutantsOf(source).map(({ inside, was }) => [inside, was])).toEqual([
      ['#b', '[].map(() => 1);'],
      ['#b', '1'],
      ['c', '2'],
      ['f', '3'],
      ['g', '4'],
    ]);
  });
});
