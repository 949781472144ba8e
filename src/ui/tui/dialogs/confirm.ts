/** Yes/no dialogs, where Enter is always the safe choice. Irreversible acts need a typed word; trust needs its own key after everything was read. */
import type { Action } from '../../../app/actions/index.ts';
import { type Line, TRUST_WORDS, wrap } from '../../../app/views/index.ts';
import type { RunState } from '../../../events/index.ts';
import type { TrustQuestion } from '../../../ports/project-service.ts';
import { diffInk } from '../components/text/inline.ts';
import { closed, type Overlay } from '../frame/overlay.ts';
import type { Context, Dialog, DialogEffect } from '../frame/screen.ts';
import { fieldOverlay } from './form.ts';
import { closingKey, type MessageKey, messageOverlay } from './message.ts';
import { strong, tint } from '../text/blocks.ts';

type ConfirmDialog = Extract<Dialog, { readonly is: 'confirm' }>;
const WIDTH = 72;

/** The effect of an action: its command, or first its confirmation. */
export function confirmEffect<Args>(action: Action<Args>, state: RunState, args: Args): DialogEffect {
  const done: DialogEffect = { commands: [action.command(state, args)] };
  const question = action.confirm?.(state, args);
  if (question === undefined) return done;
  const [first, ...others] = question.lines;
  const lines = [[tint(first, 'fg')], ...others.map((line): Line => [tint(line, 'muted')])];
  return { dialog: { is: 'confirm', ...question, lines, then: () => done } };
}

function yes(dialog: ConfirmDialog): DialogEffect {
  const agreed = dialog.then.bind(dialog);
  return agreed();
}

export function confirmOverlay(dialog: ConfirmDialog, kind: Overlay['kind'] = 'dialog'): Overlay {
  if (dialog.word !== undefined && dialog.word !== '') return typedConfirm(dialog, dialog.word);
  const { title, lines, instead } = dialog;
  return messageOverlay({
    title,
    kind,
    width: WIDTH,
    lines: (_, width) => lines.flatMap((line) => wrap(line, width)),
    keys: ({ glyphs }): readonly MessageKey[] => [
      ...(instead === undefined ? [] : [closingKey([instead.key], instead.key, instead.hint, instead.leadsTo)]),
      { keys: ['y', 'Y'], label: 'y', hint: dialog.yes, run: () => ({ effect: yes(dialog) }) },
      closingKey(['enter', 'esc', 'n', 'N', 'q'], `${glyphs.key.enter}/Esc`, dialog.no),
    ],
  });
}

/** Enter with any other text changes nothing. */
const typedConfirm = (dialog: ConfirmDialog, word: string): Overlay =>
  fieldOverlay({
    title: dialog.title,
    ink: 'err',
    width: WIDTH,
    value: '',
    lines: 1,
    above: (width) => {
      const ask: Line = [tint('Type ', 'muted'), strong(word, 'err'), tint(` and Enter to ${dialog.yes}.`, 'muted')];
      return [...dialog.lines, ask].flatMap((line) => wrap(line, width));
    },
    hints: ({ glyphs }) => [{ keys: `${glyphs.key.enter}/Esc`, hint: dialog.no }],
    enter: (text) => {
      if (text.trim() === word) return closed(yes(dialog));
      return text === '' ? closed() : `Type "${word}" to confirm.`;
    },
  });

// Shows what a project adds and what changed since it was trusted. Exactly the shown content is trusted, by its own key,
// after it was seen to its end; every other key continues without trust.

export const trustOverlay = (question: TrustQuestion): Overlay =>
  messageOverlay({
    title:
      question.state === 'changed' ? 'This project has changed since you trusted it' : 'Do you trust this project?',
    ink: 'warn',
    width: 92,
    opensItself: true,
    // Only lines with a bullet are wrapped with an indentation.
    lines: (context, width) =>
      trustLines(question, context).flatMap((line) => wrap(line, width, line.length > 1 ? 2 : 0)),
    keys: ({ glyphs }) => [
      closingKey(['enter', 'esc', 'n', 'N'], `${glyphs.key.enter}/Esc`, "don't trust", { app: 'untrusted' }),
      {
        keys: ['T'],
        label: 'T',
        hint: 'trust',
        allows: true,
        run: (read) => (read ? { effect: { app: { trust: question.digest } } } : NOT_READ),
      },
    ],
  });

const NOT_READ = {
  stays: true,
  effect: { toast: { level: 'warn', text: 'Scroll to the end (G) before answering.' } },
} as const;

function trustLines({ brings, diff }: TrustQuestion, { projectService, glyphs }: Context): readonly Line[] {
  const changes: readonly Line[] =
    diff === ''
      ? []
      : [
          [],
          [strong(TRUST_WORDS.changed, 'warn')],
          ...diff.split('\n').map((line): Line => [tint(line, diffInk(line))]),
        ];
  return [
    [strong(projectService.cwd, 'title')],
    [tint(TRUST_WORDS.brings, 'fg')],
    ...brings.map((line): Line => [tint(`${glyphs.bullet} `, 'focus'), tint(line, 'fg')]),
    ...changes,
    [],
    [tint(TRUST_WORDS.otherwise, 'muted')],
    [tint("You'll be asked again when any of these files change.", 'muted')],
  ];
}
