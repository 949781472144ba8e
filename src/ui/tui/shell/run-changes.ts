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

export type RunChanges = ReturnType<typeof openRunChanges>;

export function openRunChanges({ projectService, runs, toast, act, changed, fail, renewAuthors }: Services) {
  let isBusy = false;
  const wait = <T>(asked: Promise<Result<T, Refusal>>, then: (value: T) => void): void => {
    isBusy = true;
    void asked.then((result) => {
      isBusy = false;
      if (result.ok) then(result.value);
      else toast({ level: 'error', text: sanitiseData(result.fault.text) });
      changed();
    }, fail);
  };
  return {
    begin(action: ChangeAction, digest?: string): void {
      const session = runs.last?.controls.session;
      const { changes } = projectService;
      if (session === undefined || changes === undefined || isBusy) return;
      // What is told next about the same topic takes its place.
      toast({ level: 'info', text: `${TOPIC}: ${digest === undefined ? 'comparing the files' : 'working'}` });
      if (digest === undefined)
        return wait(changes.preview(session, action), (shown) => act({ dialog: dialogOf(shown, action) }));
      wait(changes.carryOut(session, action, digest), ({ text }) => {
        toast({ level: 'info', text: `${TOPIC}: ${sanitiseData(text)}` });
        if (action.do === 'merge' && action.choice === 'agent')
          return act({ app: { resume: session, followUp: RESOLVE_REQUEST, to: action.agent } });
        renewAuthors();
        // The state of an ended run is read anew from its log; one that goes on tells of it.
        if (runs.feed?.state.finished === null) return;
        void runs.change(() => projectService.look(session)).then(changed, fail);
      });
    },
    accept(key: string, isAccepted: boolean): void {
      const session = runs.last?.controls.session;
      if (session !== undefined) projectService.accepted(session).mark(key, isAccepted);
    },
  };
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
