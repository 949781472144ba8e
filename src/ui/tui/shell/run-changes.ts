/** What a person does with the changes of a run: a dialog shows it, and its answer does exactly that. */
import { RESOLVE_REQUEST } from '../../../app/actions/index.ts';
import { type Line, sanitiseData } from '../../../app/views/index.ts';
import type { Result } from '../../../domain/result.ts';
import type { Refusal } from '../../../ports/controls.ts';
import type { ChangePreview, ChangeAction } from '../../../ports/project-service.ts';
import { diffInk } from '../components/text/inline.ts';
import { choice, type Dialog, type DialogEffect, pickFrom } from '../frame/screen.ts';
import { tint } from '../text/blocks.ts';
import type { AppServices } from './app-options.ts';

interface Services extends AppServices {
  /** Reads again whose the changes of the run are. */
  readonly renewAuthors: () => void;
}

const TOPIC = 'Changes';

export class RunChangesDialogs {
  readonly #app: Services;
  #isBusy = false;

  constructor(app: Services) {
    this.#app = app;
  }

  begin(action: ChangeAction, digest?: string): void {
    const { projectService, runs, toast } = this.#app;
    const session = runs.last?.controls.session;
    const { changes } = projectService;
    if (session === undefined || changes === undefined || this.#isBusy) return;
    // What is told next about the same topic takes its place.
    toast({ level: 'info', text: `${TOPIC}: ${digest === undefined ? 'comparing the files' : 'working'}` });
    if (digest === undefined)
      return this.#waits(changes.preview(session, action), (shown) =>
        this.#app.act({ dialog: dialogOf(shown, action) }),
      );
    this.#waits(changes.carryOut(session, action, digest), ({ text }) => {
      toast({ level: 'info', text: `${TOPIC}: ${sanitiseData(text)}` });
      if (action.do === 'merge' && action.choice === 'agent')
        return this.#app.act({ app: { resume: session, followUp: RESOLVE_REQUEST, to: action.agent } });
      this.#app.renewAuthors();
      // The state of an ended run is read anew from its log; one that goes on tells of it.
      if (runs.feed?.state.finished === null) return;
      void runs.change(() => projectService.look(session)).then(this.#app.changed, this.#app.fail);
    });
  }

  accept(key: string, isAccepted: boolean): void {
    const session = this.#app.runs.last?.controls.session;
    if (session !== undefined) this.#app.projectService.accepted(session).mark(key, isAccepted);
  }

  #waits<T>(asked: Promise<Result<T, Refusal>>, then: (value: T) => void): void {
    const { toast, changed, fail } = this.#app;
    this.#isBusy = true;
    void asked.then((result) => {
      this.#isBusy = false;
      if (result.ok) then(result.value);
      else toast({ level: 'error', text: sanitiseData(result.fault.text) });
      changed();
    }, fail);
  }
}

function dialogOf({ title, lines, digest, answers, choose = title }: ChangePreview, { do: act }: ChangeAction): Dialog {
  const inkOf = (line: string) => (act === 'request' ? 'fg' : diffInk(line.trimStart()));
  const shown = lines.map((line): Line => [tint(sanitiseData(line), inkOf(line))]);
  const [first, ...others] = answers;
  if (first === undefined) return { is: 'read', title, lines: shown };
  const answer = ({ action }: (typeof answers)[number]): DialogEffect => ({ app: { change: action, digest } });
  const pick = pickFrom(choose, answers, ({ label, note }) => choice(label, note), answer);
  return {
    is: 'confirm',
    title,
    lines: shown,
    yes: others.length === 0 ? first.label : 'choose',
    no: 'change nothing',
    then: () => (others.length === 0 ? answer(first) : { dialog: pick }),
  };
}
