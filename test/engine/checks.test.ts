/** Checks of tasks: run by Mimir in the real sandbox, whatever the agent says. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { changesOf } from '../../src/app/views/index.ts';
import { tried } from '../../src/domain/result.ts';
import type { EventBody, EventOf, EventType, MimirEvent } from '../../src/events/event.ts';
import { actsIn } from '../../src/events/acts.ts';
import { verificationOf } from '../../src/events/checks.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { openSandbox, openTools } from '../../src/tools/index.ts';
import { memoryLog } from '../support/log.ts';
import { freshFolder } from '../support/folder.ts';
import { git, makeRepository } from '../support/repos.ts';
import { needs } from '../support/needs.ts';
import { AGENT, draftOf, RULES, says, type Setting, testRun, type TestRun } from '../support/run.ts';
import type { ScriptedReply } from '../support/scripted.ts';

needs('bubblewrap', 'git');

const [S1, S2] = [AGENT('ROOT::S1'), AGENT('ROOT::S2')];

const task = (id: string, more: object): object => ({
  id,
  description: `do ${id}`,
  role: 'oracle',
  model: 'fast',
  writes: ['**'],
  ...more,
});

/** A run of these tasks in `root`, with real tools, that nobody watches. */
async function runOf(root: string, tasks: readonly object[], setting: Setting = {}): Promise<TestRun> {
  const place = { root, home: '/nowhere/home', stateDir: freshFolder() };
  const tools = openTools({ ...place, sandbox: await openSandbox(place) });
  if (!tools.ok) throw new Error(tools.fault);
  return testRun({
    file: { draft: draftOf({ tasks }), from: 'plan.yml' },
    port: tools.value,
    cwd: root,
    person: false,
    toolsOf: () => ['bash', 'write_file', 'read_file'],
    ...setting,
  });
}

const bash = (command: string): ScriptedReply => ({ text: '', calls: [{ tool: 'bash', input: { command } }] });
const write = (file: string, content: string): ScriptedReply => ({
  text: '',
  calls: [{ tool: 'write_file', input: { path: file, content } }],
});
const say = (text: string): ScriptedReply => ({ text });

const of = <T extends EventType>(run: TestRun, type: T): readonly EventOf<T>[] =>
  run.events().filter((event): event is EventOf<T> => event.type === type);
const ends = (run: TestRun): readonly (readonly [unknown, number, string, boolean, number | null])[] =>
  of(run, 'check.finished').map(({ agent, attempt, run: command, passed, exit }) => [
    agent,
    attempt,
    command,
    passed,
    exit,
  ]);
const stateOf = (run: TestRun, agent = S1) => {
  const state = run.state();
  const one = state.agents.get(agent);
  return one === undefined ? undefined : verificationOf(state, one);
};
/** Of every process of this machine. */
const commandLines = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => tried(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), ''));
const withoutEnvelope = ({ v: _v, seq: _seq, time: _time, session: _session, ...body }: MimirEvent): EventBody => body;
/** Edits without a question, as a plan may allow them. */
const EDITS: Setting = { rules: { ...RULES, permissions: { edits: { value: 'allow', from: builtIn('the test') } } } };

it('believes no agent that says its tests pass, and tells it what they print', async () => {
  const root = freshFolder();
  const run = await runOf(root, [task('a', { checks: [{ run: 'echo "2 of 3 failed"; exit 1' }] })], {
    script: says({ [S1]: [say('All tests pass.'), say('All tests pass now.')] }),
  });
  expect(await run.result).toMatchObject({ status: 'failed' });
  expect(ends(run)).toEqual([
    [S1, 1, 'echo "2 of 3 failed"; exit 1', false, 1],
    [S1, 2, 'echo "2 of 3 failed"; exit 1', false, 1],
  ]);
  const told = of(run, 'agent.told').filter(({ agent }) => agent === S1);
  expect(told).toHaveLength(2);
  expect(told[1]?.text).toContain('<output-1>\n2 of 3 failed\n</output-1>');
  expect(run.state().agents.get(S1)).toMatchObject({
    outcome: 'failed',
    error: 'the check echo "2 of 3 failed"; exit 1 failed after 2 attempts: exit code 1',
    endedBy: { is: 'check', run: 'echo "2 of 3 failed"; exit 1', why: 'attempts' },
  });
  expect(stateOf(run)).toBe('failed');
});

it('lets the agent mend what fails; then the task is verified, and only then what needs it begins', async () => {
  const root = freshFolder();
  const checks = [{ run: 'test "$(cat a.txt)" = good' }];
  const run = await runOf(root, [task('a', { checks }), task('b', { dependsOn: ['a'] })], {
    ...EDITS,
    script: says({ [S1]: [write('a.txt', 'bad\n'), say('Done.'), write('a.txt', 'good\n'), say('Mended.')] }),
  });
  expect(await run.result).toMatchObject({ status: 'completed' });
  expect(ends(run).map((end) => end[3])).toEqual([false, true]);
  expect(stateOf(run)).toBe('verified');
  const [passed] = of(run, 'check.finished').filter((end) => end.passed);
  const begun = run
    .events()
    .find((event) => event.type === 'agent.status' && event.agent === S2 && event.status === 'running');
  expect(begun?.seq).toBeGreaterThan(passed?.seq ?? Infinity);
  expect(run.state().finished?.summary).toContain('## Checks\n\n- oracle 1: test "$(cat a.txt)" = good: passed');
});

it('ends a check that hangs with all of its processes', async () => {
  const root = freshFolder();
  const hangs = '(while :; do sleep 611.25; done) & sleep 611.25';
  const run = await runOf(root, [task('a', { checks: [{ run: hangs, timeout: '1s' }], attempts: 1 })]);
  expect(await run.result).toMatchObject({ status: 'failed' });
  const [end] = of(run, 'check.finished');
  expect(end).toMatchObject({
    passed: false,
    exit: null,
    failure: { is: 'time limit', text: 'stopped after its time limit of 1s' },
  });
  expect(commandLines().filter((line) => line.includes('611.25'))).toEqual([]);
});

it('gives up when two rounds fail alike, whatever time they took', async () => {
  const root = freshFolder();
  const run = await runOf(root, [
    task('a', { checks: [{ run: 'echo "1 failed in $RANDOM ms"; exit 3' }], attempts: 5 }),
  ]);
  await run.result;
  expect(ends(run)).toHaveLength(2);
  expect(run.state().agents.get(S1)?.endedBy).toMatchObject({ is: 'check', why: 'alike' });
});

it('goes on with a flaky check as long as it fails in another way', async () => {
  const root = freshFolder();
  const flaky = 'n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; echo "run $n"; test $n -ge 2';
  const run = await runOf(root, [task('a', { checks: [{ run: flaky }], attempts: 5 })]);
  expect(await run.result).toMatchObject({ status: 'completed' });
  expect(ends(run).map((end) => end[3])).toEqual([false, false, true]);
  expect(of(run, 'check.finished').at(-1)).toMatchObject({ changed: ['n'] });
});

it('is an act of its agent, which has changed whatever it writes', async () => {
  const root = makeRepository({ 'a.txt': 'one\n' });
  const run = await runOf(root, [task('a', { checks: [{ run: 'echo two >> a.txt; echo x > made' }], attempts: 1 })]);
  await run.result;
  const { acts, tree, unknown } = actsIn(run.events());
  expect(acts.map(({ path: name, agents, before }) => [name, agents, before === null])).toEqual([
    ['a.txt', [S1], false],
    ['made', [S1], true],
  ]);
  expect([tree?.id, unknown.size]).toEqual([git(root, 'rev-parse', 'HEAD^{tree}').trim(), 0]);
  const agent = run.state().agents.get(S1);
  expect(agent === undefined ? [] : changesOf(agent).map(({ path: name, added }) => [name, added])).toEqual([
    ['a.txt', 1],
    ['made', 1],
  ]);
});

it('says that an agent changed the test and the script that judge it', async () => {
  const root = freshFolder();
  writeFileSync(path.join(root, 'package.json'), '{}');
  const run = await runOf(root, [task('a', { checks: ['npm test; node --test'], attempts: 1 })], {
    ...EDITS,
    script: says({
      [S1]: [write('test/sum.test.js', 'ok'), write('src/sum.js', 'x'), bash('true'), say('Done.')],
    }),
  });
  await run.result;
  expect(of(run, 'check.finished')[0]?.judged).toEqual(['test/sum.test.js']);
});

it('says so of a file that its command names, and of one that decides what its command does', async () => {
  const root = freshFolder();
  const run = await runOf(root, [task('a', { checks: ['npm test', './src/sum.sh'], attempts: 1 })], {
    ...EDITS,
    script: says({
      [S1]: [write('package.json', '{}'), write('src/sum.sh', 'exit 0'), write('src/other.sh', 'x'), say('Done.')],
    }),
  });
  await run.result;
  expect(of(run, 'check.finished').map(({ judged }) => judged)).toEqual([['package.json'], ['src/sum.sh']]);
});

it('runs a check again at the end when another agent changed the project since', async () => {
  const root = freshFolder();
  const checks = ['test ! -e broken'];
  const tasks = [task('a', { checks }), task('b', { dependsOn: ['a'] })];
  const states: unknown[] = [];
  const run = await runOf(root, tasks, {
    ...EDITS,
    script: async ({ agent, purpose }, n) => {
      if (purpose.is !== 'work' || agent !== S2) return undefined;
      if (n === 1) states.push(stateOf(run));
      return n === 0 ? write('broken', 'yes') : say('Done.');
    },
  });
  expect(await run.result).toMatchObject({ status: 'failed' });
  expect(states).toEqual(['stale']);
  expect(ends(run)).toEqual([
    [S1, 1, 'test ! -e broken', true, 0],
    [S1, 1, 'test ! -e broken', false, 1],
  ]);
  expect(of(run, 'check.started')[1]).toMatchObject({ last: true });
  expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'failed', endedBy: { is: 'check', why: 'last' } });
  expect(run.state().agents.get(S2)?.outcome).toBe('completed');
});

it('needs no second question for what was approved with the plan, and asks where rules always ask', async () => {
  const root = freshFolder();
  const run = await runOf(root, [task('a', { checks: ['touch made', 'git push'], attempts: 1 })], {
    rules: {
      ...RULES,
      commands: { allow: [], ask: [{ words: ['git', 'push'], from: builtIn('commands.ask: "git push"') }], deny: [] },
    },
  });
  await run.result;
  expect(existsSync(path.join(root, 'made'))).toBe(true);
  expect(of(run, 'check.finished').map(({ passed, failure }) => [passed, failure?.is])).toEqual([
    [true, undefined],
    [false, 'denied'],
  ]);
});

it('takes a denied command as a failed check in words, and tries no second time', async () => {
  const root = freshFolder();
  const run = await runOf(root, [task('a', { checks: ['touch made'], attempts: 5 })], {
    rules: {
      ...RULES,
      commands: { allow: [], ask: [], deny: [{ words: ['touch', '**'], from: builtIn('commands.deny: "touch **"') }] },
    },
  });
  expect(await run.result).toMatchObject({ status: 'failed' });
  expect(existsSync(path.join(root, 'made'))).toBe(false);
  expect(of(run, 'check.finished').map(({ failure }) => failure)).toEqual([
    { is: 'denied', text: 'Denied: commands.deny: "touch **" (default)' },
  ]);
});

it('runs checks in the box that only reads for an agent that may change nothing', async () => {
  const root = freshFolder();
  const run = await runOf(root, [task('a', { role: 'finder', writes: [], checks: ['touch made'], attempts: 1 })]);
  expect(await run.result).toMatchObject({ status: 'failed' });
  expect(existsSync(path.join(root, 'made'))).toBe(false);
  expect(ends(run)).toEqual([[S1, 1, 'touch made', false, 1]]);
});

it('runs a check again that a crash cut off, with the same number', async () => {
  const root = freshFolder();
  const tasks = [task('a', { checks: ['test -e go'] })];
  const run = await runOf(root, tasks, { ...EDITS });
  await run.result;
  const all = run.events();
  const cut = all.findIndex(({ type }) => type === 'check.started') + 1;
  writeFileSync(path.join(root, 'go'), '');
  const log = memoryLog();
  for (const event of all.slice(0, cut)) log.append(event.session, event.time, [withoutEnvelope(event)]);
  const again = await runOf(root, tasks, { log });
  expect(await again.result).toMatchObject({ status: 'completed' });
  expect(ends(again)).toEqual([[S1, 1, 'test -e go', true, 0]]);
  // The agent had said that it is done, and was not asked again.
  expect(again.events().filter(({ type }) => type === 'session.resumed')).toHaveLength(1);
  expect(of(again, 'model.started').filter(({ agent }) => agent === S1)).toHaveLength(1);
});
