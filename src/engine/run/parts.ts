/** Puts the parts of one run together: recorder, gate, crew. What they do with each other is in their own files. */
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { ok, type Result } from '../../domain/result.ts';
import { isFinal } from '../../events/queries.ts';
import { roleNamed } from '../../policy/roles.ts';
import type { Tick } from '../../ports/controls.ts';
import type { Executor } from '../../ports/executor.ts';
import type { World } from '../../ports/world.ts';
import { runAgent } from '../agents/agent-loop.ts';
import { type Approvals, openApprovals } from '../gate/approvals.ts';
import { type Children, openChildren } from '../messaging/children.ts';
import { fallbacksFor, modelFor, namedBy } from '../planning/model-selection.ts';
import { type Crew, openCrew } from '../agents/supervisor.ts';
import { type Conversations, openConversations } from '../agents/conversations.ts';
import { deskOf } from '../messaging/tool-host.ts';
import { withEnvironment } from '../agents/environment.ts';
import { type Forced, openForced } from '../reviews/reviews.ts';
import type { RunContext } from '../gate/context.ts';
import { type Gate, type GateNeeds, openGate } from '../gate/gate.ts';
import { type LimitBook, openLimitBook } from '../gate/budget/limit.ts';
import { type Hold, openHold } from '../gate/drain-latch.ts';
import { openSwitches, type Switches } from '../gate/model/provider-wait.ts';
import { type Inbox, openInbox } from '../messaging/inbox.ts';
import { type Loans, openLoans } from '../agents/yield-slot.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import type { PlanDecision } from '../planning/approval.ts';
import { openRecorder, type Recorder } from './recorder.ts';
import { redactedTicks } from '../gate/redaction.ts';
import type { RunOptions, RunResult } from './run-options.ts';
import type { Scheduling } from '../agents/scheduler.ts';
import { openSlots, type Slots } from '../agents/slots.ts';
import { steadyWorld } from './steady.ts';

export interface RunParts {
  readonly options: RunOptions;
  readonly recorder: Recorder;
  readonly conversations: Conversations;
  readonly world: World;
  readonly gate: Gate;
  readonly crew: Crew;
  readonly children: Children;
  readonly forced: Forced;
  readonly inbox: Inbox;
  readonly approvals: Approvals;
  readonly limits: LimitBook;
  readonly switches: Switches;
  readonly hold: Hold;
  readonly loans: Loans;
  readonly root: NewAgent;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  readonly ticks: Set<(tick: Tick) => void>;
  /** `now`: set once agents run. `amend`: brings them in line with the plan in force; set while it may be amended. */
  readonly scheduling: { now: Scheduling<AgentId> | null; amend: (() => void) | null };
  /** Set while a plan waits for a person. */
  readonly deciding: { now: ((decision: PlanDecision) => void) | null };
  readonly slots: Slots;
  /** Set while ROOT of a run without a plan works: `lend` gives its slot back, as `Crew.lend` does, `interrupt` ends its turn. */
  readonly rootSeat: { lend: (() => () => Promise<void>) | null; interrupt: (() => void) | null };
  /** `now`: set while the run is to be handed over, takes that back. `isOver`: it stopped for that. */
  readonly handing: { now: (() => void) | null; isOver: boolean };
  /** Tried again by rule already: once is enough. */
  readonly retried: Set<AgentId>;
  /** Why the run could not go on, and what kind of fault it was; set by `failed`. */
  readonly trouble: { text: string | null; is: RunResult['errorIs'] };
  failed(text: string, is: RunResult['errorIs']): void;
  stop(reason: string): void;
}

/** No jump of the wall clock reaches what is measured in a run. */
export const openParts = (options: RunOptions, root: NewAgent): RunParts =>
  partsOf({ ...options, world: steadyWorld(options.world) }, root);

function partsOf(given: RunOptions, root: NewAgent): RunParts {
  const { world } = given;
  const recorder = openRecorder(given.log, given.session, world, given.redactor);
  const control = new AbortController();
  const made: { crew: Crew | null } = { crew: null };
  const crewOf = (): Crew => {
    if (made.crew === null) throw new Error('asked for a child before there was a crew');
    return made.crew;
  };
  const trouble: RunParts['trouble'] = { text: null, is: null };
  const failed: RunParts['failed'] = (text, is) => void Object.assign(trouble, { text, is });
  const stop: RunParts['stop'] = (reason) => {
    control.abort(reason);
    made.crew?.stopAll();
  };
  const pause: RunContext['fail'] = (text, is) => {
    failed(text, is);
    stop(text);
  };
  const options = watched(given, (text) => pause(text, 'denied'));
  const { rootSeat, lending } = openRootSeat(crewOf);
  const forced = openForced({ options, recorder, world, crew: () => lending, signal: control.signal, pause });
  const approvals = approvalsOf(recorder, options, () => parts);
  const children = openChildren(() => parts);
  const books = {
    inbox: openInbox(recorder),
    conversations: openConversations(recorder),
    limits: openLimitBook(),
    switches: openSwitches(),
    hold: openHold(),
    loans: openLoans(lending.lend),
    ticks: new Set<(tick: Tick) => void>(),
  };
  const context: RunContext = { recorder, world, rules: () => options.rules, signal: control.signal, fail: pause };
  const gate = gateOf(context, options, { ...books, approvals, forced, children, crew: crewOf });
  const slots = openSlots(options.rules.maxParallelAgents.value);
  const executor = executorOf(options, recorder, gate);
  const crew = openCrew({ ...books, recorder, slots, world, executor, ties: children });
  made.crew = crew;
  const parts: RunParts = {
    ...books,
    children,
    options,
    recorder,
    world,
    gate,
    crew,
    forced,
    approvals,
    slots,
    rootSeat,
    root,
    signal: control.signal,
    ...nothingYet(),
    trouble,
    failed,
    stop,
  };
  return parts;
}

const executorOf = (options: RunOptions, recorder: Recorder, gate: Gate): Executor => ({
  run: async (order, signal) => runAgent(await withEnvironment({ options, recorder }, order, signal), gate, signal),
});

const nothingYet = (): Pick<RunParts, 'scheduling' | 'deciding' | 'handing' | 'retried'> => ({
  scheduling: { now: null, amend: null },
  deciding: { now: null },
  handing: { now: null, isOver: false },
  retried: new Set(),
});

/** Who waits for a child, or is at no work, runs by no answer. */
function approvalsOf(recorder: Recorder, options: RunOptions, parts: () => RunParts): Approvals {
  const rests = (agent: AgentId): boolean =>
    agent === ROOT ? recorder.state().idle && parts().rootSeat.lend === null : parts().crew.rests(agent);
  const within = (): number | undefined => options.rules.answerWithin?.value;
  return openApprovals(recorder, options.world, within, (agent) => parts().loans.waits(agent), rests);
}

/** ROOT has no seat in the crew: where it works itself, its slot is lent here. */
function openRootSeat(crew: () => Crew): {
  readonly rootSeat: RunParts['rootSeat'];
  readonly lending: Pick<Crew, 'run' | 'lend'>;
} {
  const rootSeat: RunParts['rootSeat'] = { lend: null, interrupt: null };
  const lend: Crew['lend'] = (agent) => (agent === ROOT ? rootSeat.lend?.() : undefined) ?? crew().lend(agent);
  return { rootSeat, lending: { run: (...call) => crew().run(...call), lend } };
}

/**
 * The same options with the rules of the moment: whoever looks at `rules` sees what holds now. Files are looked at once for all
 * that is decided in one go: until something was waited for, nobody else's change could have been seen in between.
 */
function watched(options: RunOptions, pause: (text: string) => void): RunOptions {
  const { law } = options;
  if (law === undefined) return options;
  let last = options.rules;
  let looked = false;
  return {
    ...options,
    get rules() {
      if (looked) return last;
      looked = true;
      queueMicrotask(() => (looked = false));
      const now = law.now();
      if (now.ok) last = now.value;
      else pause(now.fault);
      return last;
    },
  };
}

interface Around extends Pick<RunParts, 'approvals' | 'inbox' | 'limits' | 'switches' | 'forced' | 'hold'> {
  readonly ticks: RunParts['ticks'];
  readonly crew: () => Crew;
  readonly children: Children;
  readonly loans: Loans;
}

function gateOf(context: RunContext, options: RunOptions, around: Around): Gate {
  const { recorder } = context;
  const { approvals, inbox, limits, switches, forced, ticks, crew, loans, hold, children } = around;
  const { models, tools, doors, day, person } = options;
  const ports = { models, tools, doors, day };
  const tick: GateNeeds['tick'] = (one) => {
    for (const listener of ticks) listener(one);
  };
  return openGate(context, ports, {
    notes: () => options.law?.notes?.() ?? [],
    person,
    planByHand: options.approval === 'person',
    approvals,
    inbox,
    forced,
    limits,
    switches,
    hold,
    desk: (order, call, signal) =>
      deskOf({ recorder, inbox, approvals, person, options, crew, loans, children, call }, order, signal),
    tick: options.redactor === undefined ? tick : redactedTicks(tick, options.redactor),
    hide: (text) => options.redactor?.known(text) ?? text,
    roles: rolesOf(options),
    personSays: (to, content) =>
      inbox.send({ from: 'person', sender: null, to, kind: 'request', delivery: 'important', content }),
    abandon: (child, why) => {
      const one = recorder.state().agents.get(child);
      if (one && !isFinal(one)) recorder.record(crew().finished(child, 'abandoned', one.summary, why));
    },
  });
}

const rolesOf = (options: RunOptions): GateNeeds['roles'] => ({
  modelsOf: (name) => {
    const role = roleNamed(name, options.roles);
    return role === null ? [] : namedBy(options, role);
  },
  capabilitiesOf: (role) => roleNamed(role, options.roles)?.capabilities ?? [],
  fallbacksFor: (name, asked) => {
    const role = roleNamed(name, options.roles);
    const model = role === null ? null : modelFor(options, role, asked);
    return role === null || !model?.ok ? [] : fallbacksFor(options, role, model.value.choice.used);
  },
});

/** `main`: plans, merges, and is what unplanned children hang below. Its budget is the run's. Or why it has no model. */
export function rootAgent(options: RunOptions): Result<NewAgent, string> {
  const role = roleNamed('main', options.roles);
  if (role === null) throw new Error('the role "main" is missing from the package');
  const model = modelFor(options, role, options.roleModels.get('main') ?? options.model);
  if (!model.ok) return model;
  return ok({
    agent: ROOT,
    parent: null,
    role,
    name: 'main',
    task: options.task,
    taskId: null,
    model: model.value.choice,
    capabilities: role.capabilities,
    budget: options.runBudget,
    dependsOn: [],
  });
}
