/**
 * What must hold wherever the steps of agents are carried out: one task for each case, all of one run. The executor is killed when every task is in
 * the state that its case is about.
 */
import type { Rule } from '../support/double/script.ts';

/** How an agent came to its end, told alike of every executor. */
export interface Facts {
  readonly outcome: string;
  /** Its tool calls in the order in which they began, and what became of each; one that was cut off has become `unknown`. */
  readonly tools: readonly (readonly [tool: string, became: 'done' | 'unknown' | 'failed'])[];
  /** How often its model was asked, and how many of these calls were cut off and count with all that was reserved for them. */
  readonly calls: number;
  readonly cutOff: number;
  /** How often it reads the letter. */
  readonly letters: number;
  /** The lines of its file in the project after the merge. */
  readonly lines: readonly string[];
}

export interface Case {
  /** What it is asked begins with `[name]`; what it writes is in `name.txt`. */
  readonly name: string;
  readonly says: string;
  readonly task?: { readonly maySpawn?: true; readonly dependsOn?: readonly string[]; readonly budget?: object };
  /** It is no task, but a child of that one. */
  readonly parent?: string;
  readonly rules: readonly Rule[];
  /** Its model is asked for this reply, and does not answer, when the executor is killed. */
  readonly silentAt?: number;
  /** It has begun to write to its file when the executor is killed. */
  readonly writes?: true;
  readonly expected: Facts;
}

type Call = NonNullable<Rule['answer']['calls']>[number];

const first = (name: string): string => `^\\[${name}\\]`;
const turn = (name: string, at: number, ...calls: readonly Call[]): Rule => ({
  when: { first: first(name), turn: at },
  answer: { calls },
});
/** Its model does not answer the first time that it is asked. */
const silent = (name: string, at: number): Rule => ({
  when: { first: first(name), turn: at, times: 1 },
  answer: { fault: { is: 'silent', at: 'head' } },
});
const bash = (command: string): Call => ({ tool: 'bash', input: { command } });
const writes = (name: string, line = 'did'): Call => bash(`echo ${line} >> ${name}.txt`);
/** Never comes to its end by itself. */
const forever = (name: string): Call => bash(`echo began >> ${name}.txt; sleep 600; echo ended >> ${name}.txt`);
const reads: Call = { tool: 'read_file', input: { path: 'README.md' } };
const todos: Call = { tool: 'update_todos', input: { todos: [{ description: 'Look', status: 'pending' }] } };
const looks: Call = { tool: 'search', input: { pattern: 'balance' } };

export const CASES: readonly Case[] = [
  {
    name: 'model',
    says: 'a call of a model that is cut off is made again, and both are paid for; the tools that its reply names run once',
    rules: [silent('model', 1), turn('model', 1, reads, writes('model'))],
    silentAt: 1,
    expected: {
      outcome: 'completed',
      tools: [
        ['read_file', 'done'],
        ['bash', 'done'],
      ],
      calls: 3,
      cutOff: 1,
      letters: 0,
      lines: ['did'],
    },
  },
  {
    name: 'effect',
    says: 'an effect that is cut off is told as unknown, and not repeated',
    rules: [turn('effect', 1, forever('effect'))],
    writes: true,
    expected: { outcome: 'completed', tools: [['bash', 'unknown']], calls: 2, cutOff: 0, letters: 0, lines: [] },
  },
  {
    name: 'recorded',
    says: 'what is recorded stays and does not run again, whether it reads or has an effect',
    rules: [turn('recorded', 1, reads), turn('recorded', 2, writes('recorded')), silent('recorded', 3)],
    silentAt: 3,
    expected: {
      outcome: 'completed',
      tools: [
        ['read_file', 'done'],
        ['bash', 'done'],
      ],
      calls: 4,
      cutOff: 1,
      letters: 0,
      lines: ['did'],
    },
  },
  {
    name: 'parallel',
    says: 'of calls of one reply, those that read are done, and the effect among them is unknown',
    rules: [turn('parallel', 1, reads, forever('parallel'), looks)],
    writes: true,
    expected: {
      outcome: 'completed',
      tools: [
        ['read_file', 'done'],
        ['bash', 'unknown'],
        ['search', 'done'],
      ],
      calls: 2,
      cutOff: 0,
      letters: 0,
      lines: [],
    },
  },
  {
    name: 'waits',
    says: 'what has not begun begins afterwards, and runs once',
    task: { dependsOn: ['effect'] },
    rules: [turn('waits', 1, writes('waits'))],
    expected: { outcome: 'completed', tools: [['bash', 'done']], calls: 2, cutOff: 0, letters: 0, lines: ['did'] },
  },
  {
    name: 'letter',
    says: 'a message that was sent before is read once',
    rules: [silent('letter', 1)],
    silentAt: 1,
    expected: { outcome: 'completed', tools: [], calls: 3, cutOff: 1, letters: 1, lines: [] },
  },
  {
    name: 'cancelled',
    says: 'who was killed stays so',
    rules: [turn('cancelled', 1, forever('cancelled'))],
    writes: true,
    expected: { outcome: 'killed', tools: [['bash', 'failed']], calls: 1, cutOff: 0, letters: 0, lines: [] },
  },
  {
    name: 'budget',
    says: 'a limit is kept, counting what was cut off',
    task: { budget: { maxTokens: 50_000 } },
    rules: [
      silent('budget', 1),
      {
        when: { first: first('budget') },
        answer: { calls: [todos], usage: { input_tokens: 20_000, output_tokens: 10 } },
      },
    ],
    silentAt: 1,
    expected: {
      outcome: 'partial',
      tools: [
        ['update_todos', 'done'],
        ['update_todos', 'failed'],
      ],
      calls: 3,
      cutOff: 1,
      letters: 0,
      lines: [],
    },
  },
  {
    name: 'parent',
    says: 'a parent gets the result of a child that was cut off, with what it had done in the same tree',
    task: { maySpawn: true },
    rules: [
      turn('parent', 1, {
        tool: 'Task',
        input: { description: 'help', prompt: '[child] Help.', subagent_type: 'code' },
      }),
    ],
    expected: { outcome: 'completed', tools: [['Task', 'done']], calls: 2, cutOff: 0, letters: 0, lines: ['did'] },
  },
  {
    name: 'child',
    says: 'a child continues as any agent does',
    parent: 'parent',
    rules: [turn('child', 1, writes('parent')), turn('child', 2, forever('child'))],
    writes: true,
    expected: {
      outcome: 'completed',
      tools: [
        ['bash', 'done'],
        ['bash', 'unknown'],
      ],
      calls: 3,
      cutOff: 0,
      letters: 0,
      lines: [],
    },
  },
];

export const LETTER = 'Read this once.';

/** The plan of all cases. */
export const PLAN = {
  reason: 'Every case of an executor.',
  tasks: CASES.filter(({ parent }) => parent === undefined).map(({ name, task = {} }) => ({
    id: name,
    description: `[${name}] Do it.`,
    role: 'code',
    writes: ['*.txt'],
    tree: 'own',
    ...task,
  })),
};

export const RULES: readonly Rule[] = [...CASES.flatMap(({ rules }) => rules), { answer: { text: 'Done.' } }];
