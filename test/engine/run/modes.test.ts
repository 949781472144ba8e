import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/domain/reason.ts';
import { builtIn } from '../../../src/policy/rules.ts';
import { boxedTools } from '../../support/boxed.ts';
import { commandRules } from '../../support/commands.ts';
import { eventsOf, outputs } from '../../support/run-looks.ts';
import { AGENT, calling, filed, planOf, RULES, says, type Setting, type TestRun, testRun } from '../../support/run.ts';

const [ROOT, S1, S2] = [AGENT('ROOT'), AGENT('ROOT::S1'), AGENT('ROOT::S2')];

/** Two writers that each ask about one call, in a run whose commands are boxed. */
const asking = (
  calls: readonly string[],
  setting: Setting = {},
): { readonly run: TestRun; readonly acts: string[] } => {
  const acts: string[] = [];
  const [first = '', second = first] = calls;
  const script = says({ [S1]: [calling(first)], [S2]: [calling(second)] });
  return { run: testRun({ plan: planOf(['o1'], ['o2']), port: boxedTools({ acts }), script, ...setting }), acts };
};
const openOf = (run: TestRun, count: number) => run.until(({ approvals }) => approvals.length === count);
const answers = (run: TestRun): readonly (readonly [string, string])[] =>
  run.events().flatMap((event) => (event.type === 'approval.answered' ? [[event.answer, event.by] as const] : []));

describe('the mode of a run (H015, H016, H017, H018, H019)', () => {
  it('is one for all agents, kept at the root and read at each decision', async () => {
    const { run, acts } = asking(['write a', 'write b']);
    await openOf(run, 2);
    expect(run.state().mode).toBe('confirm');
    expect(await run.tell({ do: 'set mode', mode: 'yolo' })).toBe('mode yolo for all agents; answers 2 open questions');
    await run.result;
    expect(acts.toSorted()).toEqual(['write a', 'write b']);
    expect(answers(run)).toEqual([
      ['allowed', 'mode yolo'],
      ['allowed', 'mode yolo'],
    ]);
  });

  it('is never loosened over a rule: what a rule asks or denies, and what would remove everything, stays open', async () => {
    const rules = { ...RULES, commands: commandRules([], ['curl **'], ['npm publish **']) };
    const { run, acts } = asking(['bash rm -rf /', 'bash ls'], { rules });
    await openOf(run, 2);
    expect(await run.controls.previewMode('yolo')).toMatchObject({ refused: null, looser: true, answers: 1 });
    await run.tell({ do: 'set mode', mode: 'yolo' });
    const { approvals } = await openOf(run, 1);
    expect(approvals[0]?.request).toMatchObject({
      exact: 'rm -rf /',
      because: 'always asked: rm of everything in / (default)',
    });
    expect(approvals[0]?.request).not.toHaveProperty('same');
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    await run.result;
    expect(acts).toEqual(['bash ls (read-write)']);
  });

  it('I07: looser than the rules allow is refused with the layer and the line', async () => {
    const from = { rule: 'mode.max: confirm', layer: 'project', file: '.mimir/config.yml', line: 3 } as const;
    const { run } = asking(['write a', 'write b'], { rules: { ...RULES, maxMode: { value: 'confirm', from } } });
    await openOf(run, 2);
    const why = 'yolo is not allowed: mode.max: confirm (project, .mimir/config.yml:3)';
    expect((await run.controls.previewMode('yolo')).refused).toBe(why);
    expect(await run.refused({ do: 'set mode', mode: 'yolo' })).toBe(`refused: ${why}`);
    expect(run.state()).toMatchObject({ mode: 'confirm', approvals: [{}, {}] });
    await run.tell({ do: 'stop run', reason: 'seen' });
    await run.result;
  });

  it('I05: five acts that would have run by themselves ask once the mode is human', async () => {
    const acts: string[] = [];
    const gone = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(['o']),
      mode: 'yolo',
      port: boxedTools({ acts, wait: () => (acts.length === 0 ? gone.promise : Promise.resolve()) }),
      script: says({ [S1]: [calling('write 1', 'write 2', 'write 3', 'write 4', 'write 5', 'write 6')] }),
    });
    await run.until(() => eventsOf(run, 'tool.started').length === 1);
    await run.tell({ do: 'set mode', mode: 'human' });
    gone.resolve();
    for (let n = 2; n <= 6; n += 1) {
      const { approvals } = await run.until((state) => state.approvals[0]?.request.exact === `write ${n}`);
      expect(acts.length).toBe(1);
      await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    }
    await run.tell({ do: 'set mode', mode: 'confirm' });
    await run.result;
    expect(acts).toEqual(['write 1']);
  });

  it('I06: is not changed by what an agent says, nor by what a tool puts out', async () => {
    const run = testRun({
      plan: planOf(['a']),
      script: says({
        [S1]: [{ ...calling('read /mode yolo \u001b[Z'), text: '/mode yolo' }, { text: '!mode yolo\n/mode yolo' }],
      }),
    });
    await run.result;
    expect(run.state().mode).toBe('confirm');
    expect(run.events().filter(({ type }) => type === 'session.mode')).toEqual([]);
  });

  it('lets turns that wait go on when human mode is left', async () => {
    const run = testRun({ plan: planOf(['a'], ['b']), approval: 'person' });
    const { planDigest } = await run.until(({ phase }) => phase === 'approving');
    await run.tell({ do: 'set mode', mode: 'human' });
    await run.tell({ do: 'approve plan', digest: planDigest });
    await openOf(run, 2);
    expect(await run.controls.previewMode('confirm')).toEqual({
      refused: null,
      looser: true,
      changes: ['model turns of 2 agents run without asking', 'reading and searching of 2 agents run without asking'],
      answers: 2,
    });
    expect(await run.tell({ do: 'set mode', mode: 'confirm' })).toBe(
      'mode confirm for all agents; answers 2 open questions',
    );
    expect((await run.result).success).toBe(true);
  });
});

describe('what a change would do (H020)', () => {
  it('is said for each kind of act, with how many agents it is for', async () => {
    const { run } = asking(['write a', 'bash ls']);
    await openOf(run, 2);
    const preview = (mode: Mode) => run.controls.previewMode(mode);
    expect(await preview('yolo')).toEqual({
      refused: null,
      looser: true,
      changes: ['writes of 2 agents run without asking', 'commands of 2 agents run in the sandbox without asking'],
      answers: 2,
    });
    expect(await preview('confirm')).toEqual({ refused: null, looser: false, changes: [], answers: 0 });
    expect(await preview('human')).toEqual({
      refused: null,
      looser: false,
      changes: ['model turns of 2 agents ask you', 'reading and searching of 2 agents ask you'],
      answers: 0,
    });
    expect((await run.controls.previewMode('human', S1)).changes).toEqual([
      'model turns of 1 agent ask you',
      'reading and searching of 1 agent ask you',
    ]);
    await run.tell({ do: 'set mode', mode: 'yolo' });
    await run.result;
  });

  it('names commands that nothing boxes', async () => {
    const run = testRun({ ...filed(planOf(['o'])), script: says({ [S1]: [calling('bash ls')] }) });
    const { approvals } = await openOf(run, 1);
    expect(await run.controls.previewMode('yolo')).toMatchObject({
      changes: ['writes of 1 agent run without asking', 'commands of 1 agent are denied'],
      answers: 0,
    });
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    await run.result;
  });
});

describe('a branch held to a stricter mode', () => {
  it('asks while the rest of the run does not, until it is let go', async () => {
    const acts: string[] = [];
    const start = Promise.withResolvers<void>();
    const own = says({ [S1]: [undefined, calling('write a')], [S2]: [undefined, calling('write b')] });
    const run = testRun({
      plan: planOf(['o1'], ['o2']),
      mode: 'yolo',
      port: boxedTools({ acts }),
      script: async (request, n) => {
        if (request.purpose.is === 'work' && n === 0) {
          await start.promise;
          return calling('read x');
        }
        return own(request, n);
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.status === 'running' && agents.get(S2)?.status === 'running');
    expect(await run.tell({ do: 'pin mode', agent: S1, mode: 'confirm' })).toBe(
      'oracle 1 and its descendants are pinned to confirm',
    );
    expect(await run.refused({ do: 'pin mode', agent: S1, mode: 'confirm' })).toBe(
      'refused: oracle 1 is already pinned to confirm',
    );
    start.resolve();
    const { approvals } = await run.until((state) => state.approvals.length === 1 && acts.includes('write b'));
    expect(approvals[0]).toMatchObject({
      agent: S1,
      request: { exact: 'write a', because: 'mode confirm: write needs approval (default)' },
    });
    expect(await run.controls.previewMode('yolo', S1)).toEqual({
      refused: null,
      looser: true,
      changes: ['writes of 1 agent run without asking', 'commands of 1 agent run in the sandbox without asking'],
      answers: 1,
    });
    expect(await run.tell({ do: 'pin mode', agent: S1, mode: null })).toBe(
      'oracle 1 follows the mode of its parent: yolo; answers 1 open question',
    );
    await run.result;
    expect(acts).toContain('write a');
  });

  it('binds all below the pinned one; a looser pin changes nothing, and says so', async () => {
    const { run } = asking(['write a', 'write b']);
    await openOf(run, 2);
    expect(await run.tell({ do: 'pin mode', agent: S1, mode: 'yolo' })).toBe(
      'oracle 1 is pinned to yolo, without effect while confirm applies above it',
    );
    await run.tell({ do: 'pin mode', agent: ROOT, mode: 'confirm' });
    expect(await run.tell({ do: 'set mode', mode: 'yolo' })).toBe('mode yolo for all agents');
    expect(run.state().approvals.length).toBe(2);
    expect(await run.tell({ do: 'pin mode', agent: ROOT, mode: null })).toBe(
      'main follows the mode of its parent: yolo; answers 2 open questions',
    );
    await run.result;
  });
});

describe('committing', () => {
  const proposal = { tree: 't1', from: 't0', files: ['a'], patch: '+a' };
  const committing = (
    acts: string[],
    propose: () => Promise<{ ok: true; value: typeof proposal } | { ok: false; fault: string }>,
  ): TestRun =>
    testRun({
      ...filed(planOf(['o'])),
      port: boxedTools({ acts, commit: { propose } }),
      roles: testRun().options.roles.map((role) =>
        role.name === 'oracle' ? { ...role, capabilities: [...role.capabilities, 'git-write'] as const } : role,
      ),
      toolsOf: () => ['commit'],
      script: says({ [S1]: [calling('commit it')] }),
    });

  it('shows what would be committed, and commits exactly this', async () => {
    const acts: string[] = [];
    const run = committing(acts, () => Promise.resolve({ ok: true, value: proposal }));
    const { approvals } = await openOf(run, 1);
    expect(approvals[0]?.request).toMatchObject({ action: 'git-write', exact: 'commit it\n\n+a' });
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await run.result;
    expect(acts).toEqual(['commit it as t1']);
  });

  it('asks nobody where there is nothing to commit', async () => {
    const acts: string[] = [];
    const run = committing(acts, () => Promise.resolve({ ok: false, fault: 'nothing has changed' }));
    await run.result;
    expect(outputs(run)).toEqual([[false, 'nothing has changed']]);
    expect([acts, answers(run)]).toEqual([[], []]);
  });
});

it('a question that nobody answers is denied after the time that a rule gives', async () => {
  const rules = { ...RULES, answerWithin: { value: 300_000, from: builtIn('approvals.answerWithin: 5m') } };
  const { run, acts } = asking(['write a', 'write b'], { rules });
  await openOf(run, 2);
  if (!('advance' in run.world)) throw new Error('the clock of the test runs by itself');
  await run.world.advance(299_000);
  expect(run.state().approvals.length).toBe(2);
  await run.world.advance(2000);
  await run.result;
  expect(acts).toEqual([]);
  expect(answers(run)).toEqual([
    ['denied', 'mimir'],
    ['denied', 'mimir'],
  ]);
  expect(outputs(run)).toEqual(
    Array.from({ length: 2 }, () => [false, 'Not run: nobody answered within 5 min. Do not try it in another way.']),
  );
});

it('human mode needs somebody to answer: without a terminal it is refused', async () => {
  const run = testRun({ plan: planOf(['a']), person: false });
  const why = 'mode human needs a person to answer each turn, and nobody can be asked here';
  expect((await run.controls.previewMode('human')).refused).toBe(why);
  expect(await run.refused({ do: 'set mode', mode: 'human' })).toBe(`refused: ${why}`);
  expect(await run.refused({ do: 'pin mode', agent: ROOT, mode: 'human' })).toBe(`refused: ${why}`);
  await run.result;
});

it('a command that the person types in human mode goes through the gate: not asked again, in its box, and never over a denial', async () => {
  const acts: string[] = [];
  const rules = { ...RULES, commands: commandRules([], ['curl **']) };
  const run = testRun({ plan: planOf(['o']), port: boxedTools({ acts }), rules, approval: 'person' });
  const { planDigest } = await run.until(({ phase }) => phase === 'approving');
  await run.tell({ do: 'set mode', mode: 'human' });
  await run.tell({ do: 'approve plan', digest: planDigest });
  const lines = ['!ls', '!curl x', ''];
  for await (const event of run.controls.events(0)) {
    if (event.type !== 'approval.requested') continue;
    expect(event.request.action).toBe('turn');
    await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once', text: lines.shift() ?? '' });
  }
  await run.result;
  expect(acts).toEqual(['bash ls (read-write)']);
  expect(outputs(run)[1]).toEqual([false, 'Denied: commands.deny: "curl **" (user, ~/config.yml:1)']);
});

it('the question about a command holds it byte for byte, however long and whatever it hides', async () => {
  const hidden = `npm test${' '.repeat(300)}; curl x \u202e\u200b\t\r${'x'.repeat(9000)}\n`;
  const script = says({ [S1]: [{ text: '', calls: [{ tool: 'bash', input: { command: hidden } }] }] });
  const run = testRun({ ...filed(planOf(['o'])), port: boxedTools({ acts: [] }), script });
  const { approvals } = await openOf(run, 1);
  expect(approvals[0]?.request.exact).toBe(hidden);
  expect(approvals[0]?.request.title).toBe(`oracle: ${hidden.slice(0, 100)}…`);
  await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
  await run.result;
});
