/** The row above the footer: the field for a message or a filter, or the recipient of a message that could be written. */
import { isFollowUp, recipientOf, whyNotTalk } from '../../../app/actions/index.ts';
import { closedReason, type Cursor, fit, type Line, restyle, span, spread, widthOf } from '../../../app/views/index.ts';
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import { type AgentState, isFinal, type RunState } from '../../../events/index.ts';
import type { Delivery } from '../../../ports/controls.ts';
import type { Context } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';
import { type Editor, viewEditor } from '../text/editor.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { type ListUi, listWords } from './agents/list.ts';
import { clipName } from './names.ts';
import { completeLines, completeWidth, type Completing, offerOf } from './text/complete.ts';

interface Writing {
  readonly to: AgentId | 'all';
  readonly delivery: Delivery;
  readonly editor: Editor;
  readonly completing: Completing;
}

/** The file paths offered above the row; empty while the cursor is not behind an `@`. */
export function offeredPaths(
  writing: Writing | null,
  context: Context,
  width: number,
  height: number,
): readonly Line[] {
  const offer = writing === null ? null : offerOf(writing.editor, writing.completing, context);
  return offer === null ? [] : completeLines(offer, context, completeWidth(offer, Math.max(1, width - 3)), height);
}

const WHEN: Readonly<Record<Delivery, readonly [short: string, long: string]>> = {
  sequential: ['when idle', 'when idle'],
  important: ['next turn', 'next turn'],
  urgent: ['at once', 'now, interrupting it'],
};
const BACK = { bg: 'surface' } as const;

/** The field of the list's filter in a line of exactly `width` columns; null unless it is being typed. */
export function filterRow(
  list: ListUi,
  context: Context,
  width: number,
): { readonly lines: readonly Line[]; readonly cursor: Cursor | null } | null {
  const words = listWords(list, context.state);
  if (list.field === null) return null;
  const sign = strong(' / ', 'focus');
  const right: Line = [tint(` ${words} `, 'muted')];
  const field = viewEditor(list.field, {
    width: Math.max(1, width - 6 - widthOf(words)),
    height: 1,
    placeholder: 'name, role, model, state or task',
    style: { fg: 'fg', ...BACK },
  });
  const line = spread([sign, ...(field.lines[0] ?? [])], right, width);
  const cursor = { x: Math.min(width - 1, field.cursor.x + 3), y: 0 };
  return { lines: [fit(restyle(line, BACK), width, BACK)], cursor };
}

/** The selected agent, what cuts the list, and whether the report is shown already. */
interface Beside {
  readonly selected: AgentState | null;
  readonly cut?: string;
  readonly onResult?: boolean;
}

/** Exactly `rows` lines of exactly `width` columns. */
export function messageRow(
  writing: Writing | null,
  { selected, cut = '', onResult = false }: Beside,
  context: Context,
  width: number,
  rows: number,
): { readonly lines: readonly Line[]; readonly cursor: Cursor | null } {
  const prompt = strong(` ${context.glyphs.prompt} `, 'focus');
  if (writing === null) return { lines: [idle(prompt, { selected, cut, onResult }, context, width)], cursor: null };
  const label: Line = [tint(` ${whom(writing, context, width)} `, 'muted')];
  const room = fieldWidth(writing, context, width);
  const field = viewEditor(writing.editor, {
    width: room,
    height: rows,
    placeholder: 'Message',
    style: { fg: 'fg', ...BACK },
  });
  const lines = field.lines.map((line, row): Line => {
    const start: Line = [row === 0 ? prompt : span('   '), ...line];
    return fit(restyle(row === 0 ? spread(start, label, width) : start, BACK), width, BACK);
  });
  return { lines, cursor: { x: Math.min(width - 1, field.cursor.x + 3), y: field.cursor.y } };
}

/** Columns of the field, beside the prompt and the recipient. */
export const fieldWidth = (writing: Writing, context: Context, width: number): number =>
  Math.max(1, width - 4 - widthOf(whom(writing, context, width)) - 2);

function idle(
  prompt: Line[number],
  { selected, cut, onResult }: Required<Beside>,
  { state, glyphs }: Context,
  width: number,
): Line {
  const right: Line = [tint(state.finished && !onResult ? 'v for the report  i to type ' : 'i to type ', 'faint')];
  const words = idleWords(selected, state, glyphs, width);
  const list: Line = cut === '' ? [] : [strong(`${cut} `, 'info'), tint('Esc clears  ', 'faint')];
  return fit(restyle(spread([prompt, tint(words, 'faint')], [...list, ...right], width), BACK), width, BACK);
}

function idleWords(selected: AgentState | null, state: RunState, glyphs: Glyphs, width: number): string {
  const problem = isFollowUp(state) ? whyNotTalk(state) : null;
  if (problem !== null) return problem;
  const to = state.agents.get(recipientOf(state, selected?.id ?? null)) ?? null;
  const closed = to === null || isFollowUp(state) ? null : closedReason(to);
  return closed === null ? `Message ${whoIs(to, width)}${glyphs.ellipsis}` : `${whoIs(to, width)} ${closed}`;
}

/** Name and id of the recipient, so that agents with similar names cannot be confused. */
function whoIs(agent: AgentState | null, width: number): string {
  if (agent === null) return 'an agent';
  const id = width < 70 ? '' : ` (${agent.id})`;
  return `${clipName(agent.name, Math.max(8, Math.floor(width / 2) - id.length))}${id}`;
}

/** Recipient and timing, which Tab changes. At least a third of the row is left for the text, more in a narrow one. */
function whom(writing: Writing, context: Context, width: number): string {
  const most = Math.floor(width * (width < 60 ? 0.4 : 0.65));
  const forms = writing.to === 'all' ? toAll(writing.delivery) : toOne(writing, writing.to, context, most);
  return forms.find((words) => widthOf(words) <= most) ?? forms.at(-1) ?? '';
}

const toAll = (delivery: Delivery): readonly string[] => [
  ...WHEN[delivery].toReversed().map((when) => `to all agents, ${when} (Tab)`),
  'to all',
];

/** For a finished agent, the longest first. */
const WAKES = ['finished: it will be reopened', 'finished: reopens', 'reopens'];

/** The forms for one agent, the longest first. The id is never left out, since names may be similar. */
function toOne({ delivery }: Writing, to: AgentId, { state }: Context, most: number): readonly string[] {
  const { agents, finished } = state;
  const agent = agents.get(to);
  const name = agent?.name ?? '';
  const who = `to ${clipName(name, Math.max(8, most - to.length - 6))} (${to})`;
  if (finished !== null) return [`${who}, which keeps its context`, `${who}, which continues`, who, `to ${to}`];
  if (agent !== undefined && isFinal(agent) && to !== ROOT)
    return [...WAKES.map((words) => `${who}: ${words}`), who, `to ${to}`];
  return [...WHEN[delivery].toReversed().map((when) => `${who}, ${when} (Tab)`), who, `to ${to}`];
}
