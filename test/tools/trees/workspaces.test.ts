/** Trees of agents' own: real git and the real sandbox. Nothing reaches the project before the merge, and the merge loses nothing. */
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { commitAll, git, makeRepository } from '../../support/repos.ts';
import { bash, bench, digest, made, merged, text } from './bench.ts';

needs('git', 'bubblewrap');

const { signal } = new AbortController();

/** Each file of the project and of its repository with its content; of the project's own also when it was written. Git touches the times of objects. */
const everything = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name);
      const stats = lstatSync(file);
      const time = /^\.git(?:\/|$)/.test(name) ? '' : stats.mtimeMs;
      return `${name} ${stats.mode} ${time} ${stats.isFile() ? readFileSync(file, 'latin1') : ''}`;
    });
const LONG = Array.from({ length: 9 }, (_, line) => `line ${line}\n`).join('');

describe('a tree of its own', () => {
  it('has the project as it stands, and gives back what its agent changed, by a merge alone', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', '.gitignore': 'out/\n.env\n' });
    writeFileSync(path.join(folder, 'b.txt'), 'mine\n');
    writeFileSync(path.join(folder, 'new.txt'), 'untracked\n');
    writeFileSync(path.join(folder, '.env'), 'KEY=canary\n');
    const at = await bench(folder);
    const base = await made(at);
    const before = digest(folder);
    expect((await at.use('read_file', { path: 'b.txt' })).text).toContain('mine');
    expect((await bash(at, 'cat new.txt; ls -a; git status --short; git log --oneline | wc -l')).text).toContain(
      'untracked',
    );
    expect((await at.use('edit_file', { path: 'b.txt', old_text: 'mine', new_text: 'changed' })).ok).toBe(true);
    const ran = await bash(
      at,
      'sed -i s/one/1/ a.txt; rm new.txt; mkdir d; echo x > d/x.sh; chmod +x d/x.sh; git add -A && git commit -qm mine && git checkout -qb other && git status --short',
    );
    expect(ran.text).toMatch(/^exit code 0/);
    expect(digest(folder)).toBe(before);
    writeFileSync(path.join(folder, 'a.txt'), 'one\ntwo\n3\n');
    const merge = await merged(at, base);
    expect(merge.conflicts).toEqual([]);
    expect(merge.files.map(({ is, path: name }) => `${is} ${name}`)).toEqual([
      'changed a.txt',
      'changed b.txt',
      'added d/x.sh',
      'removed new.txt',
    ]);
    expect(await at.workspaces.apply(merge.ours, merge.merged, signal)).toEqual({ ok: true, value: undefined });
    expect([text(at, 'a.txt'), text(at, 'b.txt'), existsSync(path.join(folder, 'new.txt'))]).toEqual([
      '1\ntwo\n3\n',
      'changed\n',
      false,
    ]);
    expect(text(at, '.env')).toBe('KEY=canary\n');
  });
});

describe('a command in a tree of its own', () => {
  it('tells what it changed there, counted from what file tools had left, and marked as not in the project', async () => {
    const folder = makeRepository({ 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n' });
    writeFileSync(path.join(folder, 'b.txt'), 'mine\n');
    const at = await bench(folder);
    await made(at);
    expect((await at.use('write_file', { path: 'c.txt', content: 'c\n' })).ok).toBe(true);
    const first = await bash(at, 'sed -i s/one/1/ a.txt; git add -A; git commit -qm mine');
    const second = await bash(at, 'echo more >> c.txt; rm b.txt; mkdir d; mv a.txt d/');
    const none = await bash(at, 'cat c.txt');
    const told = [first, second].map(({ changed }) => ({
      inOwnTree: changed?.inOwnTree,
      files: changed?.files.map((file) => `${file.is} ${file.path} +${file.added} -${file.removed}`),
    }));
    expect(told).toEqual([
      { inOwnTree: true, files: ['changed a.txt +1 -1'] },
      {
        inOwnTree: true,
        files: ['removed a.txt +0 -2', 'removed b.txt +0 -1', 'changed c.txt +1 -0', 'added d/a.txt +2 -0'],
      },
    ]);
    expect(first.changed?.files[0]?.diff).toBe('@@ -1,2 +1,2 @@\n-one\n+1\n two');
    expect(none.changed).toBeUndefined();
  });
});

describe('a merge of more than 500 files', () => {
  it('names all of them: the first with their hunks, the rest with their versions', async () => {
    const at = await bench(makeRepository({ 'a.txt': 'a\n' }));
    const base = await made(at);
    await bash(at, 'for n in $(seq 1000 1599); do echo $n > f$n; done');
    const merge = await merged(at, base);
    const files = await at.workspaces.files(merge.ours, merge.merged, signal);
    const { files: first, more, rest = [] } = merge;
    expect(files).toEqual({ ok: true, value: { files: first, more, rest } });
    expect([first.length, more]).toEqual([500, 100]);
    expect([...first, ...rest].map((one) => one.path)).toEqual(Array.from({ length: 600 }, (_, n) => `f${n + 1000}`));
    expect(rest.every(({ before, after }) => before === null && after !== null)).toBe(true);
  });
});

const ESCAPES = (folder: string): readonly string[] => [
  `echo x > ${folder}/a.txt`,
  `git -C ${folder} commit --allow-empty -m x`,
  `GIT_DIR=${folder}/.git git update-ref refs/heads/main HEAD~1`,
  `ln -s ${folder} out && echo x > out/a.txt`,
  `ln ${folder}/a.txt hard && echo x > hard`,
  `echo x > .git/../../../../../../a.txt; cat ${folder}/b.txt`,
  `printf '[core]\\n\\tfsmonitor = "touch ${folder}/owned"\\n\\thooksPath = hooks\\n' >> .git/config; echo 'a.txt filter=own' > .gitattributes; git config filter.own.clean 'touch ${folder}/owned; cat'`,
  `echo "gitdir: ${folder}/.git" > pointer; rm -rf .git && mv pointer .git; git commit --allow-empty -m x`,
];

describe('what an agent does in its tree', () => {
  it('does not reach the project: no path, git, link or hard link leads there, and nothing of its repository is run', async () => {
    const folder = makeRepository({ 'a.txt': 'one\n', 'b.txt': 'secret\n' });
    commitAll(folder, 'second');
    const at = await bench(folder);
    const base = await made(at);
    const before = digest(folder);
    for (const command of ESCAPES(folder)) {
      const { text: said } = await bash(at, command);
      expect([command, digest(folder), said.includes('secret')]).toEqual([command, before, false]);
    }
    await at.use('git', { subcommand: 'status' });
    const merge = await merged(at, base);
    expect([digest(folder), existsSync(path.join(folder, 'owned'))]).toEqual([before, false]);
    // The links lead nowhere in the project; they are merged as what they are.
    expect(merge.files.map(({ path: name }) => name)).toEqual(['.gitattributes', 'out']);
  });

  it.each<[string, (folder: string) => void, string, Readonly<Record<'mine' | 'theirs', string | null>>]>([
    [
      'the same line',
      (to) => writeFileSync(`${to}/f`, '1\nmine\n3\n'),
      "printf '1\\ntheirs\\n3\\n' > f",
      { mine: '1\nmine\n3\n', theirs: '1\ntheirs\n3\n' },
    ],
    [
      'an edit of what it removed',
      (to) => writeFileSync(`${to}/f`, 'mine\n'),
      'rm f',
      { mine: 'mine\n', theirs: null },
    ],
    ['a removal of what it changed', (to) => rmSync(`${to}/f`), 'echo theirs > f', { mine: null, theirs: 'theirs\n' }],
    [
      'bytes that are no text',
      (to) => writeFileSync(`${to}/f`, 'a\0mine'),
      "printf 'a\\0theirs' > f",
      { mine: 'a\0mine', theirs: 'a\0theirs' },
    ],
    [
      'a folder in place of the file',
      (to) => writeFileSync(`${to}/f`, 'mine\n'),
      'rm f; mkdir f; echo theirs > f/g',
      { mine: 'mine\n', theirs: null },
    ],
  ])('is asked about where the person has made %s, and gives either side whole', async (_, person, command, sides) => {
    for (const side of ['mine', 'theirs'] as const) {
      const folder = makeRepository({ f: '1\n2\n3\n', other: 'o\n' });
      const at = await bench(folder);
      const base = await made(at);
      await bash(at, `${command}; echo changed > other`);
      person(folder);
      const merge = await merged(at, base);
      expect(merge.conflicts.length).toBeGreaterThan(0);
      const to = side === 'mine' ? merge.merged : (merge.withTheirs ?? '');
      expect(await at.workspaces.apply(merge.ours, to, signal)).toEqual({ ok: true, value: undefined });
      const is = statSync(path.join(folder, 'f'), { throwIfNoEntry: false })?.isFile() === true ? text(at, 'f') : null;
      expect([side, is, text(at, 'other')]).toEqual([side, sides[side], 'changed\n']);
      if (side === 'theirs' && command.includes('mkdir')) expect(text(at, 'f/g')).toBe('theirs\n');
    }
  });

  it.each<
    [string, (folder: string) => void, string, Readonly<Record<'mine' | 'theirs', Readonly<Record<string, string>>>>]
  >([
    [
      'another name for the file',
      (to) => renameSync(`${to}/f`, `${to}/p`),
      'mv f q',
      { mine: { p: LONG }, theirs: { q: LONG } },
    ],
    [
      'another name for the file, and an edit',
      (to) => {
        renameSync(`${to}/f`, `${to}/p`);
        writeFileSync(`${to}/p`, LONG.replace('line 3', 'mine'));
      },
      'mv f q; sed -i "s/line 3/theirs/" q',
      { mine: { p: LONG.replace('line 3', 'mine') }, theirs: { q: LONG.replace('line 3', 'theirs') } },
    ],
    [
      'an edit in a file that it renamed and edited there',
      (to) => writeFileSync(`${to}/f`, LONG.replace('line 3', 'mine')),
      'mv f q; sed -i "s/line 3/theirs/" q',
      { mine: { q: LONG.replace('line 3', 'mine') }, theirs: { q: LONG.replace('line 3', 'theirs') } },
    ],
    [
      'a link in place of the file',
      (to) => {
        rmSync(`${to}/f`);
        symlinkSync('other', `${to}/f`);
      },
      'echo theirs > f',
      { mine: { f: 'o\n' }, theirs: { f: 'theirs\n' } },
    ],
    [
      'a program of the same new name',
      (to) => writeFileSync(`${to}/new`, 'mine\n', { mode: 0o755 }),
      'echo theirs > new',
      { mine: { f: LONG, new: 'mine\n' }, theirs: { f: LONG, new: 'theirs\n' } },
    ],
  ])(
    'is asked about where the person has made %s, and nothing is lost by either answer',
    async (_, person, command, sides) => {
      for (const side of ['mine', 'theirs'] as const) {
        const folder = makeRepository({ f: LONG, other: 'o\n' });
        const at = await bench(folder);
        const base = await made(at);
        await bash(at, command);
        person(folder);
        const before = everything(folder);
        const merge = await merged(at, base);
        expect([merge.conflicts.length > 0, everything(folder)]).toEqual([true, before]);
        const to = side === 'mine' ? merge.merged : (merge.withTheirs ?? '');
        expect(await at.workspaces.apply(merge.ours, to, signal)).toEqual({ ok: true, value: undefined });
        const names = readdirSync(folder).filter((name) => name !== '.git' && name !== 'other');
        expect([side, Object.fromEntries(names.map((name) => [name, text(at, name)]))]).toEqual([side, sides[side]]);
      }
      // And the agent, in a further tree that has both sides and needs nothing of the one before.
      const at = await bench(makeRepository({ f: LONG, other: 'o\n' }));
      const base = await made(at);
      await bash(at, command);
      person(at.folder);
      const { ours, marked = '' } = await merged(at, base);
      const next = await at.workspaces.make('two', signal, { of: 'one', ours, content: marked });
      await at.workspaces.remove('one');
      const before = everything(at.folder);
      const resolved = Object.entries(sides.theirs).map(([name, content]) => `printf '${content}' > '${name}'`);
      const own = { command: `git fsck --full && git status && rm * && echo o > other && ${resolved.join(' && ')}` };
      expect((await at.use('bash', own, { workspace: 'two' })).text).toMatch(/^exit code 0/);
      expect([next, everything(at.folder)]).toEqual([{ ok: true, value: { base: ours } }, before]);
      const merge = await merged(at, ours, 'two');
      expect([merge.conflicts, await at.workspaces.apply(merge.ours, merge.merged, signal)]).toMatchObject([
        [],
        { ok: true },
      ]);
      const names = readdirSync(at.folder).filter((name) => name !== '.git' && name !== 'other');
      expect(Object.fromEntries(names.map((name) => [name, text(at, name)]))).toEqual(sides.theirs);
    },
  );

  it('shows both sides of a conflict between signs to the agent that resolves it', async () => {
    const folder = makeRepository({ f: LONG, other: 'o\n' });
    const at = await bench(folder);
    const base = await made(at);
    await bash(at, "sed -i 's/line 4/theirs/' f; echo theirs > other; echo new > new");
    writeFileSync(`${folder}/f`, LONG.replace('line 4', 'mine'));
    const { ours, marked = '' } = await merged(at, base);
    await at.workspaces.make('two', signal, { of: 'one', ours, content: marked });
    const read = await at.use('bash', { command: 'cat f other new; git status --short' }, { workspace: 'two' });
    expect(read.text).toContain('line 3\n<<<<<<< ');
    expect(read.text.replaceAll(/ [0-9a-f]{40}/g, '')).toContain(
      'line 3\n<<<<<<<\nmine\n=======\ntheirs\n>>>>>>>\nline 5\nline 6\nline 7\nline 8\ntheirs\nnew\nM  f\nA  new\nM  other',
    );
  });

  it('merges a rename of the person with its edit, and modes', async () => {
    const folder = makeRepository({ f: '1\n2\n3\n4\n5\n6\n', 'run.sh': 'echo\n' });
    const at = await bench(folder);
    const base = await made(at);
    await bash(at, 'sed -i s/2/two/ f; chmod +x run.sh');
    renameSync(`${folder}/f`, `${folder}/moved`);
    writeFileSync(`${folder}/run.sh`, 'echo mine\n');
    const merge = await merged(at, base);
    expect(merge.conflicts).toEqual([]);
    await at.workspaces.apply(merge.ours, merge.merged, signal);
    expect([
      text(at, 'moved'),
      existsSync(`${folder}/f`),
      text(at, 'run.sh'),
      statSync(`${folder}/run.sh`).mode & 0o100,
    ]).toEqual(['1\ntwo\n3\n4\n5\n6\n', false, 'echo mine\n', 0o100]);
  });

  it('is written with the line ends that the attributes ask for which are merged with it', async () => {
    const folder = makeRepository({ 'd/f.txt': '1\n2\n', 'd/g.txt': 'g\n' });
    const at = await bench(folder);
    const base = await made(at);
    await bash(at, "echo '*.txt text eol=crlf' > d/.gitattributes; echo 3 >> d/f.txt");
    const merge = await merged(at, base);
    expect(await at.workspaces.apply(merge.ours, merge.merged, signal)).toEqual({ ok: true, value: undefined });
    expect([text(at, 'd/f.txt'), text(at, 'd/g.txt')]).toEqual(['1\r\n2\r\n3\r\n', 'g\n']);
    expect(git(folder, 'diff', '--stat', '--', 'd/g.txt')).toBe('');
  });

  it('is not written over what the person has changed since it was compared, nor over what git ignores', async () => {
    const folder = makeRepository({ f: '1\n', '.gitignore': 'kept\n' });
    writeFileSync(`${folder}/kept`, 'mine\n');
    const at = await bench(folder);
    const base = await made(at);
    await bash(at, 'echo 2 > f');
    const merge = await merged(at, base);
    writeFileSync(`${folder}/f`, 'meanwhile\n');
    expect(await at.workspaces.apply(merge.ours, merge.merged, signal)).toMatchObject({
      ok: false,
      fault: 'f has changed in the project meanwhile',
    });
    expect(text(at, 'f')).toBe('meanwhile\n');
    await bash(at, 'git checkout -q f; echo "" > .gitignore; echo theirs > kept');
    const other = await merged(at, base);
    expect(await at.workspaces.apply(other.ours, other.merged, signal)).toMatchObject({ ok: false });
    expect(text(at, 'kept')).toBe('mine\n');
  });

  it('is merged once, and whole, where it was cut off in the midst of it', async () => {
    const folder = makeRepository({ a: '1\n', b: '1\n', c: 'x\n' });
    const at = await bench(folder);
    const base = await made(at);
    await bash(at, 'echo 2 > a; echo 2 >> b');
    const { ours, merged: to } = await merged(at, base);
    // The half that was written before a kill, and what the person did then.
    writeFileSync(`${folder}/b`, '1\n2\n');
    writeFileSync(`${folder}/c`, 'mine\n');
    const rest = await at.workspaces.rest({ ours, merged: to }, signal);
    if (!rest.ok) throw new Error(rest.fault);
    expect([rest.value.conflicts, rest.value.files.map(({ path: name }) => name)]).toEqual([[], ['a']]);
    await at.workspaces.apply(rest.value.ours, rest.value.merged, signal);
    expect([text(at, 'a'), text(at, 'b'), text(at, 'c')]).toEqual(['2\n', '1\n2\n', 'mine\n']);
  });
});
