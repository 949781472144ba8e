/** Undoing what is left of the changes of one agent, in real files. */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import type { FileUndo, UndoEnd } from '../../../src/ports/changes.ts';
import { needs } from '../../support/needs.ts';
import { freshFolder, makeRepository } from '../../support/repos.ts';
import { ALICE, BOB, CAROL, byPerson, type Worked, working, write } from './acts.ts';

needs('git');

const SIGNAL = new AbortController().signal;

async function planned(worked: Worked, agent: AgentId): Promise<readonly FileUndo[]> {
  const found = await worked.changes.without(await worked.authored(), { agent }, SIGNAL);
  if (!found.ok) throw new Error(found.fault);
  return found.value;
}

const undo = async (worked: Worked, agent: AgentId): Promise<UndoEnd> =>
  worked.changes.undo(await planned(worked, agent), { session: 'run-1', agent });

/** Every file with mode and content, links with where they lead. */
function stateOf(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !/^\.git(\/|$)/.test(name));
  const entries = names.toSorted().flatMap((name) => {
    const stats = lstatSync(path.join(folder, name));
    if (!stats.isFile()) return [];
    return [[name, `${stats.mode.toString(8)} ${readFileSync(path.join(folder, name)).toString('latin1')}`] as const];
  });
  return Object.fromEntries(entries);
}

const bash = (worked: Worked, who: AgentId, command: string): Promise<void> => worked.act(who, 'bash', { command });

const BINARY = Buffer.from([0, 1, 2, 255]);

describe('undoing one agent', () => {
  it('restores what it edited, made, removed, renamed, made a program and overwrote with bytes', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\n', 'gone.txt': 'g\n', 'old.txt': 'o\n', 'run.sh': 'echo\n' });
    byPerson(folder, 'logo.bin', BINARY);
    const before = stateOf(folder);
    const worked = working(folder);
    await write(worked, ALICE, 'a.txt', 'ONE\ntwo\n');
    await bash(
      worked,
      ALICE,
      'rm gone.txt; mv old.txt new.txt; chmod +x run.sh; mkdir -p lib/deep; echo x > lib/deep/x.ts',
    );
    await bash(worked, ALICE, "printf '\\0\\1\\2' > logo.bin; : > empty.txt");
    const after = stateOf(folder);
    expect(after).not.toEqual(before);
    const end = await undo(worked, ALICE);
    expect(end).toEqual({
      written: ['a.txt', 'empty.txt', 'gone.txt', 'lib/deep/x.ts', 'logo.bin', 'new.txt', 'old.txt', 'run.sh'],
      failed: [],
    });
    expect([stateOf(folder), existsSync(path.join(folder, 'lib'))]).toEqual([before, false]);
    expect(await planned(worked, ALICE)).toEqual([]);
    expect(await worked.changes.back({ session: 'run-1', agent: ALICE })).toEqual(end);
    expect(stateOf(folder)).toEqual(after);
  });

  it('leaves the project as if that agent had never run, in all orders of three agents, and each is restored exactly', async () => {
    const three = [ALICE, BOB, CAROL];
    const texts = ['1\n\n2\n\n3\n', 'A\n\n2\n\n3\n', 'A\n\nB\n\n3\n', 'A\n\nB\n\nC\n'];
    for (const first of three) {
      const folder = makeRepository({ 'a.txt': texts[0] ?? '' });
      const worked = working(folder);
      for (const [at, who] of three.entries()) {
        await write(worked, who, 'a.txt', texts[at + 1] ?? '');
        await bash(worked, who, `echo ${at} > own-${at}.txt`);
      }
      for (const second of three.filter((who) => who !== first)) {
        const states = [stateOf(folder)];
        const left = three.filter((who) => who !== first && who !== second);
        const order = [first, second, ...left];
        for (const who of order) {
          expect((await undo(worked, who)).failed).toEqual([]);
          states.push(stateOf(folder));
        }
        const lines = three.map((who, at) => (left.includes(who) ? ['A', 'B', 'C'][at] : String(at + 1)));
        const own = three.flatMap((who, at) => (left.includes(who) ? [`own-${at}.txt`] : []));
        expect(Object.keys(states[2] ?? {})).toEqual(['a.txt', ...own]);
        expect(states[2]?.['a.txt']).toBe(`100644 ${lines.join('\n\n')}\n`);
        expect(states[3]).toEqual({ 'a.txt': `100644 ${texts[0]}` });
        for (const [at, who] of order.toReversed().entries()) {
          await worked.changes.back({ session: 'run-1', agent: who });
          expect(stateOf(folder)).toEqual(states[2 - at]);
        }
      }
    }
  });

  it('lists the lines on which others built, in all orders of three agents that changed the same ones', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n\ntwo\n\nthree\n' });
    const worked = working(folder);
    await write(worked, ALICE, 'a.txt', `alice\n\nalice\n\nthree\n`);
    await write(worked, BOB, 'a.txt', `bob\n\nalice\n\nbob\n`);
    await write(worked, CAROL, 'a.txt', `bob\n\nalice\n\ncarol\n`);
    const text = (): string => readFileSync(path.join(folder, 'a.txt'), 'utf8').trimEnd().replaceAll('\n\n', ', ');
    const bob = (at: number): object => ({ at, is: 'built on', by: [BOB] });
    // Nothing of a line in which another agent has a part changes, except that of whoever changed the file last.
    const ofAlice = [bob(1)];
    const ofBob = [
      { at: 1, is: 'built on', by: [ALICE] },
      { at: 5, is: 'built on', by: [CAROL] },
    ];
    const expected: readonly (readonly [AgentId, AgentId, object, string, object, string])[] = [
      [ALICE, BOB, ofAlice, 'bob, two, carol', ofBob, 'bob, two, carol'],
      [ALICE, CAROL, ofAlice, 'bob, two, carol', [bob(5)], 'bob, two, carol'],
      [BOB, ALICE, ofBob, 'bob, alice, carol', ofAlice, 'bob, two, carol'],
      [BOB, CAROL, ofBob, 'bob, alice, carol', [], 'bob, alice, bob'],
      [CAROL, ALICE, [], 'bob, alice, bob', ofAlice, 'bob, two, bob'],
      [CAROL, BOB, [], 'bob, alice, bob', [], 'alice, alice, three'],
    ];
    for (const [first, second, ...rest] of expected) {
      const states = [stateOf(folder)];
      const seen: unknown[] = [];
      for (const who of [first, second]) {
        const files = await planned(worked, who);
        await worked.changes.undo(files, { session: 'run-1', agent: who });
        seen.push(
          files.flatMap(({ left }) => left),
          text(),
        );
        states.push(stateOf(folder));
      }
      expect([first, second, ...seen]).toEqual([first, second, ...rest]);
      for (const [at, who] of [second, first].entries()) {
        await worked.changes.back({ session: 'run-1', agent: who });
        expect(stateOf(folder)).toEqual(states[1 - at]);
      }
    }
  });

  it('brings back the lines of an earlier agent that the last one replaced', async () => {
    const folder = makeRepository({ 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'one\n' });
    const worked = working(folder);
    for (const [who, word] of [
      [ALICE, 'uno'],
      [BOB, 'eins'],
    ] as const) {
      await write(worked, who, 'a.txt', `${word}\r\ntwo\r\n`);
      await write(worked, who, 'b.txt', `${word}\n`);
    }
    await undo(worked, BOB);
    expect(['a.txt', 'b.txt'].map((name) => readFileSync(path.join(folder, name), 'utf8'))).toEqual([
      'uno\r\ntwo\r\n',
      'uno\n',
    ]);
    await undo(worked, ALICE);
    expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('one\r\ntwo\r\n');
  });

  it('takes lines away from beside those that another agent added, and leaves them where they are around such lines', async () => {
    const folder = makeRepository({});
    const worked = working(folder);
    await bash(worked, ALICE, "printf 'a1\\na2\\n' > list.txt; printf 'a1\\na2\\n' > inside.txt");
    await bash(worked, BOB, "echo b >> list.txt; printf 'a1\\nb\\na2\\n' > inside.txt");
    const files = await planned(worked, ALICE);
    const by = { is: 'built on', by: [BOB] };
    expect(files.map(({ path: name, left }) => [name, left])).toEqual([
      [
        'inside.txt',
        [
          { at: 1, ...by },
          { at: 3, ...by },
        ],
      ],
      ['list.txt', []],
    ]);
    await undo(worked, ALICE);
    const texts = ['inside.txt', 'list.txt'].map((name) => readFileSync(path.join(folder, name), 'utf8'));
    expect(texts).toEqual(['a1\nb\na2\n', 'b\n']);
  });

  it('names what stays: lines on which others built, and a content or a mode that another changed later', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\nthree\n', 'run.sh': 'echo\n' });
    byPerson(folder, 'logo.bin', BINARY);
    const worked = working(folder);
    await write(worked, ALICE, 'a.txt', '1\ntwo\n3\n');
    await write(worked, BOB, 'a.txt', 'uno\ntwo\n3\n');
    await bash(worked, ALICE, "printf '\\0a' > logo.bin; chmod +x run.sh");
    await bash(worked, BOB, "printf '\\0b' > logo.bin; chmod -x run.sh");
    await bash(worked, CAROL, 'chmod +x run.sh');
    const files = await planned(worked, ALICE);
    expect(files.map(({ path: name, left }) => [name, left])).toEqual([
      ['a.txt', [{ at: 1, is: 'built on', by: [BOB] }]],
      ['logo.bin', [{ at: null, is: 'built on', by: [BOB] }]],
      ['run.sh', [{ at: null, is: 'built on', by: [CAROL] }]],
    ]);
    await undo(worked, ALICE);
    expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('uno\ntwo\nthree\n');
  });

  it('keeps the line ends of a file, and its other permissions', async () => {
    const folder = makeRepository({ 'dos.txt': 'one\r\ntwo\r\n' });
    chmodSync(path.join(folder, 'dos.txt'), 0o640);
    const worked = working(folder);
    await write(worked, ALICE, 'dos.txt', 'ONE\r\ntwo\r\n');
    byPerson(folder, 'dos.txt', 'ONE\r\ntwo\r\nthree\r\n');
    await undo(worked, ALICE);
    const place = path.join(folder, 'dos.txt');
    expect([readFileSync(place, 'utf8'), lstatSync(place).mode & 0o777]).toEqual(['one\r\ntwo\r\nthree\r\n', 0o640]);
  });

  it('writes no file that has changed since it was looked at, or that became a link, and says so', async () => {
    const folder = makeRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const worked = working(folder);
    await bash(worked, ALICE, 'for f in a b c; do echo x > $f.txt; done');
    const files = await planned(worked, ALICE);
    writeFileSync(path.join(folder, 'a.txt'), 'mine\n');
    rmSync(path.join(folder, 'b.txt'));
    symlinkSync('/etc/passwd', path.join(folder, 'b.txt'));
    expect(await worked.changes.undo(files, { session: 'run-1', agent: ALICE })).toEqual({
      written: ['c.txt'],
      failed: ['a.txt: it has changed meanwhile', 'b.txt: another file or a link is in its place'],
    });
    expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('mine\n');
  });

  it('is restored byte for byte, or carried on, wherever a process died in the midst of it', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'gone.txt': 'g\n', 'run.sh': 'echo\n' });
    const worked = working(folder);
    await bash(worked, ALICE, "echo two > a.txt; rm gone.txt; chmod +x run.sh; mkdir d; printf '\\0' > d/new.bin");
    const names = ['a.txt', 'd/new.bin', 'gone.txt', 'run.sh'];
    const before = stateOf(folder);
    const kept = freshFolder();
    cpSync(folder, kept, { recursive: true, preserveTimestamps: true });
    /** As it is when only so many files were written. */
    const cutOff = async (after: number): Promise<void> => {
      expect((await undo(worked, ALICE)).written).toEqual(names);
      for (const name of names.slice(after)) {
        rmSync(path.join(folder, name), { force: true });
        if (existsSync(path.join(kept, name))) cpSync(path.join(kept, name), path.join(folder, name));
      }
    };
    for (const after of [0, 1, 2, 3, 4]) {
      await cutOff(after);
      expect((await worked.changes.back({ session: 'run-1', agent: ALICE }))?.failed).toEqual([]);
      expect([after, stateOf(folder)]).toEqual([after, before]);
      await cutOff(after);
      const rest = await undo(worked, ALICE);
      expect([rest.failed, rest.written]).toEqual([[], names.slice(after)]);
      expect(Object.keys(stateOf(folder))).toEqual(['a.txt', 'gone.txt', 'run.sh']);
      for (const times of [0, 1])
        expect([times, await worked.changes.back({ session: 'run-1', agent: ALICE })]).not.toBeNull();
      expect([after, stateOf(folder)]).toEqual([after, before]);
    }
  });

  it('restores what it can and names the rest, and can be asked again when that was put right', async () => {
    const folder = makeRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const worked = working(folder);
    await bash(worked, ALICE, 'for f in a b; do echo x > $f.txt; done');
    await undo(worked, ALICE);
    writeFileSync(path.join(folder, 'a.txt'), 'mine\n');
    const back = (): Promise<UndoEnd | null> => worked.changes.back({ session: 'run-1', agent: ALICE });
    expect(await back()).toEqual({ written: ['b.txt'], failed: ['a.txt: it has changed meanwhile'] });
    writeFileSync(path.join(folder, 'a.txt'), 'a\n');
    expect(await back()).toEqual({ written: ['a.txt', 'b.txt'], failed: [] });
    expect(readFileSync(path.join(folder, 'a.txt'), 'utf8')).toBe('x\n');
    expect(await back()).toBeNull();
  });
});
