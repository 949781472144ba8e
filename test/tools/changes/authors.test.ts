/** Whose the changes of a run are: real tools, real git. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { git, makeRepository } from '../../support/repos.ts';
import { until } from '../../support/until.ts';
import { ALICE, BOB, byPerson, CAROL, told, type Worked, working, write } from './acts.ts';

needs('git');

const TEN = `${Array.from({ length: 10 }, (_, at) => `line ${at}`).join('\n')}\n`;

it('gives each hunk to whoever is left of it, what a person changed meanwhile to the person', async () => {
  const folder = makeRepository({ 'a.txt': TEN, 'b.txt': 'b\n', 'gone.txt': 'g\n', 'run.sh': 'x\n', 'p.bin': 'a\0b' });
  const run = working(folder);
  await run.act(ALICE, 'bash', { command: 'true; sed -i "s/line 1/LINE 1/" a.txt; chmod +x run.sh; rm gone.txt' });
  await write(run, BOB, 'a.txt', readFileSync(path.join(folder, 'a.txt'), 'utf8').replace('line 5\n', 'line 5\nnew\n'));
  byPerson(folder, 'a.txt', readFileSync(path.join(folder, 'a.txt'), 'utf8').replace('line 9', 'mine'));
  await run.act(CAROL, 'bash', { command: 'sed -i "s/line 3/LINE 3/" a.txt; mv b.txt c.txt; printf "a\\0c" > p.bin' });
  expect(told(await run.authored())).toEqual([
    'alice a.txt -line 1 +LINE 1',
    'carol a.txt -line 3 +LINE 3',
    'bob a.txt +new',
    'person a.txt -line 9 +mine',
    'carol b.txt -b',
    'carol c.txt +b',
    'alice gone.txt -g',
    'carol p.bin whole',
    'alice run.sh mode',
  ]);
});

it('leaves nothing of a line that an agent writes and removes again, and splits a hunk of several authors', async () => {
  const folder = makeRepository({ 'a.txt': 'one\ntwo\nthree\n' });
  const run = working(folder);
  await write(run, ALICE, 'a.txt', 'one\nshort-lived\ntwo\nthree\n');
  await write(run, ALICE, 'a.txt', 'one\ntwo\nthree\n');
  expect(told(await run.authored())).toEqual([]);
  await write(run, ALICE, 'a.txt', 'ONE\ntwo\nthree\n');
  await run.act(BOB, 'bash', { command: 'sed -i s/two/TWO/ a.txt' });
  expect(told(await run.authored())).toEqual(['alice a.txt -one +ONE', 'bob a.txt -two +TWO']);
});

it('keeps the lines of the others where one agent changes more than a thousand lines of a file', async () => {
  const folder = makeRepository({ 'a.txt': Array.from({ length: 3000 }, (_, at) => `line ${at}\n`).join('') });
  const run = working(folder);
  await run.act(BOB, 'bash', { command: 'sed -i "s/^line 8$/by bob/" a.txt' });
  const now = readFileSync(path.join(folder, 'a.txt'), 'utf8');
  byPerson(folder, 'a.txt', now.replace('line 2500\n', 'by me\n'));
  await run.act(ALICE, 'bash', { command: 'sed -i "s/^line \\(.*[13579]\\)$/LINE \\1/" a.txt' });
  const lines = told(await run.authored());
  const ofAlice = lines.filter((line) => line.startsWith('alice'));
  expect(lines.filter((line) => !ofAlice.includes(line))).toEqual([
    'bob a.txt -line 8 +by bob',
    'person a.txt -line 2500 +by me',
  ]);
  expect([ofAlice.length, ofAlice[0], ofAlice.at(-1)]).toEqual([
    1500,
    'alice a.txt -line 1 +LINE 1',
    'alice a.txt -line 2999 +LINE 2999',
  ]);
});

it('gives an empty file that came or went to whoever made or removed it', async () => {
  const folder = makeRepository({ 'gone.txt': '', 'a.txt': 'a\n' });
  const run = working(folder);
  await run.act(ALICE, 'bash', { command: 'touch made.txt' });
  await run.act(BOB, 'bash', { command: 'rm gone.txt' });
  expect(told(await run.authored())).toEqual(['bob gone.txt whole', 'alice made.txt whole']);
});

it('starts a file that the person makes during the run with nothing, also where an agent has changed it since', async () => {
  const folder = makeRepository({ 'a.txt': 'a\n', '.gitignore': 'ignored.txt\n' });
  const run = working(folder);
  await run.act(ALICE, 'bash', { command: 'echo b >> a.txt' });
  for (const name of ['new.txt', 'ignored.txt']) {
    byPerson(folder, name, 'one\ntwo\nthree\n');
    await write(run, BOB, name, 'one\ntwo\n3\n');
  }
  expect(told(await run.authored())).toEqual([
    'alice a.txt +b',
    'bob ignored.txt -three +3',
    'person new.txt +one +two',
    'bob new.txt +3',
  ]);
});

it('names all agents whose commands ran at the same time', async () => {
  const folder = makeRepository({ 'a.txt': 'a\n' });
  const run = working(folder);
  const wait = 'while [ ! -e go ]; do sleep 0.05; done';
  const first = run.act(ALICE, 'bash', { command: `touch first; ${wait}; echo 1 >> a.txt; touch done` });
  const second = run.act(BOB, 'bash', { command: 'touch second; while [ ! -e done ]; do sleep 0.05; done' });
  await until(() => existsSync(path.join(folder, 'first')) && existsSync(path.join(folder, 'second')));
  byPerson(folder, 'go', '');
  await Promise.all([first, second]);
  expect(told(await run.authored()).filter((line) => line.includes('a.txt'))).toEqual(['alice|bob a.txt +1']);
});

it('gives a command what it changed, also where another agent wrote the same file by a tool meanwhile', async () => {
  const folder = makeRepository({ 'a.txt': 'a\n' });
  const run = working(folder);
  const wait = 'while [ ! -e go ]; do sleep 0.05; done';
  const command = run.act(ALICE, 'bash', { command: `touch begun; ${wait}; echo 2 >> a.txt` });
  await until(() => existsSync(path.join(folder, 'begun')));
  await write(run, BOB, 'a.txt', 'a\n1\n');
  byPerson(folder, 'go', '');
  await command;
  expect(told(await run.authored()).filter((line) => line.includes('a.txt'))).toEqual([
    'bob a.txt +1',
    'alice a.txt +2',
  ]);
});

it.each([
  {
    is: 'a tool',
    change: (run: Worked) => write(run, BOB, 'a.txt', 'a\n1\n2\n'),
    left: ['alice a.txt +1', 'bob a.txt +2'],
  },
  {
    is: 'a tool that changes nothing',
    change: (run: Worked) => write(run, BOB, 'a.txt', 'a\n1\n'),
    left: ['alice a.txt +1'],
  },
  {
    is: 'a command',
    change: (run: Worked) => run.act(BOB, 'bash', { command: 'echo 2 >> a.txt' }),
    left: ['alice|bob a.txt +1 +2'],
  },
])('gives a command what it changed before another agent changed the same file by $is', async ({ change, left }) => {
  const folder = makeRepository({ 'a.txt': 'a\n' });
  const run = working(folder);
  // The start is the tree before the first command.
  await run.act(ALICE, 'bash', { command: 'echo t > touched' });
  const wait = 'while [ ! -e go ]; do sleep 0.05; done';
  const command = run.act(ALICE, 'bash', { command: `echo 1 >> a.txt; touch begun; ${wait}` });
  await until(() => existsSync(path.join(folder, 'begun')));
  await change(run);
  byPerson(folder, 'go', '');
  await command;
  expect(told(await run.authored()).filter((line) => line.includes('a.txt'))).toEqual(left);
});

it('shows nothing of a .env file, and counts the changes of a formatter over a hundred files', async () => {
  const names = Array.from({ length: 100 }, (_, at) => `src/f${at}.js`);
  const folder = makeRepository(Object.fromEntries(names.map((name) => [name, 'a  =  1\n'])));
  const run = working(folder);
  await run.act(ALICE, 'bash', { command: "sed -i 's/  =  / = /' src/*.js; echo KEY=canary > .env" });
  const files = await run.authored();
  expect(files.filter(({ hunks }) => hunks.length === 1).length).toBe(100);
  expect(told(files).filter((line) => line.includes('.env'))).toEqual(['alice .env whole']);
  expect(JSON.stringify(files)).not.toContain('canary');
});

it('reads the contents after the history of the project was thrown away', async () => {
  const folder = makeRepository({ 'a.txt': 'one\n' });
  const run = working(folder);
  await run.act(ALICE, 'bash', { command: 'sed -i s/one/1/ a.txt' });
  rmSync(path.join(folder, '.git'), { recursive: true });
  expect(told(await run.authored())).toEqual(['alice a.txt -one +1']);
});

const FILES = ['a.txt', 'b.txt', 'sub/c.txt', 'd.bin'];
const file = fc.constantFrom(...FILES);
const who = fc.constantFrom(ALICE, BOB, CAROL);
const lines = fc.array(fc.constantFrom('x', 'y', '', 'one', 'two'), { maxLength: 6 });
type Deed = (run: Worked, folder: string) => Promise<void>;
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.tuple(who, file, lines).map(
    ([one, name, content]): Deed =>
      (run) =>
        write(run, one, name, content.map((line) => `${line}\n`).join('')),
  ),
  fc
    .tuple(
      who,
      fc.oneof(
        file.map((name) => `[ ! -e ${name} ] || sed -i "2s/.*/sed/;1{p}" ${name}`),
        fc.tuple(file, file).map(([from, to]) => `mv -f ${from} ${to} 2>/dev/null; true`),
        file.map((name) => `rm -f ${name}`),
        file.map((name) => `[ ! -e ${name} ] || chmod +x ${name}`),
        fc.constant('mkdir -p sub; printf "\\0\\1\\2" > d.bin'),
        file.map((name) => `mkdir -p sub; printf "no end" >> ${name}`),
      ),
    )
    .map(
      ([one, command]): Deed =>
        (run) =>
          run.act(one, 'bash', { command }),
    ),
  fc.tuple(file, lines).map(
    ([name, content]): Deed =>
      (_, folder) => {
        byPerson(folder, name, content.join('\n'));
        return Promise.resolve();
      },
  ),
);

/** Changed lines by file, each with its number on its side. */
function linesOf(patch: string): readonly string[] {
  const found: string[] = [];
  let name = '';
  let [old, fresh] = [0, 0];
  for (const line of patch.split(/(?<=\n)/)) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (line.startsWith('diff --git ')) name = / b\/(.*)\n$/.exec(line)?.[1] ?? '';
    else if (hunk !== null) [old, fresh] = [Number(hunk[1]), Number(hunk[2])];
    else if (/^(?:---|\+\+\+) /.test(line)) continue;
    else if (line.startsWith('-')) found.push(`${name}:${old++}${line.trimEnd()}`);
    else if (line.startsWith('+')) found.push(`${name}:${fresh++}${line.trimEnd()}`);
  }
  return found.toSorted();
}

it('has together exactly the changed lines that git finds, whoever does what in which order', {
  timeout: 400_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 8 }), async (deeds) => {
      const folder = makeRepository({
        'a.txt': 'one\ntwo\nthree\n',
        'b.txt': 'x\ny\nx\n',
        'sub/c.txt': 'c\n',
        'd.bin': '\0',
      });
      const run = working(folder);
      // The start is the tree before the first command.
      await run.act(ALICE, 'bash', { command: 'true' });
      await run.act(ALICE, 'bash', { command: 'echo t > touched' });
      for (const one of deeds) await one(run, folder);
      const files = await run.authored();
      const own = files.flatMap(({ path: name, hunks }) =>
        hunks.flatMap(({ from, to, removed, added }) => [
          ...removed.map((line, at) => `${name}:${from.at + at}-${line.trimEnd()}`),
          ...added.map((line, at) => `${name}:${to.at + at}+${line.trimEnd()}`),
        ]),
      );
      git(folder, 'add', '--all');
      const paths = files.filter(({ hunks }) => hunks.length > 0).map((one) => one.path);
      const patch =
        paths.length === 0 ? '' : git(folder, 'diff', '--cached', '--unified=0', '--no-renames', '--', ...paths);
      expect(own.toSorted()).toEqual(linesOf(patch));
      const changed = git(folder, 'diff', '--cached', '--no-renames', '--name-only')
        .split('\n')
        .filter((name) => name !== '');
      const known = new Set(files.map((one) => one.path));
      const differs = files.filter(
        ({ hunks, whole, mode, start, now }) =>
          hunks.length > 0 || whole !== undefined || mode !== undefined || (start === null) !== (now === null),
      );
      expect(differs.map((one) => one.path)).toEqual(changed.filter((name) => known.has(name)).toSorted());
    }),
    { numRuns: 6 },
  );
});
