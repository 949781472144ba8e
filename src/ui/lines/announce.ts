/**
 * What is said of a run by itself: short lines, no faster than a person hears them. Tools of one agent that come close together are summed
 * into a line of how far it is, those of many agents into one; how much is said at all is the person's to choose.
 */
import { agentTime } from '../../app/views/run-time.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { counted } from '../../app/views/text/format.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import { knownWork, secondsText, listed } from './words/agents.ts';
import { linesOf } from './event-lines.ts';
import type { Verbosity } from './memory.ts';

/** Between two lines about the tools of one agent. */
const PAUSE: Millis = 4000;
/** From so many agents at once on, one line is for all of them. */
const MANY = 4;
/** Lines about single tools in one pause, of all agents together. */
const MOST_TOOLS = 6;

export interface AnnouncerParts {
  readonly say: (line: string) => void;
  readonly paint: Io['paint'];
  readonly now: () => Millis;
  readonly verbosity: () => Verbosity;
}

/** Tools that are no steps of the work: a list, and a child that has lines of its own. */
const SAID: ReadonlySet<string> = new Set(['update_todos', 'Task']);

interface Burst {
  /** When a line was said about its tools last. */
  at: Millis;
  unsaid: number;
}

export class Announcer {
  readonly #of: AnnouncerParts;
  readonly #bursts = new Map<AgentId, Burst>();
  #window: Millis = Number.NEGATIVE_INFINITY;
  #tools = 0;

  constructor(parts: AnnouncerParts) {
    this.#of = parts;
  }

  /** Says what the event means to a person, now or with others a little later. */
  hear(event: MimirEvent, state: RunState): void {
    const verbosity = this.#of.verbosity();
    if (event.type === 'agent.finished') this.#bursts.delete(event.agent);
    if (verbosity === 'quiet' && !isLoud(event, state)) return;
    if (event.type === 'tool.started' && !SAID.has(event.tool) && verbosity !== 'verbose') {
      return this.#tool(event.agent, () => this.#say(event, state));
    }
    this.#say(event, state);
  }

  /** Says the sums that are due; called every second or so. `all`: those as well that aren't due yet. */
  tick(state: RunState, all = false): void {
    const now = this.#of.now();
    const due = [...this.#bursts].filter(([, { at, unsaid }]) => unsaid > 0 && (all || now - at >= PAUSE));
    if (due.length === 0) return;
    for (const [, burst] of due) burst.at = now;
    const lines =
      due.length >= MANY
        ? [sumLine(due, state)]
        : due.flatMap(([id]) => progressLine(state.agents.get(id), state, now));
    for (const [, burst] of due) burst.unsaid = 0;
    if (this.#of.verbosity() === 'quiet') return;
    for (const line of lines) this.#of.say(this.#of.paint.dim(harmless(line)));
  }

  #say(event: MimirEvent, state: RunState): void {
    for (const line of linesOf(event, state, this.#of)) this.#of.say(line);
  }

  /** The first of a while is said at once, unless others have said enough. */
  #tool(agent: AgentId, say: () => void): void {
    const now = this.#of.now();
    if (now - this.#window >= PAUSE) [this.#window, this.#tools] = [now, 0];
    const burst = this.#bursts.get(agent) ?? { at: Number.NEGATIVE_INFINITY, unsaid: 0 };
    this.#bursts.set(agent, burst);
    if (now - burst.at >= PAUSE && burst.unsaid === 0 && this.#tools < MOST_TOOLS) {
      burst.at = now;
      this.#tools += 1;
      return say();
    }
    if (burst.at === Number.NEGATIVE_INFINITY) burst.at = now;
    burst.unsaid += 1;
  }
}

/** `[finder] ... 5 tools, 3.2s` */
function progressLine(agent: AgentState | undefined, state: RunState, now: Millis): readonly string[] {
  if (agent === undefined || agent.outcome !== null) return [];
  const time = secondsText(agentTime(agent, state, now));
  return [`${knownWork(agent)} ... ${counted(agent.toolCalls, 'tool')}, ${time}`];
}

/** `6 agents: 23 more tools (1 finder 5, 2 reviewer 4, ...)` */
function sumLine(due: readonly (readonly [AgentId, Burst])[], { agents }: RunState): string {
  const sum = due.reduce((all, [, { unsaid }]) => all + unsaid, 0);
  const most = [...due].sort(([, a], [, b]) => b.unsaid - a.unsaid).slice(0, 3);
  const names = most.map(([id, { unsaid }]) => `${agents.get(id)?.name ?? id} ${unsaid}`);
  return `${counted(due.length, 'agent')}: ${counted(sum, 'more tool')}, most of them ${listed(names, 'and')}`;
}

/** What is said even where a person wants quiet. */
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
