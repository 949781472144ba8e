/**
 * What a person is told who looks elsewhere: a question, a failure, the end, money running out, a plan to approve. Several things
 * within two seconds are told as one. How it is told (desktop, bell) is the terminal's.
 */
import { ROOT } from '../../../../domain/ids.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { MimirEvent } from '../../../../events/event.ts';
import { runShare, runSpending } from '../../../../app/views/spending/spending.ts';
import type { RunState } from '../../../../events/state.ts';
import type { World } from '../../../../ports/world.ts';
import { counted, formatShare } from '../../../../app/views/text/format.ts';
import type { Notice } from '../../terminal/terminal.ts';

/** One thing that happened. */
export interface Happening {
  readonly is: 'asks' | 'failed' | 'ended' | 'budget' | 'plan';
  /** Who: an agent's name, or the run. */
  readonly who: string;
  /** What, without who and cost. */
  readonly words: string;
}

/** From this share of the run's budget on it is told. */
const NEARLY_SPENT = 0.8;

/** What of an event is worth telling, or null; `before` and `after` are the run on both sides of it. */
export function happeningOf(event: MimirEvent, before: RunState, after: RunState): Happening | null {
  switch (event.type) {
    case 'approval.requested':
      return {
        is: 'asks',
        who: nameOf(after, event.agent),
        words: `asks: ${questionOf(event.request, roleOf(after, event.agent))}`,
      };
    case 'agent.finished':
      if (event.agent === ROOT || event.outcome !== 'failed') return null;
      return {
        is: 'failed',
        who: nameOf(after, event.agent),
        words: `failed: ${firstLine(event.error ?? event.summary)}`,
      };
    case 'session.finished':
      // It goes on in another process.
      if (event.endedBy?.is === 'hand-over') return null;
      return {
        is: 'ended',
        who: 'the run',
        words: `${ENDED[event.status]} with ${counted(event.totals.agents, 'agent')}`,
      };
    case 'plan.proposed':
      return { is: 'plan', who: 'the plan', words: `is ready: ${counted(event.plan.tasks.length, 'task')} to approve` };
    case 'model.finished':
    case 'model.started':
      return nearlySpent(before, after);
    default:
      return null;
  }
}

const ENDED: Readonly<Record<Extract<MimirEvent, { type: 'session.finished' }>['status'], string>> = {
  completed: 'is done',
  failed: 'failed',
  rejected: 'was not approved',
  stopped: 'was stopped',
};

function nearlySpent(before: RunState, after: RunState): Happening | null {
  const [was, is] = [before, after].map((state) => {
    const share = runShare(state);
    return share === null ? null : share.spent + share.reserved;
  });
  if (was == null || is == null || was >= NEARLY_SPENT || is < NEARLY_SPENT) return null;
  return { is: 'budget', who: 'the run', words: `has used or promised ${formatShare(is)} of its budget` };
}

/** `may I run npm test?`, or the question itself. Who asks was said: the role in front of an act is left out. */
function questionOf(
  { action, title }: Extract<MimirEvent, { type: 'approval.requested' }>['request'],
  role: string | undefined,
): string {
  const line = firstLine(title);
  const what = role !== undefined && line.startsWith(`${role}: `) ? line.slice(role.length + 2) : line;
  if (action === 'shell') return `may I run ${what}?`;
  if (action === 'question' || what.endsWith('?')) return what;
  return `${what}?`;
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
const roleOf = ({ agents }: RunState, agent: string): string | undefined =>
  [...agents.values()].find(({ id }) => id === agent)?.role;
const nameOf = ({ agents }: RunState, agent: string): string =>
  [...agents.values()].find(({ id }) => id === agent)?.name ?? agent;

/** What several things at once are told as; the money is what the run has cost by now. */
export function wordsOf(happenings: readonly Happening[], state: RunState): string {
  const cost = `$${runSpending(state).cost.toFixed(2)}`;
  const [only] = happenings;
  if (only === undefined) return cost;
  if (happenings.length === 1) return `${only.who} ${only.words} · ${cost}`;
  // The end says more than what led to it.
  const end = happenings.find(({ is }) => is === 'ended');
  if (end !== undefined) return `${end.who} ${end.words} · ${cost}`;
  const names = [...new Set(happenings.map(({ who }) => who))].slice(0, MOST_NAMES).join(', ');
  return `${together(happenings)}: ${names} · ${cost}`;
}

const MOST_NAMES = 4;

function together(happenings: readonly Happening[]): string {
  const many = happenings.length;
  if (happenings.every(({ is }) => is === 'asks')) return `${many} agents need you`;
  if (happenings.every(({ is }) => is === 'failed')) return `${many} agents failed`;
  return `${many} things need you`;
}

export interface NoticesParts {
  readonly world: World;
  readonly bell: boolean;
  readonly desktop: boolean;
  readonly notify: (notice: Notice) => void;
  readonly fail: (error: unknown) => void;
}

/** Things that come within this time are told together. */
const BURST: Millis = 2000;

export class Notices {
  readonly #of: NoticesParts;
  /** A terminal that never says that it lost the focus is one that the person looks at. */
  #looked = true;
  #waiting: readonly Happening[] = [];
  #state: RunState | null = null;

  constructor(parts: NoticesParts) {
    this.#of = parts;
  }

  /** Whoever looks needs not be told. */
  focus(has: boolean): void {
    this.#looked = has;
    if (has) this.#waiting = [];
  }

  happened(event: MimirEvent, before: RunState, after: RunState): void {
    if (this.#looked || !(this.#of.bell || this.#of.desktop)) return;
    const happening = happeningOf(event, before, after);
    this.#state = after;
    if (happening === null) return;
    this.#waiting = [...this.#waiting, happening];
    // The first of a burst starts the clock for all of it.
    if (this.#waiting.length === 1) void this.#of.world.sleep(BURST).then(() => this.#tell(), this.#of.fail);
  }

  #tell(): void {
    const { bell, desktop, notify } = this.#of;
    const told = this.#waiting.filter((one) => one.is !== 'asks' || this.#stillAsked(one));
    this.#waiting = [];
    if (told.length > 0 && this.#state !== null)
      notify({ title: 'Mimir', body: wordsOf(told, this.#state), bell, desktop });
  }

  /** A rule or another answer may have settled it meanwhile. */
  #stillAsked({ who }: Happening): boolean {
    const state = this.#state;
    return state?.approvals.some(({ agent }) => nameOf(state, agent) === who) ?? false;
  }
}
