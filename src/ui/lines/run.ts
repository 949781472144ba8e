/** One run as line mode follows it: prints its events at a readable pace, and reports those that change what is asked. */
import { agentTime, changedLines, formatSeconds, plain, plural } from '../../app/views/index.ts';
import { sanitiseData, withAuthors } from '../../app/views/index.ts';
import { FollowedRun } from '../../app/client/index.ts';
import { sanitise, type Io, world } from '../../app/process/index.ts';
import { planLines } from '../../app/reports/index.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import { listed } from '../../domain/lists.ts';
import type { AgentState, MimirEvent, RunState } from '../../events/index.ts';
import type { Command, Controls } from '../../ports/controls.ts';
import type { ProjectService } from '../../ports/project-service.ts';
import { firstLine, statusLine, workAfterStart } from './agents.ts';
import { linesOf } from './event-lines.ts';

export interface RunListeners {
  /** An event that is new, or the last of its kind when a run is joined. */
  readonly happened?: (event: MimirEvent, state: RunState) => void;
  /** The process of the run was lost before the run ended. */
  readonly lost?: (why: string) => void;
}

/** The stored events of an attached run arrive at once; after such a pause they are complete. */
const PAUSE_AFTER_STORED_MS = 120;

export class LineRun extends FollowedRun {
  readonly #print: PrintParts;
  readonly #listeners: RunListeners;
  readonly #joined: Millis | undefined;
  readonly #announcer: Announcer;
  readonly #stopTimers: () => void;
  /** The last stored event of each type that asks the person something. */
  readonly #stored = new Map<MimirEvent['type'], MimirEvent>();
  /** False while stored events are read, which were printed when they happened. */
  #caughtUp: boolean;
  #pause: NodeJS.Timeout | undefined;

  /** `joined`: the run had begun before that time, here or in another process. */
  constructor(controls: Controls, print: PrintParts, listeners: RunListeners = {}, joined?: Millis) {
    super(controls, world);
    this.#print = print;
    this.#listeners = listeners;
    this.#joined = joined;
    this.#caughtUp = joined === undefined;
    this.#announcer = new Announcer(print);
    const timer = setInterval(() => this.#announcer.tick(this.state), PAUSE).unref();
    this.#stopTimers = () => {
      clearInterval(timer);
      clearTimeout(this.#pause);
    };
    this.#awaitPause();
  }

  protected override happened(event: MimirEvent): void {
    if (Date.parse(event.time) >= (this.#joined ?? 0)) this.#catchUp();
    if (this.#caughtUp) {
      this.#announcer.announce(event, this.state);
      return this.#listeners.happened?.(event, this.state);
    }
    if (PROMPT_EVENTS.has(event.type)) this.#stored.set(event.type, event);
    this.#awaitPause();
  }

  protected override wasLost(why: string): void {
    this.#listeners.lost?.(why);
  }

  protected override async stoppedFollowing(): Promise<void> {
    this.#stopTimers();
    if (this.isStopped) return;
    if (this.elsewhere !== undefined) this.#catchUp();
    const { finished } = this.state;
    if (finished === null || finished.endedBy?.is === 'hand-over') return;
    const { say, authors } = this.#print;
    const state = withAuthors(this.state, sanitiseData((await authors?.(this.controls.session)) ?? null));
    for (const line of changedLines(state, 10, 100, '...').slice(0, -1)) say(plain(line));
  }

  /** Nothing new may happen to the run of another process for a long time. */
  #awaitPause(): void {
    if (this.elsewhere === undefined) return;
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#catchUp(), PAUSE_AFTER_STORED_MS);
  }

  /** Prints the present state in place of the stored events, and reports those of them that ask the person something. */
  #catchUp(): void {
    if (this.#caughtUp || this.state.seq === 0) return;
    this.#caughtUp = true;
    const { say, paint, now } = this.#print;
    const { state } = this;
    const head = this.elsewhere === undefined ? 'Resuming' : 'Attached to';
    say(`${head} session ${this.controls.session}: ${firstLine(state.task)}`);
    for (const line of state.phase === 'approving' ? planLines(state, paint) : [statusLine(state, now())]) say(line);
    for (const event of this.#stored.values()) this.#listeners.happened?.(event, state);
  }
}

/** After these commands no plan waits for the person. */
export const DECIDING: ReadonlySet<Command['do']> = new Set(['approve plan', 'reject plan', 'plan again'] as const);

/** Events that change what the person is asked. */
export const PROMPT_EVENTS: ReadonlySet<MimirEvent['type']> = new Set([
  'session.started',
  'session.resumed',
  'plan.proposed',
  'plan.approved',
  'plan.rejected',
  'approval.requested',
  'approval.answered',
  'session.finished',
]);

/** A change of the plan is in the log after at most this time. */
const CHANGED_MS = 2000;

/** Resolves when `done` returns true, or after two seconds. */
export async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < CHANGED_MS; waited += 5) await world.sleep(5);
}

// What is printed by itself, and how often: of tool calls that follow each other closely only the first of an agent is printed, and the
// others are summed into a line for each agent, of many agents into one for all.

/** Between two sums. */
const PAUSE: Millis = 4000;
/** From so many agents on, one line is for all of them. */
const MANY_AGENTS = 4;
/** Agents whose first call within one pause is printed. */
const MOST_PRINTED = 6;

/** How much is printed of what agents do. */
export type Verbosity = 'quiet' | 'normal' | 'verbose';

export interface PrintParts {
  readonly say: (line: string) => void;
  readonly paint: Io['paint'];
  readonly now: () => Millis;
  readonly verbosity: () => Verbosity;
  readonly authors?: ProjectService['authors'];
}

/** These tools have no part in the summaries: a todo list is no step of the work, and a child has lines of its own. */
const NOT_SUMMED: ReadonlySet<string> = new Set(['update_todos', 'Task']);

export class Announcer {
  readonly #of: PrintParts;
  /** Tool calls since the last sum that were not printed. */
  readonly #calls = new Map<AgentId, number>();

  constructor(parts: PrintParts) {
    this.#of = parts;
  }

  /** Prints what the event means to a person, at once or with others a little later. */
  announce(event: MimirEvent, state: RunState): void {
    const verbosity = this.#of.verbosity();
    if (event.type === 'agent.finished') this.#calls.delete(event.agent);
    if (verbosity === 'quiet' && !isLoud(event, state)) return;
    const isSummed = event.type === 'tool.started' && !NOT_SUMMED.has(event.tool) && verbosity !== 'verbose';
    if (isSummed && !this.#isFirst(event.agent)) return;
    for (const line of linesOf(event, state, this.#of)) this.#of.say(line);
  }

  /** Prints the sums of what was not printed; called every few seconds. */
  tick(state: RunState): void {
    const now = this.#of.now();
    const pending = [...this.#calls].filter(([, calls]) => calls > 0);
    this.#calls.clear();
    if (this.#of.verbosity() === 'quiet') return;
    const lines =
      pending.length >= MANY_AGENTS
        ? [sumLine(pending, state)]
        : pending.flatMap(([id]) => progressLine(state.agents.get(id), state, now));
    for (const line of lines) this.#of.say(this.#of.paint.dim(sanitise(line)));
  }

  /** Is it the first call of the agent since the last sum? Others are counted. */
  #isFirst(agent: AgentId): boolean {
    const calls = this.#calls.get(agent);
    const isFirst = calls === undefined && this.#calls.size < MOST_PRINTED;
    this.#calls.set(agent, isFirst ? 0 : (calls ?? 0) + 1);
    return isFirst;
  }
}

/** `[finder] ... 5 tools, 3.2s` */
function progressLine(agent: AgentState | undefined, state: RunState, now: Millis): readonly string[] {
  if (agent === undefined || agent.outcome !== null) return [];
  const time = formatSeconds(agentTime(agent, state, now));
  return [`${workAfterStart(agent)} ... ${plural(agent.toolCalls, 'tool')}, ${time}`];
}

/** `6 agents: 23 more tools, most of them 1 finder 5, 2 reviewer 4 and …` */
function sumLine(pending: readonly (readonly [AgentId, number])[], { agents }: RunState): string {
  const sum = pending.reduce((all, [, calls]) => all + calls, 0);
  const most = pending.toSorted(([, a], [, b]) => b - a).slice(0, 3);
  const names = most.map(([id, calls]) => `${agents.get(id)?.name ?? id} ${calls}`);
  return `${plural(pending.length, 'agent')}: ${plural(sum, 'more tool')}, most of them ${listed(names)}`;
}

/** Is the event printed in quiet mode as well? */
function isLoud(event: MimirEvent, { agents, idle }: RunState): boolean {
  switch (event.type) {
    case 'session.started':
    case 'plan.proposed':
    case 'plan.rejected':
    case 'session.finished':
    case 'session.mode':
    case 'budget.exhausted':
      return true;
    case 'forced.gate':
      return event.due === undefined;
    case 'forced.verdict':
      return !event.pass;
    case 'agent.finished':
      return event.agent === ROOT || agents.get(event.agent)?.outcome !== 'completed';
    case 'agent.message':
      return event.agent === ROOT && idle;
    default:
      return false;
  }
}
