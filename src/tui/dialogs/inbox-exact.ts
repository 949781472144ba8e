/** The exact action of a question as lines: every character of it, what is hidden as an escape that looks like none of its letters. */
import { jsonDigest } from '../../domain/digest.ts';
import type { ApprovalRequest } from '../../events/event.ts';
import { counted } from '../format.ts';
import type { Context } from '../screen.ts';
import { span } from '../text/clip.ts';
import type { Line, Span, Style } from '../text/line.ts';
import { unmarked } from '../text/sanitise.ts';
import { clusterWidth, graphemes } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import { diffInk } from '../view/diff.ts';

/** How an escape looks: like nothing else in the box. */
const HIDDEN: Style = { fg: 'surface', bg: 'warn', underline: true };

const EXACT = new WeakMap<ApprovalRequest, { readonly width: number; readonly lines: readonly Line[] }>();

/** At most `width` columns a line, broken at the edge only; what is said in words is broken between them. */
export function exactLines(request: ApprovalRequest, width: number): readonly Line[] {
  const known = EXACT.get(request);
  if (known?.width === width) return known.lines;
  const room = Math.max(1, width);
  const lines = textOf(request)
    .split('\n')
    .flatMap((line) => (SPOKEN.has(request.action) ? spoken(line, room) : chunks(line, styleOf(request, line), room)));
  EXACT.set(request, { width, lines });
  return lines;
}

/** What is offered stands below as what it is: answers. */
function textOf({ exact, options }: ApprovalRequest): string {
  const lines = exact.split('\n');
  const offered = options.length > 0 && options.every((one, index) => lines.at(index - options.length) === one);
  return offered ? lines.slice(0, -options.length).join('\n') : exact;
}

const SPOKEN: ReadonlySet<ApprovalRequest['action']> = new Set(['question', 'turn', 'failure', 'budget'] as const);

const spoken = (line: string, width: number): readonly Line[] =>
  wrap(
    unmarked(line).map(({ text, hidden }) => span(text, hidden ? HIDDEN : { fg: 'fg', bg: 'raised' })),
    width,
  );

const styleOf = ({ action }: ApprovalRequest, line: string): Style =>
  action === 'shell' ? { fg: 'title', bg: 'raised', bold: true } : { fg: diffInk(line), bg: 'raised' };

/** Letters of one column each, nothing hidden: nearly every action is of these, and some are megabytes of them. */
const SIMPLE = /^[\x20-\x7e]*$/;

/** Lines of at most `width` columns; blanks count like any other character. */
function chunks(text: string, style: Style, width: number): readonly Line[] {
  if (!SIMPLE.test(text)) return clusters(text, style, width);
  const count = Math.max(1, Math.ceil(text.length / width));
  return Array.from({ length: count }, (_, at) => [span(` ${text.slice(at * width, at * width + width)}`, style)]);
}

function clusters(text: string, style: Style, width: number): readonly Line[] {
  const lines: Line[] = [];
  let line: Span[] = [span(' ', style)];
  let used = 0;
  for (const part of unmarked(text)) {
    let open = '';
    const look = part.hidden ? HIDDEN : style;
    for (const cluster of graphemes(part.text)) {
      const size = clusterWidth(cluster);
      if (used + size > width && used > 0) {
        lines.push([...line, span(open, look)]);
        [line, open, used] = [[span(' ', style)], '', 0];
      }
      open += cluster;
      used += size;
    }
    if (open !== '') line.push(span(open, look));
  }
  return [...lines, line];
}

const LONG = 200;

/** What is said of an action as a whole; found out once, since it may be long. */
interface Measure {
  readonly words: readonly string[];
  readonly hidden: boolean;
}

const MEASURES = new WeakMap<ApprovalRequest, Measure>();

function measureOf(request: ApprovalRequest): Measure {
  const known = MEASURES.get(request);
  if (known !== undefined) return known;
  const { exact } = request;
  const parts = unmarked(exact);
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const words = [
    counted(exact.split('\n').length, 'line'),
    counted(length, 'character'),
    // A few letters that stand for all of a long action: two that differ anywhere have others.
    ...(length > LONG ? [`digest ${jsonDigest(exact).slice(0, 8)}`] : []),
  ];
  const measure = { words, hidden: parts.some((piece) => piece.hidden) };
  MEASURES.set(request, measure);
  return measure;
}

/** `3 lines, 9029 characters, digest 3f9a01bc`, and whether hidden characters are in it. */
export function lengthLine(request: ApprovalRequest, { glyphs }: Context): Line {
  const { words, hidden } = measureOf(request);
  return [
    span(words.join(` ${glyphs.dot} `), { fg: 'faint' }),
    ...(hidden ? [span('  '), span('hidden characters', HIDDEN), span(' are shown as escapes', { fg: 'warn' })] : []),
  ];
}
