/** The review screen: all changes that are left of a run, hunk by hunk: accepted, undone, or commented to the agent. */
import type { Line } from '../../../../app/views/index.ts';
import { clipPath, commentOn, fitText, labelOf, lineWidth, placeOf, plural } from '../../../../app/views/index.ts';
import { type Grouping, GROUPINGS, type ReviewItem, reviewGroups } from '../../../../app/views/index.ts';
import { span, spread, toLabel, wrap } from '../../../../app/views/index.ts';
import { messageMain, whyNotMessage } from '../../../../app/actions/index.ts';
import type { AuthoredHunk } from '../../../../domain/changes/authorship.ts';
import type { RunState } from '../../../../events/index.ts';
import { crumbs, runNumbers } from '../../components/header.ts';
import { codeLines } from '../../components/text/markdown.ts';
import { bind, cycled, settled, stepOf } from '../../frame/keymap.ts';
import type { Binding, Context, Dialog, Effect, Screen } from '../../frame/screen.ts';
import type { Size } from '../../terminal/terminal.ts';
import { beside, pane, scrollBar, sized, strong, tint, windowTop } from '../../text/blocks.ts';

export interface ReviewView {
  readonly by: Grouping;
  /** The number of the selected change. */
  readonly at: number;
  /** The first line of its diff. */
  readonly top: number;
}

const itemsIn = (state: RunState, by: Grouping): readonly ReviewItem[] =>
  reviewGroups(state, by).flatMap(({ items }) => items);

const selectedOf = ({ by, at }: ReviewView, { state }: Context): ReviewItem | undefined => itemsIn(state, by)[at];

/** Selects the change with this number, or the nearest one. */
const movedTo = (ui: ReviewView, { state }: Context, at: number): ReviewView => ({
  ...ui,
  at: Math.max(0, Math.min(at, itemsIn(state, ui.by).length - 1)),
  top: 0,
});

const isAccepted = ({ accepted: known }: Context, key: string): boolean => known?.has(key) === true;
const none = (ui: ReviewView, context: Context): string | null => (selectedOf(ui, context) === undefined ? NONE : null);
const NONE = 'No change of an agent is left.';
const READING = 'Finding out whose each change is.';

/** Accepts the change, or takes that back, and goes on to the next one that is not accepted. */
function accepted(ui: ReviewView, context: Context): Effect<ReviewView> {
  const item = selectedOf(ui, context);
  if (item === undefined) return {};
  const app = { accept: item.key, isAccepted: !isAccepted(context, item.key) };
  if (!app.isAccepted) return { app };
  const items = itemsIn(context.state, ui.by);
  const after = items.findIndex(({ key }, nth) => nth > ui.at && !isAccepted(context, key));
  return { app, ui: { ...ui, at: after === -1 ? ui.at : after, top: 0 } };
}

function undone(ui: ReviewView, context: Context): Effect<ReviewView> {
  const item = selectedOf(ui, context);
  if (item === undefined) return {};
  const { file, hunk, nth, agent } = item;
  return { app: { change: { do: 'undo', agent, path: file.path, ...(hunk === null ? {} : { hunk: nth }) } } };
}

function commented(ui: ReviewView, context: Context): Effect<ReviewView> {
  const item = selectedOf(ui, context);
  return item === undefined ? {} : { dialog: commentDialog(item, context.state) };
}

function commentDialog(item: ReviewItem, state: RunState): Dialog {
  const { agent } = item;
  const isOver = state.finished !== null;
  const { to, about } = commentOn(state, item);
  const who = to === null ? 'main' : labelOf(state, to);
  const isAtWork = state.agents.get(agent)?.outcome === null;
  return {
    is: 'text',
    title: `Comment on ${toLabel(placeOf(item))}`,
    hint: `${toLabel(who)} gets it ${isOver ? 'and the run continues' : isAtWork ? 'before its next turn' : 'and continues'}`,
    value: '',
    lines: 4,
    yes: 'send',
    check: (text) => messageMain.whyNot(state, { text }),
    then: (text) =>
      isOver && state.session !== null
        ? { app: { resume: state.session, followUp: `${about}${text}`, ...(to === null ? {} : { to }) } }
        : { commands: [{ do: 'message', to: agent, text: `${about}${text}`, delivery: 'important' }] },
  };
}

const PAGE = 20;

const REVIEW_KEYS: readonly Binding<ReviewView>[] = [
  bind('review.move', (ui, context, key) => ({ ui: movedTo(ui, context, ui.at + stepOf(key, PAGE)) })),
  bind('review.scroll', (ui, _, key) => ({
    ui: { ...ui, top: Math.max(0, ui.top + (key === 'left' || key === 'h' ? -5 : 5)) },
  })),
  bind('review.accept', accepted, none),
  bind('review.undo', undone, none),
  bind('review.comment', commented, (ui, context) => {
    const item = selectedOf(ui, context);
    return item === undefined ? none(ui, context) : whyNotMessage(context.state, item.agent);
  }),
  bind('review.group', (ui, context) => {
    const key = selectedOf(ui, context)?.key;
    const by = cycled(GROUPINGS, ui.by);
    const at = itemsIn(context.state, by).findIndex((one) => one.key === key);
    return { ui: movedTo({ ...ui, by }, context, at) };
  }),
  bind('review.back', (_, { state }) => ({ app: { show: state.phase === 'finished' ? 'result' : 'run' } })),
];

/** The rows around the selected change: titles of groups, and below each its changes. */
function listLines(ui: ReviewView, context: Context, width: number, height: number): readonly Line[] {
  const rows = reviewGroups(context.state, ui.by).flatMap((group) => [group, ...group.items]);
  const selected = selectedOf(ui, context);
  const at = rows.findIndex((row) => row === selected);
  const top = windowTop(at, rows.length, height);
  return rows.slice(top, top + height).map((row) => {
    if (!('items' in row)) return rowOf(row, row === selected, ui, context, width);
    const count: Line = [tint(`  ${row.items.length}`, 'faint')];
    return spread([strong(toLabel(row.title), 'title')], count, width);
  });
}

function rowOf(
  { file, hunk, agent, lines, key }: ReviewItem,
  isSelected: boolean,
  { by }: ReviewView,
  context: Context,
  width: number,
): Line {
  const { state, glyphs } = context;
  const sign = isAccepted(context, key) ? glyphs.status.completed : ' ';
  const counts: Line =
    hunk === null
      ? [tint(file.whole === undefined ? 'mode' : 'whole', 'muted')]
      : [tint(`+${hunk.added.length}`, 'ok'), tint(` -${hunk.removed.length}`, 'err')];
  const name =
    by === 'file'
      ? `${lines === '' ? 'file' : lines} ${labelOf(state, agent)}`
      : `${file.path}${lines === '' ? '' : `:${lines}`}`;
  const room = Math.max(4, width - lineWidth(counts) - 6);
  const label = toLabel(name);
  const shown = fitText(by === 'file' ? label : clipPath(label, room), room);
  const left: Line = [
    tint(isSelected ? '▌' : ' ', 'focus'),
    tint(`${sign} `, 'ok'),
    isSelected ? strong(shown, 'title') : tint(shown, 'fg'),
  ];
  return spread(left, counts, width);
}

/** Rows below which a pane shows little around a change. */
const SMALL = 10;

/** The diff of the selected change, with the colours of its language. */
function diffOf(item: ReviewItem | undefined, { state }: Context, { width, height }: Size): readonly Line[] {
  if (item === undefined) return [[tint(state.authored === undefined ? READING : NONE, 'faint')]];
  const { file, hunk } = item;
  const by = (hunk?.agents ?? [item.agent]).map((id) => toLabel(labelOf(state, id))).join(' or ');
  const head: readonly Line[] = [[tint(by, 'muted')], ...(height < SMALL ? [] : [[]])];
  if (hunk === null)
    return [...head, [tint(file.whole === undefined ? modeText(file) : 'Its content is not shown as lines.', 'faint')]];
  return [...head, ...hunkLines(hunk, file.path, { width: Math.max(1, width - 2), height: height - head.length })];
}

function hunkLines({ removed, added, around }: AuthoredHunk, path: string, { width, height }: Size): readonly Line[] {
  const language = path.slice(path.lastIndexOf('.') + 1);
  const side = (texts: readonly string[], sign: string, fg: 'ok' | 'err'): readonly Line[] =>
    texts.length === 0
      ? []
      : codeLines(toCode(texts), language, width).map((line): Line => [tint(`${sign} `, fg), ...line]);
  // In a small pane the change comes first.
  const spare = Math.max(0, height - removed.length - added.length);
  const most = height < SMALL ? Math.floor(spare / 2) : Infinity;
  const { before = [], behind = [] } = around ?? {};
  const quoted = (texts: readonly string[]): readonly Line[] =>
    texts.flatMap((text) => wrap([tint(toCode([text]), 'faint')], width)).map((line) => [span('  '), ...line]);
  return [
    ...quoted(before.slice(Math.max(0, before.length - most))),
    ...side(removed, '-', 'err'),
    ...side(added, '+', 'ok'),
    ...quoted(behind.slice(0, most)),
  ];
}

const modeText = ({ start, now }: ReviewItem['file']): string =>
  `Its mode was ${start?.mode ?? ''} and is ${now?.mode ?? ''}.`;

const toCode = (lines: readonly string[]): string => lines.join('').replace(/\n$/, '').replaceAll('\t', '    ');

function reviewBody(ui: ReviewView, context: Context, { width, height }: Size): readonly Line[] {
  const isWide = width >= 100;
  const listWidth = isWide ? Math.min(60, Math.floor(width * 0.4)) : width;
  const rows = reviewGroups(context.state, ui.by).reduce((sum, { items }) => sum + items.length + 1, 0);
  const listHeight = isWide ? height : Math.min(Math.max(3, rows + 2), Math.max(5, Math.floor(height / 2)));
  const list = pane({
    width: listWidth,
    height: listHeight,
    glyphs: context.glyphs,
    focused: true,
    title: [strong('Changes', 'title'), tint(` by ${ui.by}`, 'muted')],
    body: listLines(ui, context, Math.max(1, listWidth - 4), Math.max(0, listHeight - 2)),
  });
  const size = { width: isWide ? width - listWidth : width, height: isWide ? height : height - listHeight };
  const diff = diffPane(ui, context, size);
  return isWide ? beside({ lines: list, width: listWidth }, { lines: diff, width: size.width }) : [...list, ...diff];
}

function diffPane(ui: ReviewView, context: Context, { width, height }: Size): readonly Line[] {
  const item = selectedOf(ui, context);
  const rows = Math.max(0, height - 2);
  const text = diffOf(item, context, { width: Math.max(1, width - 5), height: rows });
  const top = Math.max(0, Math.min(ui.top, text.length - rows));
  const bar = scrollBar(top, text.length, rows, context.glyphs.scroll);
  const inner = Math.max(0, width - 4);
  const place = toLabel(item === undefined ? '' : `${item.file.path}${item.lines === '' ? '' : `:${item.lines}`}`);
  return pane({
    width,
    height,
    glyphs: context.glyphs,
    focused: false,
    title: [strong(clipPath(place, Math.max(1, width - 8)), 'title')],
    body: sized(text.slice(top, top + rows), Math.max(0, inner - 1), rows).map(
      (line, row): Line => [...line, span(bar[row] ?? ' ', { fg: 'muted' })],
    ),
  });
}

export const reviewScreen: Screen<ReviewView> = {
  name: 'review',
  first: { by: 'agent', at: 0, top: 0 },
  keys: REVIEW_KEYS,
  header: (_, context, width = 120) => ({
    left: crumbs('Review', context.state.task, context.glyphs),
    right: runNumbers(context, width),
  }),
  body: (ui, context, size) => ({ lines: sized(reviewBody(ui, context, size), size.width, size.height) }),
  settle: (ui, context) => settled(ui, { ...ui, at: movedTo(ui, context, ui.at).at }),
  position(ui, context) {
    const items = itemsIn(context.state, ui.by);
    if (items.length === 0) return '';
    const done = items.filter(({ key }) => isAccepted(context, key)).length;
    return `${ui.at + 1} of ${plural(items.length, 'change')}, ${done} accepted`;
  },
  input: (ui, context, input) => (input.is === 'wheel' ? { ui: movedTo(ui, context, ui.at + input.by) } : null),
};
