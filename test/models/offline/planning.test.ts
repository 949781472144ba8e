/** Plans of the offline analyst: who is sent for which words, in what order, within which limits. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RoleName } from '../../../src/domain/ids.ts';
import { DraftPlan } from '../../../src/domain/plan.ts';
import type { RepositoryFacts } from '../../../src/domain/repository.ts';
import { planText } from '../../../src/models/offline/planning.ts';
import { topicIn } from '../../../src/models/offline/topic.ts';
import type { Purpose } from '../../../src/ports/model.ts';

const ROLES = ['finder', 'oracle', 'librarian', 'refactoring', 'rush', 'reviewer', 'tester'];

const FACTS: RepositoryFacts = {
  name: 'shop',
  isGit: true,
  files: 212,
  more: false,
  bytes: 900_000,
  languages: [{ extension: '.ts', files: 180 }],
  top: ['src/', 'test/', 'docs/', 'package.json', 'README.md'],
  manifests: [{ path: 'package.json', head: '{}' }],
  readme: '# Shop',
  tests: { count: 31, some: ['test/cart.test.ts'] },
};

type Planning = Extract<Purpose, { is: 'plan' }>;

function planOf(
  task: string,
  change: Partial<Omit<Planning, 'roles'>> & { readonly roles?: readonly string[] } = {},
): DraftPlan {
  const roles = (change.roles ?? ROLES).map((role) => RoleName.parse(role));
  const text = planText({ is: 'plan', task, facts: FACTS, maxTasks: 50, split: 'auto', ...change, roles });
  return DraftPlan.parse(JSON.parse(text));
}

/** `role<needed,needed` for each task: the whole shape of a plan in a line. */
const shapeOf = (plan: DraftPlan): string =>
  plan.tasks
    .map(
      ({ recommendedRole, dependencies }) =>
        `${recommendedRole}${(dependencies ?? []).map((id) => `<${id.slice(5)}`).join('')}`,
    )
    .join(' ');

describe('the analyst plans from the words of the task (O001, O067, O068)', () => {
  const TABLE: readonly (readonly [task: string, shape: string])[] = [
    ['Find where parseConfig is defined', 'finder'],
    ['Where is the session token stored?', 'finder'],
    ['Explain how the scheduler works', 'finder librarian oracle<1<2'],
    ['Give me an overview of the architecture', 'finder librarian oracle<1<2'],
    ['Review this repository', 'reviewer reviewer tester oracle<1<2<3'],
    ['Review the payment code', 'finder reviewer<1 reviewer<1 tester<1 oracle<1<2<3<4'],
    ['Audit the login for security holes', 'finder reviewer<1 reviewer<1 oracle<1<2<3'],
    ['Look for vulnerabilities', 'reviewer oracle<1'],
    ['Which modules are untested?', 'tester oracle<1'],
    ['What tests are missing for the cart?', 'finder tester<1 oracle<1<2'],
    ['Refactor the order module', 'finder refactoring<1 oracle<1<2'],
    ['Document the public API', 'finder librarian oracle<1<2'],
    ['Which dependencies are outdated?', 'librarian'],
    ['What is the git status?', 'rush'],
    ['Why does the checkout crash?', 'rush finder oracle<1<2'],
    ['The start is slow, make it faster', 'finder librarian reviewer tester oracle<1<2<3<4'],
    ['Add a discount code to the cart', 'finder librarian tester<1 oracle<1<2<3'],
    ['Hello', 'finder librarian oracle<1<2'],
    ['?', 'rush finder librarian reviewer reviewer tester oracle<1<2<3<4<5<6'],
    ['Explain how shop works and where to start reading', 'finder librarian oracle<1<2'],
    ['Find the entry points of src/ and review the riskiest file', 'finder reviewer oracle<1<2'],
    ['Find modules that no test imports', 'tester oracle<1'],
    ['Show how the dependencies in package.json are used, and which are not', 'librarian'],
    ['Review src/ for error handling and security', 'reviewer reviewer oracle<1<2'],
    ['Summarise what changed lately and what it touches', 'rush oracle<1'],
  ];

  it.each(TABLE)('%s -> %s', (task, shape) => {
    expect(shapeOf(planOf(task))).toBe(shape);
  });

  it('names folders and identifiers in the descriptions', () => {
    const [first] = planOf('Find where `parseConfig` is defined').tasks;
    expect(first?.description).toBe('Find where `parseConfig` is defined and used in this repository (212 files).');
  });

  it('takes a folder of the task as the place to look in, and its own wording for no word to look for', () => {
    for (const [task] of TABLE) {
      for (const { description } of planOf(`${task} in src`).tasks) {
        const { words, folders } = topicIn(description);
        expect(words.filter(({ text }) => !description.includes(`\`${text}\``))).toEqual([]);
        expect(folders.filter((folder) => folder !== 'src/')).toEqual([]);
      }
    }
    expect(
      planOf('Find the entry points of src and review the riskiest file').tasks.map((each) => each.description),
    ).toEqual([
      'Find the entry points of src/: where it starts, and why each is one.',
      'Find the riskiest file of src/ by risky lines, size, importers, tests and recent changes, and go through it.',
      'Draw the import graph of src/ and trace how the entry points lead to the riskiest file.',
    ]);
  });

  it('says why, and that no model was used', () => {
    expect(planOf('Review the payment code').reason).toBe(
      'You ask to review about `payment`. 5 tasks: finder can begin at once, the other 4 build on what they find. Made by the offline analyst from words and file counts, without a language model.',
    );
  });

  it('says plainly that it changes nothing when asked to change something', () => {
    expect(planOf('Add a discount code to the cart').reason).toContain('it writes no code and changes nothing');
  });

  it('has one task when splitting is off, and at least two when it is always asked for (D26)', () => {
    expect(planOf('Review this repository', { split: 'never' }).tasks).toHaveLength(1);
    expect(planOf('What is the git status?', { split: 'always' }).tasks.length).toBeGreaterThan(1);
  });

  it('keeps to the roles that may be planned', () => {
    expect(shapeOf(planOf('Review this repository', { roles: ['finder', 'tester'] }))).toBe('tester');
    expect(shapeOf(planOf('Review this repository', { roles: ['tax-lawyer'] }))).toBe('tax-lawyer');
  });

  it('sends a custom agent that the task names', () => {
    expect(shapeOf(planOf('Ask the api-guru where parseConfig is', { roles: [...ROLES, 'api-guru'] }))).toBe(
      'finder api-guru',
    );
  });

  it('plans one look at an empty folder', () => {
    const empty = { ...FACTS, files: 0, top: [], manifests: [], readme: '', isGit: false };
    expect(shapeOf(planOf('Review this repository', { facts: empty }))).toBe('rush');
  });

  it('hears the hint of a person who wants another plan', () => {
    const purpose: Planning = {
      is: 'plan',
      task: 'Find parseConfig',
      facts: FACTS,
      maxTasks: 50,
      split: 'auto',
      roles: ROLES.map((role) => RoleName.parse(role)),
    };
    expect(shapeOf(DraftPlan.parse(JSON.parse(planText(purpose, 'also look at the tests'))))).toBe(
      'finder tester<1 oracle<1<2',
    );
  });

  it('is a whole plan for any task: known ids, earlier dependencies, planned roles, the same again', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.subarray(ROLES, { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        (task, roles, maxTasks) => {
          const plan = planOf(task, { roles, maxTasks });
          expect(plan.tasks.length).toBeLessThanOrEqual(Math.min(8, maxTasks));
          plan.tasks.forEach((each, index) => {
            expect(roles).toContain(each.recommendedRole);
            const before = plan.tasks.slice(0, index).map(({ id }) => id);
            expect((each.dependencies ?? []).filter((id) => !before.includes(id))).toEqual([]);
          });
          expect(planOf(task, { roles, maxTasks })).toEqual(plan);
        },
      ),
    );
  });
});
