/** Carries out the requests of screens and dialogs: at the terminal, in the project, with the run; finds files. app.ts decides which screen is shown. */
import { attachTo } from '../../../app/client/index.ts';
import { isOpen, sanitiseData, sanitiseProject } from '../../../app/views/index.ts';
import type { AgentId, Millis, SessionId } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import type { Receipt, Refusal } from '../../../ports/controls.ts';
import type { ReportFormat } from '../../../ports/project-service.ts';
import { draftedForm } from '../dialogs/agents.ts';
import { trustOverlay } from '../dialogs/confirm.ts';
import { type PendingDraft, waitOverlay } from '../dialogs/run-process.ts';
import type { AppCommand, AppRequest, DialogEffect, EditRequest, ProjectRequest, RunRequest } from '../frame/screen.ts';
import type { ScreenName, Toast } from '../frame/screen.ts';
import type { Copied, Input, Terminal } from '../terminal/terminal.ts';
import type { AppOptions, AppServices, DisplaySettings } from './app-options.ts';
import { openRunChanges, type RunChanges } from './run-changes.ts';

export interface AppEffectsParts extends AppServices {
  readonly terminal: Terminal;
  readonly settings: DisplaySettings;
  readonly startup: Startup;
  readonly commands: Readonly<Record<AppCommand, () => void>>;
  readonly show: (name: ScreenName) => void;
  /** Disconnects from a finished run, to show another one. */
  readonly letGo: () => void;
  /** Reads again whose the changes of the run are. */
  readonly renewAuthors: () => void;
  /** Simulates input from the terminal. */
  readonly input: (input: Input) => void;
  /** Queues an action that may have to ask the run first. */
  readonly queue: (action: () => DialogEffect) => void;
}

export class AppEffects {
  readonly #app: AppEffectsParts;
  readonly #changes: RunChanges;
  /** The draft that a dialog waits for. */
  #draft: PendingDraft | null = null;
  /** True while an editor has the terminal; nothing is painted then. */
  away = false;

  constructor(parts: AppEffectsParts) {
    this.#app = parts;
    this.#changes = openRunChanges(parts);
  }

  /** True while a waiting dialog counts time. */
  get isDrafting(): boolean {
    return this.#draft !== null;
  }

  do(what: AppRequest): void {
    const { commands, show, input, toast, terminal } = this.#app;
    if (typeof what === 'string') return commands[what]();
    if ('show' in what) return show(what.show);
    if ('fill' in what) return input({ is: 'edited', text: what.fill });
    if ('copy' in what) return toast(copyToast(what.what, what.copy, terminal.copy(what.copy)));
    return 'edit' in what || 'field' in what || 'terminal' in what ? this.#lend(what) : this.#run(what);
  }

  #run(what: RunRequest | ProjectRequest): void {
    const { projectService, runs } = this.#app;
    if ('start' in what) return runs.begin(() => projectService.start(what.start, what.direct), what.start);
    if ('template' in what) return runs.begin(() => projectService.startTemplate(what.template, what.values));
    if ('resume' in what) return this.#former(what.resume, (session) => this.#resume(session, what.followUp, what.to));
    if ('attach' in what)
      return this.#former(what.attach, (session) => this.#replace(() => attachTo(projectService, session)));
    if ('look' in what) return this.#former(what.look, (session) => this.#replace(() => projectService.look(session)));
    return this.#project(what);
  }

  #project(what: ProjectRequest): void {
    const { projectService, settings, startup } = this.#app;
    if ('theme' in what) return this.#told(settings.theme(what.theme));
    if ('trust' in what) return startup.trust(what.trust);
    if ('draftAgent' in what) return this.#draftAgent(what.draftAgent);
    if ('export' in what) return this.#export(what.export);
    if ('change' in what) return this.#changes.begin(what.change, what.digest);
    if ('accept' in what) return this.#changes.accept(what.accept, what.isAccepted);
    if ('keep' in what) return this.#receipt(projectService.saveTemplate(what.keep));
    if ('createAgent' in what) return this.#receipt(projectService.agents.create(what.createAgent));
    return this.#receipt(projectService.agents.delete(what.deleteAgent));
  }

  /** Has a model draft an agent while the screen stays usable: a dialog shows the model and the time, then the form opens. Esc stops the model
   * and opens the form without a draft; a second Esc cancels. */
  #draftAgent({ sentence, model }: DraftRequest): void {
    const { projectService, boxes, world, act, changed, fail } = this.#app;
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
    this.#draft = waited;
    boxes.push(waitOverlay(waited));
    void projectService.agents.draft(sentence, { model, signal: control.signal, asking }).then((made) => {
      const left = waited.is === 'left';
      waited.is = 'over';
      if (this.#draft === waited) this.#draft = null;
      // The waiting dialog closes when it is next painted; later input goes to the form.
      act(left ? { toast: { level: 'info', text: made.said } } : { dialog: draftedForm(made, projectService.info()) });
      changed();
    }, fail);
  }

  #told(toast: Toast | null): void {
    if (toast !== null) this.#app.toast(toast);
  }

  #former(named: string, open: (session: SessionId) => void): void {
    const session = this.#app.projectService.info().sessions.find(({ id }) => id === named)?.id;
    if (session === undefined) this.#app.toast({ level: 'error', text: `No session ${named} here.` });
    else open(session);
  }

  #replace(source: Parameters<AppServices['runs']['begin']>[0]): void {
    const { runs, letGo } = this.#app;
    if (runs.feed?.state.finished) letGo();
    runs.begin(source);
  }

  #resume(session: SessionId, followUp?: string, to?: AgentId): void {
    const { projectService, runs, toast, show, changed, fail } = this.#app;
    const source = (): ReturnType<typeof projectService.resume> => projectService.resume(session, followUp, to);
    if (runs.feed?.controls.session !== session) return this.#replace(source);
    void runs
      .change(source)
      .then((refused) => {
        if (refused === null) show('run');
        else toast({ level: 'error', text: refused });
        changed();
      })
      .catch(fail);
  }

  #export(format: ReportFormat): void {
    const { projectService, runs, toast } = this.#app;
    const session = runs.last?.controls.session;
    if (session === undefined) return toast({ level: 'info', text: 'No run to report on yet.' });
    this.#receipt(projectService.exportReport(session, format));
  }

  #receipt(done: Promise<Result<Receipt, Refusal>>): void {
    const { toast, changed, fail } = this.#app;
    void done.then((result) => {
      toast(receiptToast(result));
      changed();
    }, fail);
  }

  #lend(what: EditRequest): void {
    const { terminal, toast, changed, fail, input, queue } = this.#app;
    if (this.away) return;
    this.away = true;
    const to = 'terminal' in what ? { attach: what.terminal } : { edit: 'field' in what ? what.field : what.edit };
    void terminal.lend(to).then((edited) => {
      this.away = false;
      if (!edited.ok)
        toast({ level: 'warn', text: `${edited.fault}${'terminal' in what ? '' : ' Nothing was changed.'}` });
      else if ('field' in what) input({ is: 'edited', text: edited.value });
      else if ('edit' in what) queue(() => what.then(edited.value));
      changed();
    }, fail);
  }
}

const receiptToast = (result: Result<Receipt, Refusal>): Toast =>
  result.ok ? { level: 'info', text: result.value.text } : { level: 'error', text: result.fault.text };

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

type DraftRequest = Extract<ProjectRequest, { draftAgent: object }>['draftAgent'];

/** Starts the first run of a session, after the question of trust is settled. */
export type Startup = ReturnType<typeof openStartup>;

export function openStartup({ projectService, boxes, runs, toast, changed, fail }: AppServices, wish: AppOptions) {
  let begun = false;
  /** Opens the trust question; false if there is none. */
  const ask = (): boolean => {
    const { trust } = sanitiseProject(projectService.info());
    if (!isOpen(trust)) return false;
    boxes.push(trustOverlay(trust));
    return true;
  };
  /** Starts what the command line requested, once. */
  const begin = (): void => {
    if (begun) return;
    begun = true;
    const { firstTask, resumeSession, followUp, attach } = wish;
    if (attach !== undefined) runs.begin(() => attachTo(projectService, attach.session));
    else if (resumeSession !== undefined) runs.begin(() => projectService.resume(resumeSession, followUp));
    else if (firstTask !== undefined) runs.begin(() => projectService.start(firstTask), firstTask);
  };
  return {
    ask,
    begin,
    /** Asks about trust if that is undecided, otherwise starts the requested run. An attached run starts at once. */
    start(): void {
      if (wish.attach !== undefined || !ask()) begin();
    },
    trust(digest: string): void {
      void projectService.trust(digest).then((result) => {
        toast(receiptToast(result));
        // If refused, the content changed meanwhile and is asked about again.
        if (result.ok || !ask()) begin();
        changed();
      }, fail);
    },
  };
}

const MOST_PATHS = 50;
const MOST_QUERIES = 64;
/** Agents create files too, so older answers are refreshed while they are shown. */
const FRESH: Millis = 5000;

/** Finds the paths that match the text after an `@`; null until the first answer. The project is asked once per query; answers are cached for
 * a few seconds. */
export function openFileSearch({ projectService, world, changed, fail }: AppServices) {
  const found = new Map<string, { readonly paths: readonly string[] | null; readonly asked: Millis }>();
  const ask = (query: string, meanwhile: readonly string[] | null): void => {
    if (found.size >= MOST_QUERIES) found.clear();
    const asked = world.elapsed();
    found.set(query, { paths: meanwhile, asked });
    void projectService.files(query, MOST_PATHS).then((paths) => {
      // Names that cannot be shown cannot be typed into a field either.
      found.set(query, { paths: paths.filter((path) => sanitiseData(path) === path), asked });
      changed();
    }, fail);
  };
  return (query: string): readonly string[] | null => {
    const known = found.get(query);
    if (known === undefined || world.elapsed() - known.asked > FRESH) ask(query, known?.paths ?? null);
    return found.get(query)?.paths ?? null;
  };
}
