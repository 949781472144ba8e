/** The transcript of an agent. Each block is wrapped once for a width; only streaming text is wrapped in each frame. */
import { factsOf } from '../../../../domain/agents/tool-facts.ts';
import type { Ink, Line, Span, Wait } from '../../../../app/views/index.ts';
import { agentTime, changeOf, clip, plural, formatSeconds, isolationText } from '../../../../app/views/index.ts';
import { lineWidth, planWords, span, spread, toLabel, wrap, wrapText } from '../../../../app/views/index.ts';
import { unreachable } from '../../../../domain/result.ts';
import { type AgentState, type Block, childOf } from '../../../../events/index.ts';
import type { Context } from '../../frame/screen.ts';
import { type Doc, docOf, GAP, type Part, strong, tint } from '../../text/blocks.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { HELD_INK } from '../header.ts';
import { countSpans, diffInk, diffLines, linked } from '../text/inline.ts';
import { coloured, growing, markdown } from '../text/markdown.ts';

/** Lines of a message to the agent that are shown while it is folded. */
const FOLDED = 8;

export interface TranscriptOptions extends Omit<BlockOptions, 'cwd'> {
  isOpen(item: number): boolean;
  /** Identity of `isOpen`: the same set gives the same answers. */
  readonly unfolded: ReadonlySet<string>;
  /** `end`: a long transcript is laid out from its end over several frames; `begun`: only if that was begun. Absent: at once. */
  readonly slices?: 'end' | 'begun' | 'never';
}

/** What happens now, shown below the last block. */
export interface TranscriptNow {
  readonly text: string;
  readonly reasoning: string;
  /** Tokens a second. */
  readonly rate: number;
  readonly wait: Wait | null;
  /** A wait for a message or children; empty while the agent works. */
  readonly rest: string;
  /** Progress of a call whose arguments stream; empty otherwise. */
  readonly writing: string;
}

/** The whole transcript: one part per block, and what happens now. Lines are at most `options.width` columns. */
export function transcriptDoc(
  agent: AgentState,
  now: TranscriptNow,
  options: TranscriptOptions,
  context: Context,
): Doc {
  const known = blocksDoc(agent, now.wait !== null, options, context);
  const more = below(agent.blocks.at(-1), now, { ...options, cwd: context.state.cwd });
  return more.length === 0 ? known : docOf([...known.parts, { item: null, lines: more }], known.front);
}

interface Known {
  readonly key: string;
  readonly unfolded: ReadonlySet<string>;
  /** The states of child agents that blocks show. */
  readonly children: string;
  /** The frame for which it was made. */
  readonly context: Context;
  readonly doc: Doc;
}

const DOCS = new WeakMap<readonly Block[], Known>();

/** All blocks, made again when the list, the options or the children change. */
function blocksDoc(agent: AgentState, waits: boolean, options: TranscriptOptions, context: Context): Doc {
  const key = `${options.width}:${options.open}:${options.glyphs.ellipsis}:${waits}:${coloured.version}`;
  const children = calledChildren(agent, context);
  const known = DOCS.get(agent.blocks);
  const same = known?.key === key && known.unfolded === options.unfolded && known.children === children;
  if (same && (known.doc.front === 0 || known.context === context)) return known.doc;
  const blocks = waits ? withoutWait(agent.blocks) : agent.blocks;
  const front = frontOf(blocks, options);
  const parts = partsOf(blocks, front, agent, options, context);
  const doc = docOf(parts, front);
  DOCS.set(agent.blocks, { key, unfolded: options.unfolded, children, context, doc });
  return doc;
}

/** The blocks from `front` on, after a line with an ellipsis where there are earlier ones. */
function partsOf(
  blocks: readonly Block[],
  front: number,
  agent: AgentState,
  options: TranscriptOptions,
  context: Context,
): readonly Part[] {
  const { width, glyphs } = options;
  const parts: Part[] = front > 0 ? [{ item: null, lines: [[tint(glyphs.ellipsis, 'faint')]] }] : [];
  for (let item = front; item < blocks.length; item++) {
    const block = blocks[item];
    const before = item > front ? blocks[item - 1] : undefined;
    if (block === undefined) continue;
    if (before !== undefined && isApart(before, block)) parts.push(GAP);
    const one = { width, glyphs, open: options.isOpen(item), cwd: context.state.cwd };
    parts.push({ item, lines: partLines(block, one, agent, context) });
  }
  return parts;
}

/** Characters that one frame lays out, in about 20 ms. The rest is left to the next frames, so that keys are not delayed. */
const FRESH = 40_000;

/** The first block of this frame, counted from the end until `FRESH` is used up. */
function frontOf(blocks: readonly Block[], options: TranscriptOptions): number {
  const isLaid = (item: number): boolean => {
    const block = blocks[item];
    return block !== undefined && LINES.get(block)?.key === keyOf({ ...options, open: options.isOpen(item) });
  };
  const { slices = 'never' } = options;
  if (slices === 'never' || (slices === 'begun' && !isLaid(blocks.length - 1))) return 0;
  let room = FRESH;
  for (let item = blocks.length - 1; item >= 0; item--) {
    if (isLaid(item)) continue;
    if (room <= 0) return item + 1;
    room -= weightOf(blocks[item], options.isOpen(item));
  }
  return 0;
}

/** Cost of laying out a block, in characters; folded output is cheap. */
function weightOf(block: Block | undefined, open: boolean): number {
  if (block === undefined) return 0;
  if (block.is !== 'tool') return block.text.length + 100;
  return 100 + (open ? block.output.length : Math.min(block.output.length, 1000));
}

/** The states of children made by calls. The agents of a plan are left out: no block shows them, and there may be thousands. */
const calledChildren = ({ children }: AgentState, { state, now }: Context): string =>
  children
    .flatMap((id) => {
      const child = state.agents.get(id);
      if (child === undefined || child.call === null) return [];
      const time = Math.floor(agentTime(child, state, now) / 100);
      return [`${child.status}${child.toolCalls}:${time}${isolationText(child, state) ?? ''}`];
    })
    .join(' ');

/** The lines of a block; a call that made a child shows the progress of the child. */
function partLines(block: Block, options: BlockOptions, agent: AgentState, context: Context): readonly Line[] {
  const child = block.is === 'tool' ? childOf(block.call, agent, context.state) : undefined;
  if (child === undefined || block.is !== 'tool') return blockLines(block, options);
  return childBlock(block, child, options, context);
}

/** Text, thoughts and waits, each after a blank line, except the output of a tool and a wait after its note. */
function below(last: Block | undefined, now: TranscriptNow, options: BlockOptions): readonly Line[] {
  const running = last?.is === 'tool' && last.ok === null;
  const { wait } = now;
  const { glyphs } = options;
  const close = running || (last?.is === 'note' && wait !== null);
  const parts = [
    streamed(now.text.trimEnd(), running, options),
    thoughts(now, options),
    aside(
      tint(`${glyphs.activity} `, 'info'),
      now.writing === '' ? '' : `${now.writing} ${glyphs.ellipsis}`,
      'muted',
      options,
    ),
    wait === null ? [] : wrap([strong(`${glyphs.held} `, HELD_INK), tint(wait.text, HELD_INK)], options.width, 2),
    aside(strong(`${glyphs.status.waiting} `, 'info'), now.rest, 'info', options),
  ];
  return parts
    .filter((part) => part.length > 0)
    .flatMap((part, index) => ((index === 0 && last === undefined) || close ? part : [[], ...part]));
}

function streamed(text: string, running: boolean, options: BlockOptions): readonly Line[] {
  if (text === '') return [];
  const lines = running
    ? rail(wrapText(text, Math.max(1, options.width - 4), { fg: 'muted' }), options.glyphs)
    : growing(planWords(text) ?? text, options.width, options.glyphs, options.cwd);
  return withCaret(lines, options);
}

/** `thinking … 42 tok/s` and the end of the thoughts, dimmed. */
function thoughts({ reasoning, rate }: TranscriptNow, options: BlockOptions): readonly Line[] {
  const text = reasoning.trim();
  if (text === '') return [];
  const tokens = Math.round(rate);
  const head: Line = [
    tint(`${options.glyphs.activity} `, 'info'),
    strong(`thinking ${options.glyphs.ellipsis}`, 'muted'),
    tint(tokens > 0 ? `  ${tokens} tok/s` : '', 'faint'),
  ];
  const lines = wrapText(text, Math.max(1, options.width - 4), { fg: 'faint', italic: true });
  return [clip(head, options.width), ...rail(options.open ? lines : lines.slice(-THOUGHTS), options.glyphs)];
}

const aside = (sign: Span, words: string, ink: Ink, { width }: BlockOptions): readonly Line[] =>
  words === '' ? [] : [clip([sign, tint(words, ink)], width)];

/** Lines of thoughts that are shown while folded. */
const THOUGHTS = 8;

/** The blocks without the note of a wait that lasts, since the remaining time is shown instead. */
function withoutWait(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1);
  return last?.is === 'note' && last.retry === true ? blocks.slice(0, -1) : blocks;
}

/** True if a blank line separates two blocks; calls with at most one line of output are not separated. */
const isApart = (a: Block, b: Block): boolean =>
  a.is !== b.is || (a.is === 'tool' ? isCommand(a) && a.output.trimEnd().includes('\n') : a.is !== 'note');

const LINES = new WeakMap<Block, { readonly key: string; readonly lines: readonly Line[] }>();

function blockLines(block: Block, options: BlockOptions): readonly Line[] {
  const key = keyOf(options);
  const known = LINES.get(block);
  if (known?.key === key) return known.lines;
  const lines = newLines(block, options);
  LINES.set(block, { key, lines });
  return lines;
}

const keyOf = ({ width, open, glyphs }: Pick<BlockOptions, 'width' | 'open' | 'glyphs'>): string =>
  `${width}:${open}:${glyphs.ellipsis}:${coloured.version}`;

function newLines(block: Block, options: BlockOptions): readonly Line[] {
  switch (block.is) {
    case 'told':
      return told(block.text, options);
    case 'said':
      return saidLines(block.text, options);
    case 'tool':
      return toolBlock(block, options);
    case 'note':
      return note(block, options);
    default:
      return unreachable(block);
  }
}

function note(block: Extract<Block, { readonly is: 'note' }>, options: BlockOptions): readonly Line[] {
  const ink: Ink = block.level === 'error' ? 'err' : block.level === 'warn' ? 'warn' : 'muted';
  const sign = strong(`${block.level === 'info' ? options.glyphs.dot : '!'} `, ink);
  const lines = block.text.split('\n').flatMap((text) => wrap([sign, tint(text, ink)], options.width, 2));
  const more = (block.more ?? '').trim();
  if (more === '') return lines;
  const behind = wrapText(more, Math.max(1, options.width - 4), { fg: 'muted' });
  return [...lines, ...(options.open ? rail(behind, options.glyphs) : [moreLine(behind.length, options)])];
}

const saidLines = (text: string, options: BlockOptions): readonly Line[] =>
  markdown(planWords(text) ?? text, options.width, options.glyphs, options.cwd);

function told(text: string, options: BlockOptions): readonly Line[] {
  const mark = tint(`${options.glyphs.selected} `, 'focus');
  const lines = wrapText(text.trim(), Math.max(1, options.width - 2), { fg: 'title' });
  const [shown, more] = folded(lines, FOLDED, options);
  return [...shown.map((line): Line => [mark, ...line]), ...more];
}

/** The first lines of a folded block, and a line that counts the others, unless that is only one, whose place it would take. */
function folded(
  lines: readonly Line[],
  most: number,
  options: BlockOptions,
): readonly [shown: readonly Line[], more: readonly Line[]] {
  if (options.open || lines.length <= most + 1) return [lines, []];
  return [lines.slice(0, most), [moreLine(lines.length - most, options)]];
}

function withCaret(lines: readonly Line[], options: BlockOptions): readonly Line[] {
  const last = clip(lines.at(-1) ?? [], Math.max(0, options.width - 1), '');
  return [...lines.slice(0, -1), [...last, tint(options.glyphs.selected, 'ok')]];
}

// A tool call: its label, its result, and the beginning of its output behind a rail.

export type ToolCall = Extract<Block, { readonly is: 'tool' }>;
const FOLDED_OUTPUT = 5;
const FOLDED_READ = 0;

/** `⚙ Edit src/auth/store.ts            +6 -2`, and the output behind a rail. */
function toolBlock(block: ToolCall, options: BlockOptions): readonly Line[] {
  const output = block.output.trimEnd();
  const lines = output === '' ? [] : output.split('\n');
  const head = spread(toolHead(block, options), toolMeta(block, lines.length, options.glyphs), options.width);
  const change = changeOf(block);
  if (change !== null) {
    const rows = diffLines(change.diff, Math.max(1, options.width - 4));
    const [shown, more] = folded(rows, FOLDED_OUTPUT + 3, options);
    return [head, ...rail(shown, options.glyphs), ...more];
  }
  const most = isCommand(block) || block.ok === false ? FOLDED_OUTPUT : FOLDED_READ;
  const shown = options.open ? lines : lines.slice(0, most);
  const body = shown.flatMap((line) => outputLine(line, block, options));
  if (options.open || lines.length <= most) return [head, ...rail(body, options.glyphs)];
  return most === 0 ? [head] : [head, ...rail(body, options.glyphs), moreLine(lines.length - shown.length, options)];
}

/** True for tools that run or change something, whose output is shown. */
const isCommand = ({ tool }: ToolCall): boolean => factsOf(tool).quiet !== true;

/** `⚙ read src/a.ts` */
function toolHead(block: ToolCall, { glyphs, cwd }: BlockOptions): Line {
  const ink: Ink = block.ok === null ? 'ok' : block.ok ? 'warn' : 'err';
  const [verb = '', ...rest] = toLabel(block.label).split(' ');
  const words = rest.length > 0 ? ` ${rest.join(' ')}` : '';
  return [
    tint(`${glyphs.tool} `, ink),
    strong(verb, block.ok === false ? 'err' : 'title'),
    ...linked([words, { fg: 'muted' }], cwd),
  ];
}

/** The result of a call and its time: `142 lines · 1.2s`, `+6 -2`, `failed · 8.4s`, `running`. */
export function toolMeta(block: ToolCall, lines: number, { dot }: Glyphs): Line {
  if (block.ok === null) return [tint('running', 'ok')];
  const change = block.ok ? (changeOf(block) ?? foreignChange(block)) : null;
  if (change !== null) return countSpans(change);
  const time = block.ms >= 100 ? [formatSeconds(block.ms)] : [];
  const said = block.ok ? (lines > 1 ? [plural(lines, 'line')] : []) : ['failed'];
  return [tint([...said, ...time].join(` ${dot} `), block.ok ? 'faint' : 'err')];
}

/** The counts of a diff in the output of another tool; null where there is none. */
function foreignChange(block: ToolCall): { readonly added: number; readonly removed: number } | null {
  if (!looksLikeDiff(block)) return null;
  const lines = block.output.split('\n');
  const added = lines.filter((line) => /^\+(?!\+\+)/.test(line)).length;
  const removed = lines.filter((line) => /^-(?!--)/.test(line)).length;
  return added + removed > 0 ? { added, removed } : null;
}

const looksLikeDiff = (block: ToolCall): boolean =>
  /edit|write|patch|diff/i.test(block.tool) || /\bdiff\b/.test(block.label);

/** A line of output: cut while folded, so that a minified file does not fill the pane, else wrapped. */
function outputLine(text: string, block: ToolCall, options: BlockOptions): readonly Line[] {
  const width = Math.max(1, options.width - 4);
  const line = linked([text, { fg: inkOfOutput(text, block) }], options.cwd);
  return options.open ? wrap(line, width) : [clip(line, width)];
}

function inkOfOutput(line: string, block: ToolCall): Ink {
  if (looksLikeDiff(block)) return diffInk(line);
  return block.ok === false ? 'err' : 'muted';
}

/** `│ ` in front of each line, `╰ ` in front of the last. */
export const rail = (lines: readonly Line[], glyphs: Glyphs): readonly Line[] =>
  lines.map((line, index): Line => {
    const sign = index === lines.length - 1 ? glyphs.child : glyphs.light.vertical;
    return [tint(`  ${sign} `, 'border'), ...line];
  });

const moreLine = (count: number, { glyphs, width }: BlockOptions): Line =>
  clip([tint(`    ${glyphs.ellipsis} +${plural(count, 'line')}  (o unfolds)`, 'faint')], width);

export interface BlockOptions {
  readonly width: number;
  /** All lines instead of the first ones. */
  readonly open: boolean;
  readonly glyphs: Glyphs;
  /** The project's folder, for links; empty where none are made. */
  readonly cwd: string;
}

// A call that made a child agent: its description and progress. The child has a transcript of its own.

/** `> Task(finder): find auth files`, and `[finder] find auth files ... 5 tools, 3.2s` or `- done (8 tools, 5.1s)`. */
function childBlock(block: ToolCall, child: AgentState, options: BlockOptions, context: Context): readonly Line[] {
  const { width, glyphs } = options;
  const role = toLabel(child.role);
  // The label of a command of the text protocol is the whole task.
  const [said, description = ''] = /^Task\([^)]*\): *(.*)$/s.exec(block.label) ?? [];
  const about = toLabel(said === undefined ? child.name : description);
  const head: Line = [
    strong('> ', 'focus'),
    strong(`Task(${role})`, `role:${child.role}`),
    tint(`: ${about}`, 'title'),
  ];
  const start: Line = [span('  '), tint(`[${role}] `, `role:${child.role}`)];
  const end = progress(child, context);
  // The figures change, so the description is cut instead.
  const room = Math.max(0, width - lineWidth([...start, end]));
  const line: Line = [...start, ...clip([tint(about, 'muted')], room), end];
  const proof = child.outcome === null ? null : isolationText(child, context.state);
  const text = block.output.trim();
  const body = options.open && text !== '' ? wrapText(text, Math.max(1, width - 4), { fg: 'muted' }) : [];
  return [
    spread(head, [tint(` ${glyphs.key.enter} opens it`, 'faint')], width),
    clip(line, width),
    ...(proof === null ? [] : wrap([span('  '), tint(proof, 'faint')], width, 2)),
    ...rail(body, glyphs),
  ];
}

function progress(child: AgentState, { state, now }: Context): Span {
  const { outcome } = child;
  const figures = `${plural(child.toolCalls, 'tool')}, ${(agentTime(child, state, now) / 1000).toFixed(1)}s`;
  if (outcome === null) return tint(` ... ${figures}`, 'info');
  return outcome === 'completed' ? tint(` - done (${figures})`, 'ok') : tint(` - ${outcome} (${figures})`, 'err');
}
