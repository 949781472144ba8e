/**
 * A call that made a sub-agent, in the transcript of who called: what it is for, and live how far it is. Nothing of what the
 * child reads or says stands here: it has a transcript of its own, one key away.
 */
import { agentTime } from '../../../../app/views/run-time.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { counted } from '../../../../app/views/text/format.ts';
import type { Context } from '../../frame/screen.ts';
import { clip, lineWidth, span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';
import { isolationWords } from '../../../../app/views/agents/isolation.ts';
import { rail, type ToolCall, type BlockLook } from './tool-block.ts';

/** What the lines below change with. */
export const childKey = (child: AgentState | undefined, state: RunState, now: Millis): string =>
  child === undefined
    ? ''
    : `${child.status}${child.toolCalls}:${Math.floor(agentTime(child, state, now) / 100)}${isolationWords(child, state) ?? ''}`;

/** `> Task(finder): find auth files`, and `[finder] find auth files ... 5 tools, 3.2s` or `- done (8 tools, 5.1s)` (T014-T017). */
export function childBlock(
  block: ToolCall,
  child: AgentState,
  look: BlockLook,
  { state, now }: Pick<Context, 'state' | 'now'>,
): readonly Line[] {
  const role = toLabel(child.role);
  // A command of the text protocol would say the whole task.
  const [said, description = ''] = /^Task\([^)]*\): *(.*)$/s.exec(block.label) ?? [];
  const about = toLabel(said === undefined ? child.name : description);
  const head: Line = [
    span('> ', { fg: 'focus', bold: true }),
    span(`Task(${role})`, { fg: `role:${child.role}`, bold: true }),
    span(`: ${about}`, { fg: 'title' }),
  ];
  const figures = `${counted(child.toolCalls, 'tool')}, ${(agentTime(child, state, now) / 1000).toFixed(1)}s`;
  const { words, ink } = progress(child, figures);
  const start: Line = [span('  '), span(`[${role}] `, { fg: `role:${child.role}` })];
  // The figures are what changes: the description gives way.
  const room = Math.max(0, look.width - lineWidth(start) - widthOf(words) - 1);
  const line: Line = [
    ...start,
    ...clip([span(about, { fg: 'muted' })], room, look.glyphs.ellipsis),
    span(` ${words}`, { fg: ink }),
  ];
  const opens = span(` ${look.glyphs.key.enter} opens it`, { fg: 'faint' });
  const text = block.output.trim();
  const body = look.open && text !== '' ? wrapText(text, Math.max(1, look.width - 4), { fg: 'muted' }) : [];
  return [
    spread(head, [opens], look.width),
    clip(line, look.width),
    ...proof(child, state, look),
    ...rail(body, look.glyphs),
  ];
}

/** `child used 12.4k tokens, parent grew by 380 (counted)`, once it has come back. */
function proof(child: AgentState, state: RunState, { width }: BlockLook): readonly Line[] {
  const words = child.outcome === null ? null : isolationWords(child, state);
  return words === null ? [] : wrap([span('  '), span(words, { fg: 'faint' })], width, 2);
}

function progress(child: AgentState, figures: string): { readonly words: string; readonly ink: Ink } {
  if (child.outcome === null) return { words: `... ${figures}`, ink: 'info' };
  if (child.outcome === 'completed') return { words: `- done (${figures})`, ink: 'ok' };
  return { words: `- ${child.outcome} (${figures})`, ink: 'err' };
}
