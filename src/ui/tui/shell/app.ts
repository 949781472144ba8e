/**
 * The session on a screen: holds the screens and the run, hands keys to whom they belong, does what screens ask for, and
 * paints. It works over `Lobby` and `Controls` alone. What is drawn is frame.ts and the screens; when, pace.ts.
 */
import { someoneWorks } from '../../../app/views/agents/agent-lines.ts';
import { Held } from '../../../app/views/agents/held-answers.ts';
import type { Frame } from '../../../app/views/text/line.ts';
import { cleanLobby } from '../../../app/views/text/sanitise-text.ts';
import type { Millis } from '../../../domain/ids.ts';
import { type RunState, EMPTY } from '../../../events/state.ts';
import type { Command } from '../../../ports/controls.ts';
import type { LobbyInfo } from '../../../ports/project-service.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { RunFeed } from '../components/runs/feed.ts';
import { Carrying } from './run-ownership.ts';
import { Runs } from '../components/runs/runs.ts';
import { windowTitle } from '../components/window-title.ts';
import { overlayFor } from '../dialogs/open.ts';
import { screenFor } from '../screens/all.ts';
import { openScheduler, type Scheduler } from '../terminal/scheduler.ts';
import type { Input } from '../terminal/terminal.ts';
import { type OwnBox, Acts, Beginning } from './app-effects.ts';
import { APP_KEYS } from './app-keys.ts';
import { type AppEnd, type AppOptions, AS_IT_COMES, HINT_ROWS, paceOf, SILENT } from './app-options.ts';
import { Looks } from './display-settings.ts';
import { FoundFiles } from './found-files.ts';
import { bodySize, dockTop, frameOf } from './frame.ts';
import { ownKeyFaults } from './keys/actions.ts';
import { dispatch } from './keys/dispatch.ts';
import { Lit } from './keys/key-flash.ts';
import { rebind } from '../frame/keymap.ts';
import { OwnBoxes } from './overlays/app-overlays.ts';
import type { Dialog, DialogEffect, Context, Look, ScreenName, Toast } from '../frame/screen.ts';
import { Hints } from './overlays/hints.ts';
import { Notices } from './overlays/notices.ts';
import { Boxes, Toasts, type Dock } from './overlays/overlay-stack.ts';
import { Leaving } from './quit.ts';
import { Stage } from './screen-router.ts';

export type { AppEnd, AppOptions } from './app-options.ts';

/** Resolves when the person has left; an unfinished run was stopped before and can be resumed. Rejects for a bug only. */
export function runApp(options: AppOptions): Promise<AppEnd> {
  return new App(options).run();
}

class App {
  readonly #of: AppOptions;
  readonly #paints: Scheduler;
  readonly #stage: Stage;
  readonly #appKeys: typeof APP_KEYS;
  readonly #end = Promise.withResolvers<AppEnd>();
  #lobby: LobbyInfo;
  readonly #boxes = new Boxes();
  readonly #toasts = new Toasts();
  readonly #leaving: Leaving;
  readonly #carrying: Carrying;
  readonly #runs: Runs;
  readonly #beginning: Beginning;
  readonly #own: OwnBoxes;
  readonly #acts: Acts;
  readonly #looks: Looks;
  readonly #files: FoundFiles;
  readonly #hints: Hints;
  readonly #held = new Held();
  readonly #lit: Lit;
  readonly #notices: Notices;
  #title = '';

  constructor(options: AppOptions) {
    this.#of = options;
    const own = options.keys ?? {};
    this.#stage = new Stage(own);
    this.#appKeys = rebind(APP_KEYS, own);
    this.#lobby = cleanLobby(options.lobby.info());
    const { terminal, schedule = openScheduler } = options;
    this.#paints = schedule({ paint: () => this.#guarded(() => this.#paint()), ...paceOf(terminal) });
    const { lobby, world } = options;
    const common = {
      world,
      lobby,
      fail: (error: unknown): void => this.#end.reject(error),
      toast: (one: Toast): void => this.#toast(one),
      changed: (): void => this.#paints.soon(),
    };
    this.#notices = new Notices({ ...common, ...SILENT, ...options.notices, notify: (one) => terminal.notify(one) });
    this.#runs = new Runs({
      ...common,
      happened: (...what) => this.#notices.happened(...what),
      begun: () => {
        this.#boxes.forgetAll();
        this.#paints.now();
      },
      refused: (why) => {
        this.#backToStart(null);
        this.#toast({ level: 'error', text: why });
        this.#paints.now();
      },
    });
    const ofRun = { ...common, boxes: this.#boxes, runs: this.#runs, leave: (): void => this.#resolve() };
    this.#leaving = new Leaving({ ...ofRun, context: () => this.#context() });
    this.#carrying = new Carrying({
      ...ofRun,
      agent: options.attach?.agent ?? null,
      open: (agent) => this.#stage.openAgent(agent, this.#context().state),
    });
    this.#beginning = new Beginning({ ...options, ...ofRun });
    this.#hints = new Hints(lobby);
    this.#lit = new Lit(world, common.changed);
    this.#looks = new Looks(terminal, lobby, options.look ?? AS_IT_COMES);
    this.#files = new FoundFiles({ ...common, now: () => world.elapsed() });
    this.#own = new OwnBoxes({ boxes: this.#boxes, page: () => this.#stage.page, keys: this.#appKeys, own });
    this.#acts = new Acts({
      ...ofRun,
      terminal,
      looks: this.#looks,
      beginning: this.#beginning,
      leaving: this.#leaving,
      carrying: this.#carrying,
      show: (name) => this.#show(name),
      open: (what) => this.#open(what),
      letGo: () => this.#backToStart(null),
      act: (effect) => this.#do(effect),
      input: (input) => this.#input(input),
      changed: () => this.#paints.now(),
    });
  }

  run(): Promise<AppEnd> {
    const { terminal, lobby, keys = {} } = this.#of;
    for (const text of ownKeyFaults(keys)) this.#toast({ level: 'warn', text });
    terminal.onInput((input) => this.#guarded(() => this.#input(input)));
    terminal.onResize(() => this.#paints.now());
    lobby.onChange(() => {
      this.#lobby = cleanLobby(lobby.info());
      this.#paints.soon();
    });
    this.#beginning.start();
    this.#paints.now();
    return this.#end.promise;
  }

  #context(): Context {
    const { world, glyphs } = this.#of;
    const shown = { feed: this.#runs.feed, lobby: this.#lobby, look: this.#looks.now, files: this.#files };
    return contextOf({ ...shown, now: world.now(), glyphs });
  }

  #paint(): void {
    if (this.#acts.away) return;
    const { terminal } = this.#of;
    const context = this.#context();
    this.#settle(context);
    terminal.paint(this.#frame(context, this.#toasts.all));
    // Below copy mode the screen stands still: what is new there was not seen.
    if (this.#boxes.top?.kind !== 'copy') {
      this.#stage.page.painted(context);
      this.#boxes.painted(context, terminal.size(), this.#stage.page.typing(context));
    }
    const title = windowTitle(context);
    if (title !== this.#title) terminal.setTitle((this.#title = title));
    const runs = hasClock(context.state, this.#runs.feed !== null) || this.#stage.page.moving(context);
    this.#paints.clock(this.#toasts.willGo || this.#runs.starting || this.#acts.waits || runs);
    if (this.#stage.page.unfinished()) this.#paints.soon();
  }

  #frame(context: Context, toasts: readonly Toast[]): Frame {
    const { all: overlays, top } = this.#boxes;
    const { page } = this.#stage;
    const shown = { page, overlays, top, toasts, lit: this.#lit.label, dock: this.#dock(context) };
    return frameOf(shown, context, this.#of.terminal.size());
  }

  /** The questions that wait, as they stand on the screen. */
  #dock(context: Context): Dock {
    return this.#boxes.dock(context, this.#of.terminal.size(), this.#stage.page.typing(context));
  }

  /** What time and the run did to the screen: toasts that are over, the screen of the new phase, questions. */
  #settle(context: Context): void {
    this.#toasts.expire(this.#of.world.now());
    this.#followPhase(context.state);
    this.#boxes.settle(context);
    this.#carrying.settle(this.#stage.page.typing(context));
    const { length: docked } = this.#dock(context).lines;
    const size = this.#of.terminal.size();
    // Where all is cut already, a hint would cover what it explains.
    if (size.height >= HINT_ROWS)
      this.#hint(this.#hints.next(this.#stage.page.name, context, this.#boxes.top?.kind ?? null, docked > 0));
    this.#stage.page.settle(context, bodySize(size, docked));
  }

  #followPhase(state: RunState): void {
    const wanted = this.#stage.turned(state, this.#runs.feed !== null || this.#runs.starting);
    if (wanted === null) return;
    if (state.finished?.status === 'rejected') return this.#backToStart('The plan was not approved; nothing ran.');
    const busy = wanted === 'result' && (this.#boxes.top !== undefined || this.#stage.page.typing(this.#context()));
    if (busy) this.#toast({ level: 'info', text: 'The run has ended: v shows the report.' });
    else this.#stage.show(wanted);
  }

  #hint(text: string | null): void {
    if (text !== null) this.#toast({ level: 'info', text });
  }

  #toast(toast: Toast): void {
    this.#toasts.add(toast, this.#of.world.now());
  }

  #input(input: Input): void {
    if (input.is === 'focus' || input.is === 'blur') return this.#notices.focus(input.is === 'focus');
    if (input.is === 'key' && !this.#looks.now.still) this.#lit.press(input.key, this.#of.glyphs);
    this.#toasts.dismiss();
    const context = this.#context();
    this.#settle(context);
    const { terminal } = this.#of;
    const size = terminal.size();
    const { page } = this.#stage;
    const rows = this.#dock(context).lines.length;
    const isPointed = input.is === 'click' || input.is === 'wheel';
    const field = isPointed ? (page.body(context, bodySize(size, rows)).field ?? 0) : 0;
    const effect = dispatch(this.#withSince(input, context.now), {
      context,
      size,
      page,
      boxes: this.#boxes,
      dock: { top: dockTop(size, rows, field), rows },
      keys: this.#appKeys,
      leaves: () => this.#leaving.isMeant(),
    });
    if (effect !== null) this.#do(effect);
    this.#paints.now();
  }

  /** The input with the time from which on its key may be held. */
  #withSince(input: Input, now: Millis): Input {
    return input.is === 'key' ? { ...input, since: this.#held.since(input.key, now) } : input;
  }

  #do(effect: DialogEffect): void {
    if (effect.toast) this.#toast(effect.toast);
    if (effect.dialog) this.#boxes.push(overlayFor(effect.dialog, this.#context()));
    for (const command of effect.commands ?? []) this.#submit(command, effect.again);
    if (effect.drafted) this.#do(this.#stage.page.drafted(effect.drafted, this.#context()));
    if (effect.app === undefined) return;
    this.#acts.do(effect.app);
    if (typeof effect.app === 'object' && 'copy' in effect.app) this.#hint(this.#hints.copied());
  }

  #open(what: OwnBox): void {
    const context = this.#context();
    const opens: Readonly<Record<OwnBox, () => void>> = {
      help: () => this.#own.help(context),
      palette: () => this.#own.palette(),
      'copy mode': () => this.#own.copyMode(this.#frame(context, [])),
      themes: () => this.#own.themes(context),
      inbox: () => this.#boxes.openInbox(context),
      back: () => this.#show(screenFor(context.state, this.#runs.feed !== null)),
    };
    opens[what]();
  }

  #show(name: ScreenName): void {
    if (name !== 'start') this.#stage.show(name);
    else if (this.#runs.feed === null || this.#runs.feed.state.finished) this.#backToStart(null);
    else this.#toast({ level: 'info', text: 'This run goes on: leave it with q, or stop it with X.' });
  }

  #backToStart(why: string | null): void {
    this.#runs.letGo();
    this.#lobby = cleanLobby(this.#of.lobby.info());
    this.#stage.reset();
    if (why !== null) this.#toast({ level: 'info', text: why });
  }

  #submit(command: Command, again?: Dialog): void {
    this.#runs.submit(command, () => {
      // A refused answer is a question that still waits: it is shown again.
      if (command.do === 'answer') this.#boxes.forget(command.approval);
      if (again !== undefined && this.#boxes.top === undefined) this.#do({ dialog: again });
    });
  }

  #resolve(): void {
    this.#paints.stop();
    const feed = this.#runs.last;
    feed?.stop();
    const { goesOn } = this.#carrying;
    this.#end.resolve({ session: feed?.controls.session ?? null, state: feed?.state ?? EMPTY, goesOn });
  }

  /** A bug in a view ends the session with its stack instead of being lost in a callback. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#paints.stop();
      this.#end.reject(error);
    }
  }
}

// What screens look at, from the parts that know it; and whether time alone changes what they show.

interface ContextParts {
  readonly feed: RunFeed | null;
  readonly lobby: LobbyInfo;
  readonly now: Millis;
  readonly glyphs: Glyphs;
  readonly look: Look;
  readonly files: FoundFiles;
}

function contextOf({ feed, files, ...rest }: ContextParts): Context {
  return {
    ...rest,
    files: (query) => files.of(query),
    ...(feed === null ? NO_RUN : ofRun(feed, rest.now)),
  };
}

type OfRun = Omit<Context, keyof LobbyParts | 'files' | 'now'>;
type LobbyParts = Pick<Context, 'lobby' | 'glyphs' | 'look'>;

const ofRun = (feed: RunFeed, now: Millis): OfRun & Pick<Context, 'now'> => ({
  state: feed.shown,
  now: feed.time(now),
  live: feed.live.texts(),
  reasoning: feed.live.reasoning(),
  calls: feed.live.calls(),
  preview: (mode, agent) => feed.preview(mode, agent),
  amended: (edits) => feed.amended(edits),
  activity: (agent) => feed.live.activity(agent, now),
  ...(feed.elsewhere === undefined ? {} : { elsewhere: feed.elsewhere }),
});

const NO_TEXTS: ReadonlyMap<string, string> = new Map();
const NO_CALLS: NonNullable<Context['calls']> = new Map();
const NO_RUN: OfRun = {
  state: EMPTY,
  live: NO_TEXTS,
  reasoning: NO_TEXTS,
  calls: NO_CALLS,
  activity: () => ({ rate: 0, steps: [] }),
};

/** Does something of this run count seconds? Nothing does while a plan waits for the person, nor at the end. */
export function hasClock(state: RunState, isThere: boolean): boolean {
  if (state.finished !== null) return false;
  const planning = isThere && (state.phase === 'planning' || state.phase === 'starting');
  return planning || state.approvals.length > 0 || (state.phase !== 'approving' && someoneWorks(state));
}
