/** Plans to test with: what may be chosen here, the plan that the pictures show, and a short way to write others. */
import { checkPlan, readDraft } from '../../src/domain/plan/check-plan.ts';
import type { PlanContext } from '../../src/domain/plan/check-plan.ts';
import { ModelId, RoleName, TaskId } from '../../src/domain/ids.ts';
import type { ModelOption, PlanChoices, PlanFault, SoundPlan } from '../../src/domain/plan/plan.ts';
import type { Result } from '../../src/domain/result.ts';
import { fail, ok } from '../../src/domain/result.ts';

export const task = (id: string): TaskId => TaskId.parse(id);

const model = (id: string, price: readonly [number, number] | null, speed: number): ModelOption => ({
  id: ModelId.parse(id),
  label: id.split('/')[1] ?? id,
  aliases: [],
  window: 200_000,
  outputLimit: 32_000,
  price: price && { input: price[0], output: price[1] },
  speed,
  usable: { yes: true },
});

const MODELS: readonly ModelOption[] = [
  model('anthropic/haiku-4.5', [1, 5], 160),
  model('anthropic/sonnet-4.5', [3, 15], 70),
  model('openai/o3', [2, 8], 46),
  model('openai/gpt-5', [1.25, 10], 80),
  model('local/qwen-3', null, 40),
  { ...model('offline/analyst', [0, 0], 1000), label: 'offline' },
  {
    ...model('openai/o4-mini', [1, 4], 90),
    usable: { yes: false, because: 'denied by enforcement.allowedModels (project, .mimir/config.yml:4)' },
  },
];

const WRITE = ['read', 'write', 'shell'];

const role = (
  name: string,
  asked: string,
  tools: string,
  capabilities: readonly string[] = ['read'],
): PlanChoices['roles'][number] => ({
  name: RoleName.parse(name),
  description: `${name} of the house`,
  tools: tools.split(' '),
  capabilities,
  model: { asked, used: MODELS.find(({ label }) => label === asked)?.id ?? ModelId.parse('x/y'), because: null },
});

export const CHOICES: PlanChoices = {
  roles: [
    role('finder', 'haiku-4.5', 'file_operations file_search git'),
    role('oracle', 'o3', 'file_operations file_search bash_execution git', WRITE),
    role('librarian', 'sonnet-4.5', 'file_operations file_search'),
    role('refactoring', 'sonnet-4.5', 'file_operations file_search bash_execution', WRITE),
    role('rush', 'haiku-4.5', 'file_operations bash_execution'),
    role('reviewer', 'sonnet-4.5', 'file_operations file_search git'),
    role('tester', 'sonnet-4.5', 'file_operations bash_execution git', WRITE),
  ],
  models: MODELS,
  limits: { maxTasks: 50, maxParallel: 4, run: { maxCost: 2 }, agent: { maxCost: 1 } },
};

/** Judges as the rules would: models by name, one of them denied, all roles but one allowed. */
export const contextFor = (choices: PlanChoices = CHOICES): PlanContext => ({
  choices,
  resolveModel: (asked) => {
    const found = choices.models.find(({ id, label }) => asked === id || asked === label);
    if (found === undefined) return fail(`there is no model "${asked}"`);
    return found.usable.yes ? ok({ asked, used: found.id, because: null }) : fail(found.usable.because);
  },
  roleProblem: (name) => (name === 'forbidden' ? `Sub-agent role '${name}' is not allowed by enterprise policy` : null),
});

/** Reads and checks, as the planner's reply is. */
export function check(json: unknown, context: PlanContext = contextFor()): Result<SoundPlan, readonly PlanFault[]> {
  const draft = readDraft(json);
  return draft.ok ? checkPlan(draft.value, context) : draft;
}

/** The plan, or a throw that names the faults. */
export function planOf(json: unknown, context: PlanContext = contextFor()): SoundPlan {
  const plan = check(json, context);
  if (!plan.ok) throw new Error(JSON.stringify(plan.fault));
  return plan.value;
}

/** Ids in order with what they need: `graph('a', 'b:a', 'c:a,b')`. All are finders with the same estimate. */
export const graph = (...tasks: readonly string[]): SoundPlan =>
  planOf({
    reason: 'a graph',
    tasks: tasks.map((text) => {
      const [id, needs] = text.split(':');
      return {
        id,
        description: `do ${id}`,
        role: 'finder',
        estimatedTokens: 4000,
        dependsOn: needs === undefined ? [] : needs.split(','),
      };
    }),
  });

const RACE_TASKS: readonly (readonly [role: string, model: string, tokens: number, needs: string, text: string])[] = [
  ['finder', 'haiku-4.5', 6000, '', 'Locate every caller of the refresh endpoint'],
  ['librarian', 'sonnet-4.5', 14_000, '', 'Summarise token rotation guidance (RFC 6819, OAuth BCP)'],
  ['rush', 'haiku-4.5', 3000, '', 'Bump version and changelog'],
  [
    'oracle',
    'o3',
    32_000,
    '1',
    'Explain the race: why do two refreshes both win?\nReproduce the race with the existing test suite, then explain why two concurrent refresh calls with the same token both succeed. Propose the smallest safe fix and say what it does not cover. Do not edit files outside src/auth.',
  ],
  ['refactoring', 'sonnet-4.5', 28_000, '1 2', 'Extract TokenStore and move rotation into it'],
  ['tester', 'sonnet-4.5', 18_000, '4', 'Write race, replay and expiry tests'],
  ['refactoring', 'sonnet-4.5', 22_000, '5', 'Update 14 call sites, delete the old path'],
  ['reviewer', 'gpt-5', 16_000, '4 7', 'Security review of the store and the diff'],
  ['tester', 'sonnet-4.5', 12_000, '6 7', 'Full regression and load test'],
  ['reviewer', 'gpt-5', 8000, '3 8 9', 'Final verdict and merge notes'],
];

/** Of each task that writes: files that no other one changes. */
const RACE_WRITES: Readonly<Record<number, readonly string[]>> = {
  4: ['src/store/**'],
  5: ['test/race/**'],
  6: ['src/calls/**'],
  8: ['test/load/**'],
};

/** The plan of the pictures: ten tasks, five waves and more. */
export const RACE_JSON = {
  reason: 'Reading, explaining and changing are different kinds of work; reading can start at once in three places.',
  tasks: RACE_TASKS.map(([name, asked, tokens, needs, description], index) => ({
    id: `task-${index + 1}`,
    description,
    recommendedRole: name,
    recommendedModel: asked,
    estimatedTokens: tokens,
    dependencies: needs === '' ? [] : needs.split(' ').map((need) => `task-${need}`),
    writes: RACE_WRITES[index] ?? [],
  })),
};
export const RACE: SoundPlan = planOf(RACE_JSON);
