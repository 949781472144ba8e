/** A file as if one agent had not changed it. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { contentWithout } from '../../../src/domain/changes/undo.ts';
import type { AgentId } from '../../../src/domain/ids.ts';
import { needs } from '../../support/needs.ts';
import { makeRepository } from '../../support/repos.ts';
import { ALICE, BOB, CAROL, byPerson, type Worked, working, write } from './acts.ts';

needs('git');

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at}`);
/** The lines that each of them writes, with lines of nobody between them. */
const OWN = new Map<AgentId | 'person', readonly number[]>([
  [ALICE, [1, 9]],
  [BOB, [4]],
  [CAROL, [12, 18]],
  ['person', [15]],
]);
const textBy = (authors: readonly (AgentId | 'person')[]): string =>
  LINES.map((line, at) => `${authors.find((one) => OWN.get(one)?.includes(at)) ?? ''}${line}\n`).join('');

async function undone(worked: Worked, folder: string, agent: AgentId): Promise<readonly (number | null)[]> {
  const [file] = await worked.authored();
  const place = path.join(folder, 'a.txt');
  if (file === undefined) throw new Error('nothing was changed');
  const without = contentWithout(file, readFileSync(place, 'utf8'), { agent });
  if (without === undefined) throw new Error('the content is another one');
  if (without.content !== undefined) writeFileSync(place, without.content ?? '');
  return without.left.map(({ at }) => at);
}

describe('a file without the changes of an agent', () => {
  const three = [ALICE, BOB, CAROL];
  const orders = three
    .flatMap((a) => three.flatMap((b) => three.map((c) => [a, b, c])))
    .filter((all) => new Set(all).size === 3);

  it('is as if that agent had never run, in whatever order the others go, and the person keeps what is theirs', async () => {
    for (const order of orders) {
      const folder = makeRepository({ 'a.txt': textBy([]) });
      const worked = working(folder);
      for (const [at, who] of three.entries()) await write(worked, who, 'a.txt', textBy(three.slice(0, at + 1)));
      byPerson(folder, 'a.txt', textBy([...three, 'person']));
      for (const [at, who] of order.entries()) {
        expect(await undone(worked, folder, who)).toEqual([]);
        expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe(textBy([...order.slice(at + 1), 'person']));
      }
    }
  });

  it('keeps the lines on which another agent built, and names them', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\nthree\nfour\n' });
    const worked = working(folder);
    await write(worked, ALICE, 'a.txt', '1\ntwo\nthree\n4\n');
    await write(worked, BOB, 'a.txt', 'ONE\ntwo\nthree\n4\n');
    expect(await undone(worked, folder, ALICE)).toEqual([1]);
    expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('ONE\ntwo\nthree\nfour\n');
  });

  it('is none for a file that the agent made, and the former one for a file that it removed', () => {
    const version = { blob: 'x', mode: '100644' };
    const made = { agents: [ALICE], from: { at: 0, lines: 0 }, to: { at: 1, lines: 1 }, removed: [], added: ['a\n'] };
    const gone = { agents: [ALICE], from: { at: 1, lines: 1 }, to: { at: 0, lines: 0 }, removed: ['a\n'], added: [] };
    expect(contentWithout({ start: null, hunks: [made] }, 'a\n', { agent: ALICE })).toEqual({
      content: null,
      left: [],
    });
    expect(contentWithout({ start: version, hunks: [gone] }, null, { agent: ALICE })).toEqual({
      content: 'a\n',
      left: [],
    });
    expect(contentWithout({ start: null, hunks: [made] }, 'b\n', { agent: ALICE })).toBeUndefined();
  });
});
