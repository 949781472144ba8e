/**
 * What screens and boxes ask the app for, done: at the terminal, in the lobby, with the run. Which screen is shown, and boxes
 * over it, are the app's own.
 */
import { attachTo } from '../../../app/client/attach.ts';
import { cleanLobby } from '../../../app/views/text/sanitise-text.ts';
import { isOpen } from '../../../app/views/trust-question.ts';
import type { SessionId } from '../../../domain/ids.ts';
import { type Result, fail, unreachable } from '../../../domain/result.ts';
import type { Receipt, Refusal } from '../../../ports/controls.ts';
import type { Lobby, ReportFormat } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Carrying } from './run-ownership.ts';
import type { Runs } from '../components/runs/runs.ts';
import { draftedForm } from '../dialogs/forms/agents.ts';
import { trustOverlay } from '../dialogs/trust.ts';
import { type Waited, waitOverlay } from '../dialogs/wait.ts';
import type { Copied, Input, Terminal } from '../terminal/terminal.ts';
import type { Looks } from './display-settings.ts';
import type { DialogEffect, ScreenName, Toast } from '../frame/screen.ts';
import type { Boxes } from './overlays/overlay-stack.ts';
import type { Leaving } from './quit.ts';

export type Wanted = NonNullable<DialogEffect['app']>;
/** What the app opens by itself; `back` is where the run is. */
export type OwnBox = 'help' | 'palette' | 'copy mode' | 'themes' | 'inbox' | 'back';
type Word = Extract<Wanted, string>;
type Deed = Exclude<Wanted, string>;
type OfLobby = Extract<
  Deed,
  | { copy: string }
  | { theme: string }
  | { export: string }
  | { keep: object }
  | { createAgent: object }
  | { deleteAgent: string }
  | { draftAgent: object }
>;

export interface ActsParts extends DraftingParts {
  readonly terminal: Terminal;
  readonly lobby: Lobby;
  readonly runs: Runs;
  readonly looks: Looks;
  readonly beginning: Beginning;
  readonly leaving: Leaving;
  readonly carrying: Carrying;
  readonly toast: (toast: Toast) => void;
  readonly show: (name: ScreenName) => void;
  /** Opens one of the app's own boxes, or goes back to where the run is. */
  readonly open: (what: OwnBox) => void;
  /** Lets go of a run that has ended, for another one. */
  readonly letGo: () => void;
  readonly act: (effect: DialogEffect) => void;
  /** An input, as if it came from the terminal. */
  readonly input: (input: Input) => void;
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

export class Acts {
  readonly #of: ActsParts;
  readonly #drafting: Drafting;
  #away = false;

  constructor(parts: ActsParts) {
    this.#of = parts;
    this.#drafting = new Drafting(parts);
  }

  /** Does time alone change what is shown, since a model is waited for? */
  get waits(): boolean {
    return this.#drafting.waits;
  }

  /** Is the terminal lent to an editor? Then nothing is painted, and nothing was seen. */
  get away(): boolean {
    return this.#away;
  }

  do(what: Wanted): void {
    if (typeof what === 'string') return this.#word(what);
    if (isRun(what)) return 'start' in what || 'template' in what ? this.#begin(what) : this.#former(what);
    if ('show' in what) return this.#of.show(what.show);
    if ('trust' in what) return this.#of.beginning.trust(what.trust);
    if ('edit' in what || 'field' in what) return this.#edit(what);
    return this.#lobby(what);
  }

  #lobby(what: OfLobby): void {
    if ('copy' in what) return this.#of.toast(copied(what.what, what.copy, this.#of.terminal.copy(what.copy)));
    if ('theme' in what) return this.#told(this.#of.looks.theme(what.theme));
    if ('export' in what) return this.#export(what.export);
    if ('draftAgent' in what) return this.#drafting.begin(what.draftAgent);
    const { lobby } = this.#of;
    if ('keep' in what) return this.#receipt(lobby.saveTemplate?.(what.keep));
    return this.#receipt(
      'createAgent' in what ? lobby.createAgent?.(what.createAgent) : lobby.deleteAgent?.(what.deleteAgent),
    );
  }

  #word(what: Word): void {
    const { terminal, looks, beginning, leaving, carrying, open } = this.#of;
    switch (what) {
      case 'quit':
        return leaving.quit();
      case 'detach':
        return carrying.detach();
      case 'go on here':
        return carrying.goOnHere();
      case 'suspend':
        return terminal.suspend();
      case 'redraw':
        return terminal.redraw();
      case 'mouse':
        return this.#told(looks.mouse());
      case 'untrusted':
        return beginning.begin();
      case 'trust':
        return void beginning.ask();
      case 'help':
      case 'palette':
      case 'copy mode':
      case 'themes':
      case 'inbox':
      case 'back':
        return open(what);
      default:
        return unreachable(what);
    }
  }

  #told(toast: Toast | null): void {
    if (toast !== null) this.#of.toast(toast);
  }

  #begin(what: Extract<Deed, { start: string } | { template: string }>): void {
    const { lobby, runs } = this.#of;
    if ('start' in what) return runs.begin(() => lobby.start(what.start, what.direct));
    const refused = fail({ text: 'Templates can not be used here.' });
    return runs.begin(() => lobby.startTemplate?.(what.template, what.values) ?? Promise.resolve(refused));
  }

  #former(what: Extract<Deed, Former>): void {
    const { lobby, runs, toast } = this.#of;
    const named = 'look' in what ? what.look : 'attach' in what ? what.attach : what.resume;
    const session = lobby.info().sessions.find(({ id }) => id === named)?.id;
    if (session === undefined) return toast({ level: 'error', text: `There is no session ${named} here.` });
    if ('resume' in what && runs.feed?.controls.session === session) return this.#resumeShown(session, what.followUp);
    return this.#openFormer(what, session);
  }

  #openFormer(what: Extract<Deed, Former>, session: SessionId): void {
    const { lobby, runs, letGo } = this.#of;
    if (runs.feed?.state.finished) letGo();
    if ('attach' in what) return runs.begin(() => attachTo(lobby, session));
    if ('resume' in what) return runs.begin(() => lobby.resume(session, what.followUp));
    const refused = fail({ text: 'Former sessions can not be looked at here.' });
    return runs.begin(() => lobby.look?.(session) ?? Promise.resolve(refused));
  }

  /** The run that is on the screen stays there while it is opened again. */
  #resumeShown(session: SessionId, followUp?: string): void {
    const { lobby, runs, toast, show, changed, fail: broken } = this.#of;
    void runs
      .change(() => lobby.resume(session, followUp))
      .then((refused) => {
        if (refused === null) show('run');
        else toast({ level: 'error', text: refused });
        changed();
      })
      .catch(broken);
  }

  #export(format: ReportFormat): void {
    const { lobby, runs } = this.#of;
    const session = runs.last?.controls.session;
    if (session === undefined) return this.#of.toast({ level: 'info', text: 'There is no run to report on yet.' });
    this.#receipt(lobby.exportReport?.(session, format));
  }

  /** Says how it ended, as soon as it has. */
  #receipt(done: Promise<Result<Receipt, Refusal>> | undefined): void {
    const { toast, changed, fail: broken } = this.#of;
    if (done === undefined) return toast(NOT_HERE);
    void done.then((result) => {
      toast(result.ok ? { level: 'info', text: result.value.text } : { level: 'error', text: result.fault.text });
      changed();
    }, broken);
  }

  #edit(what: Extract<Deed, { edit: string } | { field: string }>): void {
    const { terminal, toast, changed, fail: broken, input, act } = this.#of;
    if (this.#away) return;
    this.#away = true;
    void terminal.edit('field' in what ? what.field : what.edit).then((edited) => {
      this.#away = false;
      if (!edited.ok) toast({ level: 'warn', text: `${edited.fault} Nothing was changed.` });
      else if ('field' in what) input({ is: 'edited', text: edited.value });
      else act(what.then(edited.value));
      changed();
    }, broken);
  }
}

type OfRun = Extract<Deed, { start: string } | { template: string } | Former>;
type Former = { resume: string; followUp?: string } | { look: string } | { attach: string };

const isRun = (what: Deed): what is OfRun =>
  'start' in what || 'template' in what || 'resume' in what || 'look' in what || 'attach' in what;

const NOT_HERE: Toast = { level: 'warn', text: 'This can not be done here.' };

/** Where a text went, and how long it is. */
function copied(what: string, text: string, { clipboard, file }: Copied): Toast {
  const named = `Copied ${what} (${sizeOf(text)})`;
  if (clipboard) return { level: 'info', text: `${named} to the clipboard${file === null ? '' : ` and to ${file}`}` };
  if (file === null) return { level: 'error', text: `${what} could not be copied: too long, and no file for it` };
  return { level: 'warn', text: `${named} to ${file}: it is too long for the clipboard` };
}

const KB = 1024;
const sizeOf = (text: string): string => {
  const bytes = new TextEncoder().encode(text).length;
  return bytes < KB ? `${bytes} B` : `${(bytes / KB).toFixed(1)} KB`;
};

// A custom agent that a model drafts while the screen goes on: a box says who is asked and since when, then its form opens.

interface DraftingParts {
  readonly lobby: Lobby;
  readonly boxes: Boxes;
  readonly world: Pick<World, 'now'>;
  readonly act: (effect: DialogEffect) => void;
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

type Order = Extract<Wanted, { draftAgent: object }>['draftAgent'];

class Drafting {
  readonly #of: DraftingParts;
  #now: Waited | null = null;

  constructor(parts: DraftingParts) {
    this.#of = parts;
  }

  get waits(): boolean {
    return this.#now !== null;
  }

  /** Esc stops the model, and the fixed rules draft it; Esc again leaves. */
  begin({ sentence, model }: Order): void {
    const { lobby, boxes, world, act, changed, fail } = this.#of;
    if (lobby.draftAgent === undefined) return act({ toast: { level: 'warn', text: 'No agent can be made here.' } });
    const control = new AbortController();
    const waited: Waited = {
      title: 'New agent',
      since: world.now(),
      words: 'Looking for a model that may be asked',
      is: 'open',
      stop: () => control.abort('stopped'),
    };
    const asking = (words: string): void => {
      waited.words = words;
      changed();
    };
    this.#now = waited;
    boxes.push(waitOverlay(waited));
    void lobby.draftAgent(sentence, { model, signal: control.signal, asking }).then((made) => {
      const left = waited.is === 'left';
      waited.is = 'over';
      if (this.#now === waited) this.#now = null;
      // The box goes as soon as it is looked at; what is typed meanwhile is for the form.
      act(left ? { toast: { level: 'info', text: made.said } } : { dialog: draftedForm(made, lobby.info()) });
      changed();
    }, fail);
  }
}

// The first run of a session, and what comes before it: nothing begins while it isn't settled whether the project is trusted.

interface BeginningParts {
  readonly lobby: Lobby;
  readonly boxes: Boxes;
  readonly runs: Runs;
  readonly firstTask?: string;
  readonly resumeSession?: SessionId;
  readonly followUp?: string;
  readonly attach?: { readonly session: SessionId };
  readonly changed: () => void;
  readonly toast: (toast: Toast) => void;
  readonly fail: (error: unknown) => void;
}

export class Beginning {
  readonly #of: BeginningParts;
  #begun = false;

  constructor(parts: BeginningParts) {
    this.#of = parts;
  }

  /** Asks about trust where that is open, else begins with what was asked for. A run that goes on elsewhere is begun already. */
  start(): void {
    if (this.#of.attach !== undefined || !this.ask()) this.begin();
  }

  /** Puts the question on the screen; false when there is none. */
  ask(): boolean {
    const { lobby, boxes } = this.#of;
    const { trust } = cleanLobby(lobby.info());
    if (lobby.trust === undefined || !isOpen(trust)) return false;
    boxes.push(trustOverlay(trust));
    return true;
  }

  /** The person said yes to what was shown under this digest. */
  trust(digest: string): void {
    const { lobby, toast, changed, fail } = this.#of;
    const given = lobby.trust?.(digest);
    void given?.then((result) => {
      toast(result.ok ? { level: 'info', text: result.value.text } : { level: 'error', text: result.fault.text });
      // Refused, it has changed meanwhile: what is there now is another question.
      if (result.ok || !this.ask()) this.begin();
      changed();
    }, fail);
  }

  /** What was asked for on the command line, once. */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const { lobby, runs, firstTask, resumeSession, followUp, attach } = this.#of;
    if (attach !== undefined) runs.begin(() => attachTo(lobby, attach.session));
    else if (resumeSession !== undefined) runs.begin(() => lobby.resume(resumeSession, followUp));
    else if (firstTask !== undefined) runs.begin(() => lobby.start(firstTask));
  }
}
