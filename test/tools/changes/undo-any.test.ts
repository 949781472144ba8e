/** Undos in random histories of three agents and a person, compared with a model: each line has a stack of who wrote what there. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import { needs } from '../../support/needs.ts';
import { makeRepository } from '../../support/repos.ts';
import { ALICE, BOB, CAROL, byPerson, type Worked, working, write } from './acts.ts';

needs('git');

/** As many histories as MIMIR_TEST_FUZZ says. */
const RUNS = Number(process.env['MIMIR_TEST_FUZZ'] ?? 6);
const { signal } = new AbortController();
const AGENTS = [ALICE, BOB, CAROL];
const FILES = ['a.txt', 'b.txt'];
const SLOTS = 3;
/** Lines that nobody changes, after each slot. */
const SAME = 4;

/** Who wrote the line, the last one at the end; null is the person, and the beginning of the file. */
type Line = readonly { readonly by: AgentId | null; readonly text: string }[];
type Project = Readonly<Record<string, readonly Line[]>>;

const START: Project = Object.fromEntries(
  FILES.map((name) => [name, Array.from({ length: SLOTS }, (_, at) => [{ by: null, text: `${name} ${at}` }])]),
);

const contentOf = (lines: readonly Line[]): string =>
  lines.map((line, at) => `${line.at(-1)?.text ?? ''}\n${`same ${at}\n`.repeat(SAME)}`).join('');

/** What the person does to a file before any agent belongs to its beginning. */
function written(project: Project, file: string, slot: number, by: AgentId | null, text: string): Project {
  const lines = project[file] ?? [];
  const isBeginning = by === null && lines.flat().every((one) => one.by === null);
  const change = { by, text };
  return {
    ...project,
    [file]: lines.map((line, at) => (at !== slot ? line : isBeginning ? [change] : [...line, change])),
  };
}

/**
 * What an undo makes of a file. Where the agent was the last to change it and had not changed it before others did, it is as it was before the
 * agent. Elsewhere a line that it was the first and the last to change is as at the beginning, and one that it was the first or the last to change
 * stays and is named.
 */
function undoneFile(lines: readonly Line[], agent: AgentId, authors: readonly (AgentId | null)[]) {
  const isLast = !authors.slice(0, authors.findLastIndex((by) => by !== agent) + 1).includes(agent);
  const undone = lines.map((line, at) => {
    const [start, ...changes] = line;
    if (start === undefined || !changes.some(({ by }) => by === agent)) return { line, left: null };
    if (isLast) return { line: line.slice(0, line.findLastIndex(({ by }) => by !== agent) + 1), left: null };
    const [isFirst, isLastOfLine] = [changes.at(0), changes.at(-1)].map((change) => change?.by === agent);
    if (isFirst === true && isLastOfLine === true) return { line: [start], left: null };
    return { line, left: isFirst === true || isLastOfLine === true ? at * (SAME + 1) + 1 : null };
  });
  return { lines: undone.map(({ line }) => line), left: undone.flatMap(({ left }) => left ?? []) };
}

const textsOf = (project: Project): readonly string[] => FILES.map((name) => contentOf(project[name] ?? []));

const edit = fc.record({
  by: fc.constantFrom(null, ...AGENTS),
  file: fc.constantFrom(...FILES),
  slot: fc.nat({ max: SLOTS - 1 }),
});

async function undo(worked: Worked, agent: AgentId): Promise<readonly string[]> {
  const found = await worked.changes.without(await worked.authored(), { agent }, signal);
  if (!found.ok) throw new Error(found.fault);
  expect(found.value.filter(({ stays }) => stays !== undefined)).toEqual([]);
  await worked.changes.undo(found.value, { session: 'run-1', agent });
  return found.value.flatMap(({ path: name, left }) => left.map(({ at }) => `${name} ${at}`));
}

describe('undos in random histories', () => {
  it('take back what is left of an agent, name lines that others began or changed, and are restored byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(edit, { minLength: 2, maxLength: 9 }),
        fc.constantFrom(...AGENTS),
        async (edits, agent) => {
          const folder = makeRepository(Object.fromEntries(FILES.map((name, at) => [name, textsOf(START)[at] ?? ''])));
          const here = (): readonly string[] => FILES.map((name) => readFileSync(path.join(folder, name), 'utf8'));
          const worked = working(folder);
          let project = START;
          for (const [nth, { by, file, slot }] of edits.entries()) {
            project = written(project, file, slot, by, `${by ?? 'person'} ${nth}`);
            const content = contentOf(project[file] ?? []);
            if (by === null) byPerson(folder, file, content);
            else await write(worked, by, file, content);
          }
          const before = here();
          const expected = FILES.map((name) => {
            const authors = edits.flatMap(({ by, file }) => (file === name ? [by] : []));
            return { name, ...undoneFile(project[name] ?? [], agent, authors) };
          });
          expect(await undo(worked, agent)).toEqual(
            expected.flatMap(({ name, left }) => left.map((at) => `${name} ${at}`)),
          );
          expect(here()).toEqual(expected.map(({ lines }) => contentOf(lines)));
          await worked.changes.back({ session: 'run-1', agent });
          expect(here()).toEqual(before);
        },
      ),
      { numRuns: RUNS },
    );
  }, 600_000);
});
