/** What may be asked of a run, and by whom. */
import { describe, expect, it } from 'vitest';
import { lineOf, readLine } from '../../src/remote/wire.ts';
import { readRequest } from '../../src/remote/protocol.ts';
import { ModelId, ROOT, RoleName, TaskId } from '../../src/domain/ids.ts';
import type { SoundPlan } from '../../src/domain/plan/plan.ts';
import type { PlanEdit } from '../../src/domain/plan/plan-edit.ts';
import type { Command } from '../../src/ports/controls.ts';
import { FINDER } from '../support/control-run.ts';

const [task, other] = [TaskId.parse('t1'), TaskId.parse('t2')];
const role = RoleName.parse('finder');
const budget = { maxTokens: 1000, maxCost: 0.5, maxDuration: 0 };
const model = { asked: 'fast', used: ModelId.parse('offline/analyst'), because: null };
const figures = { estimatedTokens: 10, estimatedCost: null, estimatedSeconds: 1.5, budget };
const plan: SoundPlan = {
  reason: 'because',
  tasks: [
    {
      id: task,
      description: 'look',
      role,
      model,
      tools: ['git'],
      ...figures,
      dependsOn: [],
      writes: ['src/**'],
      after: [{ task: other, because: 'both may change src/**' }],
      alongside: [other],
      maySpawn: false,
    },
  ],
  forced: [{ role, model, triggers: ['always'], onFailure: 'block', after: [task], runs: 1, ...figures, because: 'x' }],
};

/** A missing member doesn't compile. */
const EDITS: { readonly [Is in PlanEdit['is']]: Extract<PlanEdit, { readonly is: Is }> } = {
  describe: { is: 'describe', task, description: 'better' },
  role: { is: 'role', task, role: 'oracle' },
  model: { is: 'model', task, model: 'fast' },
  budget: { is: 'budget', task, budget },
  effort: { is: 'effort', task, effort: 'high' },
  tools: { is: 'tools', task, tools: ['git'] },
  writes: { is: 'writes', task, writes: ['src/**'] },
  alongside: { is: 'alongside', task, others: [other] },
  checks: { is: 'checks', task, checks: ['npm test', { run: 'make', expect: 2, timeout: '5m' }], attempts: 3 },
  tree: { is: 'tree', task, tree: 'own' },
  depends: { is: 'depends', task, dependsOn: [other] },
  add: { is: 'add', description: 'more', role: 'finder', dependsOn: [] },
  drop: { is: 'drop', task },
  split: { is: 'split', task, descriptions: ['a', 'b'], inOrder: true },
  join: { is: 'join', task, other },
  models: { is: 'models', models: [{ task, model: 'deep' }] },
  permissions: { is: 'permissions', task: null, permissions: { edits: 'allow', commands: null } },
  commit: { is: 'commit', commit: true },
  move: { is: 'move', task, by: -1 },
  form: {
    is: 'form',
    task,
    description: 'x',
    role: 'finder',
    model: 'fast',
    budget: {},
    dependsOn: [],
    tools: [],
    effort: null,
  },
  replace: { is: 'replace', plan },
};

const COMMANDS: { readonly [Do in Command['do']]: Extract<Command, { readonly do: Do }> } = {
  'edit plan': { do: 'edit plan', edit: EDITS.drop },
  'approve plan': { do: 'approve plan', digest: 'd' },
  'reject plan': { do: 'reject plan' },
  'try checks': { do: 'try checks', digest: 'd' },
  'stop checks': { do: 'stop checks' },
  'plan again': { do: 'plan again', hint: '' },
  message: { do: 'message', to: 'all', text: 'hello', delivery: 'urgent' },
  interrupt: { do: 'interrupt', agent: FINDER },
  resume: { do: 'resume', agent: FINDER },
  kill: { do: 'kill', agent: FINDER },
  retry: { do: 'retry', agent: FINDER },
  skip: { do: 'skip', agent: FINDER },
  answer: { do: 'answer', approval: 'a1', allow: false, scope: 'once', text: 'no' },
  'withdraw grant': { do: 'withdraw grant', grant: 'a1' },
  'set mode': { do: 'set mode', mode: 'human' },
  'pin mode': { do: 'pin mode', agent: FINDER, mode: null },
  'set budget': { do: 'set budget', agent: ROOT, budget },
  review: { do: 'review', role },
  'amend plan': { do: 'amend plan', edits: Object.values(EDITS), base: 'b', digest: 'd' },
  'set model': { do: 'set model', agent: FINDER, model: 'deep' },
  'changes undone': { do: 'changes undone', agent: FINDER, files: ['a.ts'] },
  spawn: {
    do: 'spawn',
    parent: ROOT,
    wish: { prompt: 'count', role: 'finder', model: null, name: 'Zähler 1', wait: 60, workingDir: 'src' },
  },
  complete: { do: 'complete', agent: FINDER, status: 'error', message: 'stuck' },
  'hand over': { do: 'hand over', how: 'when quiet' },
  'stop run': { do: 'stop run', reason: '' },
};

const over = (value: object): Readonly<Record<string, unknown>> => readLine(lineOf(value)) ?? {};

describe('what may be asked of a run', () => {
  it('D24, S144: accepts every command as it is written', () => {
    for (const command of Object.values(COMMANDS)) {
      const request = { id: 1, ask: 'submit', command };
      expect(readRequest(over(request), null)).toEqual({ ok: true, value: request });
    }
  });

  it('lets a person ask all, and an agent four commands', () => {
    const may = (asker: typeof FINDER | null): readonly string[] =>
      Object.values(COMMANDS)
        .filter((command) => readRequest(over({ id: 1, ask: 'submit', command }), asker).ok)
        .map((command) => command.do);
    expect(may(null)).toEqual(Object.keys(COMMANDS));
    expect(may(FINDER)).toEqual(['message', 'kill', 'spawn', 'complete']);
  });

  it('says no more than a few words about what is wrong', () => {
    const long = { id: 1, ask: 'submit', command: { do: 'x'.repeat(10_000), agent: 'y'.repeat(10_000) } };
    const read = readRequest(long, null);
    expect(read.ok ? '' : read.fault.length).toBeLessThanOrEqual(500);
  });
});
