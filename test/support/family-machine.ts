/**
 * A machine of whole runs: any plan or none, children by everybody in any way, any commands at any time, cut off, stopped and gone on
 * with. What must hold of it whatever came is in family-machine-promises.ts.
 */
import * as fc from 'fast-check';
import type { Mode } from '../../src/domain/reason.ts';
import type { ScriptedReply } from './scripted.ts';
import type { StoredMessage, MessageStore } from '../../src/ports/log.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { LEADER, rulesWith } from './children.ts';
import { wishBy } from './family-deeds.ts';
import { calling, ROLES, RULES, type Setting, type TestRun, testRun } from './run.ts';
import { type FakeWorld, fakeWorld } from './world.ts';

/** How the run is set up, and how its models behave. */
export const story = fc.record({
  idle: fc.boolean(),
  person: fc.constantFrom(true, true, false),
  mode: fc.constantFrom<Mode>('confirm', 'yolo', 'yolo'),
  orphans: fc.constantFrom('adopt', 'kill', 'keep'),
  spawns: fc.constantFrom('auto', 'auto', 'supervised'),
  onFailure: fc.constantFrom('ask', 'skip', 'retry'),
  slots: fc.integer({ min: 1, max: 3 }),
  perParent: fc.integer({ min: 1, max: 4 }),
  needs: fc.boolean(),
  asksForPlan: fc.boolean(),
  seed: fc.nat({ max: 100_000 }),
});
export type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

export interface Box extends MessageStore {
  readonly all: readonly StoredMessage[];
}

export function openBox(): Box {
  const all: StoredMessage[] = [];
  const taken = new Set<string>();
  return {
    all,
    put: (_, letter) => void all.push(letter),
    waiting: () => all.filter(({ id }) => !taken.has(id)),
    taken: (_, ids) => {
      for (const id of ids) taken.add(id);
    },
  };
}

let worlds = 0;

/** A number that is the same for the same words. */
function chance(...words: readonly (string | number)[]): number {
  let sum = 7;
  for (const char of words.join(' ')) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
  return sum;
}

export const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
};

const task = (n: number): ScriptedReply => ({
  text: '',
  calls: Array.from({ length: 1 + (n % 2) }, (_, at) => ({
    tool: 'Task',
    input: { description: `part ${at}`, prompt: 'look', subagent_type: n % 3 === 0 ? 'explore' : 'finder' },
  })),
});

/** What an agent does in its `n`-th reply: it reads, writes, sends, calls for children or ends. */
async function reply(
  made: { run: TestRun | null },
  one: Story,
  { agent, purpose }: ModelRequest,
  n: number,
): Promise<ScriptedReply | undefined> {
  const number = chance(one.seed, agent, n);
  await turns(number % 4);
  if (purpose.is !== 'work') return undefined;
  if (n > 5 || made.run === null) return { text: `${agent} ends at ${n}` };
  const { run } = made;
  switch (number % 11) {
    case 0:
      return calling(`write ${agent} ${n}`);
    case 1:
      return calling(`read ${n}`, `read ${n} again`);
    case 2:
    case 3:
      return task(number);
    case 4:
      return { text: '', calls: [{ tool: 'send_message', input: { to: toWhom(run, number), content: `hear ${n}` } }] };
    case 5:
    case 6:
      void run.controls.submit({ do: 'spawn', parent: agent, wish: wishBy(number) }, agent);
      return calling(`read ${n}`);
    case 7:
      if (number % 3 === 0) return { fault: { is: 'refused', message: 'no' } };
      return { text: '', calls: [{ tool: 'ask_user', input: { question: `may I ${n}` } }] };
    default:
      return { text: `${agent} says ${n}` };
  }
}

const toWhom = (run: TestRun, number: number): string => {
  const names = [...run.view.state().agents.values()].map(({ name }) => name);
  return number % 5 === 0 ? 'all' : (names[number % names.length] ?? 'main');
};

export interface Played {
  readonly run: TestRun;
  readonly world: FakeWorld;
}

/** Starts the run of the story, or goes on with the one whose log is given. */
export function begin(one: Story, box: Box, more: Setting = {}): Played {
  // Another process has other names for its calls.
  const own = fakeWorld();
  const world: FakeWorld = { ...own, name: () => `${(worlds += 1)}` };
  const made: { run: TestRun | null } = { run: null };
  const rules = rulesWith(
    {
      orphans: one.orphans,
      mode: { value: one.spawns, from: RULES.enabled.from },
      maxPerParent: { value: one.perParent, from: RULES.enabled.from },
    },
    {
      maxParallelAgents: { ...RULES.maxParallelAgents, value: one.slots },
      maxNestingDepth: { ...RULES.maxNestingDepth, value: 3 },
      maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 40 },
      onFailure: { ...RULES.onFailure, value: one.onFailure },
    },
  );
  made.run = testRun({
    plan: {
      reason: '',
      tasks: ['a', 'b', 'c'].map((id) => ({
        id,
        description: id,
        role: 'leader',
        maySpawn: true,
        dependencies: id === 'c' && one.needs ? ['a'] : [],
      })),
    },
    mode: one.mode,
    person: one.person,
    idle: one.idle,
    approval: one.person && one.asksForPlan ? 'person' : 'flag',
    roles: [...ROLES, LEADER],
    rules,
    world,
    messageStore: box,
    wait: () => turns(1 + (one.seed % 3)),
    script: (request, n) => reply(made, one, request, n),
    ...more,
  });
  return { run: made.run, world };
}

/** Whatever anybody waits for is given, until the run has ended; a line where it does not end. */
export async function settled({ run, world }: Played): Promise<string | null> {
  let over = false;
  void run.result.then(() => (over = true));
  for (let round = 0; round < 600; round += 1) {
    await turns(4);
    if (over) return null;
    const { approvals, agents, planDigest, phase, idle } = run.view.state();
    for (const { id } of approvals)
      void run.controls.submit({ do: 'answer', approval: id, allow: true, scope: 'once', text: '' });
    for (const { id, status } of agents.values())
      if (status === 'interrupted') void run.controls.submit({ do: 'resume', agent: id });
    if (phase === 'approving') void run.controls.submit({ do: 'approve plan', digest: planDigest });
    void run.controls.submit({ do: 'hand over', how: 'stay' });
    await world.advance(idle ? 30_000 : 10_000);
  }
  const { agents } = run.view.state();
  return `it does not end: ${[...agents.values()].map(({ id, status, reason }) => `${id} ${status} ${reason}`).join('; ')}`;
}
