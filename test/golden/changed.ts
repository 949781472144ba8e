/** What agents and the person changed in the run of the golden frames: one hunk of everything that is hard to show, or two thousand hunks. */
import type { AuthoredChanges, AuthoredFile, AuthoredHunk } from '../../src/domain/changes/authorship.ts';
import { AgentId } from '../../src/domain/ids.ts';

const REFACTORING = AgentId.parse('ROOT::S4');
const TESTER = AgentId.parse('ROOT::S5');
const VERSION = { blob: 'b', mode: '100644' };

const hunkOf = (
  agents: readonly AgentId[],
  at: number,
  removed: readonly string[],
  added: readonly string[],
  around: NonNullable<AuthoredHunk['around']> = { before: [], behind: [] },
): AuthoredHunk => ({
  agents,
  from: { at, lines: removed.length },
  to: { at, lines: added.length },
  removed: removed.map((line) => `${line}\n`),
  added: added.map((line) => `${line}\n`),
  around,
});

const fileOf = (path: string, ...hunks: readonly AuthoredHunk[]): AuthoredFile => ({
  path,
  start: VERSION,
  now: VERSION,
  steps: hunks.map(({ agents }) => ({ agents, before: VERSION, after: VERSION })),
  hunks,
});

const LONG = 'packages/authentication/src/infrastructure/persistence/postgres/token-rotation-store.ts';

/** One hunk in a long path, with letters of two columns. */
export const ONE: AuthoredChanges = {
  files: [
    fileOf(
      LONG,
      hunkOf(
        [REFACTORING],
        41,
        ['  // トークンを更新する: 世代を確かめない', '  const next = await rotate(token);'],
        [
          '  // トークンを更新する: 世代が同じときだけ (二人目は 409 を受け取る) 🔑',
          '  const next = await rotate(token, { ifGeneration: token.generation });',
          "  if (next === null) throw new Conflict('the token was refreshed meanwhile');",
        ],
        {
          before: ['export async function refresh(token: Token) {\n', '  const began = now();\n'],
          behind: ['  return next;\n', '}\n'],
        },
      ),
    ),
  ],
};

const lines = (count: number, what: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `export const ${what}${at} = ${at};`);

/** Files of all sizes, of agents and of the person, with build output beside them. */
export const SEVERAL: AuthoredChanges = {
  files: [
    { ...fileOf('docs/old.md', hunkOf([], 1, lines(3, 'old'), [])), now: null },
    fileOf(
      LONG,
      hunkOf([REFACTORING], 10, lines(104, 'old'), lines(128, 'next')),
      hunkOf([], 300, [], lines(2, 'mine')),
    ),
    fileOf('src/auth/store.ts', hunkOf([REFACTORING, TESTER], 41, lines(2, 'a'), lines(12, 'b'))),
    { ...fileOf('src/auth/更新.test.ts', hunkOf([TESTER], 1, [], lines(64, 'test'))), start: null },
    ...Array.from({ length: 20 }, (_, at) => fileOf(`src/routes/r${at}.ts`, hunkOf([TESTER], 3, ['a'], ['b']))),
  ],
  uncovered: '"dist/" (48 files), "node_modules/" (1203 files)',
};

/** Two thousand hunks in forty files. */
export const MANY: AuthoredChanges = {
  files: Array.from({ length: 40 }, (_, nth) =>
    fileOf(
      `src/generated/values/group-${String(nth).padStart(2, '0')}/values.ts`,
      ...Array.from({ length: 50 }, (_hunk, at) =>
        hunkOf(
          [nth % 2 === 0 ? REFACTORING : TESTER],
          at * 20 + 1,
          [`export const value${at} = ${at};`],
          [`export const value${at} = ${at * 2};`],
          { before: ['\n'], behind: [`export const other${at} = 0;\n`, '\n'] },
        ),
      ),
    ),
  ),
};
