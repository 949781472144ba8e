/** The lower part of a question: its answers, what each covers, the text field. Also the exact action, and the state kept. */
import type { Cursor, Line, Offer, Question, Style } from '../../../../app/views/index.ts';
import { questionText, dangerOf, defaultOffer, exactMeasure } from '../../../../app/views/index.ts';
import { exactRows as rowsOfExact, isProse, kindOf, offersFor, span, toLabel } from '../../../../app/views/index.ts';
import { lineWidth, wrap } from '../../../../app/views/index.ts';
import type { Millis } from '../../../../domain/ids.ts';
import { memoize } from '../../../../domain/memoize.ts';
import type { ApprovalRequest } from '../../../../events/index.ts';
import { diffInk } from '../../components/text/inline.ts';
import { type Hint, upDown } from '../../frame/keymap.ts';
import type { Context } from '../../frame/screen.ts';
import { type Editor, editorHeight, openEditor, viewEditor } from '../../text/editor.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { strong, tint } from '../../text/blocks.ts';

export interface Answers {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
  /** The line of the selected option, which stays visible. */
  readonly chosen?: number;
}

const MAX_FIELD_ROWS = 3;

/** The answers of a question; with `words` also what they cover. */
export function answerLines(
  request: ApprovalRequest,
  kept: AnswerState,
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
  return { lines: [...offerRows(offers, width), ...(words ? coverLines(offers, width) : [])], cursor: null };
}

/** `1 allow once   2 this command`: an answer goes into the next row as a whole. */
function offerRows(offers: readonly Offer[], width: number): readonly Line[] {
  const rows: Line[] = [];
  for (const { number, label } of offers) {
    const offer = offerSpan(number, toLabel(label));
    const last = rows.at(-1);
    if (last === undefined || lineWidth(last) + 3 + lineWidth(offer) > width) rows.push(...wrap(offer, width));
    else rows[rows.length - 1] = [...last, span('   '), ...offer];
  }
  return rows;
}

const offerSpan = (number: string, words: string): Line => [strong(number, 'focus'), tint(` ${words}`, 'fg')];

/** What each answer for the session would allow, in full. */
const coverLines = (offers: readonly Offer[], width: number): readonly Line[] =>
  offers.flatMap(({ number, covers }) =>
    covers === null ? [] : wrap([strong(number, 'focus'), tint(` ${toLabel(covers)}`, 'muted')], width, 2),
  );

const optionLines = (
  request: ApprovalRequest,
  kept: AnswerState,
  { glyphs }: Context,
  width: number,
): readonly (readonly Line[])[] =>
  offersFor(request).map(({ number, label }, at) => {
    const on = at === kept.option;
    const line: Line = [
      tint(on ? `${glyphs.selected} ` : '  ', 'focus'),
      strong(`${number} `, 'focus'),
      span(toLabel(label), { fg: on ? 'title' : 'fg', bold: on }),
    ];
    return wrap(line, width, on ? 4 : 2);
  });

const sureLines = (request: ApprovalRequest, offer: Offer, width: number): readonly Line[] =>
  wrap(
    [
      strong(`${dangerOf(request) ?? ''}: `, 'err'),
      strong('y', 'focus'),
      tint(` ${offer.scope === 'once' ? 'allows it once' : `allows ${toLabel(offer.label)} for this session`}, `, 'fg'),
      strong('Esc', 'focus'),
      tint(' back', 'fg'),
    ],
    width,
  );

const PLACEHOLDERS = {
  reason: 'reason (the agent reads it)',
  words: 'message, or !command',
  amount: 'amount to add: 0.50, 20k tokens or 5m',
} as const;

function field({ typing, editor }: AnswerState, width: number): Answers {
  const height = Math.max(1, Math.min(MAX_FIELD_ROWS, editorHeight(editor, width)));
  const asks = typing?.asks ?? null;
  const placeholder = asks === null || typing?.label === 'type an answer' ? 'your answer' : PLACEHOLDERS[asks];
  const { lines, cursor } = viewEditor(editor, { width, height, placeholder, style: { fg: 'fg', bg: 'raised' } });
  return { lines, cursor };
}

export function inboxHints(
  { first: { request } }: Question,
  kept: AnswerState,
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

const SURE: Hint = { keys: 'y', hint: 'allow' };
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

export interface InboxState {
  readonly current: string | null;
  /** The user's position in each question, by its key; typed text is kept while others are shown. */
  readonly kept: ReadonlyMap<string, AnswerState>;
  /** When each approval was first visible, by its id. */
  readonly seen: ReadonlyMap<string, Millis>;
  /** Approvals that were answered here but are still in the state. */
  readonly answered: ReadonlySet<string>;
  /** Postponed approvals; one row shows them. */
  readonly postponed: ReadonlySet<string>;
  /** When the shown question got the focus; earlier keys are not meant for it. */
  readonly since: Millis;
}

export interface AnswerState {
  /** The position of the first visible row (view.ts). */
  readonly at: number;
  /** The number of characters of the text that were visible so far. */
  readonly read: number;
  readonly editor: Editor;
  readonly option: number;
  readonly typing: Offer | null;
  /** A destructive answer that needs a second key, pressed after `since`. */
  readonly sure: { readonly offer: Offer; readonly since: Millis } | null;
}

export const NEW: InboxState = {
  current: null,
  kept: new Map(),
  seen: new Map(),
  answered: new Set(),
  postponed: new Set(),
  since: 0,
};

export const answerOf = ({ kept }: InboxState, { key, first }: Question): AnswerState =>
  kept.get(key) ?? {
    at: Number.NEGATIVE_INFINITY,
    read: 0,
    editor: openEditor('', true),
    option: defaultOffer(first.request),
    typing: null,
    sure: null,
  };

/** The style of an escape, unlike anything else in the dialog. */
const HIDDEN: Style = { fg: 'surface', bg: 'warn', underline: true };

/** A row of the text with its character positions, which no resize changes. */
export interface ExactRow {
  readonly line: Line;
  readonly from: number;
  /** The position after its last character, including the line break. */
  readonly to: number;
}

/** Columns before each row of an action for the continuation sign. */
const GUTTER = 2;

/** The exact action in rows of at most `width` columns, broken at blanks, complete, with hidden characters as escapes. */
export const exactRows = memoize(
  (request: ApprovalRequest, width: number, glyphs: Glyphs) => [request, width, glyphs],
  laidOut,
);

function laidOut(request: ApprovalRequest, width: number, glyphs: Glyphs): readonly ExactRow[] {
  const prose = isProse(request);
  const room = Math.max(1, prose ? width : width - GUTTER);
  let next = 0;
  return questionText(request)
    .split('\n')
    .flatMap((text) => {
      const style = prose ? PROSE : styleOf(request, text);
      const parts = rowsOfExact(text, room);
      const [start, end] = [next, next + (parts.at(-1)?.to ?? 0)];
      next = end + 1;
      return parts.map(({ from, to, continues, pieces }, row): ExactRow => {
        const line = pieces.map((piece) => span(piece.text, piece.hidden ? HIDDEN : style));
        const sign = continues === 'new' ? ' ' : glyphs.continuation[continues];
        const shown = prose
          ? continues === 'blank'
            ? trimmed(line)
            : line
          : [span(`${sign} `, { fg: 'warn', bg: 'raised' }), ...line];
        return { line: shown, from: start + from, to: row === parts.length - 1 ? end + 1 : start + to };
      });
    });
}

/** Removes the blank at which the row was broken. */
const trimmed = ([first, ...rest]: Line): Line => (first ? [span(first[0].trimStart(), first[1]), ...rest] : []);

const PROSE: Style = { fg: 'fg', bg: 'raised' };

const styleOf = ({ action }: ApprovalRequest, line: string): Style =>
  action === 'shell' ? { fg: 'title', bg: 'raised', bold: true } : { fg: diffInk(line), bg: 'raised' };

/** `3 lines · 9029 characters · digest 3f9a01bc`, and whether it has hidden characters. */
export function lengthLine(request: ApprovalRequest, { glyphs }: Context): Line {
  const { words, hidden } = exactMeasure(request);
  return [
    tint(words.join(` ${glyphs.dot} `), 'faint'),
    ...(hidden ? [span('  '), span('hidden characters', HIDDEN), tint(' are shown as escapes', 'warn')] : []),
  ];
}
