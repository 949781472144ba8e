import { describe, expect, it } from 'vitest';
import type { Turn } from '../../../src/domain/turn.ts';
import { AGENT, draftOf, planOf, RULES, type Setting, type TestRun, testRun } from '../../support/run.ts';

const task = (id: unknown, change: object = {}): object => ({
  id,
  description: 'do it',
  recommendedRole: 'finder',
  ...change,
});
const plan = (...tasks: readonly object[]): object => ({ reason: '', tasks });
/** A run whose planner answers with `answers`, one after the other; `asked` is what it was told each time. */
async function planned(
  answers: readonly (string | object)[],
  setting: Setting = {},
): Promise<{ readonly run: TestRun; readonly asked: string[] }> {
  const asked: string[] = [];
  const run = testRun({
    ...setting,
    script: ({ purpose, turns }, n) => {
      if (purpose.is !== 'plan') return undefined;
      const last = turns.at(-1);
      if (last?.by === 'user') asked.push(last.text);
      const answer = answers[Math.min(n, answers.length - 1)] ?? '';
      return { text: typeof answer === 'string' ? answer : JSON.stringify(answer) };
    },
  });
  await run.result;
  return { run, asked };
}
const tasksOf = (run: TestRun): unknown[] => run.state().plan?.tasks.map(({ id, role }) => [id, role]) ?? [];
const ALONE = [['task-1', 'main']];
const rule = <T>(value: T): { readonly value: T; readonly from: typeof RULES.enabled.from } => ({
  value,
  from: RULES.enabled.from,
});

describe('the planner', () => {
  it('is not asked when orchestration is off: one task for one agent (D26, O125)', async () => {
    const { run, asked } = await planned([plan()], { rules: { ...RULES, enabled: rule(false) } });
    expect(asked).toEqual([]);
    expect(tasksOf(run)).toEqual(ALONE);
    expect([run.state().planBy, run.state().plan?.reason]).toEqual([
      'configuration',
      'One agent for the whole task: agentOrchestration.enabled is false',
    ]);
  });

  it('is told to split when it need not find out whether to (D26, O126)', async () => {
    const splits: string[] = [];
    const record: Setting['record'] = ({ purpose }) => void (purpose.is === 'plan' && splits.push(purpose.split));
    const { asked } = await planned([planOf(['a'], ['b']) ?? {}], {
      rules: { ...RULES, autoDetect: rule(false) },
      record,
    });
    expect(splits).toEqual(['always']);
    expect(asked[0]?.endsWith('Split the task into at least two tasks.')).toBe(true);
  });

  it('is told of the task, the roles it may use, and the repository (O068)', async () => {
    const { asked } = await planned([plan(task('a'))], {
      rules: { ...RULES, disabledRoles: [{ role: 'reviewer', from: RULES.enabled.from }] },
    });
    expect(asked).toEqual([
      [
        '# Task\nthe task',
        '# Roles\n- finder: finder of the test Tools: file_operations; reads only. Model: fast.\n- oracle: oracle of the test Tools: file_operations; writes. Model: fast.',
        '# Models (USD per million tokens, input / output)\n- fast: grade unknown; 1 / 5; window 200k\n- slow: grade unknown; 3 / 15; window 200k',
        '# Limits\nAt most 50 tasks, 4 at the same time.',
        '# Repository project\n1 files, 1 kB.',
        'No tests were found.',
      ].join('\n\n'),
    ]);
  });

  it('reads a plan bare, in a fence, or between words (H01, O011, O067)', async () => {
    const json = JSON.stringify(plan(task('a')));
    for (const answer of [
      json,
      `\`\`\`json\n${json}\n\`\`\``,
      `Here it is:\n${json}\nGood luck!`,
      `I take {what} is asked, and {"reason": "a note"}:\n${json} and { so on`,
      `<think>A first try: ${JSON.stringify(plan(task('z')))}</think>\n${json}`,
      `first thoughts: ${JSON.stringify(plan(task('z')))}\n</think>${json}`,
      JSON.stringify(plan(task('a', { recommendedModel: null, writes: null, dependencies: null, budget: null }))),
    ]) {
      const { run, asked } = await planned([answer]);
      expect([asked.length, tasksOf(run)]).toEqual([1, [['a', 'main']]]);
    }
  });

  it.each([
    ['prose', 'I would rather talk.'],
    ['a trailing comma', '{"reason":"","tasks":[],}'],
    ['two objects', '{"reason":""} {"tasks":[]}'],
    ['a cut-off object', JSON.stringify(plan(task('a'))).slice(0, -5)],
    ['20 MB', `{"reason":"${'x'.repeat(20_000_000)}","tasks":[]}`],
    ['deep nesting', `{"reason":${'['.repeat(10_000)}${']'.repeat(10_000)},"tasks":[]}`],
    ['no tasks', plan()],
    ['a cycle of one', plan(task('a', { dependencies: ['a'] }))],
    ['a cycle of two', plan(task('a', { dependencies: ['b'] }), task('b', { dependencies: ['a'] }))],
    ['an unknown dependency', plan(task('a', { dependencies: ['z'] }))],
    ['ids that differ in case', plan(task('a'), task('A'))],
    ['the id __proto__', plan(task('__proto__'))],
    ['the id constructor', plan(task('constructor'))],
    ['an empty id', plan(task(''))],
    ['the role constructor', plan(task('a', { recommendedRole: 'constructor' }), task('b'))],
    ['the role Finder', plan(task('a', { recommendedRole: 'Finder' }), task('b'))],
    ['a role with an invisible sign', plan(task('a', { recommendedRole: 'finder\u200B' }), task('b'))],
    ['the role 17', plan(task('a', { recommendedRole: 17 }))],
    ['tools for all', plan(task('a', { tools: '*' }))],
    ['a mode', { ...plan(task('a')), mode: 'yolo' }],
    ['its own approval', { ...plan(task('a')), approved: true }],
    ['a description of 5 MB', plan(task('a', { description: 'x'.repeat(5_000_000) }))],
    ['tokens below zero', plan(task('a', { estimatedTokens: -1 }))],
    ['tokens beyond measure', plan(task('a', { estimatedTokens: 1e300 }))],
  ])(
    'that insists on %s is asked to mend it twice, then one agent gets the task (H01 to H06, H09, H10)',
    async (_, answer) => {
      const { run, asked } = await planned([answer]);
      expect(asked.length).toBe(3);
      expect(asked.slice(1).every((text) => text.startsWith('This plan cannot be used.'))).toBe(true);
      expect(tasksOf(run)).toEqual(ALONE);
      expect((await run.result).success).toBe(true);
    },
  );

  it.each([
    [
      'that was cut off',
      { text: '{"reason": "', stopReason: 'output limit' },
      'the answer was cut off at the output limit',
    ],
    ['that is empty', { text: ' ' }, 'the answer is empty'],
    [
      'of two plans',
      { text: `${JSON.stringify(planOf(['a']))}${JSON.stringify(planOf(['b']))}` },
      'not one JSON object',
    ],
    [
      'with an unknown key',
      { text: JSON.stringify(plan(task('a', { mode: 'yolo' }))) },
      'a: tasks.0: Unrecognized key',
    ],
  ] as const)('is told what is wrong with an answer %s, and keeps it in mind', async (_, reply, words) => {
    const turns: (readonly Turn[])[] = [];
    const run = testRun({
      record: (request) => void (request.purpose.is === 'plan' && turns.push(request.turns)),
      script: ({ purpose }, n) => (purpose.is === 'plan' && n === 0 ? reply : undefined),
    });
    expect((await run.result).success).toBe(true);
    const last = turns[1]?.at(-1);
    expect(last?.by === 'user' && last.text).toContain(words);
    const text = reply.text.trim() === '' ? '(no answer)' : reply.text;
    expect(turns[1]?.slice(1, -1)).toEqual([{ by: 'model', text, calls: [] }]);
  });

  it('that refuses, or has no room for the task, leaves it to one agent', async () => {
    for (const [reply, why] of [
      [{ text: 'no', stopReason: 'refused' }, 'the model refused to plan the task'],
      [{ fault: { is: 'too long', message: 'too long' } }, "the task is too long for the planner's model"],
    ] as const) {
      const run = testRun({ script: ({ purpose }) => (purpose.is === 'plan' ? reply : undefined) });
      expect((await run.result).success).toBe(true);
      const { plan, planFault } = run.state();
      expect([plan?.reason, planFault, tasksOf(run)]).toEqual([
        'One agent for the whole task: planning failed',
        why,
        ALONE,
      ]);
    }
  });

  it('sizes no budget by an estimate that can not be meant (H10)', async () => {
    const rules = { ...RULES, agentBudget: rule({ maxTokens: 900_000 }) };
    const { run } = await planned(
      [
        plan(
          task('a', { estimatedTokens: 9e8 }),
          task('b', { estimatedTokens: 0 }),
          task('c', { estimatedTokens: 7000.5 }),
        ),
      ],
      { rules },
    );
    expect(run.state().plan?.tasks.map(({ estimatedTokens }) => estimatedTokens)).toEqual([900_000, 500, 7001]);
    expect(run.state().plan?.tasks.every(({ budget }) => (budget.maxTokens ?? 0) <= 900_000)).toBe(true);
    const free = await planned([plan(task('a', { estimatedTokens: 9e8 }))]);
    expect(free.run.state().plan?.tasks[0]?.estimatedTokens).toBe(1_000_000);
  });

  it('learns of a role that is not allowed, with the rule, and may mend it (O054)', async () => {
    const from = { rule: 'allowedSubAgents: [finder]', layer: 'managed', file: '/etc/m.yml', line: 4 } as const;
    const denied = plan(task('a', { recommendedRole: 'oracle' }), task('b'));
    const { run, asked } = await planned([denied, plan(task('a'), task('b'))], {
      rules: { ...RULES, allowedSubAgents: [{ value: ['finder'], from }] },
    });
    expect(asked[1]).toContain(
      "Sub-agent role 'oracle' is not allowed by enterprise policy — allowedSubAgents: [finder]",
    );
    expect(asked[1]).toContain('/etc/m.yml:4');
    expect(tasksOf(run)).toEqual([
      ['a', 'finder'],
      ['b', 'finder'],
    ]);
  });

  it('gets no plan approved by its own word, and no budget above the rules (H06)', async () => {
    const rules = { ...RULES, agentBudget: rule({ maxTokens: 5000 }) };
    const { run } = await planned([plan(task('a', { budget: { maxCost: 1e9, maxTokens: 4000 } }))], { rules });
    const budget = run.state().plan?.tasks[0]?.budget.maxTokens ?? 0;
    expect(budget).toBeLessThanOrEqual(5000);
    const shown = testRun({ approval: 'nobody', plan: plan(task('a')) });
    expect((await shown.result).status).toBe('rejected');
    expect(shown.state().approvedDigest).toBe(null);
  });

  it('reads a message that comes in while it thinks, and plans on', async () => {
    const held = Promise.withResolvers<void>();
    const asked: string[][] = [];
    const run = testRun({
      script: async ({ purpose, turns }, n) => {
        if (purpose.is !== 'plan') return undefined;
        asked.push(turns.flatMap((turn) => (turn.by === 'user' ? [turn.text] : [])));
        if (n === 0) await held.promise;
        return undefined;
      },
    });
    await run.until(({ agents }) => agents.get(AGENT('ROOT'))?.open.length === 1);
    await run.tell({ do: 'message', to: AGENT('ROOT'), text: 'leave the tests alone', delivery: 'urgent' });
    expect((await run.result).success).toBe(true);
    expect(asked[1]?.slice(1)).toEqual(['Message from the person who runs you:\nleave the tests alone']);
  });

  it('that can not be reached ends the run with the reason', async () => {
    const run = testRun({ script: () => ({ fault: { is: 'refused', message: 'no credit' } }) });
    expect(await run.result).toMatchObject({ status: 'failed', error: 'fast: no credit', errorIs: 'model' });
    expect(run.state().finished?.summary).toBe('fast: no credit');
  });
});

describe('a run that rules leave nothing to', () => {
  const from = { rule: 'allowedModels: []', layer: 'managed', file: '/etc/m.yml', line: 2 } as const;

  it('has no model for main: it is refused with the rule, and nothing is written (D4)', async () => {
    const nothing = [{ written: 'none', pattern: 'other/none', from }];
    const run = testRun({ rules: { ...RULES, allowedModels: [nothing] } });
    const result = await run.result;
    expect([result.status, result.errorIs]).toEqual(['failed', 'denied']);
    expect(result.error).toContain('allowedModels: [] (managed, /etc/m.yml:2)');
    expect(run.events()).toEqual([]);
    expect(await run.refused({ do: 'stop run', reason: '' })).toBe(`refused: ${result.error}`);
    const heard: unknown[] = [];
    for await (const event of run.controls.events(0)) heard.push(event);
    expect(heard).toEqual([]);
  });

  it('has no role of a sub-agent: main does the task, and no planner is asked (D37, O135)', async () => {
    const { run, asked } = await planned([plan()], { rules: { ...RULES, allowedSubAgents: [{ value: [], from }] } });
    expect((await run.result).success).toBe(true);
    expect([asked, tasksOf(run), run.state().plan?.reason]).toEqual([
      [],
      ALONE,
      'One agent for the whole task: no sub-agent role is allowed',
    ]);
  });

  it('has no role to plan at all: it says so, and asks no model', async () => {
    const { run, asked } = await planned([plan()], {
      rules: { ...RULES, allowedSubAgents: [{ value: [], from }], disabledRoles: [{ role: 'main', from }] },
    });
    expect(await run.result).toMatchObject({ status: 'failed', errorIs: 'denied' });
    expect((await run.result).error).toMatch(/^no role can be planned/);
    expect(asked).toEqual([]);
  });

  it('names a model that nobody knows for the only role left: in words, not as a bug', async () => {
    const rules = { ...RULES, disabledRoles: [{ role: 'main', from }] };
    const { run } = await planned(['no plan'], { rules, roleModels: new Map([['oracle', 'gpt-none']]) });
    expect(await run.result).toMatchObject({ status: 'failed', errorIs: 'denied' });
    expect((await run.result).error).toContain('There is no model "gpt-none"');
  });
});

describe('a plan from a file', () => {
  it('is used as it is: nobody is asked for another', async () => {
    const { run, asked } = await planned([plan()], {
      file: { draft: draftOf(plan(task('a'), task('b', { dependsOn: ['a'] }))), from: 'plan.json' },
    });
    expect(asked).toEqual([]);
    expect([run.state().planBy, tasksOf(run)]).toEqual([
      'plan.json',
      [
        ['a', 'finder'],
        ['b', 'finder'],
      ],
    ]);
  });

  it('with faults ends the run and names them all (H02)', async () => {
    const draft = draftOf(plan(task('a', { recommendedRole: 'nobody' }), task('b', { dependsOn: ['z'] })));
    const { run } = await planned([plan()], { file: { draft, from: 'plan.json' } });
    const result = await run.result;
    expect([result.status, result.errorIs]).toEqual(['failed', 'denied']);
    expect(result.error).toMatch(/^plan\.json: a: .*nobody/);
    expect(result.error).toMatch(/\nb: .*z/);
  });
});
