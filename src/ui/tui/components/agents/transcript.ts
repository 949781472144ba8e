/** What an agent was told, said and did, as parts. Wrapped once for each block and width; only what streams is wrapped again. */
import { unreachable } from '../../../../domain/result.ts';
import type { AgentState, Block } from '../../../../events/state.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import type { Wait } from '../../../../app/views/agents/wait-reason.ts';
import { childBlock, childKey } from './child-call.ts';
import { childOf } from '../../../../events/queries.ts';
import { type Doc, type Part, docOf, GAP } from '../text/doc.ts';
import { HELD_INK } from '../header.ts';
import { coloured, growing, markdown } from '../text/markdown.ts';
import { planWords } from '../../../../app/views/plan/plan-words.ts';
import { isCommand, moreLine, rail, toolBlock, type BlockLook } from './tool-block.ts';

/** Lines of what an agent was told that are shown while folded. */
const FOLDED = 8;

export interface TranscriptLook {
  readonly width: number;
  readonly open: boolean;
  readonly glyphs: Glyphs;
  isOpen(item: number): boolean;
  /** The same set for the same answers of `isOpen`. */
  readonly unfolded: ReadonlySet<string>;
  /** `end`: a long one may be laid out from its end over several frames; `begun`: only where that was begun. Absent: at once. */
  readonly slices?: 'end' | 'begun' | 'never';
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
  /** What it waits for that is no provider: a word, its children; empty or absent while it works. */
  readonly rest?: string;
  /** Of a call whose arguments are being written, how far that is; empty else. */
  readonly writing?: string;
}

/** The whole transcript: one part a block, and what goes on below them. Lines are at most `look.width` columns. */
export function transcriptDoc(agent: AgentState, now: TranscriptNow, look: TranscriptLook, context: Context): Doc {
  const known = blocksDoc(agent, now.wait !== null, look, context);
  const one: BlockLook = { width: look.width, open: look.open, glyphs: look.glyphs, cwd: context.state.cwd };
  const more = below(agent.blocks.at(-1), now, one);
  return more.length === 0 ? known : docOf([...known.parts, { item: null, lines: more }], known.front);
}

interface Known {
  readonly key: string;
  readonly unfolded: ReadonlySet<string>;
  /** Who may be a child, where one of the blocks tells of one: what it says changes with them. */
  readonly children: string;
  /** The frame that it was made for. */
  readonly context: Context;
  readonly doc: Doc;
}

const DOCS = new WeakMap<readonly Block[], Known>();

/** All blocks. They change only with the list; what their children do is in the key. */
function blocksDoc(agent: AgentState, waits: boolean, look: TranscriptLook, context: Context): Doc {
  const key = `${look.width}:${look.open}:${look.glyphs.ellipsis}:${waits}:${coloured.version}`;
  const children = calledChildren(agent, context);
  const known = DOCS.get(agent.blocks);
  const same = known?.key === key && known.unfolded === look.unfolded && known.children === children;
  if (same && (known.doc.front === 0 || known.context === context)) return known.doc;
  const blocks = waits ? withoutWait(agent.blocks) : agent.blocks;
  const front = frontOf(blocks, look);
  const parts = partsOf(blocks, front, agent, look, context);
  const doc = docOf(parts, front);
  DOCS.set(agent.blocks, { key, unfolded: look.unfolded, children, context, doc });
  return doc;
}

/** The blocks from `front` on; before them a line that says that there is more. */
function partsOf(
  blocks: readonly Block[],
  front: number,
  agent: AgentState,
  look: TranscriptLook,
  context: Context,
): readonly Part[] {
  const { width, glyphs } = look;
  const parts: Part[] = front > 0 ? [{ item: null, lines: [[span(glyphs.ellipsis, { fg: 'faint' })]] }] : [];
  for (let item = front; item < blocks.length; item++) {
    const block = blocks[item];
    const before = item > front ? blocks[item - 1] : undefined;
    if (block === undefined) continue;
    if (before !== undefined && isApart(before, block)) parts.push(GAP);
    const one = { width, glyphs, open: look.isOpen(item), cwd: context.state.cwd };
    parts.push({ item, lines: partLines(block, one, agent, context) });
  }
  return parts;
}

/** Characters that one frame lays out, which takes some 20 ms. More than that are left to the next frames: keys must not wait. */
const FRESH = 40_000;

/** The first block that this frame is for: from the end back to where the frame is full. */
function frontOf(blocks: readonly Block[], look: TranscriptLook): number {
  const isLaid = (item: number): boolean => {
    const block = blocks[item];
    return block !== undefined && LINES.get(block)?.key === keyOf({ ...look, open: look.isOpen(item) });
  };
  const { slices = 'never' } = look;
  if (slices === 'never' || (slices === 'begun' && !isLaid(blocks.length - 1))) return 0;
  let room = FRESH;
  for (let item = blocks.length - 1; item >= 0; item--) {
    if (isLaid(item)) continue;
    if (room <= 0) return item + 1;
    room -= weightOf(blocks[item], look.isOpen(item));
  }
  return 0;
}

/** How much there is to lay out; of folded output that is little. */
function weightOf(block: Block | undefined, open: boolean): number {
  if (block === undefined) return 0;
  if (block.is !== 'tool') return block.text.length + 100;
  return 100 + (open ? block.output.length : Math.min(block.output.length, 1000));
}

/** How far the children are that calls made. Main's agents are the plan's: no block of it tells of them, and they may be thousands. */
const calledChildren = (agent: AgentState, { state, now }: Context): string =>
  agent.children
    .flatMap((id) => {
      const child = state.agents.get(id);
      return child === undefined || child.call === null ? [] : [childKey(child, state, now)];
    })
    .join(' ');

/** A call that made a child tells how far that is; all other blocks are what they are. */
function partLines(block: Block, look: BlockLook, agent: AgentState, context: Context): readonly Line[] {
  const child = block.is === 'tool' ? childOf(block.call, agent, context.state) : undefined;
  if (child === undefined || block.is !== 'tool') return blockLines(block, look);
  return childBlock(block, child, look, context);
}

/** What goes on: text, thoughts, a wait; each apart from what is above it, but for the output of a tool and a wait after its notes. */
function below(last: Block | undefined, now: TranscriptNow, look: BlockLook): readonly Line[] {
  const running = last?.is === 'tool' && last.ok === null;
  const close = running || (last?.is === 'note' && now.wait !== null);
  const parts = [
    streamed(now.text.trimEnd(), running, look),
    thoughts(now, look),
    written(now.writing ?? '', look),
    waiting(now.wait, look),
    resting(now.rest ?? '', look),
  ];
  return parts
    .filter((part) => part.length > 0)
    .flatMap((part, index) => ((index === 0 && last === undefined) || close ? part : [[], ...part]));
}

function streamed(text: string, running: boolean, look: BlockLook): readonly Line[] {
  if (text === '') return [];
  const lines = running
    ? rail(wrapText(text, Math.max(1, look.width - 4), { fg: 'muted' }), look.glyphs)
    : growing(planWords(text) ?? text, look.width, look.glyphs, look.cwd);
  return withCaret(lines, look);
}

/** `thinking … 42 tok/s` and the end of it, dimmed: it goes by, and is gone when the answer begins. */
function thoughts({ reasoning, rate }: TranscriptNow, look: BlockLook): readonly Line[] {
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

const written = (words: string, { glyphs, width }: BlockLook): readonly Line[] =>
  words === ''
    ? []
    : [
        clip(
          [span(`${glyphs.activity} `, { fg: 'info' }), span(`${words} ${glyphs.ellipsis}`, { fg: 'muted' })],
          width,
        ),
      ];

/** Lines of reasoning that are shown while folded. */
const THOUGHTS = 8;

function waiting(wait: Wait | null, { glyphs, width }: BlockLook): readonly Line[] {
  if (wait === null) return [];
  const sign = span(`${glyphs.held} `, { fg: HELD_INK, bold: true });
  return wrap([sign, span(wait.text, { fg: HELD_INK })], width, 2);
}

const resting = (words: string, { glyphs, width }: BlockLook): readonly Line[] =>
  words === ''
    ? []
    : [clip([span(`${glyphs.status.waiting} `, { fg: 'info', bold: true }), span(words, { fg: 'info' })], width)];

/** The note of a wait says how long it was to be; while it lasts, what is left is said instead. */
function withoutWait(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1);
  return last?.is === 'note' && last.text.includes('next try in') ? blocks.slice(0, -1) : blocks;
}

/** Blank lines go between words and deeds; deeds that gave a line or none stand close together. */
const isApart = (a: Block, b: Block): boolean =>
  a.is !== b.is || (a.is === 'tool' ? isCommand(a) && a.output.trimEnd().includes('\n') : a.is !== 'note');

const LINES = new WeakMap<Block, { readonly key: string; readonly lines: readonly Line[] }>();

/** A block never changes in place, so its lines are kept beside it; one width at a time is enough. */
function blockLines(block: Block, look: BlockLook): readonly Line[] {
  const key = keyOf(look);
  const known = LINES.get(block);
  if (known?.key === key) return known.lines;
  const lines = newLines(block, look);
  LINES.set(block, { key, lines });
  return lines;
}

const keyOf = ({ width, open, glyphs }: Pick<BlockLook, 'width' | 'open' | 'glyphs'>): string =>
  `${width}:${open}:${glyphs.ellipsis}:${coloured.version}`;

function newLines(block: Block, look: BlockLook): readonly Line[] {
  switch (block.is) {
    case 'told':
      return told(block.text, look);
    case 'said':
      return saidLines(block.text, look);
    case 'tool':
      return toolBlock(block, look);
    case 'note':
      return note(block, look);
    default:
      return unreachable(block);
  }
}

function note(block: Extract<Block, { readonly is: 'note' }>, look: BlockLook): readonly Line[] {
  const ink: Ink = block.level === 'error' ? 'err' : block.level === 'warn' ? 'warn' : 'muted';
  const sign = span(`${block.level === 'info' ? look.glyphs.dot : '!'} `, { fg: ink, bold: true });
  const lines = block.text.split('\n').flatMap((text) => wrap([sign, span(text, { fg: ink })], look.width, 2));
  const more = (block.more ?? '').trim();
  if (more === '') return lines;
  const behind = wrapText(more, Math.max(1, look.width - 4), { fg: 'muted' });
  return [...lines, ...(look.open ? rail(behind, look.glyphs) : [moreLine(behind.length, look)])];
}

const saidLines = (text: string, look: BlockLook): readonly Line[] =>
  markdown(planWords(text) ?? text, look.width, look.glyphs, look.cwd);

function told(text: string, look: BlockLook): readonly Line[] {
  const mark = span(`${look.glyphs.selected} `, { fg: 'focus' });
  const all = wrapText(text.trim(), Math.max(1, look.width - 2), { fg: 'title' }).map((line): Line => [mark, ...line]);
  // Hiding a single line would take a line to say so.
  if (look.open || all.length <= FOLDED + 1) return all;
  return [...all.slice(0, FOLDED), moreLine(all.length - FOLDED, look)];
}

function withCaret(lines: readonly Line[], look: BlockLook): readonly Line[] {
  const last = clip(lines.at(-1) ?? [], Math.max(0, look.width - 1), '');
  return [...lines.slice(0, -1), [...last, span(look.glyphs.selected, { fg: 'ok' })]];
}
