/** The exact action of a question as lines: every character of it, what is hidden as an escape that looks like none of its letters. */
import { type Part, type Units, partsOf } from '../../../../app/views/questions/exact.ts';
import { askedText, isProse } from '../../../../app/views/questions/question.ts';
import { jsonDigest } from '../../../../domain/digest.ts';
import type { ApprovalRequest } from '../../../../events/event.ts';
import { counted } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import type { Context } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line, Style } from '../../../../app/views/text/line.ts';
import { unmarked } from '../../../../app/views/text/sanitise.ts';
import { clusterWidth, graphemes } from '../../../../app/views/text/width.ts';
import { diffInk } from '../../components/text/diff.ts';

/** How an escape looks: like nothing else in the box. */
const HIDDEN: Style = { fg: 'surface', bg: 'warn', underline: true };

/** A row of the text, and where in the text it stands: counted in characters, which no resize changes. */
export interface ExactRow {
  readonly line: Line;
  readonly from: number;
  /** Behind its last character, and the line break where it is the last of a line. */
  readonly to: number;
}

const EXACT = new WeakMap<ApprovalRequest, { readonly width: number; readonly rows: readonly ExactRow[] }>();

/** Columns in front of each row of an action: how it goes on from the row above. */
const GUTTER = 2;

/** Rows of at most `width` columns, broken behind blanks; nothing is left out. */
export function exactRows(request: ApprovalRequest, width: number, glyphs: Glyphs): readonly ExactRow[] {
  const known = EXACT.get(request);
  if (known?.width === width) return known.rows;
  const prose = isProse(request);
  const room = Math.max(1, prose ? width : width - GUTTER);
  let at = 0;
  const rows = askedText(request)
    .split('\n')
    .flatMap((line) => {
      const style = prose ? PROSE : styleOf(request, line);
      const of = rowsOf(line, style, room, at);
      at = (of.at(-1)?.to ?? at) + 1;
      return of.map(({ line: text, from, to, goesOn }, row): ExactRow => {
        const sign = goesOn === 'new' ? ' ' : glyphs.goesOn[goesOn];
        if (prose && goesOn === 'blank') return { line: trimmed(text), from, to: row === of.length - 1 ? to + 1 : to };
        const gutter = prose ? [] : [span(`${sign} `, { fg: 'warn', bg: 'raised' })];
        return { line: [...gutter, ...text], from, to: row === of.length - 1 ? to + 1 : to };
      });
    });
  EXACT.set(request, { width, rows });
  return rows;
}

/** Without the blank that the row was broken at. */
const trimmed = ([first, ...rest]: Line): Line => (first ? [span(first[0].trimStart(), first[1]), ...rest] : []);

const PROSE: Style = { fg: 'fg', bg: 'raised' };

const styleOf = ({ action }: ApprovalRequest, line: string): Style =>
  action === 'shell' ? { fg: 'title', bg: 'raised', bold: true } : { fg: diffInk(line), bg: 'raised' };

/** Letters of one column each, nothing hidden: nearly every action is of these, and some are megabytes of them. */
const SIMPLE = /^[\x20-\x7e]*$/;

interface TextRow extends ExactRow {
  readonly goesOn: Part['goesOn'];
}

function rowsOf(text: string, style: Style, width: number, at: number): readonly TextRow[] {
  if (!SIMPLE.test(text)) return clusterRows(text, style, width, at);
  const units: Units = { length: text.length, isBlank: (one) => text[one] === ' ', columns: () => 1 };
  return partsOf(units, width).map(({ from, to, goesOn }) => ({
    line: [span(text.slice(from, to), style)],
    from: at + from,
    to: at + to,
    goesOn,
  }));
}

function clusterRows(text: string, style: Style, width: number, at: number): readonly TextRow[] {
  const clusters = unmarked(text).flatMap(({ text: part, hidden }) =>
    graphemes(part).map((cluster) => ({ cluster, look: hidden ? HIDDEN : style })),
  );
  const units: Units = {
    length: clusters.length,
    isBlank: (one) => clusters[one]?.cluster === ' ',
    columns: (one) => clusterWidth(clusters[one]?.cluster ?? ''),
  };
  return partsOf(units, width).map(({ from, to, goesOn }) => ({
    line: joined(clusters.slice(from, to)),
    from: at + from,
    to: at + to,
    goesOn,
  }));
}

/** Clusters of one look as one span. */
function joined(clusters: readonly { readonly cluster: string; readonly look: Style }[]): Line {
  const spans: [string, Style][] = [];
  for (const { cluster, look } of clusters) {
    const last = spans.at(-1);
    if (last?.[1] === look) last[0] += cluster;
    else spans.push([cluster, look]);
  }
  return spans;
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
