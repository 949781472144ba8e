/** What is told of a run's sessions, by its log, to whoever asks: the answers of the process that serves, and of verbs that look back. */
import { runSpending } from '../views/spending/spending.ts';
import type { AgentId, Millis } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import { fail, ok } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Naming } from '../../events/sessions/name.ts';
import type { Family } from '../../events/sessions/record.ts';
import { isOf, maySee, maySeeEvent, withoutWords } from '../../events/sessions/visibility.ts';
import { createdTimes, recordsWith, sessionDetail } from '../../events/sessions/sessions.ts';
import type { RunState } from '../../events/state.ts';
import type { Given } from '../../ports/control.ts';
import type { RunView } from '../../ports/controls.ts';

export interface Knowing {
  /** `childRules(rules)` has both. */
  readonly children: { readonly naming: Naming; readonly idleTimeout: Millis };
  readonly now: () => Millis;
  /** Letters to the run that were not taken yet. */
  readonly letters: () => number;
  /** Where the run stands; `running` where it is this process that carries it. */
  readonly is?: () => Family['state'];
}

/** Answers about `view`, each as its asker may see it. */
export function givenBy(view: RunView, knowing: Knowing): Pick<Given, 'family' | 'detail' | 'events'> {
  const times = timesOf(view);
  const detail: Given['detail'] = (asker, agent) => {
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

/** Of one agent, or of the whole run, what `asker` may see. */
function* seenBy(
  events: Iterable<MimirEvent>,
  state: RunState,
  { asker, agent }: { readonly asker: AgentId | null; readonly agent: AgentId | null },
): Generator<MimirEvent> {
  for (const event of events)
    if ((agent === null || isOf(event, agent)) && maySeeEvent(state, asker, event)) yield event;
}

const notYours = (agent: AgentId): string =>
  `what ${agent} says and does is for those above it\n  \`mimir others\` says where it stands, \`mimir send ${agent} "…"\` asks it`;

/** When agents were created: the log is read on from where it was left, and only when there are more of them. */
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
): Family {
  const state = view.state();
  const { cost, tokens } = runSpending(state);
  const how = is();
  const looking = { ...children, now: now(), alive: how === 'running' };
  return {
    run: view.session,
    state: how,
    // The main conversation begins with it, and that is nobody else's.
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
