/** What a model says about the small ledger of the journeys: a plan of three, how each agent works, the report. */
import type { Rule, Script } from './double/script.ts';

export const STORY_TASK = 'Explain how balanceOf works and who uses it';

const PLAN = {
  reason: 'Two searches can run at the same time; the explanation needs both.',
  tasks: [
    task('task-1', 'Find where balanceOf is defined and what it keeps.', 'finder', []),
    task('task-2', 'Find every file that uses balanceOf.', 'librarian', []),
    task('task-3', 'Explain how balanceOf works, with the places that were found.', 'reviewer', ['task-1', 'task-2']),
  ],
};

function task(id: string, description: string, recommendedRole: string, dependencies: readonly string[]): object {
  return { id, description, recommendedRole, recommendedModel: null, estimatedTokens: 8000, dependencies };
}

/** By the task that an agent was given: its turns in order. */
const turns = (first: string, answers: readonly Rule['answer'][]): readonly Rule[] =>
  answers.map((answer, index) => ({ when: { first, turn: index + 1 }, answer }));

const todos = (
  ...list: readonly (readonly [string, string])[]
): { readonly tool: string; readonly input: unknown } => ({
  tool: 'update_todos',
  input: { todos: list.map(([description, status]) => ({ description, status })) },
});

export const PLANNER: Rule = { when: { first: '# Roles' }, answer: { text: JSON.stringify(PLAN) } };

export const WORKERS: readonly Rule[] = [
  ...turns('^Find where balanceOf', [
    {
      reasoning: 'A search says where it is.',
      text: 'I look for the definition first.',
      calls: [
        todos(['Find the definition', 'active'], ['Say what it keeps', 'pending']),
        { tool: 'search', input: { pattern: 'balanceOf' } },
        { tool: 'list_files', input: { path: 'src' } },
      ],
    },
    { reasoning: 'The cache holds it.', calls: [{ tool: 'read_file', input: { path: 'src/cache.js' } }] },
    { text: 'balanceOf is defined in `src/cache.js:6`. It keeps every balance in a Map that is never emptied.' },
  ]),
  ...turns('^Find every file', [
    { reasoning: 'Every use has the name.', calls: [{ tool: 'search', input: { pattern: 'balanceOf' } }] },
    { text: '`src/report.js:3` maps accounts through balanceOf; nothing else uses it.' },
  ]),
  ...turns('^Explain how balanceOf', [
    {
      reasoning: 'The cache comes first, then the report.',
      calls: [{ tool: 'read_file', input: { path: 'src/report.js' } }],
    },
    { text: 'balanceOf looks into its Map (`src/cache.js:7`), else it parses the account and keeps the result.' },
  ]),
];

export const MERGE: Rule = {
  when: { first: '# What the agents found' },
  answer: {
    text: 'balanceOf answers from a Map and parses what it does not know (`src/cache.js:6`); `src/report.js:3` uses it.',
  },
};

export const ledgerStory = (change: Partial<Script> = {}): Script => ({
  rules: [PLANNER, ...WORKERS, MERGE],
  ...change,
});
