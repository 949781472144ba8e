/** Reads the stored sessions of a project: their events, their state, and whether they can be resumed. A fault of the log is an `Exit` (2). */
import type { Loaded } from '../../config/index.ts';
import { SessionId } from '../../domain/ids.ts';
import { fail } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/text.ts';
import type { EventBody, MimirEvent, RunState } from '../../events/index.ts';
import { closedGates, foldAll, spentOf, FoldedLog, ResumedLog } from '../../events/index.ts';
import type { Rules } from '../../policy/index.ts';
import type { Controls } from '../../ports/controls.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import { type Log, readOrNull, type SessionSummary, type Some } from '../../ports/log.ts';
import type { Damage, LogReader, Place } from '../../store/index.ts';
import { acceptDamage, damageOf, openDayLedger, openLog, openLogReadOnly } from '../../store/index.ts';
import { openMessageStore } from '../../store/index.ts';
import { collectGarbage, exitOnFault, world, wrongUse } from '../process/index.ts';
import { runTime } from '../views/index.ts';
import type { ProjectPlace } from './place.ts';

/** Where the log and the message store of a project are. */
export const storeOf = ({ root, places }: ProjectPlace): Place => ({ stateDir: places.state, project: root });

/** Opens the log of the project read-only. Throws an `Exit` (2) for a fault of the log. */
export const openReader = (project: ProjectPlace): LogReader => exitOnFault(() => openLogReadOnly(storeOf(project)));

/** Opens the log of the project for writing. Throws an `Exit` (2) for a fault of the log. */
export const openProjectLog = (project: ProjectPlace, config?: Pick<Loaded, 'preferences'>): OwnLog =>
  exitOnFault(() => openLog(storeOf(project), undefined, config?.preferences.audit?.checkpointEvery));

type OwnLog = ReturnType<typeof openLog>;

/** The session with this name or prefix, otherwise the newest. Throws an `Exit` (2) if there is none. */
export function sessionOf(reader: Pick<LogReader, 'sessions'>, name: string | undefined): SessionSummary {
  const all = exitOnFault(() => reader.sessions());
  if (name === undefined) {
    // The newest run is preferred to a draft of an agent.
    const newest = all.find(({ draft }) => draft !== true) ?? all[0];
    if (newest) return newest;
    throw wrongUse('this project has no sessions yet\n  `mimir` starts one');
  }
  const found = all.filter(({ session }) => session === name || session.startsWith(name));
  const [one] = found;
  if (one && (found.length === 1 || one.session === name)) return one;
  const words = one ? `${found.length} sessions begin with "${name}"` : `this project has no session "${name}"`;
  throw wrongUse(`${words}\n  \`mimir sessions\` lists them`);
}

/** The session of a run on any machine that shares the database, of which the whole name is needed. Throws an `Exit` (2). */
export function sharedSession(name: string | undefined): SessionId {
  const session = SessionId.safeParse(name);
  if (session.success) return session.data;
  const problem = name === undefined ? 'missing argument: session' : `there is no run "${name}"`;
  throw wrongUse(`${problem}\n  \`mimir cluster status\` lists the runs`);
}

/** The events of a session with a sequence number above `after`. Each iteration reads the log again. */
export const eventsOf = (
  reader: Pick<LogReader, 'each'>,
  session: SessionId,
  after?: number,
  some?: Some,
): Iterable<MimirEvent> => ({
  *[Symbol.iterator]() {
    try {
      yield* reader.each(session, after, some);
    } catch (error) {
      exitOnFault(() => {
        throw error;
      });
    }
  },
});

/** The state of a stored session. Outputs of tools are read from the log on demand. */
export function stateOf(reader: Pick<LogReader, 'each' | 'at'>, session: SessionId): RunState {
  const folded = new FoldedLog((seq) => readOrNull(() => reader.at(session, seq)));
  for (const event of eventsOf(reader, session, 0, { outputs: false })) folded.hear(event);
  return folded.state;
}

/** An agent by its id or name, of the newest session or of the one in `SESSION/AGENT`. Throws an `Exit` (2) if there is none. */
export function agentNamed(project: ProjectPlace, named: string) {
  const cut = named.indexOf('/');
  const reader = openReader(project);
  const { session } = sessionOf(reader, cut === -1 ? undefined : named.slice(0, cut));
  const state = stateOf(reader, session);
  const wanted = named.slice(cut + 1);
  const agents = [...state.agents.values()];
  const one = agents.find(({ id, name }) => id === wanted || name === wanted);
  if (one !== undefined) return { reader, session, state, one };
  const known = agents.map(({ name }) => name);
  throw wrongUse(`there is no agent "${wanted}" in session ${session}\n  ${suggestion(wanted, known)}`);
}

/** The ledger of the daily budget, or null if no rule limits a day. */
export const dayLedgerFor = (rules: Rules, stateDir: string): DayLedger | null =>
  rules.dayBudget === undefined && (rules.modelBudgets ?? []).length === 0
    ? null
    : exitOnFault(() => openDayLedger(stateDir, () => world.now()));

/** A finished session in the form of a live one: all events at once, and no commands. `recorded` gives its events in order, anew on each iteration,
 * possibly without outputs; `at` reads one event whole. If the log has no end, running agents are shown as interrupted. */
export function pastRun(session: SessionId, recorded: Iterable<MimirEvent>, at: NonNullable<Controls['at']>): Controls {
  const end = endOf(session, recorded);
  const reason = 'this session is over: n starts another task';
  return {
    session,
    previewMode: () => Promise.resolve({ refused: reason, looser: false, changes: [], answers: 0 }),
    previewPlan: () => Promise.resolve(fail(reason)),
    submit: () => Promise.resolve(fail({ text: reason })),
    async *events(afterSeq) {
      for (const events of [recorded, end]) for (const event of events) if (event.seq > afterSeq) yield event;
    },
    at,
    ticks: () => () => undefined,
  };
}

/** The final events that a lost process did not record; for the screen only, never written. */
function endOf(session: SessionId, recorded: Iterable<MimirEvent>): readonly MimirEvent[] {
  const state = foldAll(recorded);
  if (state.finished !== null || state.seq === 0) return [];
  const { cost, tokens } = spentOf(state);
  const totals = { cost, tokens, agents: Math.max(0, state.agents.size - 1), duration: runTime(state) };
  const atWork = [...state.agents.values()].filter(({ status }) => AT_WORK.has(status));
  const bodies: readonly EventBody[] = [
    ...atWork.map(({ id }): EventBody => ({ type: 'agent.status', agent: id, status: 'interrupted', reason: ENDED })),
    { type: 'session.finished', status: 'stopped', summary: ENDED, totals },
  ];
  const time = new Date(state.lastAt).toISOString();
  return bodies.map((body, at): MimirEvent => ({ ...body, v: 1, seq: state.seq + 1 + at, time, session }));
}

const ENDED = 'its process ended';
const AT_WORK: ReadonlySet<string> = new Set(['initializing', 'running', 'waiting']);

/** The newest session of `all` that was stopped; drafts of agents cannot be resumed. */
export const newestStopped = (all: readonly SessionSummary[]): SessionSummary | undefined =>
  all.find(({ state, draft }) => state === 'stopped' && draft !== true);

/** The newest session of `all` that can be resumed without a message: it was stopped, or it failed and its failed tasks can run again. */
export const newestResumable = (all: readonly SessionSummary[]): SessionSummary | undefined =>
  all.find(
    ({ state, draft, ended }) =>
      draft !== true && (state === 'stopped' || (state === 'finished' && ended?.status === 'failed')),
  );

/** Why a session cannot be resumed, or null. A failed run can be resumed, for example with a higher limit; any run can
 * with a message. Throws an `Exit` if its log is damaged: resuming from an older copy would repeat work. */
export function whyNotResume(
  from: ResumeContext,
  { session, draft, ended }: SessionSummary,
  isFollowUp = false,
): string | null {
  const folded = checkedOnce(from, session);
  if (draft === true) return `session ${session} only drafted an agent and cannot be resumed`;
  if (ended?.status === 'rejected') return `the plan of session ${session} was rejected`;
  if (ended?.status !== 'completed' || isFollowUp || closedGates(folded.state).length > 0) return null;
  return hasMessages(from.project, session) ? null : `session ${session} has completed`;
}

function checkedOnce(from: ResumeContext, session: SessionId): ResumedLog {
  const folded = from.folded.get(session) ?? checkLog(from, session);
  from.folded.set(session, folded);
  return folded;
}

interface ResumeContext {
  readonly project: ProjectPlace;
  readonly log: Log;
  /** Sessions whose log was checked and folded, until they are resumed. */
  readonly folded: Map<SessionId, ResumedLog>;
}

/** Checks and folds the log in one pass; the run continues from this state. */
function checkLog({ project, log }: ResumeContext, session: SessionId): ResumedLog {
  const folded = new ResumedLog((seq) => readOrNull(() => log.at(session, seq)));
  const hear = (event: MimirEvent): void => {
    folded.hear(event);
    if (event.seq % COLLECTED_AFTER === 0) collectGarbage();
  };
  const damage = exitOnFault(() => damageOf(storeOf(project), session, hear));
  if (damage !== null) throw wrongUse(damageWords(session, damage));
  return folded;
}

/** Events of a long log, about 160 MB of it, after which garbage is collected. */
const COLLECTED_AFTER = 80_000;

/** Records that the person accepts the damage of the log and returns a note about it; null if the log is intact. */
export function acceptedDamage(project: ProjectPlace, session: SessionId, now: string): string | null {
  const place = storeOf(project);
  const damage = exitOnFault(() => damageOf(place, session));
  if (damage === null) return null;
  exitOnFault(() => acceptDamage(place, session, now));
  return `the log of session ${session} is damaged (record ${damage.seq} ${damage.problem}): the run continues from record ${damage.last}, as you asked`;
}

const damageWords = (session: SessionId, { seq, problem, last, file }: Damage): string =>
  [
    `the log of session ${session} is damaged: record ${seq} ${problem}`,
    `what the run did after record ${last} is missing and could be done a second time`,
    `if you have a newer copy of ${file}, restore it; \`mimir audit verify\` lists all damage`,
    `\`mimir resume ${session} --accept-damaged-log\` continues from record ${last} anyway`,
  ].join('\n  ');

const hasMessages = (project: ProjectPlace, session: SessionId): boolean =>
  exitOnFault(() => openMessageStore(storeOf(project)).waiting(session)).length > 0;
