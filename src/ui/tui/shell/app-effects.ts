/** Carries out the requests of screens and dialogs: at the terminal, in the project, with the run. app.ts decides which screen is shown. */
import { attachTo } from '../../../app/client/index.ts';
import { sanitiseProject, isOpen } from '../../../app/views/index.ts';
import type { SessionId } from '../../../domain/ids.ts';
import { type Result, fail, unreachable } from '../../../domain/result.ts';
import type { Receipt, Refusal } from '../../../ports/controls.ts';
import type { ProjectService, ReportFormat } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { RunOwnership, QuitFlow } from './run-ownership.ts';
import type { Runs } from '../components/runs.ts';
import { draftedForm } from '../dialogs/agents.ts';
import { trustOverlay } from '../dialogs/confirm.ts';
import { type PendingDraft, waitOverlay } from '../dialogs/run-process.ts';
import type { Copied, Input, Terminal } from '../terminal/terminal.ts';
import type { DisplaySettings } from './app-options.ts';
import type { DialogEffect, ScreenName, Toast } from '../frame/screen.ts';
import type { OverlayStack } from './overlay-stack.ts';

export type AppRequest = NonNullable<DialogEffect['app']>;
/** The app's own overlays; `back` returns to the screen of the run. */
export type OwnDialog = 'help' | 'palette' | 'copy mode' | 'themes' | 'inbox' | 'back';
type RequestName = Extract<AppRequest, string>;
type AppEffect = Exclude<AppRequest, string>;
type ProjectRequest = Extract<
  AppEffect,
  | { copy: string }
  | { theme: string }
  | { export: string }
  | { keep: object }
  | { createAgent: object }
  | { deleteAgent: string }
  | { draftAgent: object }
>;

export interface AppEffectsParts extends DraftingParts {
  readonly terminal: Terminal;
  readonly projectService: ProjectService;
  readonly runs: Runs;
  readonly settings: DisplaySettings;
  readonly startup: Startup;
  readonly quitFlow: QuitFlow;
  readonly ownership: RunOwnership;
  readonly toast: (toast: Toast) => void;
  readonly show: (name: ScreenName) => void;
  /** Opens one of the app's own overlays, or returns to the run. */
  readonly open: (what: OwnDialog) => void;
  /** Disconnects from a finished run, to show another one. */
  readonly letGo: () => void;
  readonly act: (effect: DialogEffect) => void;
  /** Queues an action that may have to ask the run first. */
  readonly queue: (action: () => DialogEffect) => void;
  /** Simulates input from the terminal. */
  readonly input: (input: Input) => void;
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

export class AppEffects {
  readonly #of: AppEffectsParts;
  readonly #drafting: Drafting;
  inEditor = false;

  constructor(parts: AppEffectsParts) {
    this.#of = parts;
    this.#drafting = new Drafting(parts);
  }

  /** True while a waiting dialog counts time. */
  get isDrafting(): boolean {
    return this.#drafting.waits;
  }

  /** True while an editor has the terminal; nothing is painted then. */
  get away(): boolean {
    return this.inEditor;
  }

  do(what: AppRequest): void {
    if (typeof what === 'string') return this.#word(what);
    if (isRun(what)) return 'start' in what || 'template' in what ? this.#begin(what) : this.#former(what);
    if ('show' in what) return this.#of.show(what.show);
    if ('trust' in what) return this.#of.startup.trust(what.trust);
    if ('edit' in what || 'field' in what) return this.#edit(what);
    if ('fill' in what) return this.#of.input({ is: 'edited', text: what.fill });
    return this.#projectService(what);
  }

  #projectService(what: ProjectRequest): void {
    if ('copy' in what) return this.#of.toast(copyToast(what.what, what.copy, this.#of.terminal.copy(what.copy)));
    if ('theme' in what) return this.#told(this.#of.settings.theme(what.theme));
    if ('export' in what) return this.#export(what.export);
    if ('draftAgent' in what) return this.#drafting.begin(what.draftAgent);
    const { projectService } = this.#of;
    if ('keep' in what) return this.#receipt(projectService.saveTemplate?.(what.keep));
    return this.#receipt(
      'createAgent' in what
        ? projectService.agents?.create(what.createAgent)
        : projectService.agents?.delete(what.deleteAgent),
    );
  }

  #word(what: RequestName): void {
    const { terminal, settings, startup, quitFlow, ownership, open } = this.#of;
    switch (what) {
      case 'quit':
        return quitFlow.quit();
      case 'detach':
        return ownership.detach();
      case 'go on here':
        return ownership.takeOver();
      case 'suspend':
        return terminal.suspend();
      case 'redraw':
        return terminal.redraw();
      case 'mouse':
        return this.#told(settings.mouse());
      case 'untrusted':
        return startup.begin();
      case 'trust':
        return void startup.ask();
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

  #begin(what: Extract<AppEffect, { start: string } | { template: string }>): void {
    const { projectService, runs } = this.#of;
    if ('start' in what) return runs.begin(() => projectService.start(what.start, what.direct));
    const refused = fail({ text: 'Templates cannot be used here.' });
    return runs.begin(() => projectService.startTemplate?.(what.template, what.values) ?? Promise.resolve(refused));
  }

  #former(what: Extract<AppEffect, PastRunRequest>): void {
    const { projectService, runs, toast } = this.#of;
    const named = 'look' in what ? what.look : 'attach' in what ? what.attach : what.resume;
    const session = projectService.info().sessions.find(({ id }) => id === named)?.id;
    if (session === undefined) return toast({ level: 'error', text: `No session ${named} here.` });
    if ('resume' in what && runs.feed?.controls.session === session) return this.#resumeShown(session, what.followUp);
    return this.#openFormer(what, session);
  }

  #openFormer(what: Extract<AppEffect, PastRunRequest>, session: SessionId): void {
    const { projectService, runs, letGo } = this.#of;
    if (runs.feed?.state.finished) letGo();
    if ('attach' in what) return runs.begin(() => attachTo(projectService, session));
    if ('resume' in what) return runs.begin(() => projectService.resume(session, what.followUp));
    const refused = fail({ text: 'Earlier sessions cannot be opened here.' });
    return runs.begin(() => projectService.look?.(session) ?? Promise.resolve(refused));
  }

  /** Resumes the run that is shown. */
  #resumeShown(session: SessionId, followUp?: string): void {
    const { projectService, runs, toast, show, changed, fail: broken } = this.#of;
    void runs
      .change(() => projectService.resume(session, followUp))
      .then((refused) => {
        if (refused === null) show('run');
        else toast({ level: 'error', text: refused });
        changed();
      })
      .catch(broken);
  }

  #export(format: ReportFormat): void {
    const { projectService, runs } = this.#of;
    const session = runs.last?.controls.session;
    if (session === undefined) return this.#of.toast({ level: 'info', text: 'No run to report on yet.' });
    this.#receipt(projectService.exportReport?.(session, format));
  }

  /** Shows the result of an operation as a toast. */
  #receipt(done: Promise<Result<Receipt, Refusal>> | undefined): void {
    const { toast, changed, fail: broken } = this.#of;
    if (done === undefined) return toast(NOT_HERE);
    void done.then((result) => {
      toast(result.ok ? { level: 'info', text: result.value.text } : { level: 'error', text: result.fault.text });
      changed();
    }, broken);
  }

  #edit(what: Extract<AppEffect, { edit: string } | { field: string }>): void {
    const { terminal, toast, changed, fail: broken, input, queue } = this.#of;
    if (this.inEditor) return;
    this.inEditor = true;
    void terminal.edit('field' in what ? what.field : what.edit).then((edited) => {
      this.inEditor = false;
      if (!edited.ok) toast({ level: 'warn', text: `${edited.fault} Nothing was changed.` });
      else if ('field' in what) input({ is: 'edited', text: edited.value });
      else queue(() => what.then(edited.value));
      changed();
    }, broken);
  }
}

type RunRequest = Extract<AppEffect, { start: string } | { template: string } | PastRunRequest>;
type PastRunRequest = { resume: string; followUp?: string } | { look: string } | { attach: string };

const isRun = (what: AppEffect): what is RunRequest =>
  'start' in what || 'template' in what || 'resume' in what || 'look' in what || 'attach' in what;

const NOT_HERE: Toast = { level: 'warn', text: 'Not available here.' };

/** A toast that tells where a text was copied to and its size. */
function copyToast(what: string, text: string, { clipboard, file }: Copied): Toast {
  const named = `Copied ${what} (${sizeOf(text)})`;
  if (clipboard) return { level: 'info', text: `${named} to the clipboard${file === null ? '' : ` and to ${file}`}` };
  if (file === null) return { level: 'error', text: `${what} could not be copied: it is too long` };
  return { level: 'warn', text: `${named} to ${file}: it is too long for the clipboard` };
}

const KB = 1024;
const sizeOf = (text: string): string => {
  const bytes = new TextEncoder().encode(text).length;
  return bytes < KB ? `${bytes} B` : `${(bytes / KB).toFixed(1)} KB`;
};

interface DraftingParts {
  readonly projectService: ProjectService;
  readonly boxes: OverlayStack;
  readonly world: Pick<World, 'now'>;
  readonly act: (effect: DialogEffect) => void;
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

type DraftRequest = Extract<AppRequest, { draftAgent: object }>['draftAgent'];

/** Has a model draft an agent while the screen stays usable: a dialog shows the model and the time, then the form opens. */
class Drafting {
  readonly #of: DraftingParts;
  #now: PendingDraft | null = null;

  constructor(parts: DraftingParts) {
    this.#of = parts;
  }

  get waits(): boolean {
    return this.#now !== null;
  }

  /** Starts the draft. Esc stops the model and opens the form without a draft; a second Esc cancels. */
  begin({ sentence, model }: DraftRequest): void {
    const { projectService, boxes, world, act, changed, fail } = this.#of;
    if (projectService.agents === undefined)
      return act({ toast: { level: 'warn', text: 'Agents cannot be created here.' } });
    const control = new AbortController();
    const waited: PendingDraft = {
      title: 'New agent',
      since: world.now(),
      words: 'Choosing a model',
      is: 'open',
      stop: () => control.abort('stopped'),
    };
    const asking = (words: string): void => {
      waited.words = words;
      changed();
    };
    this.#now = waited;
    boxes.push(waitOverlay(waited));
    void projectService.agents.draft(sentence, { model, signal: control.signal, asking }).then((made) => {
      const left = waited.is === 'left';
      waited.is = 'over';
      if (this.#now === waited) this.#now = null;
      // The waiting dialog closes when it is next painted; later input goes to the form.
      act(left ? { toast: { level: 'info', text: made.said } } : { dialog: draftedForm(made, projectService.info()) });
      changed();
    }, fail);
  }
}

interface StartupParts {
  readonly projectService: ProjectService;
  readonly boxes: OverlayStack;
  readonly runs: Runs;
  readonly firstTask?: string;
  readonly resumeSession?: SessionId;
  readonly followUp?: string;
  readonly attach?: { readonly session: SessionId };
  readonly changed: () => void;
  readonly toast: (toast: Toast) => void;
  readonly fail: (error: unknown) => void;
}

/** Starts the first run of a session, after the question of trust is settled. */
export class Startup {
  readonly #of: StartupParts;
  #begun = false;

  constructor(parts: StartupParts) {
    this.#of = parts;
  }

  /** Asks about trust if that is undecided, otherwise starts the requested run. An attached run starts at once. */
  start(): void {
    if (this.#of.attach !== undefined || !this.ask()) this.begin();
  }

  /** Opens the trust question; false if there is none. */
  ask(): boolean {
    const { projectService, boxes } = this.#of;
    const { trust } = sanitiseProject(projectService.info());
    if (projectService.trust === undefined || !isOpen(trust)) return false;
    boxes.push(trustOverlay(trust));
    return true;
  }

  /** Trusts the content with this digest. */
  trust(digest: string): void {
    const { projectService, toast, changed, fail } = this.#of;
    const given = projectService.trust?.(digest);
    void given?.then((result) => {
      toast(result.ok ? { level: 'info', text: result.value.text } : { level: 'error', text: result.fault.text });
      // If refused, the content changed meanwhile and is asked about again.
      if (result.ok || !this.ask()) this.begin();
      changed();
    }, fail);
  }

  /** Starts what the command line requested, once. */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const { projectService, runs, firstTask, resumeSession, followUp, attach } = this.#of;
    if (attach !== undefined) runs.begin(() => attachTo(projectService, attach.session));
    else if (resumeSession !== undefined) runs.begin(() => projectService.resume(resumeSession, followUp));
    else if (firstTask !== undefined) runs.begin(() => projectService.start(firstTask));
  }
}
