/** What an agent was told, said and did, as lines. Wrapped once for each block and width; only what streams is wrapped again. */
import { unreachable } from '../../domain/result.ts';
import type { AgentState, Block } from '../../events/state.ts';
import { counted, formatDuration } from '../format.ts';
import type { Glyphs } from '../glyphs.ts';
import { clip, span, spread } from '../text/clip.ts';
import type { Ink, Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { wrap, wrapText } from '../text/wrap.ts';
import type { Wait } from '../waits.ts';
import { HELD_INK } from './header.ts';
import { markdown } from './markdown.ts';
import { planWords } from './plan-words.ts';

/** Lines of a tool's output and of what an agent was told that are shown while folded. */
const FOLDED = { tool: 5, told: 8 } as const;

export interface TranscriptLook {
  readonly width: number;
  /** Tool output whole instead of its first lines. */
  readonly open: boolean;
  readonly glyphs: Glyphs;
}

/** What goes on below the last block. */
export interface TranscriptNow {
  /** Text or output that streams. */
  readonly text: string;
  /** What the model thinks meanwhile. */
  readonly reasoning: string;
  /** Tokens a second. */
  readonly rate: number;
  readonly wait: Wait | null;
}

/** All lines of the transcript, each at most `look.width` columns. */
export function transcript(agent: AgentState, now: TranscriptNow, look: TranscriptLook): readonly Line[] {
  const lines: Line[] = [];
  let before: Block | null = null;
  const blocks = now.wait === null ? agent.blocks : withoutWait(agent.blocks);
  for (const block of blocks) {
    if (before !== null && isApart(before, block)) lines.push([]);
    lines.push(...blockLines(block, look));
    before = block;
  }
  return [...lines, ...below(blocks.at(-1), now, look)];
}

/** What goes on: text, thoughts, a wait; each apart from what is above it, but for the output of a tool and a wait after its notes. */
function below(last: Block | undefined, now: TranscriptNow, look: TranscriptLook): readonly Line[] {
  const running = last?.is === 'tool' && last.ok === null;
  const close = running || (last?.is === 'note' && now.wait !== null);
  const parts = [streamed(now.text.trimEnd(), running, look), thoughts(now, look), waiting(now.wait, look)];
  return parts
    .filter((part) => part.length > 0)
    .flatMap((part, index) => ((index === 0 && last === undefined) || close ? part : [[], ...part]));
}

function streamed(text: string, running: boolean, look: TranscriptLook): readonly Line[] {
  if (text === '') return [];
  const lines = running
    ? rail(wrapText(text, Math.max(1, look.width - 4), { fg: 'muted' }), look.glyphs)
    : said(text, look);
  return withCaret(lines, look);
}

/** `thinking … 42 tok/s` and the end of it, dimmed: it goes by, and is gone when the answer begins. */
function thoughts({ reasoning, rate }: TranscriptNow, look: TranscriptLook): readonly Line[] {
  const text = reasoning.trim();
  if (text === '') return [];
  const tokens = Math.round(rate);
  const head: Line = [
    span(`${look.glyphs.activity} `, { fg: 'info' }),
    span(`thinking ${look.glyphs.ellipsis}`, { fg: 'muted', bold: true }),
    span(tokens > 0 ? `  ${tokens} tok/s` : '', { fg: 'faint' }),
  ];
  const lines = wrapText(text, Math.max(1, look.width - 4), { fg: 'faint', italic: true });
  return [clip(head, look.width), ...rail(look.open ? lines : lines.slice(-THOUGHTS), look.glyphs)];
}

/** Lines of reasoning that are shown while folded. */
const THOUGHTS = 8;

function waiting(wait: Wait | null, { glyphs, width }: TranscriptLook): readonly Line[] {
  if (wait === null) return [];
  const sign = span(`${glyphs.held} `, { fg: HELD_INK, bold: true });
  return wrap([sign, span(wait.text, { fg: HELD_INK })], width, 2);
}

/** The note of a wait says how long it was to be; while it lasts, what is left is said instead. */
function withoutWait(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1);
  return last?.is === 'note' && last.text.includes('next try in') ? blocks.slice(0, -1) : blocks;
}

/** Blank lines go between words and deeds; deeds that gave a line or none stand close together. */
const isApart = (a: Block, b: Block): boolean =>
  a.is !== b.is || (a.is === 'tool' ? a.output.trimEnd().includes('\n') : a.is !== 'note');

const CACHE = new WeakMap<Block, { readonly key: string; readonly lines: readonly Line[] }>();

/** A block never changes in place, so its lines are kept beside it; one width at a time is enough. */
function blockLines(block: Block, look: TranscriptLook): readonly Line[] {
  const key = `${look.width}:${look.open ? 1 : 0}:${look.glyphs.ellipsis}`;
  const known = CACHE.get(block);
  if (known?.key === key) return known.lines;
  const lines = linesOf(block, look);
  CACHE.set(block, { key, lines });
  return lines;
}

function linesOf(block: Block, look: TranscriptLook): readonly Line[] {
  switch (block.is) {
    case 'told':
      return told(block.text, look);
    case 'said':
      return said(block.text, look);
    case 'tool':
      return tool(block, look);
    case 'note':
      return note(block, look);
    default:
      return unreachable(block);
  }
}

function note(block: Extract<Block, { readonly is: 'note' }>, look: TranscriptLook): readonly Line[] {
  const ink: Ink = block.level === 'error' ? 'err' : block.level === 'warn' ? 'warn' : 'muted';
  const sign = span(`${block.level === 'info' ? look.glyphs.dot : '!'} `, { fg: ink, bold: true });
  const lines = block.text.split('\n').flatMap((text) => wrap([sign, span(text, { fg: ink })], look.width, 2));
  const behind = wrapText((block.more ?? '').trim(), Math.max(1, look.width - 4), { fg: 'muted' });
  if ((block.more ?? '').trim() === '') return lines;
  return [...lines, ...(look.open ? rail(behind, look.glyphs) : [more(behind.length, look)])];
}

const said = (text: string, look: TranscriptLook): readonly Line[] =>
  markdown(planWords(text) ?? text, look.width, look.glyphs);

function told(text: string, look: TranscriptLook): readonly Line[] {
  const mark = span(`${look.glyphs.selected} `, { fg: 'focus' });
  const all = wrapText(text.trim(), Math.max(1, look.width - 2), { fg: 'muted' }).map((line): Line => [mark, ...line]);
  return folded(all, FOLDED.told, look);
}

type ToolBlock = Extract<Block, { readonly is: 'tool' }>;

/** `⚙ Edit src/auth/store.ts            +6 −2`, and the output behind a rail. */
function tool(block: ToolBlock, look: TranscriptLook): readonly Line[] {
  const ink: Ink = block.ok === null ? 'ok' : block.ok ? 'warn' : 'err';
  const [verb = '', ...rest] = toLabel(block.label).split(' ');
  const head: Line = [
    span(`${look.glyphs.tool} `, { fg: ink }),
    span(verb, { fg: block.ok === false ? 'err' : 'title', bold: true }),
    span(rest.length > 0 ? ` ${rest.join(' ')}` : '', { fg: 'muted' }),
  ];
  const output = block.output.trimEnd();
  const lines = output === '' ? [] : output.split('\n');
  const first = spread(head, [span(meta(block, lines), { fg: block.ok === false ? 'err' : 'faint' })], look.width);
  const shown = look.open ? lines : lines.slice(0, FOLDED.tool);
  const body = shown.flatMap((line) => outputLine(line, block, look));
  const hidden = lines.length - shown.length;
  return [first, ...rail(body, look.glyphs), ...(hidden > 0 ? [more(hidden, look)] : [])];
}

/** Folded output is cut at the edge, so that a minified file doesn't fill the pane; opened, it is wrapped. */
function outputLine(text: string, block: ToolBlock, look: TranscriptLook): readonly Line[] {
  const width = Math.max(1, look.width - 4);
  const line: Line = [span(text, { fg: inkOfOutput(text, block) })];
  return look.open ? wrap(line, width) : [clip(line, width, look.glyphs.ellipsis)];
}

/** What changed, else how long it took. */
function meta(block: ToolBlock, lines: readonly string[]): string {
  if (block.ok === null) return 'running';
  if (!block.ok) return 'failed';
  if (isDiff(block)) {
    const added = lines.filter((line) => /^\+(?!\+\+)/.test(line)).length;
    const gone = lines.filter((line) => /^-(?!--)/.test(line)).length;
    if (added + gone > 0) return `+${added} -${gone}`;
  }
  return block.ms >= 1000 ? formatDuration(block.ms) : lines.length > 1 ? `${lines.length} lines` : '';
}

const isDiff = (block: ToolBlock): boolean => /edit|write|patch|diff/i.test(block.tool) || /\bdiff\b/.test(block.label);

function inkOfOutput(line: string, block: ToolBlock): Ink {
  if (block.ok === false) return 'err';
  return isDiff(block) ? diffInk(line) : 'muted';
}

/** The colour of a line of a diff. */
export function diffInk(line: string): Ink {
  if (/^(?:\+\+\+|---|@@|diff )/.test(line)) return 'info';
  if (line.startsWith('+')) return 'ok';
  return line.startsWith('-') ? 'err' : 'muted';
}

/** `│ ` in front of each line, `╰ ` in front of the last. */
function rail(lines: readonly Line[], glyphs: Glyphs): readonly Line[] {
  return lines.map((line, index): Line => {
    const sign = index === lines.length - 1 ? glyphs.child : glyphs.light[5];
    return [span(`  ${sign} `, { fg: 'border' }), ...line];
  });
}

function folded(lines: readonly Line[], most: number, look: TranscriptLook): readonly Line[] {
  // Hiding a single line would take a line to say so.
  if (look.open || lines.length <= most + 1) return lines;
  return [...lines.slice(0, most), more(lines.length - most, look)];
}

const more = (count: number, { glyphs, width }: TranscriptLook): Line =>
  clip([span(`    ${glyphs.ellipsis} +${counted(count, 'line')}  (o to open)`, { fg: 'faint' })], width);

function withCaret(lines: readonly Line[], look: TranscriptLook): readonly Line[] {
  const last = clip(lines.at(-1) ?? [], Math.max(0, look.width - 1), '');
  return [...lines.slice(0, -1), [...last, span(look.glyphs.selected, { fg: 'ok' })]];
}
