/** Checks that run before a plan is approved, because a person asks for it: in the real sandbox, on the project as it is. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tried } from '../../src/domain/result.ts';
import { actsIn } from '../../src/events/acts.ts';
import { firstSummary } from '../../src/events/checks.ts';
import type { RunState } from '../../src/events/state.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { openSandbox, openTools } from '../../src/tools/index.ts';
import { freshFolder } from '../support/folder.ts';
import { memoryLog } from '../support/log.ts';
import { needs } from '../support/needs.ts';
import { git, makeRepository } from '../support/repos.ts';
import { AGENT, draftOf, RULES, says, type Setting, testRun, type TestRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

needs('bubblewrap', 'git');

const S1 = AGENT('ROOT::S1');
const FAILS = 'echo "1 of 2 failed"; exit 3';

const task = (id: string, checks: readonly unknown[], more: object = {}): object => ({
  id,
  description: `do ${id}`,
  role: 'oracle',
  model: 'fast',
  writes: ['**'],
  checks,
  ...more,
});

/** A run in `root` whose plan of these tasks waits for the person. */
async function offered(root: string, tasks: readonly object[], setting: Setting = {}): Promise<TestRun> {
  const place = { root, home: '/nowhere/home', stateDir: freshFolder() };
  const tools = openTools({ ...place, sandbox: await openSandbox(place) });
  if (!tools.ok) throw new Error(tools.fault);
  const run = testRun({
    file: { draft: draftOf({ tasks }), from: 'plan.yml' },
    port: tools.value,
    cwd: root,
    approval: 'person',
    toolsOf: () => ['bash', 'write_file', 'read_file'],
    ...setting,
  });
  if (setting.approval === undefined) await run.until(isOffered);
  return run;
}

const isOffered = ({ agents }: RunState): boolean => agents.get(AGENT('ROOT'))?.waitingFor?.is === 'person';
const tryAll = (run: TestRun): Promise<string> => run.tell({ do: 'try checks', digest: run.state().planDigest });
const approve = (run: TestRun): Promise<string> => run.tell({ do: 'approve plan', digest: run.state().planDigest });
const summary = (state: RunState): string => firstSummary(state)?.text ?? '';
/** Has so many checks been tried? */
const ended =
  (count: number) =>
  ({ firstChecks = [] }: RunState): boolean =>
    firstChecks.filter(({ end }) => end !== null).length === count;
const processes = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => tried(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), ''));

it('names what fails already, each command once, to the person, to the agent and in the report', async () => {
  const root = freshFolder();
  const tasks = [task('a', [FAILS, 'true'], { attempts: 2 }), task('b', [FAILS])];
  const run = await offered(root, tasks, { script: says({ [S1]: [{ text: 'Done.' }, { text: 'Done again.' }] }) });
  const before = run.state().agents.get(AGENT('ROOT'));
  expect(await tryAll(run)).toBe('trying 2 checks on the project as it is');
  const state = await run.until(ended(2));
  expect(summary(state)).toBe(`1 of 2 checks fails before anything has begun: ${FAILS} (exit code 3)`);
  expect(state.firstChecks?.map(({ run: command, end }) => [command, end?.passed, end?.exit, end?.lines])).toEqual([
    [FAILS, false, 3, '1 of 2 failed'],
    ['true', true, 0, ''],
  ]);
  expect(state.agents.get(AGENT('ROOT'))).toMatchObject({
    status: before?.status,
    ranMs: before?.ranMs,
    usage: before?.usage,
    toolCalls: 0,
  });
  expect(state.approvals).toEqual([]);
  await approve(run);
  expect(await run.result).toMatchObject({ status: 'failed' });
  expect(run.state().agents.get(S1)?.error).toBe(
    `the check ${FAILS} failed after 2 attempts: exit code 3; it failed before anything had begun too (exit code 3)`,
  );
  const told = run.events().flatMap((event) => (event.type === 'agent.told' && event.agent === S1 ? [event.text] : []));
  expect(told[1]).toContain(
    `\`${FAILS}\`: exit code 3, expected 0; it failed before anything had begun too (exit code 3).`,
  );
  expect(run.state().finished?.summary).toContain(
    `- oracle 1: ${FAILS}: failed (exit code 3); it failed before anything had begun too (exit code 3)\n- oracle 1: true: passed\n`,
  );
});

it('asks about what rules ask about in any case, and runs nothing that they deny', async () => {
  const pattern = (text: string) => [{ words: text.split(' '), from: builtIn('the test') }];
  const rules = { ...RULES, commands: { allow: [], ask: pattern('make **'), deny: pattern('curl **') } };
  const run = await offered(freshFolder(), [task('a', ['curl x', 'make y', 'true'])], { rules });
  await tryAll(run);
  const asked = await run.until(({ approvals }) => approvals.length > 0);
  expect(asked.approvals.map(({ request }) => request.exact)).toEqual(['make y']);
  expect(asked.agents.get(AGENT('ROOT'))).toMatchObject({ status: 'waiting', waitingFor: { is: 'person' } });
  await run.tell({ do: 'answer', approval: asked.approvals[0]?.id ?? '', allow: false, scope: 'once', text: 'no' });
  const state = await run.until(ended(3));
  expect(state.firstChecks?.map(({ run: command, end }) => [command, end?.failure?.is ?? end?.exit])).toEqual([
    ['curl x', 'denied'],
    ['make y', 'denied'],
    ['true', 0],
  ]);
  expect(state.agents.get(AGENT('ROOT'))?.runningSince).toBeNull();
  expect(summary(state)).toMatch(/^no check fails before anything has begun; could not run: curl x \(Denied: /);
  run.stop('enough');
  await run.result;
});

it('says nothing of a command that was only asked about when the person stopped it', async () => {
  const ask = [{ words: ['make', '**'], from: builtIn('the test') }];
  const run = await offered(freshFolder(), [task('a', ['exit 1', 'make y'])], {
    rules: { ...RULES, commands: { allow: [], ask, deny: [] } },
  });
  await tryAll(run);
  await run.until(({ approvals }) => approvals.length > 0);
  await run.tell({ do: 'stop checks' });
  const state = await run.until(({ approvals }) => approvals.length === 0);
  run.stop('enough');
  await run.result;
  expect([summary(state), run.state().firstChecks?.length]).toEqual([
    '1 of 2 checks fails before anything has begun: exit 1 (exit code 1); not tried: 1',
    1,
  ]);
});

it('ends what still runs with all of its processes when the plan is approved, and then begins', async () => {
  const hangs = 'test -e a.txt || (sleep 733.25; true)';
  const run = await offered(freshFolder(), [task('a', ['exit 1', hangs], { attempts: 1 })], {
    script: says({ [S1]: [{ text: '', calls: [{ tool: 'bash', input: { command: 'touch a.txt' } }] }] }),
    rules: { ...RULES, permissions: { commands: { value: 'allow', from: builtIn('the test') } } },
  });
  await tryAll(run);
  await run.until(({ firstChecks }) => firstChecks?.at(-1)?.run === hangs);
  expect(await tryAll(run)).toBe('refused: the checks are being tried already');
  await approve(run);
  await run.result;
  const events = run.events();
  const over = events.findLast((event) => event.type === 'check.finished' && event.first === true);
  const begun = events.find((event) => event.type === 'agent.status' && event.agent === S1);
  expect(over).toMatchObject({ run: hangs, failure: { is: 'not run', text: 'stopped' } });
  expect(begun?.seq).toBeGreaterThan(over?.seq ?? Infinity);
  expect(processes().filter((line) => line.includes('733.25'))).toEqual([]);
  expect(summary(run.state())).toBe(
    `1 of 2 checks fails before anything has begun: exit 1 (exit code 1); could not run: ${hangs} (stopped)`,
  );
});

it('stops when the person asks for it, and keeps what was said by then', async () => {
  const run = await offered(freshFolder(), [task('a', ['exit 1', 'sleep 733.5', 'true'])]);
  expect(await run.refused({ do: 'stop checks' })).toBe('refused: no checks are being tried');
  await tryAll(run);
  await run.until(({ firstChecks }) => firstChecks?.length === 2);
  await run.tell({ do: 'stop checks' });
  const state = await run.until(ended(2));
  expect(summary(state)).toBe(
    '1 of 3 checks fails before anything has begun: exit 1 (exit code 1); could not run: sleep 733.5 (stopped); not tried: 1',
  );
  run.stop('enough');
  await run.result;
});

it('keeps what commands said that an edit leaves in the plan, by the exit code that is expected now', async () => {
  const run = await offered(freshFolder(), [task('a', ['exit 1', 'true'])]);
  const { planDigest } = run.state();
  await tryAll(run);
  await run.until(ended(2));
  const id = run.state().plan?.tasks[0]?.id;
  if (id === undefined) throw new Error('no task');
  await run.tell({
    do: 'edit plan',
    edit: { is: 'checks', task: id, checks: [{ run: 'exit 1', expect: 1 }, 'false'] },
  });
  expect(summary(run.state())).toBe('no check fails before anything has begun; not tried: 1');
  expect(await run.refused({ do: 'try checks', digest: planDigest })).toBe(
    'refused: the plan has changed meanwhile: look at it again',
  );
  run.stop('enough');
  await run.result;
});

it('gives nobody what the checks wrote, and takes it for no change of the project', async () => {
  const root = makeRepository();
  const world = fakeWorld();
  const run = await offered(root, [task('a', ['echo x > made.txt', 'exit 1'])], { world });
  await tryAll(run);
  await run.until(ended(2));
  await world.advance(60_000);
  await approve(run);
  await run.result;
  expect(existsSync(path.join(root, 'made.txt'))).toBe(true);
  expect(run.state().firstChecks?.map(({ end, stale }) => [end?.changed, stale])).toEqual([
    [['made.txt'], undefined],
    [undefined, undefined],
  ]);
  const first = run.events().filter((event) => 'first' in event);
  const nothing = { acts: [], tree: null, isWhole: true, unknown: new Set() };
  expect(actsIn(first)).toEqual(nothing);
  // As when the program was killed meanwhile.
  expect(actsIn(first.filter(({ type }) => type === 'check.started'))).toEqual(nothing);
});

it('says that what it knows is old once the project has changed', async () => {
  const root = makeRepository();
  const run = await offered(root, [task('a', ['exit 1'])]);
  await tryAll(run);
  await run.until(ended(1));
  writeFileSync(path.join(root, 'new.txt'), 'new\n');
  await approve(run);
  await run.result;
  expect(summary(run.state())).toBe('out of date: 1 of 1 check fails before anything has begun: exit 1 (exit code 1)');
  expect(git(root, 'status', '--porcelain')).toContain('new.txt');
});

it('keeps what was said over a resume, and nothing of a check that was cut off', async () => {
  const root = freshFolder();
  const log = memoryLog();
  const tasks = [task('a', ['exit 1', 'sleep 733.75'])];
  const run = await offered(root, tasks, { log });
  await tryAll(run);
  await run.until(({ firstChecks }) => firstChecks?.length === 2);
  run.stop('enough');
  await run.result;
  expect(summary(run.state())).toContain('could not run: sleep 733.75 (stopped)');
  const again = await offered(root, tasks, { log });
  expect(summary(again.state())).toBe(summary(run.state()));
  again.stop('enough');
  await again.result;
});

it('says that it is old also where the run is resumed and nobody looks at the plan any more', async () => {
  const root = makeRepository();
  const log = memoryLog();
  const tasks = [task('a', ['exit 1'], { attempts: 1 })];
  const run = await offered(root, tasks, { log });
  await tryAll(run);
  await run.until(ended(1));
  run.stop('enough');
  await run.result;
  writeFileSync(path.join(root, 'new.txt'), 'new\n');
  const again = await offered(root, tasks, { log, approval: 'flag' });
  await again.result;
  expect(again.state().agents.get(S1)?.error).toBe(
    'the check exit 1 failed after the only attempt: exit code 1; it failed before anything had begun too (exit code 1); the project was changed after that',
  );
});

it('tries nothing where the plan has no checks or is approved already', async () => {
  const run = await offered(freshFolder(), [task('a', [])]);
  expect(await tryAll(run)).toBe('refused: the plan has no checks');
  await approve(run);
  expect(await tryAll(run)).toBe('refused: there is no plan waiting for you');
  await run.result;
});

it('runs a command that several tasks have as one that may change files, if one of them may', async () => {
  const root = freshFolder();
  const run = await offered(root, [task('a', ['touch x'], { writes: [] }), task('b', ['touch x'])]);
  await tryAll(run);
  const state = await run.until(ended(1));
  expect(state.firstChecks?.map(({ end }) => end?.exit)).toEqual([0]);
  run.stop('enough');
  await run.result;
});
