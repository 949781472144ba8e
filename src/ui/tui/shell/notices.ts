/** Desktop notifications while the terminal has no focus (events within two seconds become one), and hints on first use. */
import { agentName, type NoticeEvent, noticeEventOf, noticeText } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import type { MimirEvent, RunState } from '../../../events/index.ts';
import type { ProjectService } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Overlay } from '../frame/overlay.ts';
import type { Context, ScreenName, Toast } from '../frame/screen.ts';
import type { Notice } from '../terminal/terminal.ts';
import type { AppOptions } from './app-options.ts';

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
    return state?.approvals.some(({ agent }) => agentName(state, agent) === who) ?? false;
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
    this.#seen = projectService.hints.all();
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
