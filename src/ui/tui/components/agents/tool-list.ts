/** The Tools tab: every call of an agent in one row, its output under the row that was opened. */
import type { AgentState, Block } from '../../../../events/state.ts';
import { formatClock } from '../../../../app/views/text/format.ts';
import type { Context } from '../../shell/screen.ts';
import { span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import { diffLines } from '../text/diff.ts';
import { changeOf } from '../../../../app/views/file-changes.ts';
import type { Doc, Part } from '../text/doc.ts';
import { docOf, docOfLines } from '../text/doc.ts';
import type { ToolCall } from './tool-block.ts';
import { rail, toolMeta } from './tool-block.ts';

export interface ListLook {
  isOpen(item: number): boolean;
  readonly at: number | 'visible' | null;
}

/** The calls of an agent, oldest first, each with its place among the blocks. */
const callsIn = (blocks: readonly Block[]): readonly { readonly item: number; readonly block: ToolCall }[] =>
  blocks.flatMap((block, item) => (block.is === 'tool' ? [{ item, block }] : []));

/** One part a call; its item is the number of its block. */
export function toolsDoc(agent: AgentState, context: Context, width: number, look: ListLook): Doc {
  const calls = callsIn(agent.blocks);
  if (calls.length === 0) return docOfLines(wrap([span('No tool was called yet.', { fg: 'faint' })], width));
  return docOf(
    calls.map(({ item, block }): Part => {
      const row = toolRow(block, context, width);
      return { item, lines: look.isOpen(item) ? [row, ...output(block, context, width)] : [row] };
    }),
  );
}

/** `✓ 20:31:02 read src/a.ts          142 lines · 0.1s` */
function toolRow(block: ToolCall, context: Context, width: number): Line {
  const known = ROWS.get(block);
  const key = `${width}:${context.glyphs.ellipsis}`;
  if (known?.key === key) return known.row;
  const { glyphs } = context;
  const [sign, ink]: readonly [string, Ink] =
    block.ok === null
      ? [glyphs.status.running, 'ok']
      : block.ok
        ? [glyphs.status.completed, 'ok']
        : [glyphs.status.failed, 'err'];
  const [verb = '', ...rest] = toLabel(block.label).split(' ');
  const left: Line = [
    span(`${sign} `, { fg: ink, bold: block.ok === false }),
    span(width >= 60 ? `${formatClock(block.started)}  ` : '', { fg: 'faint' }),
    span(verb, { fg: block.ok === false ? 'err' : 'title', bold: true }),
    span(rest.length > 0 ? ` ${rest.join(' ')}` : '', { fg: 'muted' }),
  ];
  const trimmed = block.output.trimEnd();
  const row = spread(
    left,
    toolMeta(block, trimmed === '' ? 0 : trimmed.split('\n').length, glyphs),
    width,
    {},
    glyphs.ellipsis,
  );
  ROWS.set(block, { key, row });
  return row;
}

const ROWS = new WeakMap<Block, { readonly key: string; readonly row: Line }>();

function output(block: ToolCall, { glyphs }: Context, width: number): readonly Line[] {
  const inner = Math.max(1, width - 4);
  const change = changeOf(block);
  if (change !== null) return rail(diffLines(change.diff, inner, glyphs.ellipsis), glyphs);
  const text = block.output.trimEnd();
  const said = text === '' ? (block.ok === null ? 'It runs still.' : 'It gave nothing.') : text;
  return rail(wrapText(said, inner, { fg: text === '' ? 'faint' : block.ok === false ? 'err' : 'muted' }), glyphs);
}
