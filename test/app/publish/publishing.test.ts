/** Pull requests of ended runs: what they hold, that each step happens once, and why there is none. */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPublishing, type Publishing } from '../../../src/app/publish/index.ts';
import type { Rules } from '../../../src/policy/index.ts';
import type { Log } from '../../../src/ports/log.ts';
import { COMPILED } from '../../support/compiled.ts';
import { ENDED, endedRun, logOf, placeOn, type WrittenFile } from '../../support/ended-run.ts';
import { makeHost, type Host } from '../../support/forge.ts';
import { among, holding, like } from '../../support/like.ts';
import { freshFolder, git, makeRepository, writeFiles } from '../../support/repos.ts';
import { RULES } from '../../support/run.ts';

const TASK = 'Say in the NOTES what the cache is for';
const URL = 'https://host.example/team/ledger/7';
const KEY = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
const BRANCH = 'mimir/say-in-the-notes-what-the-cache-is-for-ended1';
const { signal } = new AbortController();
/** Hundreds of calls of git, on a busy machine. */
const LONG = { timeout: 300_000 };

interface Stage {
  readonly host: Host;
  readonly home: string;
  readonly project: string;
  readonly open: (changes?: Partial<Rules>, as?: Log) => Publishing;
  /** The last steps of the log, each with its type: `['pr.step', 'push', 'began']`. */
  readonly events: () => readonly string[];
}

/** A project after a run that created NOTES.md and changed src/parse.js by a command; its remote is of this host. */
function stageWith(host: Host, more: readonly WrittenFile[] = []): Stage {
  const project = makeRepository({ 'README.md': '# Ledger\n', 'src/parse.js': 'a\nb\nc\n', '.gitignore': 'dist/\n' });
  const home = freshFolder();
  git(project, 'config', 'user.name', 'Tester');
  git(project, 'config', 'user.email', 'tester@example.org');
  git(project, 'remote', 'add', 'origin', host.remote);
  git(project, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  const place = placeOn(home, project);
  endedRun(place, {
    task: TASK,
    summary: `The cache is explained; its key is ${KEY}.`,
    wrote: [{ path: 'NOTES.md', added: 1, removed: 0, made: true }, ...more],
    commands: [{ path: 'src/parse.js', is: 'changed', added: 1, removed: 1 }],
  });
  writeFiles(project, { 'NOTES.md': 'The cache keeps balances.\n', 'src/parse.js': 'a\nB\nc\n' });
  const log = logOf(place);
  const env = { PATH: host.path, HOME: home };
  return {
    host,
    home,
    project,
    open: (changes = {}, as = log) =>
      openPublishing({ project: place, config: { rules: { ...RULES, ...changes }, secrets: [] }, log: as, env }),
    events: () =>
      log.read(ENDED).flatMap((event) => {
        if (event.type === 'pr.step') return `${event.step} ${event.is}`;
        return event.type.startsWith('pr.') || event.type === 'policy.decided' ? event.type : [];
      }),
  };
}

async function preview(publishing: Publishing) {
  const shown = await publishing.preview(ENDED, signal);
  if (!shown.ok) throw new Error(shown.fault);
  return shown.value;
}

async function send(publishing: Publishing, by: 'person' | 'flag' | 'rule' = 'person', shown?: string) {
  const digest = shown ?? (await preview(publishing)).digest;
  return publishing.send({ session: ENDED, digest, by }, signal);
}

const faultOf = async (publishing: Publishing): Promise<string> => {
  const shown = await publishing.preview(ENDED, signal);
  return shown.ok ? '' : shown.fault;
};

const changed = ({ host }: Stage): string =>
  git(host.remote, 'diff-tree', '-r', '--name-status', 'main', BRANCH).trim();
/** The branches of the project and of its remote, and the number of commits of the run. */
const onlyOne = ({ host, project }: Stage) => ({
  local: git(project, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n'),
  remote: host.branches(),
  commits: git(host.remote, 'rev-list', '--count', `main..${BRANCH}`).trim(),
});
const ONE_BRANCH = { local: ['main', BRANCH], remote: ['main', BRANCH], commits: '1' };
const created = ({ host }: Stage): readonly string[] => host.calls().filter((call) => / create /.test(call));

describe('the pull request of a run', () => {
  it('has the files of the run alone, on a branch of its own; the person keeps their branch and changes', async () => {
    const stage = stageWith(makeHost('gh'));
    const { project } = stage;
    appendFileSync(join(project, 'README.md'), 'Mine.\n');
    appendFileSync(join(project, 'src/parse.js'), 'mine\nmine too\n');
    writeFileSync(join(project, 'mine.txt'), 'mine\n');
    git(project, 'add', 'mine.txt');
    const looks = () =>
      ['rev-parse HEAD', 'symbolic-ref HEAD', 'status --porcelain'].map((args) => git(project, ...args.split(' ')));
    const before = looks();
    const shown = await preview(stage.open());
    expect(shown).toMatchObject({ branch: BRANCH, title: TASK, url: null, isComplete: false, verdict: 'ask' });
    expect(shown.lines).toEqual(
      among(
        'Into    main',
        'Files   2 files, +4 -1',
        '! Also in these files, and going along: changes that are not of this run: src/parse.js',
        `  git push origin ${BRANCH}`,
        `  gh pr create --head ${BRANCH} --base main`,
      ),
    );
    expect(await send(stage.open())).toEqual({ ok: true, value: { branch: BRANCH, url: URL, kind: 'Pull request' } });
    expect(changed(stage)).toBe('A\tNOTES.md\nM\tsrc/parse.js');
    expect(git(stage.host.remote, 'log', '-1', '--format=%an <%ae> %s%n%P', BRANCH).trim()).toBe(
      `Tester <tester@example.org> ${TASK}\n${before[0]?.trim()}`,
    );
    expect(looks()).toEqual(before);
    expect(created(stage)).toEqual([`gh pr create --head ${BRANCH} --base main --title ${TASK} --body-file -`]);
    expect(await preview(stage.open())).toMatchObject({ url: URL, isComplete: true });
  });

  it('says who did what at which cost, without secrets', async () => {
    const stage = stageWith(makeHost('gh'));
    await send(stage.open());
    expect(stage.host.body().split('\n\n').slice(0, 6)).toEqual([
      'The cache is explained; its key is [key].',
      '## Files',
      '| file | lines | by |\n| --- | --- | --- |\n| NOTES.md (new) | +1 -0 | code |\n| src/parse.js | +1 -1 | code |',
      '## Costs and approvals',
      '- Spent: 0 tokens, $0.00\n- Mode: confirm\n- Plan approved by person',
      '## Agents',
    ]);
    expect(stage.host.body()).toContain('| code | completed | local/coder |');
  });

  it('goes on where it was cut off at each step, and never makes a second branch or request', LONG, async () => {
    const stage = stageWith(makeHost('glab'));
    const log = logOf(placeOn(stage.home, stage.project));
    // The process ends with the act done and its end not recorded, or between two acts.
    for (const cut of ['commit done', 'branch done', 'push done', 'request done']) {
      const append: Log['append'] = (session, time, bodies) => {
        const [body] = bodies;
        if (body?.type === 'pr.step' && `${body.step} ${body.is}` === cut) throw new Error('cut');
        return log.append(session, time, bodies);
      };
      await expect(send(stage.open({}, { ...log, append }))).rejects.toThrow('cut');
    }
    expect(await send(stage.open())).toEqual({ ok: true, value: { branch: BRANCH, url: URL, kind: 'Merge request' } });
    expect(created(stage)).toHaveLength(1);
    expect(onlyOne(stage)).toEqual(ONE_BRANCH);
  });

  it.each([
    'before commit-tree',
    'after commit-tree',
    'before update-ref',
    'after update-ref',
    'before push',
    'after push',
    'before list',
    'before create',
    'after create',
  ])('goes on after kill -9 of its process %s', LONG, async (moment) => {
    const stage = stageWith(makeHost('gh'));
    stage.host.killAt(moment);
    expect(await run(stage)).toEqual({ signal: 'SIGKILL', out: '' });
    expect(await send(stage.open())).toEqual({ ok: true, value: { branch: BRANCH, url: URL, kind: 'Pull request' } });
    expect(created(stage)).toHaveLength(1);
    expect(onlyOne(stage)).toEqual(ONE_BRANCH);
    expect(stage.events().at(-1)).toBe('pr.finished');
  });

  it('gets a further commit for further changes, in the same request', async () => {
    const stage = stageWith(makeHost('gh'));
    await send(stage.open());
    appendFileSync(join(stage.project, 'NOTES.md'), 'More.\n');
    expect(await preview(stage.open())).toMatchObject({ url: URL, isComplete: false });
    expect(await send(stage.open())).toMatchObject({ ok: true });
    expect(git(stage.host.remote, 'rev-list', '--count', `main..${BRANCH}`).trim()).toBe('2');
    expect(created(stage)).toHaveLength(1);
  });

  it('leaves out .env files and ignored files, and commits what is linked or gone as it is', async () => {
    const stage = stageWith(makeHost('gh'), [
      { path: '.env.local', added: 1, removed: 0, made: true },
      { path: 'dist/out.js', added: 1, removed: 0, made: true },
      { path: 'README.md', added: 0, removed: 1 },
      { path: 'link/inside.txt', added: 1, removed: 0 },
      { path: 'never.txt', added: 1, removed: 1 },
    ]);
    const { project } = stage;
    writeFiles(project, { '.env.local': 'A=b\n', 'dist/out.js': 'x\n' });
    rmSync(join(project, 'README.md'));
    mkdirSync(join(stage.home, 'other'));
    symlinkSync(join(stage.home, 'other'), join(project, 'link'));
    writeFileSync(join(project, 'link/inside.txt'), 'x\n');
    expect((await preview(stage.open())).lines).toContain('  left out: .env.local (a .env file)');
    await send(stage.open());
    expect(changed(stage)).toBe('A\tNOTES.md\nD\tREADME.md\nM\tsrc/parse.js');
  });

  it('asks in every mode, is allowed without a question only by a rule, and denied by one', async () => {
    const from = (rule: string) => ({ rule, layer: 'managed', file: '/etc/mimir/policy.yml', line: 3 }) as const;
    const lists = { allow: [], ask: [], deny: [] };
    const command = (...words: readonly string[]) => ({ words, from: from(`commands: ${words.join(' ')}`) });
    const stage = stageWith(makeHost('gh'));
    const denied = stage.open({ commands: { ...lists, deny: [command('git', 'push', '**')] } });
    const { digest, verdict } = await preview(denied);
    expect(verdict).toBe('deny');
    expect(await send(denied, 'flag', digest)).toEqual({
      ok: false,
      fault: 'denied: commands: git push ** (managed, /etc/mimir/policy.yml:3)',
    });
    expect(stage.events()).toEqual(['policy.decided']);
    expect(await send(stage.open({ mode: 'yolo' }), 'rule', digest)).toMatchObject({ ok: false });
    expect(stage.host.branches()).toEqual(['main']);
    const allowed = stage.open({
      commands: { ...lists, allow: [command('git', 'push', '**'), command('gh', 'pr', '**')] },
    });
    expect(await send(allowed, 'rule', digest)).toMatchObject({ ok: true });
  });

  it('makes nothing else than what was shown', async () => {
    const stage = stageWith(makeHost('gh'));
    const publishing = stage.open();
    const { digest } = await preview(publishing);
    appendFileSync(join(stage.project, 'NOTES.md'), 'And more.\n');
    const sent = await publishing.send({ session: ENDED, digest, by: 'person' }, signal);
    expect(sent).toMatchObject({ ok: false, fault: holding('changed since this was shown') });
    expect(stage.events()).toEqual([]);
  });

  it('keeps its branch where the push is rejected, says why, and goes on later', async () => {
    const stage = stageWith(makeHost('gh'));
    const hook = join(stage.host.remote, 'hooks/pre-receive');
    mkdirSync(join(stage.host.remote, 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\nprintf "no \\033[31mpushes on Fridays\\n" >&2\nexit 1\n', { mode: 0o755 });
    const rejected = await send(stage.open());
    expect(rejected).toMatchObject({
      ok: false,
      fault: like(/^git push origin: [^]*pushes on Fridays/),
    });
    expect(JSON.stringify(rejected)).not.toContain('\\u001b');
    expect(stage.host.calls()).toEqual([]);
    rmSync(hook);
    expect((await preview(stage.open())).lines.find((line) => line.startsWith('So far'))).toMatch(
      /^So far {2}commit and branch; then: git push origin: /,
    );
    expect(await send(stage.open())).toMatchObject({ ok: true });
    expect(created(stage)).toHaveLength(1);
  });

  it('runs no hook of the project, and nothing that its configuration names', async () => {
    const stage = stageWith(makeHost('gh'));
    const ran = join(stage.home, 'ran');
    for (const hook of ['pre-push', 'reference-transaction', 'pre-commit', 'post-commit'])
      writeFileSync(join(stage.project, '.git/hooks', hook), `#!/bin/sh\ntouch ${ran}-${hook}\n`, { mode: 0o755 });
    git(stage.project, 'config', 'credential.helper', `!touch ${ran}-helper`);
    git(stage.project, 'config', 'core.fsmonitor', `touch ${ran}-monitor`);
    git(stage.project, 'config', 'core.sshCommand', `touch ${ran}-ssh`);
    expect(await send(stage.open())).toMatchObject({ ok: true });
    expect(readdirSync(stage.home).filter((name) => name.startsWith('ran'))).toEqual([]);
  });

  it('says in words why there can be none', async () => {
    const without = stageWith(makeHost());
    expect(await faultOf(without.open())).toMatch(
      /^a pull request needs `gh` \(GitHub\) or `glab` \(GitLab\) on the PATH/,
    );
    const stage = stageWith(makeHost('gh'));
    git(stage.project, 'branch', BRANCH);
    expect(await faultOf(stage.open())).toMatch(/^the branch mimir\/\S+ is at \w+, where Mimir did not put it/);
    git(stage.project, 'branch', '-D', BRANCH);
    git(stage.project, 'checkout', '--quiet', '--', 'src/parse.js');
    rmSync(join(stage.project, 'NOTES.md'));
    expect(await faultOf(stage.open())).toBe(
      'nothing is left to publish: the files of this run are as in the last commit',
    );
    git(stage.project, 'remote', 'set-url', 'origin', './inside.git');
    expect(await faultOf(stage.open())).toMatch(/^the remote origin is a folder inside the project/);
    git(stage.project, 'remote', 'remove', 'origin');
    expect(await faultOf(stage.open())).toMatch(/^this project has no remote to push to/);
  });
});

/** Sends it from a process of its own. */
function run({ home, project, host }: Stage): Promise<{ readonly signal: string | null; readonly out: string }> {
  return new Promise((resolve) => {
    const script = join(import.meta.dirname, '../../support/pr-child.ts');
    const env = { PATH: host.path, HOME: home, NODE_COMPILE_CACHE: COMPILED };
    const child = spawn(process.execPath, [script, home, project, JSON.stringify(RULES)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.once('close', (_, signal) => resolve({ signal, out }));
  });
}
