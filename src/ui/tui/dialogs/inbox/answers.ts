/** What stands below the text of a question: the answers by their numbers, what each covers, and the field for words. */
import { type Offer, firstChosen, offersFor } from '../../../../app/views/questions/answers.ts';
import { type Question, destroys, kindOf } from '../../../../app/views/questions/question.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Cursor, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { ApprovalRequest } from '../../../../events/event.ts';
import { upDown, type Hint } from '../../frame/keymap.ts';
import type { Context } from '../../frame/screen.ts';
import { editorHeight, viewEditor } from '../../text/editor-view.ts';
import { type Editor, openEditor } from '../../text/editor.ts';

export interface Answers {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
  /** The line that is chosen, of options: it stays in sight where not all do. */
  readonly chosen?: number;
}

const MOST_WORDS = 3;

/** The answers of a question; what they cover where `words` has room for it. */
export function answerLines(
  request: ApprovalRequest,
  kept: Kept,
  context: Context,
  { width, words }: { readonly width: number; readonly words: boolean },
): Answers {
  if (kept.sure !== null) return { lines: sureLines(request, kept.sure.offer, width), cursor: null };
  const kind = kindOf(request);
  if (kept.typing !== null || kind === 'words') return field(kept, width);
  if (kind === 'options') {
    const rows = optionLines(request, kept, context, width);
    const chosen = rows.slice(0, kept.option).reduce((sum, lines) => sum + lines.length, 0);
    return { lines: rows.flat(), cursor: null, chosen };
  }
  const offers = offersFor(request);
  const row = wrap(
    offers.flatMap(({ number, label }, at): Line => [span(at === 0 ? '' : '   '), ...numbered(number, toLabel(label))]),
    width,
  );
  return { lines: [...row, ...(words ? coverLines(offers, width) : [])], cursor: null };
}

const numbered = (number: string, words: string): Line => [
  span(number, { fg: 'focus', bold: true }),
  span(` ${words}`, { fg: 'fg' }),
];

/** What an answer for the session would allow, said in full. */
const coverLines = (offers: readonly Offer[], width: number): readonly Line[] =>
  offers.flatMap(({ number, covers }) =>
    covers === null
      ? []
      : wrap([span(number, { fg: 'focus', bold: true }), span(` ${toLabel(covers)}`, { fg: 'muted' })], width, 2),
  );

/** One below the other, each whole. */
function optionLines(
  request: ApprovalRequest,
  kept: Kept,
  { glyphs }: Context,
  width: number,
): readonly (readonly Line[])[] {
  return offersFor(request).map(({ number, label }, at) => {
    const on = at === kept.option;
    const line: Line = [
      span(on ? `${glyphs.selected} ` : '  ', { fg: 'focus' }),
      span(`${number} `, { fg: 'focus', bold: true }),
      span(toLabel(label), { fg: on ? 'title' : 'fg', bold: on }),
    ];
    return wrap(line, width, on ? 4 : 2);
  });
}

const sureLines = (request: ApprovalRequest, offer: Offer, width: number): readonly Line[] =>
  wrap(
    [
      span(`${destroys(request) ?? ''}: `, { fg: 'err', bold: true }),
      span('y', { fg: 'focus', bold: true }),
      span(` ${offer.scope === 'once' ? 'allows it once' : `allows ${toLabel(offer.label)} for this session`}, `, {
        fg: 'fg',
      }),
      span('Esc', { fg: 'focus', bold: true }),
      span(' goes back', { fg: 'fg' }),
    ],
    width,
  );

const PLACEHOLDERS = {
  reason: 'why not? The agent reads it',
  words: 'what it is told, or !command',
  amount: 'how much more: 0.50, 20k tokens, 5m',
} as const;

function field({ typing, editor }: Kept, width: number): Answers {
  const height = Math.max(1, Math.min(MOST_WORDS, editorHeight(editor, width)));
  const asks = typing?.asks ?? null;
  const placeholder = asks === null || typing?.label === 'in your own words' ? 'your answer' : PLACEHOLDERS[asks];
  const { lines, cursor } = viewEditor(editor, { width, height, placeholder, style: { fg: 'fg', bg: 'raised' } });
  return { lines, cursor };
}

export function inboxHints(
  { first: { request } }: Question,
  kept: Kept,
  count: number,
  context: Context,
): readonly Hint[] {
  const { enter } = context.glyphs.key;
  if (kept.sure !== null) return [SURE, BACK];
  if (kept.typing?.asks === 'reason') return [{ keys: enter, hint: 'deny' }, BACK];
  if (kept.typing !== null) return [{ keys: enter, hint: 'answer' }, BACK];
  const kind = kindOf(request);
  return [
    ...answerHints(request, context),
    { keys: 'Esc', hint: 'later' },
    kind === 'options' ? { keys: 'PgDn', hint: 'scroll' } : { keys: upDown(context.glyphs), hint: 'scroll' },
    { keys: 'Tab', hint: count > 1 ? 'next question' : 'leave' },
  ];
}

const SURE: Hint = { keys: 'y', hint: 'allow it' };
const BACK: Hint = { keys: 'Esc', hint: 'back' };

function answerHints(request: ApprovalRequest, { glyphs }: Context): readonly Hint[] {
  const { enter } = glyphs.key;
  const offers = offersFor(request);
  const kind = kindOf(request);
  if (kind === 'words') return [{ keys: enter, hint: 'answer' }];
  const numbers = { keys: `1-${Math.min(9, kind === 'permission' ? 5 : offers.length)}`, hint: 'answer' };
  if (kind === 'permission') return [numbers];
  return [numbers, { keys: `${upDown(glyphs)} ${enter}`, hint: 'choose' }];
}

// What the screen remembers of each question: where the person is in it, and what of it was on the screen.

export interface InboxState {
  /** Key of the question shown. */
  readonly current: string | null;
  /** Where the person is in each question, by its key: what was typed is kept while others are looked at. */
  readonly kept: ReadonlyMap<string, Kept>;
  /** When an approval was on the screen first, by its id. */
  readonly seen: ReadonlyMap<string, Millis>;
  /** Answered here, not yet out of the state. */
  readonly answered: ReadonlySet<string>;
  /** Approvals that were left for later: one row tells of them. */
  readonly putOff: ReadonlySet<string>;
  /** Since when the question that is shown has the keys: what was pressed before is not meant for it. */
  readonly since: Millis;
}

export interface Kept {
  /** The place of the first row in sight (view.ts). */
  readonly at: number;
  /** The characters of the text that were on the screen: up to, but not with, this one. */
  readonly read: number;
  readonly editor: Editor;
  /** Which option is selected. */
  readonly option: number;
  /** The answer that words are typed for. */
  readonly typing: Offer | null;
  /** An answer that may destroy something: it takes a second key, pressed after this time. */
  readonly sure: { readonly offer: Offer; readonly since: Millis } | null;
}

export const NEW: InboxState = {
  current: null,
  kept: new Map(),
  seen: new Map(),
  answered: new Set(),
  putOff: new Set(),
  since: 0,
};

export const keptOf = ({ kept }: InboxState, { key, first }: Question): Kept =>
  kept.get(key) ?? {
    at: Number.NEGATIVE_INFINITY,
    read: 0,
    editor: openEditor('', true),
    option: firstChosen(first.request),
    typing: null,
    sure: null,
  };
