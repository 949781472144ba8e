/** The git tool against repositories that try to run something: a marker file tells. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, freshFolder, git, makeFolder, makeRepository, writeFiles } from '../../support/repos.ts';
import { workbench } from '../workbench.ts';
import { needs } from '../../support/needs.ts';

needs('git');

/** Every reading call of the tool that could be talked into running something. */
const CALLS = [
  { subcommand: 'status' },
  { subcommand: 'diff' },
  { subcommand: 'diff', staged: true },
  { subcommand: 'diff', refs: ['HEAD~1', 'HEAD'] },
  { subcommand: 'diff', stat: true },
  { subcommand: 'log', patch: true },
  { subcommand: 'log', stat: true },
  { subcommand: 'log' },
  { subcommand: 'show', refs: ['HEAD'] },
  { subcommand: 'show', refs: ['HEAD:a.txt'] },
  { subcommand: 'blame', paths: ['a.txt'] },
  { subcommand: 'ls-files' },
  { subcommand: 'branch' },
  { subcommand: 'tag' },
  { subcommand: 'rev-parse', refs: ['HEAD'] },
  { subcommand: 'shortlog', refs: ['HEAD'] },
];

/** A repository with two commits and a change, and a program that leaves a marker when it is run by anybody. */
function trap(): { readonly folder: string; readonly program: string; readonly marks: () => readonly string[] } {
  const folder = makeRepository({ 'a.txt': 'one\n', '.gitattributes': 'a.txt filter=evil diff=evil\n' });
  writeFiles(folder, { 'a.txt': 'two\n' });
  commitAll(folder, 'Change');
  pretendSigned(folder);
  writeFiles(folder, { 'a.txt': 'three\n', 'new.txt': 'x\n' });
  const marked = freshFolder();
  const program = path.join(freshFolder(), 'evil');
  writeFileSync(program, `#!/bin/sh\ntouch ${marked}/"$(basename "$0")-$$"\necho marked >&2\ncat\n`);
  chmodSync(program, 0o755);
  return { folder, program, marks: () => readdirSync(marked) };
}

/** Puts a signature of nobody on the last commit, so that a log with signatures has something to check. */
function pretendSigned(folder: string): void {
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n';
  const signed = git(folder, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\n${signature}\n`);
  writeFiles(folder, { 'signed.tmp': signed });
  const commit = git(folder, 'hash-object', '-t', 'commit', '-w', 'signed.tmp').trim();
  rmSync(path.join(folder, 'signed.tmp'));
  git(folder, 'update-ref', 'HEAD', commit);
}

const named = (value: string, names: string): readonly (readonly [string, string])[] =>
  names.split(' ').map((name) => [name, value]);

/** What a hostile repository sets, one group at a time, so that no setting hides behind another. */
const SETTINGS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  monitor: [['core.fsmonitor', 'EVIL']],
  'external diff': [['diff.external', 'EVIL']],
  'diff driver': [['diff.evil.command', 'EVIL']],
  'text conversion': [['diff.evil.textconv', 'EVIL']],
  'clean filter': [
    ['filter.evil.clean', 'EVIL'],
    ['filter.evil.smudge', 'EVIL'],
    ['filter.evil.required', 'true'],
  ],
  'process filter': [
    ['filter.evil.process', 'EVIL'],
    ['filter.evil.required', 'true'],
  ],
  signatures: [
    ['log.showSignature', 'true'],
    ['gpg.program', 'EVIL'],
    ['format.pretty', 'format:%G? %h'],
  ],
  'pager, alias, editor or other program': [
    ...named('EVIL', 'core.pager pager.log pager.diff pager.branch core.editor sequence.editor core.askPass'),
    ...named('EVIL', 'gpg.ssh.program gpg.ssh.defaultKeyCommand core.sshCommand core.alternateRefsCommand'),
    ...named('!EVIL', 'alias.status alias.log alias.ls-files credential.helper'),
  ],
};

/** Those that look into contents, where most programs are named. */
const LOOKING = CALLS.filter(({ subcommand }) => ['status', 'diff', 'show', 'blame'].includes(subcommand));

async function runsNothing(of: ReturnType<typeof trap>, calls: readonly object[] = LOOKING): Promise<void> {
  const tools = workbench(of.folder);
  const results = await Promise.all(calls.map(async (call) => ({ ...call, ok: (await tools.use('git', call)).ok })));
  expect(results).toEqual(calls.map((call) => ({ ...call, ok: true })));
  expect(of.marks()).toEqual([]);
}

describe('the git tool', () => {
  it('reads status, history, changes and authors', async () => {
    const { folder } = trap();
    const tools = workbench(folder);
    const texts = [];
    for (const call of CALLS.slice(0, 11)) texts.push((await tools.use('git', call)).text);
    const [status, diff, staged, between, , , , , , shown, blame] = texts;
    expect(status).toBe('## main\n M a.txt\n?? new.txt');
    expect(diff).toContain('\n-two\n+three');
    expect(staged).toBe('git diff: nothing');
    expect(between).toContain('\n-one\n+two');
    expect(shown).toBe('two');
    expect(blame).toContain('(Not Committed Yet');
  });

  for (const [name, settings] of Object.entries(SETTINGS)) {
    it(`D10, D11 runs no ${name} of a repository's configuration`, async () => {
      const it = trap();
      for (const [key, value] of settings) git(it.folder, 'config', key, value.replace('EVIL', it.program));
      await runsNothing(it, name.includes(' or ') || name === 'signatures' ? CALLS : LOOKING);
    });
  }

  it('D10 sees that the traps work: git by itself runs these programs', () => {
    const names = Object.keys(SETTINGS).slice(0, -1);
    const sprung = names.filter((name) => {
      const it = trap();
      for (const [key, value] of SETTINGS[name] ?? []) git(it.folder, 'config', key, value.replace('EVIL', it.program));
      for (const command of ['status', 'diff', 'log -p']) {
        try {
          git(it.folder, ...command.split(' '));
        } catch {
          // Some of the programs fail at what they pretend to be.
        }
      }
      return it.marks().length > 0;
    });
    expect(sprung).toEqual(names);
  });

  it('D10 runs no hook, also when an index would be written', async () => {
    const it = trap();
    for (const hook of ['post-index-change', 'reference-transaction', 'pre-commit', 'post-checkout']) {
      writeFileSync(path.join(it.folder, '.git/hooks', hook), `#!/bin/sh\n${it.program}\n`, { mode: 0o755 });
    }
    git(it.folder, 'config', 'core.hooksPath', path.join(it.folder, '.git/hooks'));
    await runsNothing(it);
  });

  it('D10 runs no program of an included file, or of a name made to slip through', async () => {
    const it = trap();
    writeFileSync(path.join(it.folder, '.git/more'), `[filter "evil"]\n\tclean = ${it.program}\n\trequired = true\n`);
    git(it.folder, 'config', 'include.path', 'more');
    writeFileSync(path.join(it.folder, '.gitattributes'), 'a.txt filter=e=x.Y diff=e=x.Y\n*.txt filter=evil\n');
    git(it.folder, 'config', 'filter.e=x.Y.clean', it.program);
    git(it.folder, 'config', 'diff.e=x.Y.textconv', it.program);
    await runsNothing(it);
  });

  it('D10 fetches nothing that a partial clone lacks, since its remote names a program', async () => {
    const it = trap();
    const blob = git(it.folder, 'rev-parse', 'HEAD~1:a.txt').trim();
    git(it.folder, 'config', 'extensions.partialClone', 'origin');
    git(it.folder, 'config', 'core.repositoryFormatVersion', '1');
    git(it.folder, 'config', 'remote.origin.url', makeRepository());
    git(it.folder, 'config', 'remote.origin.promisor', 'true');
    git(it.folder, 'config', 'remote.origin.uploadpack', it.program);
    git(it.folder, 'config', 'protocol.file.allow', 'always');
    execFileSync('rm', [path.join(it.folder, '.git/objects', blob.slice(0, 2), blob.slice(2))]);
    await workbench(it.folder).use('git', { subcommand: 'log', patch: true });
    expect(it.marks()).toEqual([]);
  });

  it('D10 does not step into submodules, which have a configuration of their own', async () => {
    const it = trap();
    const inner = makeRepository({ 'a.txt': 'x\n', '.gitattributes': 'a.txt filter=evil\n' });
    git(it.folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner');
    commitAll(it.folder, 'Add a submodule');
    const directory = path.join(it.folder, '.git/modules/inner');
    git(it.folder, `--git-dir=${directory}`, 'config', 'filter.evil.clean', it.program);
    git(it.folder, `--git-dir=${directory}`, 'config', 'core.fsmonitor', it.program);
    writeFiles(it.folder, { 'inner/a.txt': 'y\n', 'a.txt': 'four\n' });
    await runsNothing(it);
  });

  it('D09 refuses values that could be options', async () => {
    const tools = workbench(makeRepository());
    const bad = [
      { subcommand: 'diff', refs: ['--output=/tmp/x'] },
      { subcommand: 'log', refs: ['--upload-pack=X'] },
      { subcommand: 'log', paths: ['-O/tmp/x'] },
      { subcommand: 'log', refs: ['HEAD\n--output=x'] },
      { subcommand: 'grep', refs: [] },
      { subcommand: 'log', options: ['-p'] },
    ];
    for (const input of bad) await expect(tools.use('git', input)).rejects.toThrow();
  });

  it('D12 is not run in a bare repository inside the project, nor outside', async () => {
    const folder = makeRepository();
    git(folder, 'init', '--quiet', '--bare', 'embedded');
    const tools = workbench(folder);
    expect(await tools.use('git', { subcommand: 'log', paths: ['embedded'] })).toEqual({
      ok: false,
      text: 'embedded: a separate git repository inside the project; git does not run there',
    });
    expect((await tools.use('git', { subcommand: 'log', paths: ['..'] })).ok).toBe(false);
  });

  it('D12 takes a folder that is a bare repository itself for a folder without git', async () => {
    const folder = freshFolder();
    git(folder, 'init', '--quiet', '--bare');
    expect(await workbench(folder).use('git', { subcommand: 'log' })).toEqual({
      ok: false,
      text: 'git is not available: this folder is not the top of a git repository',
    });
  });

  it('C10 is not run when .git has become a link since the start', async () => {
    const folder = makeRepository();
    const tools = workbench(folder);
    rmSync(path.join(folder, '.git'), { recursive: true });
    symlinkSync(path.join(makeRepository(), '.git'), path.join(folder, '.git'));
    expect(await tools.use('git', { subcommand: 'log' })).toEqual({
      ok: false,
      text: 'git is not available: .git is neither a folder nor a short file',
    });
  });

  it('D13 takes no GIT_ variable from outside', async () => {
    const it = trap();
    const other = makeRepository({ 'other.txt': '' });
    const tools = workbench(it.folder, {
      ...process.env,
      GIT_DIR: path.join(other, '.git'),
      GIT_EXTERNAL_DIFF: it.program,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: it.program,
      GIT_PAGER: it.program,
    });
    const listed = await tools.use('git', { subcommand: 'ls-files' });
    expect(listed.text.split('\n').sort()).toEqual(['.gitattributes', 'a.txt', 'new.txt']);
    expect((await tools.use('git', { subcommand: 'diff' })).ok).toBe(true);
    expect(it.marks()).toEqual([]);
  });

  it('does not become a comparison of any two files when the repository is broken', async () => {
    const folder = makeFolder({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    mkdirSync(path.join(folder, '.git'));
    const diff = await workbench(folder).use('git', { subcommand: 'diff', paths: ['a.txt', 'b.txt'] });
    expect(diff.ok).toBe(false);
    expect(diff.text).toContain('not a git repository');
  });

  it('shows nothing of .env files, by path, by ref or within a diff', async () => {
    const folder = makeRepository({ '.env': 'KEY=old\n', 'a.txt': 'one\n' });
    writeFiles(folder, { '.env': 'KEY=new\n', 'a.txt': 'two\n' });
    const tools = workbench(folder);
    expect((await tools.use('git', { subcommand: 'blame', paths: ['.env'] })).ok).toBe(false);
    expect((await tools.use('git', { subcommand: 'show', refs: ['HEAD:.env'] })).ok).toBe(false);
    expect((await tools.use('git', { subcommand: 'show', refs: [':0:./.env'] })).ok).toBe(false);
    expect((await tools.use('git', { subcommand: 'show', refs: ['HEAD^{/a:b|Begin}:.env'] })).text).not.toContain(
      'KEY',
    );
    const diff = (await tools.use('git', { subcommand: 'diff' })).text;
    expect(diff).toContain('+two');
    expect(diff).not.toContain('KEY=');
    const log = (await tools.use('git', { subcommand: 'log', patch: true })).text;
    expect(log).toContain('+one');
    expect(log).not.toContain('KEY=');
  });

  it('shows no content of a file by its id or by a tag of it, and commits by each of their names', async () => {
    const folder = makeRepository({ '.env': 'KEY=old\n', 'a.txt': 'one\n' });
    writeFiles(folder, { '.env': 'KEY=new\n', 'a.txt': 'two\n' });
    commitAll(folder, 'Change both');
    git(folder, 'tag', 'light', 'HEAD:.env');
    git(folder, 'tag', '-a', '-m', 'a content', 'kept', 'HEAD:.env');
    git(folder, 'tag', '-a', '-m', 'a tag of it', 'nested', 'kept');
    git(folder, 'tag', '-a', '-m', 'a release', 'v1', 'HEAD');
    const id = git(folder, 'rev-parse', 'HEAD:.env').trim();
    const tools = workbench(folder);
    const show = async (...refs: readonly string[]): Promise<string> =>
      (await tools.use('git', { subcommand: refs.length > 1 ? 'diff' : 'show', refs })).text;
    for (const ref of [
      id,
      id.slice(0, 9),
      'light',
      'kept',
      'nested',
      'refs/tags/kept',
      'kept^{}',
      'kept^{tag}',
      'kept^0',
    ])
      expect(await show(ref), ref).not.toContain('KEY=');
    expect(await show('light', 'HEAD~1:a.txt')).not.toContain('KEY=');
    for (const ref of ['HEAD', 'v1', '@', 'HEAD^!', 'HEAD^-', 'HEAD~1..', 'v1^{commit}', ':/Change'])
      expect(await show(ref), ref).toContain('+two');
    expect(await show('HEAD~1...v1', 'HEAD')).not.toContain('KEY=');
    expect(await show('HEAD:a.txt')).toBe('two');
  });

  it('leaves the index as it was', async () => {
    const { folder } = trap();
    const before = readFileSync(path.join(folder, '.git/index'));
    await workbench(folder).use('git', { subcommand: 'status' });
    expect(readFileSync(path.join(folder, '.git/index'))).toEqual(before);
    expect(existsSync(path.join(folder, '.git/index.lock'))).toBe(false);
  });
});
