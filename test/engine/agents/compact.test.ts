/** Conversations near the window: what an agent goes on with, what the log says of it, and where it ends. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../src/domain/turn.ts';
import type { EventOf } from '../../../src/events/event.ts';
import type { AgentState } from '../../../src/events/state.ts';
import { scriptedModel, type ScriptedReply } from '../../support/scripted.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import { AGENT, briefOf, calling, planOf, RULES, type Setting, type TestRun, testRun } from '../../support/run.ts';
import { turnsOf } from '../../support/story.ts';

const S1 = AGENT('ROOT::S1');
const priced = { price: { input: 1, output: 5 } };
/** Two models: the first with the window of a test, the second as a fallback. */
const models = (window: number, second = 200_000): NonNullable<Setting['catalogue']> => [
  scriptedModel('scripted/fast', { aliases: ['fast'], window, outputLimit: 500, ...priced }),
  scriptedModel('other/slow', { aliases: ['slow'], window: second, outputLimit: 500, ...priced }),
];
const long = (n: number, name = 'x'): string => `${name} ${'word '.repeat(n)}`;
const compactions = (run: TestRun): readonly EventOf<'context.compacted'>[] =>
  run.events().filter((event) => event.type === 'context.compacted');
const ofWork = (requests: readonly ModelRequest[]): readonly ModelRequest[] =>
  requests.filter(({ purpose }) => purpose.is === 'work');

const textOf = (turn: Turn | undefined): string => (turn?.by === 'user' ? turn.text : '');
function agentOf(run: TestRun): AgentState {
  const agent = run.state().agents.get(S1);
  if (agent === undefined) throw new Error('there is no agent');
  return agent;
}

interface Told {
  readonly run: TestRun;
  readonly requests: readonly ModelRequest[];
}

/** One agent that is asked; `work` are its replies, `summary` what it says when it is asked for one. */
async function working(
  work: readonly (ScriptedReply | undefined)[],
  summary: (n: number) => ScriptedReply,
  setting: Setting = {},
): Promise<Told> {
  const requests: ModelRequest[] = [];
  const run = testRun({
    plan: planOf(['a']),
    catalogue: models(4000),
    ...setting,
    record: (request) => void (request.agent === S1 && requests.push(request)),
    script: ({ purpose, agent }, n) => {
      if (agent !== S1) return undefined;
      if (purpose.is === 'compact') return summary(n);
      return purpose.is === 'work' ? work[n] : undefined;
    },
  });
  await run.result;
  return { run, requests };
}

describe('a conversation near the window', () => {
  const reads = [1, 2, 3, 4].map((n) => calling(`read ${long(300, `file${n}`)}`));

  it('goes on as its task, a summary and its last turns, and says so in the log (I003, I004)', async () => {
    const { run, requests } = await working([...reads, { text: 'all found' }], () => ({ text: 'SUMMARY of it' }));
    expect((await run.result).success).toBe(true);
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', summary: 'all found' });
    const compacted = compactions(run);
    const after = ofWork(requests).find(({ turns }) => turns[1]?.by === 'user');
    const kept = after?.turns.slice(2) ?? [];
    expect(compacted[0]).toMatchObject({ agent: S1, kept: kept.length });
    expect(compacted.every(({ tokens }) => tokens.after < tokens.before)).toBe(true);
    expect(textOf(after?.turns[0])).toBe(briefOf('do a'));
    expect(textOf(after?.turns[1])).toBe(compacted[0]?.summary);
    expect(textOf(after?.turns[1])).toContain('SUMMARY of it');
    const { blocks } = agentOf(run);
    expect(blocks.flatMap((block) => (block.is === 'note' ? [block.text.split(':')[0]] : []))).toContain(
      'context summarised',
    );
  });

  it('asks with the same prefix as before, the prompt of the summary behind it, charged to the agent', async () => {
    const { run, requests } = await working([...reads, ...reads, { text: 'done' }], () => ({ text: 'S' }), {
      catalogue: models(8000),
    });
    const at = requests.findIndex(({ purpose }) => purpose.is === 'compact');
    const [before, asked] = requests.slice(at - 1, at + 1);
    if (before === undefined || asked === undefined) throw new Error('nobody was asked for a summary');
    expect(asked.turns.at(-1)).toEqual({ by: 'user', text: 'compact' });
    expect([asked.system, asked.tools, asked.model]).toEqual([before.system, before.tools, before.model]);
    expect(asked.turns.slice(0, before.turns.length)).toEqual(before.turns);
    const started = run.events().filter((event) => event.type === 'model.started' && event.purpose === 'compact');
    expect(started.map((event) => 'agent' in event && event.agent)).toEqual(compactions(run).map(() => S1));
  });

  it('is shortened before it is too long, and never more than the window is sent', async () => {
    const { run, requests } = await working([...reads, ...reads, { text: 'done' }], () => ({ text: 'S' }));
    expect(compactions(run).length).toBeGreaterThan(1);
    // The fake counts four bytes a token.
    const tokens = requests.map(({ system, turns }) => (system.length + JSON.stringify(turns).length) / 4);
    expect(Math.max(...tokens)).toBeLessThan(4000);
  });

  it.each([
    ['the model says nothing', { text: '' }],
    ['the model refuses', { text: 'no', stopReason: 'refused' }],
    ['the model asks for a tool instead', calling('read it')],
    ['the call fails', { fault: { is: 'refused', message: 'no' } }],
    ['it is too long itself', { fault: { is: 'too long', message: 'too long' } }],
  ] as const)('is summarised by what was done when %s', async (_, reply) => {
    const todos = { tool: 'update_todos', input: { todos: [{ description: 'look', status: 'active' }] } };
    const { run } = await working([{ text: 'I begin', calls: [todos] }, ...reads, { text: 'done' }], () => reply);
    expect((await run.result).success).toBe(true);
    const summary = compactions(run)[0]?.summary ?? '';
    expect(summary).toContain('No summary could be written');
    expect(summary).toContain('[active] look');
    expect(summary).toContain('I begin');
  });

  it('keeps what people wrote, word for word, also over a second summary', async () => {
    const held = Promise.withResolvers<void>();
    const requests: ModelRequest[] = [];
    const run = testRun({
      plan: planOf(['a']),
      catalogue: models(4000),
      record: (request) => void (request.agent === S1 && requests.push(request)),
      script: async ({ purpose, agent }, n) => {
        if (agent !== S1) return undefined;
        if (purpose.is === 'compact') return { text: `summary ${n}` };
        if (n === 0) await held.promise;
        return n < 9 ? reads[n % reads.length] : { text: 'done' };
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await run.tell({ do: 'message', to: S1, text: 'leave the tests alone', delivery: 'important' });
    held.resolve();
    await run.result;
    expect(compactions(run).length).toBeGreaterThan(1);
    for (const { summary } of compactions(run)) expect(summary).toContain('leave the tests alone');
    expect(compactions(run).at(-1)?.summary.split('leave the tests alone').length).toBe(2);
  });

  it('counts its turns on after a summary and after an interruption (O091)', async () => {
    const endless = Array.from({ length: 40 }, (_, n) => calling(`read ${long(300, `file${n}`)}`));
    const { run } = await working(endless, () => ({ text: 'S' }));
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'partial', error: 'Max iterations reached' });
    expect(run.events().filter((event) => event.type === 'model.started' && event.purpose === 'work').length).toBe(21);
  });

  it('interrupted while it is summarised, goes on from where it was, and is summarised then (O022, D11)', async () => {
    const never = Promise.withResolvers<undefined>();
    let asked = 0;
    const run = testRun({
      plan: planOf(['a']),
      catalogue: models(4000),
      script: ({ purpose, agent, turns }) => {
        if (agent !== S1) return undefined;
        if (purpose.is === 'compact') return (asked += 1) === 1 ? never.promise : { text: 'S' };
        const replies = turns.filter(({ by }) => by === 'model').length;
        return asked < 2 ? reads[replies % reads.length] : { text: 'done' };
      },
    });
    await run.until(() => run.events().some((event) => event.type === 'model.started' && event.purpose === 'compact'));
    await run.tell({ do: 'interrupt', agent: S1 });
    await run.until(({ agents }) => agents.get(S1)?.status === 'interrupted');
    const before = turnsOf(run.events(), S1);
    expect(torn(before)).toEqual([]);
    await run.tell({ do: 'resume', agent: S1 });
    expect((await run.result).success).toBe(true);
    expect(compactions(run)).toHaveLength(1);
    expect(agentOf(run)).toMatchObject({ outcome: 'completed', summary: 'done' });
  });

  it('costs nothing of what was answered before: the answer is the whole of it (O097)', async () => {
    const held = Promise.withResolvers<void>();
    const run = testRun({
      plan: planOf(['a']),
      catalogue: models(4000),
      script: async ({ purpose, agent }, n) => {
        if (agent !== S1) return undefined;
        if (purpose.is === 'compact') return { text: 'S' };
        if (n === 0) await held.promise;
        if (n === 0) return { text: 'THE WORK' };
        return n < 6 ? reads[n % reads.length] : { text: 'the late answer' };
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
    await run.tell({ do: 'message', to: S1, text: 'and the rest?', delivery: 'sequential' });
    held.resolve();
    await run.result;
    expect(compactions(run).length).toBeGreaterThan(0);
    expect(run.state().agents.get(S1)?.summary).toBe('THE WORK\n\nthe late answer');
  });
});

describe('a request that the model finds too long', () => {
  const tooLong: ScriptedReply = { fault: { is: 'too long', message: 'prompt is too long' } };
  const begin = [calling('read a'), calling('read b')];

  it('is asked again with fewer turns', async () => {
    const { run } = await working([...begin, tooLong, { text: 'done' }], () => ({ text: 'S' }), {
      catalogue: models(200_000),
    });
    expect([compactions(run).length, run.state().agents.get(S1)?.outcome]).toEqual([1, 'completed']);
  });

  it('twice at most in a row: then the agent ends with what it has, in words', async () => {
    const { run } = await working(
      [{ text: 'half of it', ...calling('read a') }, ...begin, tooLong, tooLong, tooLong, { text: 'never' }].map(
        (one, n) => (n === 0 ? { ...one, text: 'half of it' } : one),
      ),
      () => ({ text: 'S' }),
      { catalogue: models(200_000) },
    );
    const agent = run.state().agents.get(S1);
    expect([compactions(run).length, agent?.outcome]).toEqual([1, 'partial']);
    expect(agent?.error).toContain('prompt is too long');
  });

  it('ends at once where there is nothing to leave out', async () => {
    const { run } = await working([tooLong], () => ({ text: 'S' }), { catalogue: models(200_000) });
    const agent = run.state().agents.get(S1);
    expect([compactions(run).length, agent?.outcome, agent?.error]).toEqual([
      0,
      'partial',
      'The conversation does not fit the model: fast: prompt is too long',
    ]);
  });

  it('is asked once where nothing can be left out and the model finds it too long', async () => {
    const { requests } = await working([tooLong, { text: 'never' }], () => ({ text: 'S' }), {
      catalogue: models(200_000),
    });
    expect(ofWork(requests)).toHaveLength(1);
  });

  it('is asked all the same where it only seems too long and nothing can be left out', async () => {
    const tasks = [{ id: 'a', description: long(2300), role: 'finder' }];
    const { run, requests } = await working([{ text: 'done' }], () => ({ text: 'S' }), { plan: { reason: '', tasks } });
    expect([ofWork(requests).length, compactions(run).length]).toEqual([1, 0]);
    expect(agentOf(run)).toMatchObject({ outcome: 'completed', summary: 'done' });
  });

  it('of a fallback with a smaller window is shortened for that', async () => {
    const gone: ScriptedReply = { fault: { is: 'unauthorised', message: 'no key' } };
    const reads = [1, 2, 3].map((n) => calling(`read ${long(300, `file${n}`)}`));
    const { run, requests } = await working([...reads, gone, tooLong, { text: 'done' }], () => ({ text: 'S' }), {
      catalogue: models(200_000, 3000),
    });
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', model: { used: 'other/slow' } });
    expect(compactions(run)).toHaveLength(1);
    const last = ofWork(requests).at(-1);
    expect(JSON.stringify(last?.turns).length / 4).toBeLessThan(3000);
  });
});

describe('the conversation of the loop', () => {
  /** What may happen in a turn. */
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 400 }).map((n) => calling(`read ${long(n)}`, 'read b')) },
    { weight: 1, arbitrary: fc.constant<ScriptedReply>({ text: 'half', stopReason: 'output limit' }) },
    { weight: 1, arbitrary: fc.constant<ScriptedReply>({ fault: { is: 'too long', message: 'too long' } }) },
  );
  const summary = fc.oneof(
    fc.string({ maxLength: 200 }).map((text): ScriptedReply => ({ text })),
    fc.constant<ScriptedReply>({ fault: { is: 'refused', message: 'no' } }),
  );

  it('is what the log knows, whatever was left out (I005)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        summary,
        fc.integer({ min: 2500, max: 9000 }),
        async (steps, said, window) => {
          const pairs: (readonly [sent: readonly Turn[], known: readonly Turn[]])[] = [];
          const run = testRun({
            plan: planOf(['a']),
            catalogue: models(window),
            rules: RULES,
            record: ({ agent, purpose, turns }) => {
              if (agent !== S1 || purpose.is !== 'work') return;
              pairs.push([turns, turnsOf(run.events(), S1)]);
            },
            script: ({ purpose, agent }, n) => {
              if (agent !== S1) return undefined;
              return purpose.is === 'compact' ? said : (steps[n] ?? { text: 'done' });
            },
          });
          await run.result;
          expect(pairs.length).toBeGreaterThan(0);
          for (const [sent, known] of pairs) expect(known).toEqual(sent);
          for (const [sent] of pairs) expect(torn(sent)).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Calls without their results right behind them, and results without their calls. */
const torn = (turns: readonly Turn[]): readonly Turn[] =>
  turns.filter((turn, at) => {
    const [before, next] = [turns[at - 1], turns[at + 1]];
    if (turn.by === 'tools') return before?.by !== 'model' || before.calls.length !== turn.results.length;
    return turn.by === 'model' && turn.calls.length > 0 && next?.by !== 'tools';
  });
