/** Which tests a room's faults are shown to. */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface Room {
  readonly name: string;
  /** Globs below the checkout. */
  readonly sources: readonly string[];
  /** Test files and folders below the checkout. */
  readonly tests: readonly string[];
}

export const ROOMS: readonly Room[] = [
  { name: 'policy', sources: ['src/policy/*.ts'], tests: ['test/policy', 'test/security/d-*.test.ts'] },
  {
    name: 'engine',
    sources: ['src/engine/gate*.ts', 'src/engine/scheduler.ts', 'src/engine/agent-loop.ts'],
    tests: ['test/engine'],
  },
  { name: 'store', sources: ['src/store/*.ts'], tests: ['test/store'] },
  {
    name: 'redaction',
    sources: ['src/engine/redaction.ts', 'src/domain/redact.ts', 'src/models/redact.ts'],
    tests: ['test/engine/redaction.test.ts', 'test/domain/redact.test.ts', 'test/models/http-fault.test.ts'],
  },
];

/** Files of which a sample takes thrice as many: what they decide is done without anyone looking again. */
const CLOSER =
  /\/(?:permit|decide|gate-permit|gate-reserve|gate-use|gate-call|agent-loop|scheduler|redaction|redact)\.ts$/;

/** How many times the least number of mutants a sample has of this file. */
export const weightOf = (source: string): number => (CLOSER.test(source) ? 3 : 1);

/** Sources whose tests have other names: beginnings of them, after the folder of the room's tests. */
const NEAR: Readonly<Record<string, readonly string[]>> = {
  'agent-loop': ['agents', 'told', 'run.', 'compact', 'steer', 'stop-reasons', 'messages'],
  'gate-ask': ['approvals.', 'limit-choice'],
  'gate-backoff': ['gate-line', 'retry', 'faults.'],
  'gate-begun': ['resume.', 'resume-faults', 'retry'],
  'gate-bound': ['bounds'],
  'gate-call': ['retry', 'faults.', 'budget.'],
  'gate-context': ['compact', 'result-room'],
  'gate-day': ['limit-day'],
  'gate-fallback': ['faults.', 'models'],
  'gate-forced': ['forced.'],
  'gate-hold': ['hand-over'],
  'gate-limit': ['budget.', 'unanswered'],
  'gate-line': ['silent-provider', 'slots'],
  'gate-permit': ['permissions', 'matrix', 'approvals.', 'grants', 'modes'],
  'gate-question': ['approvals.', 'limit-choice', 'unanswered'],
  'gate-reserve': ['budget.', 'limit-kept', 'limit-clock', 'settle', 'token-limits'],
  'gate-retry': ['faults.', 'silent-provider', 'fallback'],
  'gate-room': ['result-room'],
  'gate-settle': ['budget.', 'resume-faults'],
  'gate-share': ['budget-storm'],
  'gate-specs': ['children-rights', 'told', 'isolation'],
  'gate-step': ['limit-time', 'limit-clock', 'steer'],
  'gate-switch': ['set-model', 'fallback'],
  'gate-tokens': ['token-limits', 'budget.'],
  'gate-turn': ['agents', 'run.'],
  'gate-use': ['permissions', 'agents', 'matrix', 'writes'],
  'gate-wait': ['gate-line', 'limit-clock'],
  scheduler: ['scheduler-', 'task-parallel'],
  budgets: ['roles', 'meet'],
  children: ['spawn'],
  'commands-destroy': ['d-commands'],
  'commands-variables': ['d-variables'],
  'commands-reads': ['d-refused'],
  deciding: ['meet'],
  'model-identity': ['models', 'role-models'],
  rules: ['decide', 'roles'],
  'same-model': ['answered', 'models'],
  database: ['lasting', 'log', 'rights'],
  heads: ['damage', 'resume-damage', 'log'],
  place: ['place-lost', 'rights', 'claims'],
  record: ['log', 'damage'],
  trail: ['power-cut', 'lasting', 'log'],
};

export const sourcesOf = ({ sources }: Room, root: string): readonly string[] =>
  sources.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();

/** All test files of the room. */
export const testsOf = ({ tests }: Room, root: string): readonly string[] =>
  tests.flatMap((test) => globSync(test.endsWith('.ts') ? test : join(test, '*.test.ts'), { cwd: root })).toSorted();

const wordsOf = (file: string): readonly string[] => basename(file).replace(/\..*/, '').split('-');

/** Those of its tests that are about the source, those of its name first: all of the room where there are none. */
export function nearTests(room: Room, source: string, root: string): readonly string[] {
  const words = wordsOf(source);
  const beginnings = NEAR[basename(source, '.ts')] ?? [];
  const all = testsOf(room, root);
  const named = all.filter((file) => {
    const own = wordsOf(file);
    return own[0] === words[1] || own.every((word) => words.includes(word));
  });
  const more = beginnings.flatMap((start) => all.filter((file) => basename(file).startsWith(start)));
  const near = [...new Set([...named, ...more])];
  return near.length === 0 ? all : near;
}
