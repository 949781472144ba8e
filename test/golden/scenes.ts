/** The screens of which there are golden frames, each in a state that has something of everything. */
import type { ProjectInfo } from '../../src/ports/project-service.ts';
import type { AuthoredChanges } from '../../src/domain/changes/authorship.ts';
import { AgentId, SessionId } from '../../src/domain/ids.ts';
import type { Session, SessionSetting } from '../support/app-session.ts';
import { idleLog, spawnedLog, taskLog } from '../support/family-log.ts';
import { PROJECT_SERVICE } from '../support/fake-run.ts';
import type { Recording } from '../support/recorded-run.ts';
import { MANY, ONE, SEVERAL } from './changed.ts';
import {
  approval,
  asks,
  finished,
  midRun,
  planned,
  Recording as NewRecording,
  started,
} from '../support/recorded-run.ts';

export interface Scene {
  /** Also the name of its files. */
  readonly name: string;
  /** What happened; nothing for the start screen. */
  readonly log?: () => Recording;
  readonly setting?: Partial<SessionSetting>;
  /** Pressed one after the other, with time between them. */
  readonly keys: readonly string[];
  /** False where names or texts of the run are not ASCII themselves. */
  readonly plainText?: boolean;
  /** Before the keys. */
  then?(session: Session): Promise<void>;
}

const session = (id: string, task: string, when: string, state: 'running' | 'finished' | 'stopped') => ({
  id: SessionId.parse(id),
  task,
  when,
  state,
});

const USED: ProjectInfo = {
  ...PROJECT_SERVICE,
  provider: 'anthropic, openai',
  sandbox: 'bubblewrap',
  suggestions: [
    'Explain how shop works and where to start reading',
    'Find untested modules',
    'Review src/ for error handling and security',
  ],
  sessions: [
    session('run-3c1d', 'Fix the token refresh race', '2026-09-05T20:00:00.000Z', 'stopped'),
    session(
      'run-2b0a',
      'Explain the cache and say where a second level would fit',
      '2026-09-04T09:00:00.000Z',
      'finished',
    ),
  ],
  repository: { isGit: true, files: 812, git: { branch: 'main', commits: ['Begin'], changed: 3 } },
  budget: { maxCost: 10 },
  policy: 'managed by /etc/mimir/policy.yml',
  templates: [
    {
      name: 'review',
      description: 'Reviews <target> from three sides',
      arguments: [{ name: 'target', description: 'a folder', default: 'src' }],
      tasks: 4,
      from: 'Mimir',
    },
  ],
};

const NEW: NonNullable<ProjectInfo['trust']> = {
  state: 'new',
  digest: 'd'.repeat(64),
  brings: ['role deploy: read, shell (.mimir/agents/deploy.md)', 'prefers theme mimir-light (.mimir/config.yml)'],
  diff: '',
};

/** A custom one, a built-in one, and a file that describes none. */
const AGENTS: NonNullable<ProjectInfo['agents']> = {
  all: [
    {
      name: 'code-review',
      description: 'Reads code for quality',
      tools: ['read_file', 'search', 'git'],
      capabilities: ['read', 'git-read'],
      models: ['sonnet-4.5'],
      prompt: 'Read, and judge.',
      source: '.mimir/agents/code-review.json',
      whyKept: null,
    },
    {
      name: 'finder',
      description: 'Finds files, definitions and uses, fast. Reads, never writes.',
      tools: ['file_search', 'git'],
      capabilities: ['read', 'git-read'],
      models: ['haiku-4.5'],
      prompt: 'Find it.',
      source: 'built-in',
      whyKept: 'it is built in',
    },
  ],
  leftOut: ['left out: .claude/agents/deploy.md:3:1: unknown tool "Fly" is left out'],
};
const TYPED = '/agents create --no-model fixes failing tests, and runs them'.split('');

/** Somebody asks, and nobody has answered yet. */
const asked = (): Recording =>
  asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact: 'npm test -- refresh --repeat 50', title: 'npm test' }));

const waiting = (): Recording => {
  const log = started(new NewRecording());
  return log;
};
const offered = (): Recording => planned(started(new NewRecording()));

/** Two of three checks were tried before anything has begun, and the third is running. */
function tried(): Recording {
  const log = offered();
  const [proposed] = log.events.flatMap((event) => (event.type === 'plan.proposed' ? [event.plan] : []));
  if (proposed === undefined) throw new Error('no plan');
  const checks = ['npm test', 'npm run lint', 'npm run build'].map((command) => ({
    run: command,
    expect: 0,
    timeout: 600_000,
  }));
  const tasks = proposed.tasks.map((task, at) => (at === 3 ? { ...task, checks } : task));
  log.at(7, { type: 'plan.edited', plan: { ...proposed, tasks }, edit: 'checks of #4', digest: 'd2' });
  const of = { agent: AgentId.parse('ROOT'), attempt: 0, first: true } as const;
  const lines = '1 passed, 1 failed\nFAIL test/refresh.test.ts: expected 1 request, sent 2';
  for (const [at, check] of checks.entries()) {
    log.at(8 + at, { type: 'check.started', ...of, check, tree: 't1' });
    const end = { passed: at > 0, exit: at > 0 ? 0 : 1, lines: at > 0 ? '' : lines, ms: 900, tree: 't1' };
    if (at < 2) log.at(8 + at, { type: 'check.finished', ...of, run: check.run, ...end });
  }
  return log;
}

const LATER = ['down', 'down', 'down'];
const run = (name: string, ...keys: readonly string[]): Scene => ({
  name: `run-${name}`,
  log: midRun,
  keys: ['esc', ...keys],
  plainText: false,
});
const plan = (name: string, ...keys: readonly string[]): Scene => ({ name: `plan-${name}`, log: offered, keys });
const detail = (tab: string, at: number): Scene =>
  run(`detail-${tab}`, ...LATER, 'enter', ...Array.from({ length: at }, () => 'right'));
const result = (name: string, ...keys: readonly string[]): Scene => ({
  name: `result-${name}`,
  log: finished,
  keys,
  plainText: false,
});

/** A finished run of whose changes the authors are known. */
const changed = (name: string, authors: AuthoredChanges, ...keys: readonly string[]): Scene => ({
  name,
  log: finished,
  setting: { authors },
  keys,
  plainText: false,
});

export const SCENES: readonly Scene[] = [
  { name: 'start-first', keys: [] },
  { name: 'start-used', setting: { projectService: USED }, keys: [] },
  { name: 'start-lists', setting: { projectService: USED }, keys: ['tab', 'tab'] },
  { name: 'start-templates', setting: { projectService: USED }, keys: ['ctrl-o'] },
  { name: 'start-agents', setting: { projectService: { ...USED, agents: AGENTS } }, keys: ['f4'] },
  {
    name: 'start-agent-form',
    setting: { projectService: { ...USED, agents: AGENTS } },
    keys: [...TYPED, 'enter'],
  },
  {
    name: 'start-untrusted',
    setting: { projectService: { ...USED, trust: NEW } },
    // Declines the question, which takes no keys in its first moment.
    then: ({ world }) => world.advance(400),
    keys: ['esc'],
  },
  { name: 'planning', log: waiting, keys: [] },
  { name: 'plan', log: offered, keys: ['down', 'down'] },
  { name: 'plan-checks', log: tried, keys: ['down', 'down', 'down'] },
  plan('model', 'M'),
  plan('form', 'm'),
  plan('split', 's'),
  plan('join', 'S'),
  plan('what-if', '$'),
  plan('drop', 'd'),
  plan('keep', 'w'),
  plan('zoomed', 'tab', '+'),
  run('cards', ...LATER),
  run('other-density', 'z'),
  run('line', 'z', 'z'),
  run('graph', ...LATER, 'T'),
  run('filter', '/', 'o', 'r'),
  detail('transcript', 0),
  detail('todos', 1),
  detail('tools', 2),
  detail('diffs', 3),
  detail('messages', 4),
  detail('costs', 5),
  detail('info', 6),
  run('log', '4', '+'),
  run('charts', 'c'),
  run('message', ...LATER, 'i'),
  run('kill', ...LATER, 'x'),
  run('budget', ...LATER, 'b'),
  run('plan', 'p'),
  run('quit', 'q'),
  run('mode', 'backtab'),
  { name: 'idle', log: idleLog, keys: [] },
  { name: 'idle-spawn', log: idleLog, keys: ['a'] },
  { name: 'spawned', log: spawnedLog, keys: LATER.slice(1), plainText: false },
  { name: 'spawned-ended', log: spawnedLog, keys: ['down', 'i'], plainText: false },
  { name: 'task', log: taskLog, keys: ['down', 'enter'], plainText: false },
  { name: 'attached', log: midRun, setting: { elsewhere: true }, keys: LATER, plainText: false },
  {
    name: 'attached-lost',
    log: midRun,
    setting: { elsewhere: true },
    keys: LATER,
    plainText: false,
    then: (session) => session.lose('its process has ended'),
  },
  run('hand-over', 'd'),
  { name: 'inbox', log: asked, keys: ['A'], plainText: false },
  { name: 'palette', log: midRun, keys: ['esc', ':', 'c', 'o', 'p'], plainText: false },
  { name: 'help', log: midRun, keys: ['esc', '?'], plainText: false },
  { name: 'copy-mode', log: midRun, keys: ['esc', 'C', 'down', 'v', 'down', 'right'], plainText: false },
  result('answer'),
  result('agents', '2'),
  result('estimates', '3'),
  result('costs', '4'),
  result('files', '5'),
  changed('result-changed', SEVERAL),
  changed('result-changed-files', SEVERAL, '5'),
  changed('review-one', ONE, 'D'),
  changed('review-many', MANY, 'D', ...Array.from({ length: 49 }, () => 'pagedown'), ...LATER, 'a', 'a'),
  { name: 'result-failed', log: () => finished('failed'), keys: [], plainText: false },
];
