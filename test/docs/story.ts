/** What a model says in the pictures of the documentation: a plan of five tasks for a small project, and the work of each agent. */
import type { Rule, Script } from '../support/double/script.ts';

export const PROJECT: Readonly<Record<string, string>> = {
  'README.md': '# Ledger\n\nAccounts, a cache of balances, and a report.\n',
  'package.json': '{ "name": "ledger", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/cache.js':
    "import { parse } from './parse.js';\n\nconst cache = new Map();\n\n// TODO: entries are never dropped\nexport function balanceOf(account) {\n  if (cache.has(account)) return cache.get(account);\n  const balance = parse(String(account));\n  cache.set(account, balance);\n  return balance;\n}\n",
  'src/parse.js': 'export const parse = (text) => Number(text);\n',
  'src/report.js':
    "import { balanceOf } from './cache.js';\n\nexport const report = (all) => all.map(balanceOf).join();\n",
  'test/parse.test.js': "import { parse } from '../src/parse.js';\n\nparse('1');\n",
};

export const TASK = 'Find out why balances get stale, and add a test that shows it';

const task = (id: string, role: string, description: string, dependencies: readonly string[]): object => ({
  id,
  description,
  recommendedRole: role,
  recommendedModel: null,
  estimatedTokens: 12_000,
  dependencies,
});

const CACHE = 'Find where balances are cached and who reads them';
const LIBRARY = 'Check what Map keeps, and when an entry is dropped';
const CAUSE = 'Explain why a balance gets stale, with the lines';
const TEST = 'Write a test that shows a stale balance';
const REVIEW = 'Review the test and the explanation';

const PLAN = {
  reason: 'Two searches can run at the same time. The explanation needs both, the test needs the explanation.',
  tasks: [
    task('task-1', 'finder', CACHE, []),
    task('task-2', 'librarian', LIBRARY, []),
    task('task-3', 'oracle', CAUSE, ['task-1', 'task-2']),
    task('task-4', 'tester', TEST, ['task-1']),
    task('task-5', 'reviewer', REVIEW, ['task-3', 'task-4']),
  ],
};

/** Slow enough to be seen at work. */
const SLOW = 6;

const STALE_TEST =
  "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { balanceOf } from '../src/cache.js';\n\ntest('a balance is read again after a change', () => {\n  const account = { valueOf: () => 1, toString: () => '1' };\n  assert.equal(balanceOf(account), 1);\n  account.toString = () => '2';\n  assert.equal(balanceOf(account), 2);\n});\n";

const todos = (...list: readonly (readonly [description: string, status: string])[]): Called => ({
  tool: 'update_todos',
  input: { todos: list.map(([description, status]) => ({ description, status })) },
});

type Called = NonNullable<Rule['answer']['calls']>[number];

const turns = (first: string, ...answers: readonly Rule['answer'][]): readonly Rule[] =>
  answers.map((answer, at) => ({ when: { first: `^${first}`, turn: at + 1 }, answer }));

export const STORY: Script = {
  rate: 400,
  rules: [
    { when: { first: '# Roles' }, answer: { text: JSON.stringify(PLAN) } },
    ...turns(
      CACHE,
      {
        text: 'I search for the cache first.',
        calls: [
          todos(['Find the definition', 'active'], ['Find the readers', 'pending']),
          { tool: 'search', input: { pattern: 'balanceOf' } },
          { tool: 'read_file', input: { path: 'src/cache.js' } },
        ],
      },
      {
        text: '`src/cache.js:6` defines balanceOf and keeps each balance in a Map. `src/report.js:3` is its only reader.',
      },
    ),
    ...turns(LIBRARY, {
      rate: SLOW,
      text: 'A Map keeps an entry until `delete` or `clear` is called. Keys are compared by identity, so that two equal objects are two entries. Nothing in this project calls `delete`. The entries are never dropped, whatever happens to the account. A WeakMap would drop an entry together with its key, but it would still return the old balance as long as the account exists.',
    }),
    ...turns(CAUSE, {
      text: 'A balance is parsed once (`src/cache.js:8`) and then answered from the Map (`src/cache.js:7`). Nothing drops the entry when the account changes.',
    }),
    ...turns(
      TEST,
      {
        rate: SLOW,
        text: 'The cache is keyed by the account. I change what an account returns between two calls: the second one should see the new balance.',
        calls: [
          todos(['Write the test', 'active'], ['Run it', 'pending']),
          { tool: 'write_file', input: { path: 'test/stale.test.js', content: STALE_TEST } },
        ],
      },
      { text: '`test/stale.test.js` fails as long as the cache keeps old balances: it gets 1 instead of 2.' },
    ),
    ...turns(REVIEW, { text: 'Explanation and test agree: the entry of `src/cache.js:9` is never dropped.' }),
    {
      when: { first: '# What the agents found' },
      answer: {
        text: '## Why balances get stale\n\n`balanceOf` stores each balance in a Map (`src/cache.js:9`) and never drops it. The second call for an account answers from the Map (`src/cache.js:7`), whatever the account is worth by then.\n\n- The only reader is `src/report.js:3`.\n- `test/stale.test.js` shows it: it expects 2 and gets 1.\n- A fix: drop the entry when an account changes, or keep a time beside it.',
      },
    },
  ],
};
