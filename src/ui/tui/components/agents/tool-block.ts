/** A tool's call in the transcript: what was asked, how it went, and the beginning of what came back, behind a rail. */
import type { Block } from '../../../../events/state.ts';
import { counted, formatDuration } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { clip, span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { countSpans, diffInk, diffLines } from '../text/diff.ts';
import { changeOf } from '../../../../app/views/file-changes.ts';
import { linked } from '../text/links.ts';

export type ToolCall = Extract<Block, { readonly is: 'tool' }>;

/** Lines of output that are shown while folded. */
const FOLDED = 5;
/** Of what was only looked at, less is worth showing. */
const FOLDED_READ = 0;

/** `⚙ Edit src/auth/store.ts            +6 -2`, and the output behind a rail. */
export function toolBlock(block: ToolCall, look: BlockLook): readonly Line[] {
  const output = block.output.trimEnd();
  const lines = output === '' ? [] : output.split('\n');
  const head = spread(toolHead(block, look), toolMeta(block, lines.length, look.glyphs), look.width);
  const change = changeOf(block);
  if (change !== null) {
    const rows = diffLines(change.diff, Math.max(1, look.width - 4), look.glyphs.ellipsis);
    return [head, ...foldedRail(rows, rows.length, FOLDED + 3, look)];
  }
  const most = isCommand(block) || block.ok === false ? FOLDED : FOLDED_READ;
  const shown = look.open ? lines : lines.slice(0, most);
  const body = shown.flatMap((line) => outputLine(line, block, look));
  if (look.open || lines.length <= most) return [head, ...rail(body, look.glyphs)];
  return most === 0 ? [head] : [head, ...rail(body, look.glyphs), moreLine(lines.length - shown.length, look)];
}

function foldedRail(rows: readonly Line[], all: number, most: number, look: BlockLook): readonly Line[] {
  if (look.open || all <= most + 1) return rail(rows, look.glyphs);
  return [...rail(rows.slice(0, most), look.glyphs), moreLine(all - most, look)];
}

/** What runs or changes something: its output is worth a look without asking for it. */
export const isCommand = ({ tool }: ToolCall): boolean => !QUIET.has(tool);

const QUIET: ReadonlySet<string> = new Set([
  'read_file',
  'list_files',
  'search',
  'update_todos',
  'send_message',
  'read_finding',
]);

/** `⚙ read src/a.ts` */
function toolHead(block: ToolCall, { glyphs, cwd }: BlockLook): Line {
  const ink: Ink = block.ok === null ? 'ok' : block.ok ? 'warn' : 'err';
  const [verb = '', ...rest] = toLabel(block.label).split(' ');
  const words = rest.length > 0 ? ` ${rest.join(' ')}` : '';
  return [
    span(`${glyphs.tool} `, { fg: ink }),
    span(verb, { fg: block.ok === false ? 'err' : 'title', bold: true }),
    ...linked([words, { fg: 'muted' }], cwd),
  ];
}

/** What came of it and how long it took: `142 lines · 1.2s`, `+6 -2`, `failed · 8.4s`, `running`. */
export function toolMeta(block: ToolCall, lines: number, { dot }: Glyphs): Line {
  if (block.ok === null) return [span('running', { fg: 'ok' })];
  const change = block.ok ? (changeOf(block) ?? foreignChange(block)) : null;
  if (change !== null) return countSpans(change);
  const time = block.ms >= 100 ? [seconds(block.ms)] : [];
  const said = block.ok ? (lines > 1 ? [counted(lines, 'line')] : []) : ['failed'];
  return [span([...said, ...time].join(` ${dot} `), { fg: block.ok ? 'faint' : 'err' })];
}

/** What a diff that isn't one of our own tools' comes to; null where it is none. */
function foreignChange(block: ToolCall): { readonly added: number; readonly removed: number } | null {
  if (!looksLikeDiff(block)) return null;
  const lines = block.output.split('\n');
  const added = lines.filter((line) => /^\+(?!\+\+)/.test(line)).length;
  const removed = lines.filter((line) => /^-(?!--)/.test(line)).length;
  return added + removed > 0 ? { added, removed } : null;
}

/** `0.1s`, `8.4s`, `2m 3s`. */
const seconds = (ms: number): string => (ms < 60_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)}s` : formatDuration(ms));

/** Folded output is cut at the edge, so that a minified file doesn't fill the pane; opened, it is wrapped. */
function outputLine(text: string, block: ToolCall, look: BlockLook): readonly Line[] {
  const width = Math.max(1, look.width - 4);
  const line = linked([text, { fg: inkOfOutput(text, block) }], look.cwd);
  return look.open ? wrap(line, width) : [clip(line, width, look.glyphs.ellipsis)];
}

function inkOfOutput(line: string, block: ToolCall): Ink {
  if (looksLikeDiff(block)) return diffInk(line);
  if (block.ok === false) return 'err';
  return 'muted';
}

const looksLikeDiff = (block: ToolCall): boolean =>
  /edit|write|patch|diff/i.test(block.tool) || /\bdiff\b/.test(block.label);

/** `│ ` in front of each line, `╰ ` in front of the last. */
export function rail(lines: readonly Line[], glyphs: Glyphs): readonly Line[] {
  return lines.map((line, index): Line => {
    const sign = index === lines.length - 1 ? glyphs.child : glyphs.light[5];
    return [span(`  ${sign} `, { fg: 'border' }), ...line];
  });
}

export const moreLine = (count: number, { glyphs, width }: Pick<BlockLook, 'glyphs' | 'width'>): Line =>
  clip([span(`    ${glyphs.ellipsis} +${counted(count, 'line')}  (o to open)`, { fg: 'faint' })], width);

export interface BlockLook {
  readonly width: number;
  /** Whole instead of its first lines. */
  readonly open: boolean;
  readonly glyphs: Glyphs;
  /** The project's folder, for links; empty where none are made. */
  readonly cwd: string;
}
