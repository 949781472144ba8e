/** What stands below the exact action of a question: how long it is, the answers there are, and their keys. */
import { offersFor } from '../../app/views/answers.ts';
import type { ApprovalRequest } from '../../events/event.ts';
import { upDown } from '../keymap.ts';
import type { Hint } from '../keymap.ts';
import type { Context } from '../screen.ts';
import { fit, span } from '../text/clip.ts';
import { editorText } from '../text/editor.ts';
import { editorHeight, viewEditor } from '../text/editor-view.ts';
import type { Cursor, Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { wrap } from '../text/wrap.ts';
import { lengthLine } from './inbox-exact.ts';
import type { Kept, Kind, Question } from './inbox-state.ts';
import { amountOption, kindOf, takesAmount } from './inbox-state.ts';
import { keyLine } from './overlay.ts';

export interface Answering {
  readonly request: ApprovalRequest;
  readonly kept: Kept;
  /** Only what is answered with: the footer names the keys. */
  readonly low: boolean;
}

export interface Answers {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
}

const MOST_WORDS = 3;

/** The rows of it at its highest. */
export function rowsOfAnswers(request: ApprovalRequest, context: Context, width: number): number {
  const keys = keyLines(request, context, width).length;
  const kind = kindOf({ request });
  if (kind === 'options') return request.options.length + 2 + keys;
  return kind === 'words'
    ? MOST_WORDS + 2 + keys
    : Math.max(MOST_WORDS + 2 + keys, 2 + keys + covers(request, width).length);
}

export function answerLines(of: Answering, context: Context, width: number): Answers {
  const { request, low } = of;
  const keys = keyLines(request, context, width);
  const kind = kindOf({ request });
  if (kind === 'words' || of.kept.reason) return field(of, context, width);
  const what =
    kind === 'options'
      ? optionLines(of, context, width)
      : [fit(lengthLine(request, context), width, {}, context.glyphs.ellipsis)];
  if (low) return { lines: what, cursor: null };
  if (kind === 'options') return { lines: [[], ...what, [], ...keys], cursor: null };
  return { lines: [...what, [], ...keys, ...covers(request, width)], cursor: null };
}

/** What an answer for the session would allow, said in full. */
const covers = (request: ApprovalRequest, width: number): readonly Line[] =>
  offersFor(request).flatMap(({ number, covers: words }) =>
    words === null
      ? []
      : wrap([span(number, { fg: 'focus', bold: true }), span(` ${toLabel(words)}`, { fg: 'muted' })], width, 2),
  );

function optionLines({ request, kept }: Answering, { glyphs }: Context, width: number): readonly Line[] {
  const amount = editorText(kept.editor);
  const byNumber = amountOption({ request }) === -1;
  return request.options.map((option, index): Line => {
    const on = index === kept.option;
    const mark = span(on ? `${glyphs.selected} ` : '  ', { fg: 'focus' });
    const typed = takesAmount({ request }, option) ? amount : '';
    return fit(
      [
        mark,
        span(byNumber ? `${index + 1} ` : '', { fg: 'faint' }),
        // A typed amount takes the place of the one that is offered.
        span(typed === '' ? option : 'add ', { fg: on ? 'title' : 'fg', bold: on }),
        span(typed, { fg: 'warn', bold: true }),
      ],
      width,
      {},
      glyphs.ellipsis,
    );
  });
}

function field({ request, kept, low }: Answering, context: Context, width: number): Answers {
  const height = low ? 1 : Math.max(1, Math.min(MOST_WORDS, editorHeight(kept.editor, width)));
  const placeholder = kept.reason
    ? 'why not? The agent reads it'
    : request.action === 'turn'
      ? 'a message, or !command'
      : 'your answer';
  const { lines, cursor } = viewEditor(kept.editor, { width, height, placeholder, style: { fg: 'fg', bg: 'raised' } });
  if (low) return { lines, cursor };
  const keys = kept.reason ? [keyLine(denying(context))] : keyLines(request, context, width);
  return { lines: [[], ...lines, [], ...keys], cursor: { x: cursor.x, y: cursor.y + 1 } };
}

/** While the reason of a no is typed. */
const denying = ({ glyphs }: Context): readonly (readonly [string, string])[] => [
  [glyphs.key.enter, 'deny'],
  ['Esc', 'back'],
];

const keyLines = (request: ApprovalRequest, context: Context, width: number): readonly Line[] =>
  wrap(keyLine(keysOf(request, context)), width);

function keysOf(request: ApprovalRequest, { glyphs }: Context): readonly (readonly [string, string])[] {
  const { enter } = glyphs.key;
  const later = ['Esc', 'later'] as const;
  const kinds: Readonly<Record<Kind, readonly (readonly [string, string])[]>> = {
    options: [[enter, 'choose'], later],
    words: [[enter, request.action === 'turn' ? 'go on' : 'answer'], later],
    permission: [...offersFor(request).map(({ number, label }) => [number, toLabel(label)] as const), later],
  };
  return kinds[kindOf({ request })];
}

export function inboxHints({ first: { request } }: Question, count: number, context: Context): readonly Hint[] {
  const { glyphs } = context;
  return [
    ...keysOf(request, context).map(([keys, hint]) => ({ keys, hint })),
    ...(kindOf({ request }) === 'options'
      ? [
          { keys: upDown(glyphs), hint: 'select' },
          { keys: 'PgDn', hint: 'scroll' },
        ]
      : [{ keys: upDown(glyphs), hint: 'scroll' }]),
    ...(count > 1 ? [{ keys: 'Tab', hint: 'next question' }] : []),
  ];
}
