/**
 * The requirements (docs/requirements.md) against the titles of all tests: which line is shown by a test, which is a remark that
 * needs none, which is measured by the bench, and which is not built. A title that names an id must show it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

type Standing = 'test' | `remark: ${string}` | `left: ${string}` | `bench: ${string}`;

/** Every line once. `O008 to O010` is three of them. */
const LINES: readonly (readonly [ids: string, standing: Standing])[] = [
  ['O001 to O023', 'test'],
  [
    'O024',
    'left: a request is read at the next turn like any message; the agent that asks waits (D34), not the one that is asked',
  ],
  ['O025 to O112', 'test'],
  [
    'O113',
    'left: on the full screen the header names the run in place of this title (D25); the stacked cards have O006 and O114',
  ],
  ['O114 to O142', 'test'],
  ['O143 to O145', 'remark: which tests there are to be; the lines they test have their own'],
  ['O146 to O149', 'test'],
  ['O150 to O153', 'remark: phases of the work, whose lines stand above'],
  ['O154', 'remark: a phase, whose lines stand above'],
  ['O155 to O159', 'test'],
  ['O160', 'remark: names the next steps'],
  ['I001 to I018', 'test'],
  ['I019', 'left: which agents follow one another is the choice of a real model, so it needs a real provider'],
  ['I020', 'test'],
  ['I021, I022', 'remark: two ways compared; ours has the lines above'],
  ['I023, I024', 'remark: what it is good for, and what it builds on'],
  ['T001, T002', 'test'],
  ['T003, T004', 'remark: what it is good for'],
  ['T005 to T037', 'test'],
  ['T038', 'remark: how the source is divided; it is in docs/architecture.md'],
  ['S001 to S004', 'test'],
  ['S005', 'remark: the aim of the lines on progress'],
  ['S006 to S128', 'test'],
  ['S129', 'remark: what a parent is to do; agents are told it'],
  ['S130 to S144', 'test'],
  ['S145 to S147', 'remark: phases of the work, whose lines stand above'],
  ['S148 to S158', 'test'],
  ['S159', 'bench: test/bench/spawn.ts measures it where nothing else runs'],
  ['S160, S161', 'test'],
  ['H001 to H025', 'test'],
];

const PAGE = readFileSync('docs/requirements.md', 'utf8');

/** Each id of a part of the page with its line. */
const linesOf = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^- \*\*([A-Z]\d+)\*\* (.+)$/gm)].map(([, id = '', line = '']) => [id, line]));

const REQUIREMENTS = linesOf(PAGE);
/** Their ids can be those of decisions as well: `D13`. */
const CASES = linesOf(PAGE.slice(PAGE.indexOf('## Attacks and faults'), PAGE.indexOf('## Invariants')));

/** Groups of the catalogue that are built whole; of the others some cases are. */
const BUILT: ReadonlySet<string> = new Set('ABCDEFGHIJMN');

/** A row of a table of tests whose first cell is their title: `it.each([['B02 the same key once quoted', …` */
const ROW = /\[\s*(['"`])((?:[A-O]\d{2}|[OITSH]\d{3}) (?:\\.|(?!\1)[^\\])*)\1,/g;
const TITLE = /(?:\b(?:it|test|describe)(?:\.\w+)*\(|\)\()\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
/** `F2` alone is a key: cases have two digits; decisions and invariants (`D1`, `I3`) may have one. */
const ID = /\b(?:[OITSH]\d{3}|[A-O]\d{2}|[DI]\d)\b/g;

/** `O078 to O081` as four ids. */
const spelledOut = (text: string): string =>
  text.replaceAll(/\b([A-Z])(\d+) to \1(\d+)\b/g, (_, letter: string, from: string, to: string) =>
    Array.from(
      { length: Math.max(0, Number(to) - Number(from) + 1) },
      (__, index) => letter + String(Number(from) + index).padStart(from.length, '0'),
    ).join(', '),
  );
const idsIn = (text: string): readonly string[] => spelledOut(text).match(ID) ?? [];

function titles(): readonly string[] {
  const root = import.meta.dirname;
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && file !== 'contract.test.ts',
  );
  return files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return [...text.matchAll(TITLE), ...text.matchAll(ROW)].map(([, , title = '']) => title);
  });
}

describe('the requirements', () => {
  const named = new Set(titles().flatMap(idsIn));
  const listed = LINES.flatMap(([ids]) => idsIn(ids));

  it('has every line in the table, once', () => {
    expect(listed).toEqual([...REQUIREMENTS.keys()].filter((id) => /^[OITSH]\d{3}$/.test(id)));
  });

  it('has a test that names each line that a test shows', () => {
    const shown = LINES.flatMap(([ids, standing]) => (standing === 'test' ? idsIn(ids) : []));
    expect(shown.filter((id) => !named.has(id))).toEqual([]);
  });

  it('has no test for a line that is left or a remark: then the table is old', () => {
    const rest = LINES.flatMap(([ids, standing]) => (standing === 'test' ? [] : idsIn(ids)));
    expect(rest.filter((id) => named.has(id))).toEqual([]);
  });

  it('has a test that names each case of the catalogue of attacks that is built', () => {
    const cases = [...CASES.keys()].filter((id) => BUILT.has(id[0] ?? ''));
    expect(cases.length).toBeGreaterThan(100);
    expect(cases.filter((id) => !named.has(id))).toEqual([]);
  });

  it('has a test that names each line on ids and modes, on progress, and each answered question on limits, privacy and environment', () => {
    const lines = idsIn('H010 to H020, T014 to T017, D25, S148 to S150, S152, S154');
    expect(lines.filter((id) => !named.has(id))).toEqual([]);
  });

  it('has every id that a title names', () => {
    expect([...named].filter((id) => !REQUIREMENTS.has(id))).toEqual([]);
  });

  it('says of each line that is left that it is not built', () => {
    const left = LINES.flatMap(([ids, standing]) => (standing.startsWith('left') ? idsIn(ids) : []));
    const notBuilt = [...REQUIREMENTS].flatMap(([id, line]) => (line.includes('(Not built: ') ? [id] : []));
    expect(notBuilt).toEqual(left);
  });
});
