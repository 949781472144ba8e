/** Plans of the analyst: which kinds it recognises, who does them, in what order, within which limits. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offlineAnalyst } from '../../src/analyst/offline-analyst.ts';
import { OFFLINE, RoleName } from '../../src/domain/ids.ts';
import { DraftPlan } from '../../src/domain/plan/plan.ts';
import type { RepositoryFacts } from '../../src/domain/repository.ts';
import type { Purpose } from '../../src/ports/model.ts';
import { ALIASES } from '../../src/policy/models.ts';
import { workRequest } from '../models/request.ts';

const ROLES = ['finder', 'oracle', 'librarian', 'refactoring', 'rush', 'reviewer', 'tester'];
const FACTS: RepositoryFacts = {
  name: 'shop',
  isGit: true,
  files: 212,
  more: false,
  bytes: 900_000,
  languages: [{ extension: '.ts', files: 180 }],
  top: ['src/', 'tests/', 'docs/', 'package.json', 'README.md'],
  manifests: [{ path: 'package.json', head: '{}' }],
  readme: '# Shop',
  tests: { count: 31, some: ['test/cart.test.ts'] },
};

type Planning = Extract<Purpose, { is: 'plan' }>;
const analyst = offlineAnalyst(ALIASES, { is: 'none' });

async function planOf(
  task: string,
  change: Partial<Omit<Planning, 'roles'>> & { readonly roles?: readonly string[] } = {},
): Promise<DraftPlan> {
  const roles = (change.roles ?? ROLES).map((role) => RoleName.parse(role));
  const purpose: Planning = { is: 'plan', task, hint: '', facts: FACTS, maxTasks: 50, split: 'auto', ...change, roles };
  const request = { ...workRequest({ turns: [] }), model: OFFLINE, purpose, maxOutputTokens: 100_000 };
  const reply = await analyst.call(request, new AbortController().signal, () => undefined);
  return DraftPlan.parse(JSON.parse(reply.ok ? reply.value.text : ''));
}

/** `role<needed<needed` for each task: the whole shape of a plan in a line. */
const shapeOf = (plan: DraftPlan): string =>
  plan.tasks
    .map(({ recommendedRole, dependencies }) =>
      [recommendedRole, ...(dependencies ?? []).map((id) => id.slice(5))].join('<'),
    )
    .join(' ');

describe('the analyst plans from the words of the task (O001, O067, O068)', () => {
  const TABLE: readonly (readonly [task: string, shape: string])[] = [
    ['Find where parseConfig is defined', 'finder'],
    ['Where is the session token stored?', 'finder'],
    ['Explain how the scheduler works', 'finder'],
    ['visit_Extends', 'finder'],
    ['In particular, where is `process_emphasis`?', 'finder'],
    ['Give me an overview of the architecture', 'oracle'],
    ['Review this repository', 'reviewer'],
    ['Audit the login for security holes', 'reviewer'],
    ['Which modules lack tests?', 'tester'],
    ['Find untested modules', 'tester'],
    ['List all TODO comments', 'finder'],
    ['Find dead code', 'refactoring'],
    ['Which dependencies are outdated?', 'librarian'],
    ['Find unused dependencies in package.json', 'librarian'],
    ['Suggest the first tests for this code', 'tester'],
    ['What is the git status?', 'rush'],
    ['Summarise what changed lately', 'rush oracle<1'],
    ['Summarise recent changes and their impact', 'rush oracle<1'],
    ['Review src/ and say which modules lack tests', 'reviewer tester'],
    ['Find where addItem is defined and give an overview', 'finder oracle<1'],
    ['Explain how addItem works, with an overview of the dependencies', 'finder librarian oracle<1<2'],
    ['Hello', 'finder'],
    ['?', 'finder'],
    ['Add a discount code to the cart', 'finder'],
  ];

  it.each(TABLE)('%s -> %s', async (task, shape) => {
    expect(shapeOf(await planOf(task))).toBe(shape);
  });

  it('names identifiers and folders in the descriptions, which mean the same again to the agent', async () => {
    const task = 'Find where `parseConfig` is defined in src, review src/ for errors and list the TODOs';
    const { tasks } = await planOf(task);
    expect(tasks.map(({ description }) => description)).toEqual([
      'Find where `parseConfig` is defined and used in `src/`.',
      'Review `src/` for swallowed and ignored errors.',
      'List the TODO, FIXME, XXX and HACK notes of `src/`.',
    ]);
    for (const { description, recommendedRole } of tasks)
      expect(shapeOf(await planOf(description))).toBe(recommendedRole);
  });

  it('leaves plain words plain, so that the agent looks for their forms and not for them as they are written', async () => {
    const [task] = (await planOf('Where is proxy settings')).tasks;
    expect(task?.description).toBe(
      'Find where proxy and settings are defined and used in this repository (212 files).',
    );
  });

  it('takes a word for a folder only where the request says so', async () => {
    const placeOf = async (task: string): Promise<string> => (await planOf(task)).tasks[0]?.description ?? '';
    expect(await placeOf('Which modules lack tests?')).toBe(
      'Find the modules of this repository (212 files) without tests.',
    );
    expect(await placeOf('Which modules in src lack tests?')).toBe('Find the modules of `src/` without tests.');
  });

  it('says why, that nothing is changed, and that no model was used', async () => {
    expect((await planOf('Review the payment code')).reason).toBe(
      'Recognised: review; one agent does it. It reads and counts, changes nothing and runs no tests. Made by the offline analyst from the words of the task, without a language model.',
    );
  });

  it('says when it recognises no kind of task, and which there are; one agent is enough for a greeting', async () => {
    for (const greeting of ['hi', 'Hello']) expect((await planOf(greeting)).tasks).toHaveLength(1);
    expect((await planOf('Hello')).reason).toMatch(
      /^The task is none of the eight kinds that the built-in analyst knows \(where, review, untested, todos, dependencies, changes, dead exports, overview\)\./,
    );
  });

  it('has at least two tasks when splitting is always asked for (D26)', async () => {
    expect((await planOf('What is the git status?', { split: 'always' })).tasks.length).toBeGreaterThan(1);
  });

  it('keeps to the roles that may be planned, and sends a custom agent that the task names', async () => {
    expect(shapeOf(await planOf('Review this and the tests', { roles: ['finder', 'tester'] }))).toBe('tester');
    expect(shapeOf(await planOf('Review this repository', { roles: ['tax-lawyer'] }))).toBe('tax-lawyer');
    expect(shapeOf(await planOf('Ask the api-guru where parseConfig is', { roles: [...ROLES, 'api-guru'] }))).toBe(
      'finder api-guru',
    );
  });

  it('hears the hint of a person who wants another plan', async () => {
    expect(shapeOf(await planOf('Find parseConfig', { hint: 'also list the TODOs' }))).toBe('finder');
    expect(shapeOf(await planOf('Where is parseConfig defined?', { hint: 'also list the TODOs' }))).toBe(
      'finder finder',
    );
  });

  it('estimates what grows with the repository, up to the bounds of the tools', async () => {
    const tokens = async (task: string, files: number): Promise<number | undefined> =>
      (await planOf(task, { facts: { ...FACTS, files } })).tasks[0]?.estimatedTokens;
    expect([await tokens('List all TODO comments', 6), await tokens('Find dead code', 6)]).toEqual([3500, 11_000]);
    expect([await tokens('Find dead code', 800), await tokens('Find dead code', 90_000)]).toEqual([
      1_003_500, 1_003_500,
    ]);
  });

  it('is a whole plan for any task: known ids, earlier dependencies, planned roles, the same again', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.subarray(ROLES, { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (task, roles, maxTasks) => {
          const plan = await planOf(task, { roles, maxTasks });
          expect(plan.tasks.length).toBeLessThanOrEqual(maxTasks);
          plan.tasks.forEach((each, index) => {
            expect(roles).toContain(each.recommendedRole);
            const before = plan.tasks.slice(0, index).map(({ id }) => id);
            expect((each.dependencies ?? []).filter((id) => !before.includes(id))).toEqual([]);
          });
          expect(await planOf(task, { roles, maxTasks })).toEqual(plan);
        },
      ),
    );
  });
});
