/** Answers about the sessions of a run from its log, for the process that serves the run and for commands that read the log. */
import { runSpending } from '../views/index.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import { fail, ok } from '../../domain/result.ts';
import type { RunSessions, MimirEvent, Naming, RunState } from '../../events/index.ts';
import { createdTimes, isOf, maySee, maySeeEvent, recordsWith, sessionDetail } from '../../events/index.ts';
import { withoutWords } from '../../events/index.ts';
import type { RunApi } from '../../ports/control.ts';
import type { RunView } from '../../ports/controls.ts';

export interface Knowing {
  /** `childRules(rules)` has both. */
  readonly children: { readonly naming: Naming; readonly idleTimeout: Millis };
  readonly now: () => Millis;
  /** How many stored messages to the run were not delivered yet. */
  readonly letters: () => number;
  /** The state of the run; absent in the process that carries it, where it is running. */
  readonly is?: () => RunSessions['state'];
}

/** Answers about `view`. Each asker gets what it may see; null is the person. */
export function runApi(view: RunView, knowing: Knowing): Pick<RunApi, 'family' | 'detail' | 'events'> {
  const times = timesOf(view);
  const detail: RunApi['detail'] = (asker, agent) => {
    const found = view.state().agents.get(agent);
    if (found === undefined) return fail(`there is no session ${agent} in this run`);
    return maySee(view.state(), asker, agent) ? ok(sessionDetail(found, knowing.now())) : fail(notYours(agent));
  };
  return {
    family: (asker) => familyOf(view, knowing, times(), asker),
    detail,
    events: (asker, agent, after) => {
      const state = view.state();
      if (agent !== null && !state.agents.has(agent)) return fail(`there is no session ${agent} in this run`);
      if (agent !== null && !maySee(state, asker, agent)) return fail(notYours(agent));
      return ok(seenBy(view.each(after), state, { asker, agent }));
    },
  };
}

/** The events of one agent, or of the whole run, that `asker` may see. */
function* seenBy(
  events: Iterable<MimirEvent>,
  state: RunState,
  { asker, agent }: { readonly asker: AgentId | null; readonly agent: AgentId | null },
): Generator<MimirEvent> {
  for (const event of events)
    if ((agent === null || isOf(event, agent)) && maySeeEvent(state, asker, event)) yield event;
}

const notYours = (agent: AgentId): string =>
  `only its ancestors can see what ${agent} does\n  \`mimir others\` shows its state, \`mimir send ${agent} "…"\` asks it`;

/** When agents were created. Newer events are read only when there are more agents. */
function timesOf(view: RunView): () => ReadonlyMap<AgentId, string> {
  const known = new Map<AgentId, string>();
  let upTo = 0;
  return () => {
    if (known.size === view.state().agents.size) return known;
    const { seq } = view.state();
    for (const [agent, time] of createdTimes(view.each(upTo, { types: ['agent.created'] }))) known.set(agent, time);
    upTo = seq;
    return known;
  };
}

function familyOf(
  view: RunView,
  { children, now, letters, is = () => 'running' }: Knowing,
  created: ReadonlyMap<AgentId, string>,
  asker: AgentId | null,
): RunSessions {
  const state = view.state();
  const { cost, tokens } = runSpending(state);
  const how = is();
  const looking = { ...children, now: now(), alive: how === 'running' };
  return {
    run: view.session,
    state: how,
    // The task belongs to the main conversation.
    task: asker === null || maySee(state, asker, ROOT) ? state.task : '',
    mode: state.mode,
    started_at: new Date(state.startedAt).toISOString(),
    cost,
    tokens,
    questions: state.approvals.length + (state.phase === 'approving' ? 1 : 0),
    kept_messages: letters(),
    reviews_due: state.gates.flatMap(({ role, due }) => (due === undefined ? [] : [role])),
    you: asker,
    sessions: recordsWith(state, created, looking).map((record) =>
      maySee(state, asker, record.agent) ? record : withoutWords(record),
    ),
  };
}
