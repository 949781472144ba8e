/** The line above the footer: what one could write to whom, or the message being written. */
import { type AgentId, ROOT } from '../../../domain/ids.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import type { Delivery } from '../../../ports/controls.ts';
import { isFinal } from '../../../events/queries.ts';
import { isFollowUp, recipientOf, whyNotTalk } from '../../../app/actions/index.ts';
import { closedWords } from '../../../app/views/agents/agent-lines.ts';
import { type Completing, offerOf, completeLines, completeWidth } from './text/complete.ts';
import type { Glyphs } from '../text/glyphs.ts';
import { clipName } from '../text/names.ts';
import type { Context } from '../frame/screen.ts';
import { fit, restyle, span, spread } from '../../../app/views/text/clip.ts';
import type { Editor } from '../text/editor.ts';
import { viewEditor } from '../text/editor-view.ts';
import type { Cursor, Line } from '../../../app/views/text/line.ts';
import { widthOf } from '../../../app/views/text/width.ts';
import { type ListUi, listWords } from './runs/list.ts';

interface Writing {
  readonly to: AgentId | 'all';
  readonly delivery: Delivery;
  readonly editor: Editor;
  readonly completing: Completing;
}

/** The paths that are offered above the row; none while nothing stands behind an `@`. */
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
  sequential: ['when idle', 'when it is idle'],
  important: ['next turn', 'at its next turn'],
  urgent: ['at once', 'at once, interrupting it'],
};
const BACK = { bg: 'surface' } as const;

/** The filter of the list while it is typed, or once it hides somebody; null else. One line of exactly `width` columns. */
export function filterRow(
  list: ListUi,
  context: Context,
  width: number,
): { readonly lines: readonly Line[]; readonly cursor: Cursor | null } | null {
  const words = listWords(list, context.state);
  if (list.field === null) return null;
  const sign = span(' / ', { fg: 'focus', bold: true });
  const right: Line = [span(` ${words} `, { fg: 'muted' })];
  const field = viewEditor(list.field, {
    width: Math.max(1, width - 6 - widthOf(words)),
    height: 1,
    placeholder: 'name, role, model, state or words of the task',
    style: { fg: 'fg', ...BACK },
  });
  const line = spread([sign, ...(field.lines[0] ?? [])], right, width);
  const cursor = { x: Math.min(width - 1, field.cursor.x + 3), y: 0 };
  return { lines: [fit(restyle(line, BACK), width, BACK)], cursor };
}

/** What stands beside the row: the selected agent, how the list is cut, and whether the report is shown already. */
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
  const prompt = span(` ${context.glyphs.prompt} `, { fg: 'focus', bold: true });
  if (writing === null) return { lines: [idle(prompt, { selected, cut, onResult }, context, width)], cursor: null };
  const label: Line = [span(` ${whom(writing, context, width)} `, { fg: 'muted' })];
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

/** Columns of the field: what the sign and the words about whom and when leave. */
export const fieldWidth = (writing: Writing, context: Context, width: number): number =>
  Math.max(1, width - 4 - widthOf(whom(writing, context, width)) - 2);

function idle(
  prompt: Line[number],
  { selected, cut, onResult }: Required<Beside>,
  { state, glyphs }: Context,
  width: number,
): Line {
  const right: Line = [
    span(state.finished && !onResult ? 'v for the report  i to type ' : 'i to type ', { fg: 'faint' }),
  ];
  const words = idleWords(selected, state, glyphs, width);
  const list: Line =
    cut === '' ? [] : [span(`${cut} `, { fg: 'info', bold: true }), span('Esc shows all  ', { fg: 'faint' })];
  return fit(restyle(spread([prompt, span(words, { fg: 'faint' })], [...list, ...right], width), BACK), width, BACK);
}

function idleWords(selected: AgentState | null, state: RunState, glyphs: Glyphs, width: number): string {
  const problem = isFollowUp(state) ? whyNotTalk(state) : null;
  if (problem !== null) return problem;
  const to = state.agents.get(recipientOf(state, selected?.id ?? null)) ?? null;
  const closed = to === null || isFollowUp(state) ? null : closedWords(to);
  return closed === null
    ? `Message ${whoIs(to, width, glyphs)}${glyphs.ellipsis}`
    : `${whoIs(to, width, glyphs)} ${closed}`;
}

/** Name and path: which agent a person talks to is never in doubt. */
function whoIs(agent: AgentState | null, width: number, glyphs: Glyphs): string {
  if (agent === null) return 'an agent';
  const id = width < 70 ? '' : ` (${agent.id})`;
  return `${clipName(agent.name, Math.max(8, Math.floor(width / 2) - id.length), glyphs)}${id}`;
}

/** Who gets it and when: Tab changes the when. The words leave a third of the row for what is written, more of a small one. */
function whom(writing: Writing, context: Context, width: number): string {
  const most = Math.floor(width * (width < 60 ? 0.4 : 0.65));
  const forms = writing.to === 'all' ? toAll(writing.delivery) : toOne(writing, writing.to, context, most);
  return forms.find((words) => widthOf(words) <= most) ?? forms.at(-1) ?? '';
}

const toAll = (delivery: Delivery): readonly string[] => [
  ...WHEN[delivery].toReversed().map((when) => `to all agents, ${when} (Tab)`),
  'to all',
];

/** Of one that has ended. */
const WAKES = ['it has ended, and goes on with its conversation', 'it had ended, and goes on', 'had ended, goes on'];

/** The longest first. The id is never left out: it says who is meant where names are alike. */
function toOne({ delivery }: Writing, to: AgentId, { state, glyphs }: Context, most: number): readonly string[] {
  const { agents, finished } = state;
  const agent = agents.get(to);
  const name = agent?.name ?? '';
  const who = `to ${clipName(name, Math.max(8, most - to.length - 6), glyphs)} (${to})`;
  if (finished !== null)
    return [`${who}, which continues with all that is known`, `${who}, which continues`, who, `to ${to}`];
  if (agent !== undefined && isFinal(agent) && to !== ROOT)
    return [...WAKES.map((words) => `${who}: ${words}`), who, `to ${to}`];
  return [...WHEN[delivery].toReversed().map((when) => `${who}, ${when} (Tab)`), who, `to ${to}`];
}
