import { describe, expect, it } from 'vitest';
import { fail } from '../../../src/domain/result.ts';
import { boxedTools } from '../../support/boxed.ts';
import { AGENT, calling, filed, planOf, RULES, says, testRun, testTools } from '../../support/run.ts';
import { eventsOf, outputs, ran } from '../../support/run-looks.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');

describe('approvals', () => {
  it('are asked for writing, not for reading, and never kill an agent when denied', async () => {
    const acts: string[] = [];
    const run = testRun({ ...filed(planOf(['o'])), acts, script: says({ [S1]: [calling('read a', 'write b')] }) });
    const { approvals, agents } = await run.until((state) => state.approvals.length === 1);
    expect(agents.get(S1)?.status).toBe('waiting');
    expect(approvals[0]?.request).toEqual({
      action: 'write',
      title: 'oracle: write b',
      exact: 'write b',
      options: [],
      unsandboxed: false,
      because: 'mode confirm: write needs approval (default)',
      same: 'write',
    });
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once', text: 'not there' });
    expect((await run.result).success).toBe(true);
    expect(acts).toEqual(['read a']);
    expect(outputs(run)[1]).toEqual([false, 'The person denied this: not there Do not try it in another way.']);
  });

  it('are not asked for a change that cannot be made: the agent hears why at once', async () => {
    const acts: string[] = [];
    const { tools, ...port } = testTools(acts);
    const preview = () => Promise.resolve(fail('a.ts: old_text does not occur'));
    const unfit = tools.map((tool) => (tool.name === 'write' ? { ...tool, preview } : tool));
    const script = says({ [S1]: [calling('write a')] });
    const run = testRun({ ...filed(planOf(['o'])), port: { ...port, tools: unfit }, script });
    expect((await run.result).success).toBe(true);
    expect([acts, eventsOf(run, 'approval.requested'), outputs(run)]).toEqual([
      [],
      [],
      [[false, 'a.ts: old_text does not occur']],
    ]);
  });

  it('are judged again after the answer: the world has moved', async () => {
    const acts: string[] = [];
    const rules = { ...RULES };
    const run = testRun({ plan: planOf(['o']), acts, rules, script: says({ [S1]: [calling('bash rm x')] }) });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    await run.tell({ do: 'set mode', mode: 'yolo' });
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await run.result;
    expect(acts).toEqual([]);
    expect(outputs(run)[0]?.[1]).toMatch(/^Denied: mode yolo: no shell without a sandbox/);
  });

  it('of files for the session clear those of the agent, at once and to come, and of no other', async () => {
    const acts: string[] = [];
    const run = testRun({
      plan: planOf(['o1'], ['o2']),
      acts,
      script: says({ [S1]: [calling('write a'), calling('write c')], [S2]: [calling('write b')] }),
    });
    await run.until((state) => state.approvals.length === 2);
    const of = (agent: string): string => run.state().approvals.find((one) => one.agent === agent)?.id ?? '';
    expect(await run.tell({ do: 'answer', approval: of(S1), allow: true, scope: 'session' })).toBe(
      'always allowed for this session: all file changes of this agent, within its writes',
    );
    await run.until(({ agents }) => agents.get(S1)?.outcome === 'completed');
    expect(run.state().approvals.map(({ agent }) => agent)).toEqual([S2]);
    await run.tell({ do: 'answer', approval: of(S2), allow: true, scope: 'once' });
    await run.result;
    expect(acts).toEqual(['write a', 'write c', 'write b']);
  });

  it('for the session clear equal questions of all agents at once, and answer those to come', async () => {
    const acts: string[] = [];
    const touch = calling('bash touch x');
    const run = testRun({
      plan: planOf(['o1'], ['o2']),
      port: boxedTools({ acts }),
      script: says({ [S1]: [touch, touch], [S2]: [touch] }),
    });
    const { approvals } = await run.until((state) => state.approvals.length === 2);
    await run.tell({ do: 'answer', approval: approvals[1]?.id ?? '', allow: true, scope: 'session' });
    expect(run.state().approvals).toEqual([]);
    await run.result;
    expect(acts).toEqual(Array.from({ length: 3 }, () => 'bash touch x (read-write)'));
  });

  it('for the session do not cover a command outside a sandbox: each asks', async () => {
    const acts: string[] = [];
    const run = testRun({
      plan: planOf(['o']),
      acts,
      script: says({ [S1]: [calling('bash ls'), calling('bash ls')] }),
    });
    for (const n of [1, 2]) {
      const { approvals } = await run.until((state) => state.approvals.length === 1 && acts.length === n - 1);
      expect(approvals[0]?.request.unsandboxed).toBe(true);
      await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'session' });
    }
    await run.result;
    expect(acts).toEqual(['bash ls', 'bash ls']);
  });

  it('of a hundred questions from twenty agents get one answer each', async () => {
    const acts: string[] = [];
    const ids = Array.from({ length: 20 }, (_, index) => `ROOT::S${index + 1}`);
    const run = testRun({
      plan: planOf(...ids.map((_, index): [string] => [`o${index}`])),
      acts,
      rules: { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 20 } },
      script: ({ agent, purpose }, n) => (purpose.is === 'work' && n < 5 ? calling(`write ${agent}/${n}`) : undefined),
    });
    for await (const event of run.controls.events(0)) {
      if (event.type !== 'approval.requested') continue;
      const answer = { do: 'answer', approval: event.approval, allow: event.seq % 2 === 0, scope: 'once' } as const;
      const both = await Promise.all([run.tell(answer), run.tell(answer)]);
      expect(both[1]).toBe('refused: this question was answered or withdrawn meanwhile');
    }
    const answers = run.events().flatMap((event) => (event.type === 'approval.answered' ? [event] : []));
    expect(answers.length).toBe(100);
    expect(new Set(answers.map(({ approval }) => approval)).size).toBe(100);
    expect(acts.length).toBe(answers.filter(({ answer }) => answer === 'allowed').length);
  });

  it('are denied where nobody can be asked, which fails no agent and leaves it partial (D42)', async () => {
    const run = await ran(says({ [S1]: [calling('write b')] }), { mode: 'confirm', person: false });
    expect(outputs(run)).toEqual([
      [false, 'Denied: mode confirm: write needs approval, and nobody can be asked here (default)'],
    ]);
    expect(run.state().agents.get(S1)?.outcome).toBe('partial');
    expect(eventsOf(run, 'policy.decided')).toMatchObject([{ subject: 'write', action: 'write' }]);
  });
});

describe('yolo', () => {
  it('skips questions, never denials', async () => {
    const acts: string[] = [];
    const run = await ran(says({ [S1]: [calling('write a', 'bash ls')] }), { acts });
    expect(acts).toEqual(['write a']);
    expect(outputs(run)[1]?.[0]).toBe(false);
  });
});

describe('human mode', () => {
  it('waits for the person at each turn: Enter, words, or a command in its place', async () => {
    const acts: string[] = [];
    const told: string[] = [];
    const run = testRun({
      plan: planOf(['o']),
      acts,
      script: ({ turns, agent }) => {
        if (agent === S1) for (const turn of turns.slice(1)) if (turn.by === 'user') told.push(turn.text);
        return undefined;
      },
    });
    void run.tell({ do: 'set mode', mode: 'human' });
    const texts = ['look at b', '!ls'];
    for await (const event of run.controls.events(0)) {
      if (event.type !== 'approval.requested') continue;
      const text = event.request.action === 'turn' && event.agent === S1 ? (texts.shift() ?? '') : '';
      await run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once', text });
    }
    expect((await run.result).success).toBe(true);
    expect(acts).toEqual(['bash ls']);
    expect(told).toEqual([
      'Message from the person who runs you:\nlook at b',
      'Message from the person who runs you:\nThe person ran this command in your place:\nls\n\nIts result:\nbash did ls',
    ]);
  });

  it('interrupts an agent whose turn is refused: it can be resumed', async () => {
    const run = testRun({ plan: planOf(['a']), approval: 'person' });
    const { planDigest } = await run.until(({ phase }) => phase === 'approving');
    await run.tell({ do: 'set mode', mode: 'human' });
    await run.tell({ do: 'approve plan', digest: planDigest });
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
    await run.tell({ do: 'set mode', mode: 'confirm' });
    await run.tell({ do: 'resume', agent: S1 });
    expect((await run.result).success).toBe(true);
  });
});

describe('ask_user', () => {
  const asking = says({ [S1]: [{ text: '', calls: [{ tool: 'ask_user', input: { question: 'Which?' } }] }] });

  it('waits for the words of the person (D34)', async () => {
    const run = testRun({ plan: planOf(['a']), script: asking });
    const { approvals, agents } = await run.until((state) => state.approvals.length === 1);
    expect([approvals[0]?.request.action, agents.get(S1)?.status]).toEqual(['question', 'waiting']);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'the first' });
    await run.result;
    expect(outputs(run)).toEqual([[true, 'the first']]);
  });

  it('is an error result at once without a person (D34)', async () => {
    const run = await ran(asking, { person: false });
    expect(outputs(run)[0]?.[0]).toBe(false);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });
});
