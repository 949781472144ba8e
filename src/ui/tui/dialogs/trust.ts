/**
 * What a project would bring, and what changed since it was trusted, before any of it counts. Trust is given to exactly what
 * is shown, by a key of its own, after it was seen to its end; every other way out goes on without it.
 */
import type { Millis } from '../../../domain/ids.ts';
import type { TrustQuestion } from '../../../ports/project-service.ts';
import { upDown, type Hint } from '../frame/keymap.ts';
import type { Context } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { fit, span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { wrap } from '../../../app/views/text/wrap.ts';
import { scrollBar } from '../components/agents/cards.ts';
import { diffInk } from '../components/text/diff.ts';
import {
  boxRows,
  boxWidth,
  closed,
  framed,
  keyLine,
  scrolled,
  stay,
  windowed,
  type Overlay,
  type Pressed,
} from '../frame/overlay.ts';

const WIDTH = 92;
const TRUST = 'T';
/** Keys within this time after it was on the screen were meant for something else. */
const DEAF: Millis = 300;

interface TrustState {
  readonly question: TrustQuestion;
  readonly top: number;
  readonly deepest: number;
  /** Since when it is on the screen; null before. */
  readonly since: Millis | null;
}

export const trustOverlay = (question: TrustQuestion): Overlay => open({ question, top: 0, deepest: 0, since: null });

function open(of: TrustState): Overlay {
  return {
    title: 'Trust',
    kind: 'dialog',
    painted: (context) => (of.since === null ? open({ ...of, since: context.now }) : open(of)),
    view(context, size) {
      const { lines, rows, width } = measured(of, context, size);
      const { shown, top } = windowed(lines, of.top, rows);
      const bar = scrollBar(top, lines.length, shown.length, context.glyphs.scroll);
      const inner = Math.max(1, width - 4);
      const body = [
        ...shown.map((line, row): Line => [...fit(line, inner - 1), span(bar[row] ?? ' ', { fg: 'focus' })]),
        ...keyLines(context, size, inner),
      ];
      return { lines: framed({ title: titleOf(of.question), width, body, ink: 'warn' }, context), cursor: null };
    },
    press: (input, context, size) => press(of, input, context, size),
    hints,
  };
}

const titleOf = ({ state }: TrustQuestion): string =>
  state === 'changed' ? 'This project has changed since you trusted it' : 'Do you trust this project?';

const answers = ({ glyphs }: Context): readonly Hint[] => [
  { keys: `${glyphs.key.enter}/Esc`, hint: 'go on without' },
  { keys: TRUST, hint: 'trust this' },
];

const hints = (context: Context): readonly Hint[] => [
  ...answers(context),
  { keys: upDown(context.glyphs), hint: 'scroll' },
  { keys: 'G', hint: 'end' },
];

/** In a low terminal the footer alone names the keys. */
function keyLines(context: Context, size: Size, width: number): readonly Line[] {
  if (boxRows(size) < 9) return [];
  return [[], ...wrap(keyLine(answers(context).map(({ keys, hint }) => [keys, hint] as const)), width)];
}

interface Measured {
  readonly lines: readonly Line[];
  readonly rows: number;
  readonly width: number;
}

function measured({ question }: TrustState, context: Context, size: Size): Measured {
  const width = boxWidth(size, WIDTH);
  const inner = Math.max(1, width - 4);
  // Only what has a bullet goes on under its words.
  const lines = wordsOf(question, context).flatMap((line) =>
    wrap(line, Math.max(1, inner - 1), line.length > 1 ? 2 : 0),
  );
  const rows = Math.max(1, boxRows(size) - keyLines(context, size, inner).length);
  return { lines, rows: Math.min(rows, lines.length), width };
}

function wordsOf({ brings, diff }: TrustQuestion, { lobby, glyphs }: Context): readonly Line[] {
  const changes: readonly Line[] =
    diff === ''
      ? []
      : [
          [],
          [span('Changed since you trusted it:', { fg: 'warn', bold: true })],
          ...diff.split('\n').map((line): Line => [span(line, { fg: diffInk(line) })]),
        ];
  return [
    [span(lobby.cwd, { fg: 'title', bold: true })],
    [span('Trusted, it would bring this into your runs:', { fg: 'fg' })],
    ...brings.map((line): Line => [span(`${glyphs.bullet} `, { fg: 'focus' }), span(line, { fg: 'fg' })]),
    ...changes,
    [],
    [span('Its restrictions hold either way. Without trust, nothing else of it counts.', { fg: 'muted' })],
    [span('Trust holds for exactly this: when any of it changes, you are asked again.', { fg: 'muted' })],
  ];
}

function press(of: TrustState, input: Input, context: Context, size: Size): Pressed {
  if (of.since === null || context.now - of.since < DEAF) return stay(open(of));
  const key = input.is === 'key' ? input.key : '';
  if (WITHOUT.has(key)) return closed({ app: 'untrusted' });
  const { lines, rows } = measured(of, context, size);
  if (key === TRUST) return of.deepest + rows >= lines.length ? trusted(of) : unread(of);
  const top = scrolled(input, of.top, lines.length, rows);
  return stay(top === null ? open(of) : open({ ...of, top, deepest: Math.max(of.deepest, top) }));
}

const WITHOUT: ReadonlySet<string> = new Set(['enter', 'esc', 'n', 'N']);

const trusted = ({ question }: TrustState): Pressed => closed({ app: { trust: question.digest } });

const unread = (of: TrustState): Pressed => ({
  overlay: open(of),
  effect: { toast: { level: 'warn', text: 'There is more of it: read to the end first (G).' } },
});
