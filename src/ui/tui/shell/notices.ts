/** Desktop notifications while the terminal has no focus (events within two seconds become one), and hints on first use. */
import { firstLineOf, formatCost, plural, formatShare, runShare, runSpending } from '../../../app/views/index.ts';
import { type AgentId, type Millis, ROOT } from '../../../domain/ids.ts';
import type { MimirEvent, RunState } from '../../../events/index.ts';
import type { ProjectService } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Overlay } from '../frame/overlay.ts';
import type { Context, ScreenName, Toast } from '../frame/screen.ts';
import type { Notice } from '../terminal/terminal.ts';
import type { AppOptions } from './app-options.ts';

/** An event that is worth a notification. */
export interface NoticeEvent {
  readonly is: 'asks' | 'failed' | 'ended' | 'budget' | 'plan';
  readonly who: string;
  readonly words: string;
}

const NEARLY_SPENT = 0.8;

/** The notification of an event, or null; `before` and `after` are the states around it. */
export function noticeEventOf(event: MimirEvent, before: RunState, after: RunState): NoticeEvent | null {
  switch (event.type) {
    case 'approval.requested':
      return {
        is: 'asks',
        who: nameOf(after, event.agent),
        words: `asks: ${questionOf(event.request, after.agents.get(event.agent)?.role)}`,
      };
    case 'agent.finished':
      if (event.agent === ROOT || event.outcome !== 'failed') return null;
      return {
        is: 'failed',
        who: nameOf(after, event.agent),
        words: `failed: ${firstLineOf(event.error ?? event.summary)}`,
      };
    case 'session.finished':
      // The run continues in another process.
      if (event.endedBy?.is === 'hand-over') return null;
      return {
        is: 'ended',
        who: 'the run',
        words: `${ENDED[event.status]} with ${plural(event.totals.agents, 'agent')}`,
      };
    case 'plan.proposed':
      return { is: 'plan', who: 'the plan', words: `is ready: ${plural(event.plan.tasks.length, 'task')} to approve` };
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

function nearlySpent(before: RunState, after: RunState): NoticeEvent | null {
  const [was, is] = [before, after].map((state) => {
    const share = runShare(state);
    return share === null ? null : share.spent + share.reserved;
  });
  if (was == null || is == null || was >= NEARLY_SPENT || is < NEARLY_SPENT) return null;
  return { is: 'budget', who: 'the run', words: `has used or reserved ${formatShare(is)} of its budget` };
}

/** `may I run npm test?`, or the question itself, without the role in front, since the agent is named already. */
function questionOf(
  { action, title }: Extract<MimirEvent, { type: 'approval.requested' }>['request'],
  role: string | undefined,
): string {
  const line = firstLineOf(title);
  const what = role !== undefined && line.startsWith(`${role}: `) ? line.slice(role.length + 2) : line;
  if (action === 'shell') return `may I run ${what}?`;
  if (action === 'question' || what.endsWith('?')) return what;
  return `${what}?`;
}

const nameOf = ({ agents }: RunState, agent: AgentId): string => agents.get(agent)?.name ?? agent;

/** One text for several events, with the cost of the run. */
export function noticeText(happenings: readonly NoticeEvent[], state: RunState): string {
  const cost = formatCost(runSpending(state).cost);
  const [only] = happenings;
  if (only === undefined) return cost;
  if (happenings.length === 1) return `${only.who} ${only.words} · ${cost}`;
  // The end of the run replaces the events before it.
  const end = happenings.find(({ is }) => is === 'ended');
  if (end !== undefined) return `${end.who} ${end.words} · ${cost}`;
  const names = [...new Set(happenings.map(({ who }) => who))].slice(0, MOST_NAMES).join(', ');
  return `${summaryOf(happenings)}: ${names} · ${cost}`;
}

const MOST_NAMES = 4;

function summaryOf(happenings: readonly NoticeEvent[]): string {
  const many = happenings.length;
  if (happenings.every(({ is }) => is === 'asks')) return `${many} agents need you`;
  if (happenings.every(({ is }) => is === 'failed')) return `${many} agents failed`;
  return `${many} things need you`;
}

const BATCH_MS: Millis = 2000;

export class Notices {
  readonly #world: World;
  readonly #how: NonNullable<AppOptions['notices']>;
  readonly #notify: (notice: Notice) => void;
  /** True if the terminal has the focus, or never reports that it lost it. */
  #looked = true;
  #waiting: readonly NoticeEvent[] = [];
  #state: RunState | null = null;

  constructor(world: World, how: NonNullable<AppOptions['notices']>, notify: (notice: Notice) => void) {
    this.#world = world;
    this.#how = how;
    this.#notify = notify;
  }

  /** Discards notifications when the terminal gets the focus. */
  focus(has: boolean): void {
    this.#looked = has;
    if (has) this.#waiting = [];
  }

  happened(event: MimirEvent, before: RunState, after: RunState): void {
    if (this.#looked || !(this.#how.bell || this.#how.desktop)) return;
    const happening = noticeEventOf(event, before, after);
    this.#state = after;
    if (happening === null) return;
    this.#waiting = [...this.#waiting, happening];
    // The first event of a batch starts the timer.
    if (this.#waiting.length === 1) void this.#world.sleep(BATCH_MS).then(() => this.#tell());
  }

  #tell(): void {
    const told = this.#waiting.filter((one) => one.is !== 'asks' || this.#stillAsked(one));
    this.#waiting = [];
    if (told.length > 0 && this.#state !== null)
      this.#notify({ title: 'Mimir', body: noticeText(told, this.#state), ...this.#how });
  }

  /** True if the question is still open; a rule or another answer may have settled it. */
  #stillAsked({ who }: NoticeEvent): boolean {
    const state = this.#state;
    return state?.approvals.some(({ agent }) => nameOf(state, agent) === who) ?? false;
  }
}

type HintName = 'plan' | 'run' | 'question' | 'copy';

const HINTS: Readonly<Record<HintName, Pick<Toast, 'text' | 'about'>>> = {
  plan: { text: 'Nothing runs until you press Enter.', about: 'screen' },
  run: { text: 'Enter opens an agent, i writes to it, : lists all commands.', about: 'screen' },
  question: { text: 'An agent is waiting. Press A to answer or Esc for later.', about: 'question' },
  copy: { text: 'C selects text by keys; clipboard.txt in the state folder has the last copy.' },
};

/** Hints on first use: one short toast, at most one per screen, each only once ever. */
export class Hints {
  readonly #projectService: ProjectService;
  #seen: ReadonlySet<string>;
  readonly #screens = new Set<ScreenName>();

  constructor(projectService: ProjectService) {
    this.#projectService = projectService;
    this.#seen = projectService.hints.seen();
  }

  /** The hint for this screen below the topmost dialog `box`, or null; it counts as shown. `asked`: a question is docked. */
  next(screen: ScreenName, context: Context, box: Overlay['kind'] | null, asked = false): Toast | null {
    if (this.#screens.has(screen)) return null;
    // A person who is busy in another dialog gets no hint.
    const name =
      box === 'inbox' || (box === null && asked) ? 'question' : box === null ? hintFor(screen, context) : null;
    const hint = name === null ? null : this.#once(name);
    if (hint !== null) this.#screens.add(screen);
    return hint;
  }

  /** The hint after the first copy, on whatever screen; null after that. */
  copied(): Toast | null {
    return this.#once('copy');
  }

  #once(name: HintName): Toast | null {
    if (this.#seen.has(name)) return null;
    this.#seen = new Set([...this.#seen, name]);
    this.#projectService.hints.mark(name);
    return { level: 'info', ...HINTS[name] };
  }
}

function hintFor(screen: ScreenName, { state }: Context): HintName | null {
  if (screen === 'plan' && state.phase === 'approving') return state.planFault === '' ? 'plan' : null;
  return screen === 'run' && state.agents.size > 1 ? 'run' : null;
}
