/** Words and rows for child sessions: one style for every verb that lists them. Text of others is made harmless here. */
import type { Millis } from '../../domain/ids.ts';
import type { SessionRecord } from '../../events/sessions/record.ts';
import { formatCost, formatTokens } from '../../app/views/text/format.ts';
import { clip, plain, span } from '../../app/views/text/clip.ts';
import { toLabel } from '../../app/views/text/sanitise.ts';
import { widthOf } from '../../app/views/text/width.ts';

/** `30s`, `5min`, `3h`, `2d`: as old as that. */
export function ageOf(ms: Millis): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}min`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** `5min ago` */
export const ago = (since: string, now: Millis): string => `${ageOf(now - Date.parse(since))} ago`;

/** What its row ends with: its answer or why it ended, else `In progress`. */
export const endOrProgress = ({ completion_message, is_complete, partial, status }: SessionRecord): string =>
  is_complete ? `${partial ? 'partial: ' : ''}${completion_message ?? ENDS[status] ?? status}` : 'In progress';

/** Where its own words are for others. */
const ENDS: Readonly<Partial<Record<SessionRecord['status'], string>>> = { completed: 'done', error: 'failed' };

/** What it does now, in words. */
export function activityWords(record: SessionRecord): string {
  if (record.is_complete) return endOrProgress(record);
  const { status, current_activity } = record;
  // The reason of a root that waits for whatever comes is no more than its status.
  return current_activity === null || current_activity === status ? (WAITS[status] ?? 'at work') : current_activity;
}

const WAITS: Readonly<Partial<Record<SessionRecord['status'], string>>> = {
  spawned: 'not begun yet',
  starting: 'waits for a free slot',
  waiting_input: 'waits for a person',
  idle: 'waits for messages or children',
};

/** `$0.0123 6.2k tok`, and with what is below it where there is something. */
export function spentWords({ cost, tokens_used, subtree_cost, subtree_tokens, children }: SessionRecord): string {
  const own = `${formatCost(cost)} ${formatTokens(tokens_used)} tok`;
  return children === 0 ? own : `${own} (subtree ${formatCost(subtree_cost)} ${formatTokens(subtree_tokens)} tok)`;
}

export interface Row {
  readonly record: SessionRecord;
  /** Before the name: the branch of a tree. */
  readonly branch: string;
  /** Of one width each, under one another. */
  readonly cells: readonly string[];
  /** The last one: it takes what is left. */
  readonly words: string;
}

/** Columns that the last cell needs to say something. */
const SOME = 16;
/** Columns that a name with its id needs at least, to be on the same line. */
const NAME = 24;
const BAR = ' | ';

/**
 * `name (id) | running | 5min ago | In progress`, in columns. `width` null: nothing is cut. Where that doesn't fit, names are cut;
 * where they would say nothing any more, two lines each: the name, and under it the rest.
 */
export function rowLines(rows: readonly Row[], width: number | null): readonly string[] {
  const names = rows.map(nameOf);
  const cellWidths = columnsOf(rows);
  const nameWidth = Math.max(0, ...names.map(widthOf));
  const used = cellWidths.reduce((sum, one) => sum + one + BAR.length, BAR.length + SOME);
  if (width !== null && used + nameWidth > width) {
    return used + NAME > width
      ? rows.flatMap((row) => stacked(row, width))
      : rowLines(
          rows.map((row) => named(row, width - used)),
          width,
        );
  }
  return rows.map((row, index) => {
    const cells = row.cells.map((cell, at) => padded(cell, cellWidths[at] ?? 0));
    const line = [padded(names[index] ?? '', nameWidth), ...cells, toLabel(row.words)].join(BAR);
    return width === null ? line : cutTo(line, width);
  });
}

/** With a name that takes at most `room` columns; the id stays whole. */
function named(row: Row, room: number): Row {
  const left = room - widthOf(row.branch) - widthOf(row.record.session_id) - ' ()'.length;
  return { ...row, record: { ...row.record, name: cutTo(toLabel(row.record.name), Math.max(1, left)) } };
}

const columnsOf = (rows: readonly Row[]): readonly number[] =>
  (rows[0]?.cells ?? []).map((_, at) => Math.max(0, ...rows.map(({ cells }) => widthOf(cells[at] ?? ''))));

function stacked({ branch, record, cells, words }: Row, width: number): readonly string[] {
  const id = ` (${record.session_id})`;
  const room = Math.max(1, width - widthOf(branch) - widthOf(id));
  const under = `${branch.replaceAll('├─ ', '│  ').replaceAll('└─ ', '   ')}  `;
  const lines: string[] = [];
  for (const [at, part] of [...cells, toLabel(words)].entries()) {
    const last = lines.at(-1);
    // The words may be cut, as long as they say something.
    const least = at < cells.length ? widthOf(part) : Math.min(widthOf(part), SOME);
    if (last === undefined || widthOf(last) + BAR.length + least > width) lines.push(`${under}${part}`);
    else lines[lines.length - 1] = `${last}${BAR}${part}`;
  }
  return [`${branch}${cutTo(toLabel(record.name), room)}${id}`, ...lines.map((line) => cutTo(line, width))];
}

const nameOf = ({ branch, record }: Row): string => `${branch}${toLabel(record.name)} (${record.session_id})`;

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** At most `width` columns of a line without styles. */
export const cutTo = (text: string, width: number): string => plain(clip([span(text)], width));

/** Records with the branches of the tree they are; `tops` stand at its left side. Parents come before their children. */
export function branches(
  records: readonly SessionRecord[],
  tops: readonly SessionRecord[],
): readonly { readonly record: SessionRecord; readonly branch: string }[] {
  const walk = (record: SessionRecord, branch: string, stem: string): ReturnType<typeof branches> => {
    const children = records.filter(({ parent_session_id }) => parent_session_id === record.session_id);
    return [
      { record, branch },
      ...children.flatMap((child, index) => {
        const last = index === children.length - 1;
        return walk(child, `${stem}${last ? '└─ ' : '├─ '}`, `${stem}${last ? '   ' : '│  '}`);
      }),
    ];
  };
  return tops.flatMap((top) => walk(top, '', ''));
}
