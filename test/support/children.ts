/** Runs with children beyond the plan: what each agent does in its turns, and what comes of it. */
import type { Result } from '../../src/domain/result.ts';
import type { SpawnRequest } from '../../src/domain/agents/agent.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import type { Role } from '../../src/domain/agents/role.ts';
import { RoleName } from '../../src/domain/ids.ts';
import type { ScriptedReply } from './scripted.ts';
import type { Rules, ChildRules } from '../../src/policy/rules.ts';
import type { Command, Delivery, Receipt, Refusal } from '../../src/ports/controls.ts';
import { AGENT, filed, planOf, ROLES, RULES, type Setting, type TestRun, testRun } from './run.ts';

/** What an agent does before its next reply, and the reply. */
export type Act = (run: TestRun) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;

/** A role that may have children of its own, as custom ones may. */
export const LEADER: Role = {
  ...(ROLES.find(({ name }) => name === 'oracle') ?? never()),
  name: RoleName.parse('leader'),
  capabilities: ['read', 'write', 'spawn'],
};

function never(): never {
  throw new Error('the roles of the tests have lost one');
}

/** Each agent by its turns; whoever has none left says that it is done. One finder by plan, in yolo mode, when it isn't said. */
export function acting(acts: Readonly<Record<string, readonly (Act | undefined)[]>>, setting: Setting = {}): TestRun {
  const made: { run: TestRun | null } = { run: null };
  made.run = testRun({
    plan: planOf(['a']),
    mode: 'yolo',
    roles: [...ROLES, LEADER],
    ...(setting.plan === LED ? filed(LED) : {}),
    ...setting,
    script: async (request, n) => {
      const { agent, purpose } = request;
      if (purpose.is !== 'work' || made.run === null) return setting.script?.(request, n);
      return (await acts[agent]?.[n]?.(made.run)) ?? setting.script?.(request, n);
    },
  });
  return made.run;
}

/** A plan of one leader. */
export const LED: unknown = {
  reason: '',
  tasks: [{ id: 'lead', description: 'lead', role: 'leader', maySpawn: true }],
};

export const wishOf = (prompt: string, more: Partial<SpawnRequest> = {}): SpawnRequest => ({
  prompt,
  role: 'explore',
  model: null,
  name: null,
  wait: null,
  workingDir: null,
  ...more,
});

export const ask = (run: TestRun, command: Command, by?: string): Promise<Result<Receipt, Refusal>> =>
  run.controls.submit(command, by === undefined ? undefined : AGENT(by));

/** Of a person where `by` is left out; the child's id, or the refusal. */
export async function spawned(
  run: TestRun,
  parent: string,
  more: Partial<SpawnRequest> = {},
  by?: string,
): Promise<string> {
  const wish = wishOf(more.prompt ?? 'look there', more);
  const done = await ask(run, { do: 'spawn', parent: AGENT(parent), wish }, by);
  return done.ok ? (done.value.agent ?? '') : done.fault.text;
}

/** An agent that spawns for itself. */
export const spawns =
  (of: string, more: Partial<SpawnRequest> = {}, reply?: ScriptedReply): Act =>
  async (run) => {
    await spawned(run, of, more, of);
    return reply;
  };

/** Text as its whole answer. */
export const says =
  (text: string): Act =>
  () => ({ text });

export const rulesWith = (children: Partial<ChildRules>, more: Partial<Rules> = {}): Rules => ({
  ...RULES,
  ...more,
  children,
});

/** Agent and outcome of all but ROOT. */
export const outcomes = (run: TestRun): readonly string[] =>
  [...run.state().agents.values()].flatMap(({ id, outcome }) => (id === 'ROOT' ? [] : [`${id} ${outcome ?? '-'}`]));

/** Reader, child, kind and words of each notice, in order. */
export const notices = (run: { events(): readonly MimirEvent[] }): readonly string[] =>
  run
    .events()
    .flatMap((event) =>
      event.type === 'message.sent' && event.notice !== undefined
        ? [`${event.to} < ${event.notice.of} ${event.notice.is}: ${event.content}`]
        : [],
    );

/** The statuses of an agent, in order. */
export const statusesOf = (run: TestRun, agent: string): readonly string[] =>
  run
    .events()
    .flatMap((event) =>
      (event.type === 'agent.status' || event.type === 'agent.finished') && event.agent === agent ? [event.status] : [],
    );

/** Open until somebody lets go. */
export const gate = (): PromiseWithResolvers<void> => Promise.withResolvers<void>();

/** What a model does that answers only when `go` is resolved. */
export const waits =
  (go: PromiseWithResolvers<void>, reply?: ScriptedReply): Act =>
  async () => {
    await go.promise;
    return reply;
  };

/** Resolves when the agent has ended so; null: when it has not ended, or goes on. */
export const has = (run: TestRun, agent: string, outcome: string | null): Promise<unknown> =>
  run.until(({ agents }) => agents.get(AGENT(agent))?.outcome === outcome);

/** Resolves when the agent has had so many replies. */
export const inTurn = (run: TestRun, agent: string, turn: number): Promise<unknown> =>
  run.until(({ agents }) => agents.get(AGENT(agent))?.iterations === turn);

/** Writes "more" to the agent; how it was sent, or why not. */
export const send = async (
  run: TestRun,
  to: string,
  by?: string,
  delivery: Delivery = 'important',
): Promise<unknown> => {
  const done = await ask(run, { do: 'message', to: to === 'all' ? to : AGENT(to), text: 'more', delivery }, by);
  return done.ok ? (done.value.sent ?? done.value.text) : done.fault.text;
};
