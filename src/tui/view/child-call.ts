/**
 * A call that made a sub-agent, in the transcript of who called: what it is for, and live how far it is. Nothing of what the
 * child reads or says stands here: it has a transcript of its own, one key away.
 */
import type { CallId, Millis } from '../../domain/ids.ts';
import { elapsedOf } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { counted } from '../format.ts';
import { span, spread } from '../text/clip.ts';
import type { Ink, Line } from '../text/line.ts';
import { toLabel } from '../text/sanitise.ts';
import { wrapText } from '../text/wrap.ts';
import { rail, seconds } from './tool-block.ts';
import type { ToolCall } from './tool-block.ts';
import type { BlockLook } from './transcript.ts';

/** The agent that a call of this one made; undefined for all other calls. */
export const childOf = (call: CallId, { children }: AgentState, state: RunState): AgentState | undefined => {
  const id = children.find((child) => state.agents.get(child)?.call === call);
  return id === undefined ? undefined : state.agents.get(id);
};

/** What the lines below change with. */
export const childKey = (child: AgentState | undefined, now: Millis): string =>
  child === undefined ? '' : `${child.status}${child.toolCalls}:${Math.floor(elapsedOf(child, now) / 100)}`;

/** `> Task(finder): find auth files`, and `[finder] find auth files ... 5 tools, 3.2s` or `- done (8 tools, 5.1s)` (T014-T017). */
export function childBlock(block: ToolCall, child: AgentState, look: BlockLook, now: Millis): readonly Line[] {
  const role = toLabel(child.role);
  // A command of the text protocol would say the whole task.
  const [said, description = ''] = /^Task\([^)]*\): *(.*)$/s.exec(block.label) ?? [];
  const about = toLabel(said === undefined ? child.name : description);
  const head: Line = [
    span('> ', { fg: 'focus', bold: true }),
    span(`Task(${role})`, { fg: `role:${child.role}`, bold: true }),
    span(`: ${about}`, { fg: 'title' }),
  ];
  const figures = `${counted(child.toolCalls, 'tool')}, ${seconds(elapsedOf(child, now))}`;
  const { words, ink } = progress(child, figures);
  const line: Line = [span(`[${role}] `, { fg: `role:${child.role}` }), span(about, { fg: 'muted' })];
  const opens = span(` ${look.glyphs.key.enter} opens it`, { fg: 'faint' });
  const text = block.output.trim();
  const body = look.open && text !== '' ? wrapText(text, Math.max(1, look.width - 4), { fg: 'muted' }) : [];
  return [
    spread(head, [opens], look.width),
    spread([span('  '), ...line], [span(words, { fg: ink })], look.width).slice(),
    ...rail(body, look.glyphs),
  ];
}

function progress(child: AgentState, figures: string): { readonly words: string; readonly ink: Ink } {
  if (child.outcome === null) return { words: `... ${figures}`, ink: 'info' };
  if (child.outcome === 'completed') return { words: `- done (${figures})`, ink: 'ok' };
  return { words: `- ${child.outcome} (${figures})`, ink: 'err' };
}
