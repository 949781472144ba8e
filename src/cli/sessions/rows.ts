/** Lists of sessions as verbs print them: rows of one kind, a tree of a run with what it used. */
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { world } from '../../app/process/world.ts';
import { counted, formatCost, formatTokens } from '../../app/views/text/format.ts';
import { toLabel } from '../../app/views/text/sanitise.ts';
import { widthOf } from '../../app/views/text/width.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Family, SessionRecord } from '../../events/sessions/record.ts';
import { activityWords, ago, branches, cutTo, endOrProgress, rowLines } from './words.ts';

/** Lines are cut to a person's window; what reads a pipe gets them whole. */
export const widthFor = ({ terminal, width }: Io): number | null => (terminal ? width : null);

/** `engineer (4f9a2c) | running | 5min ago | In progress`, with the branches of a tree where there are some. */
export function sayRows(rows: readonly { readonly record: SessionRecord; readonly branch: string }[], io: Io): void {
  const now = world.now();
  const lines = rowLines(
    rows.map(({ record, branch }) => ({
      record,
      branch,
      cells: [record.status, ago(record.created_at, now)],
      words: endOrProgress(record),
    })),
    widthFor(io),
  );
  for (const line of lines) io.say(line);
}

/** Records without a tree. */
export const flat = (records: readonly SessionRecord[]): Parameters<typeof sayRows>[0] =>
  records.map((record) => ({ record, branch: '' }));

/** A run: what it is, what waits, and all its sessions as a table with what each used. */
export function sayFamily(family: Family, io: Io): void {
  const width = widthFor(io);
  const now = world.now();
  const cut = (text: string): string => (width === null ? text : cutTo(text, width));
  io.say(io.paint.bold(cut(headOf(family, now))));
  if (family.task !== '') io.say(cut(`  ${harmless(family.task).split('\n')[0] ?? ''}`));
  for (const waits of waitingWords(family)) io.say(io.paint.yellow(`  ${waits}`));
  const room = width === null ? null : Math.max(1, width - 2);
  for (const line of tableLines(family, now, room)) io.say(`  ${line}`);
}

function headOf({ run, state, mode, sessions, cost, tokens, started_at }: Family, now: number): string {
  const agents = counted(sessions.length, 'agent');
  const spent = `${formatCost(cost)} · ${formatTokens(tokens)} tok`;
  return `Run ${run} · ${state} · ${agents} · ${spent} · mode ${mode} · begun ${ago(started_at, now)}`;
}

function waitingWords({ run, state, questions, kept_messages, reviews_due }: Family): readonly string[] {
  const lives = state === 'running';
  const kept = counted(kept_messages, 'message');
  return [
    ...(lives && questions > 0 ? [`${counted(questions, 'question')} for you: \`mimir attach ${run}\``] : []),
    ...(kept_messages === 0 ? [] : [lives ? `${kept} on the way` : `${kept} kept: \`mimir resume ${run}\` hands over`]),
    ...reviews_due.map((role) =>
      lives
        ? `${role} judges this work when it rests`
        : `${role} has not judged this work: \`mimir resume ${run}\` has that done first`,
    ),
  ];
}

// A run's sessions as a table: a line each, whatever the window; columns that don't fit are left out, names and words are cut.

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
  /** Numbers stand under one another by their last digit. */
  readonly right: boolean;
}

const GAP = '  ';
/** Columns that a name with its id needs at least, and words to say something. */
const NAME = 18;
const SOME = 12;
/** What most names take, and their share of a wide window. */
const USUAL = 24;
const SHARE = 0.45;

/**
 * Head and rows, the tree in the first column. `width` null: nothing is cut. In a narrow window the columns of the least use go
 * first; name and status always stay.
 */
function tableLines(family: Pick<Family, 'sessions'>, now: Millis, width: number | null): readonly string[] {
  const tops = family.sessions.filter(({ parent_session_id }) => parent_session_id === null);
  const rows = branches(family.sessions, tops);
  if (rows.length === 0) return [];
  const records = rows.map(({ record }) => record);
  const [status, age, cost, tokens, subtree] = columnsOf(records, now);
  const words = records.map((record) => toLabel(activityWords(record)));
  const sets: readonly (readonly [columns: readonly Column[], words: boolean])[] = [
    [[status, age, cost, tokens, ...subtree], true],
    [[status, age, cost, tokens], true],
    [[status, cost, tokens], true],
    [[status, age, cost, tokens], false],
    [[status, cost, tokens], false],
    [[status, cost], false],
    [[status], false],
  ];
  const least = ([columns, last]: (typeof sets)[number]): number => NAME + widthsOf(columns) + (last ? SOME + 2 : 0);
  const [columns, last] = sets.find((set) => width === null || least(set) <= width) ?? [[status], false];
  const left = width === null ? null : width - widthsOf(columns);
  const most = left === null || !last ? left : Math.min(left - SOME - 2, Math.max(USUAL, Math.floor(left * SHARE)));
  const names = namesIn(rows, most);
  const all = [{ head: 'SESSION', cells: names, right: false }, ...columns];
  const lines = ['', ...rows].map((_, at) =>
    [...all.map((column) => cellOf(column, at)), ...(last ? [at === 0 ? 'NOW' : (words[at - 1] ?? '')] : [])]
      .join(GAP)
      .trimEnd(),
  );
  return width === null ? lines : lines.map((line) => cutTo(line, width));
}

/** What each used with everything below it stands only where that is more than its own. */
function columnsOf(
  records: readonly SessionRecord[],
  now: Millis,
): readonly [status: Column, age: Column, cost: Column, tokens: Column, subtree: readonly Column[]] {
  const column = (head: string, cells: readonly string[], right: boolean): Column => ({ head, cells, right });
  const more = records.map(({ cost, tokens_used, subtree_cost, subtree_tokens }) =>
    subtree_cost === cost && subtree_tokens === tokens_used
      ? ''
      : `${formatCost(subtree_cost)} ${formatTokens(subtree_tokens).padStart(4)}`,
  );
  return [
    column(
      'STATUS',
      records.map(({ status }) => status),
      false,
    ),
    column(
      'SPAWNED',
      records.map(({ created_at }) => ago(created_at, now)),
      false,
    ),
    column(
      'COST',
      records.map(({ cost }) => formatCost(cost)),
      true,
    ),
    column(
      'TOKENS',
      records.map(({ tokens_used }) => formatTokens(tokens_used)),
      true,
    ),
    more.every((cell) => cell === '') ? [] : [column('WITH BELOW', more, true)],
  ];
}

const widthOfColumn = ({ head, cells }: Column): number => Math.max(widthOf(head), ...cells.map(widthOf));

/** Of all, with the gap before each. */
const widthsOf = (columns: readonly Column[]): number =>
  columns.reduce((sum, column) => sum + GAP.length + widthOfColumn(column), 0);

/** `at` 0: the head. */
function cellOf(column: Column, at: number): string {
  const text = at === 0 ? column.head : (column.cells[at - 1] ?? '');
  const fill = ' '.repeat(Math.max(0, widthOfColumn(column) - widthOf(text)));
  return column.right ? fill + text : text + fill;
}

/** `└─ engineer-cache (4f9a2c)`: of a long one the name is cut, never the id, which can be typed. */
const namesIn = (rows: ReturnType<typeof branches>, room: number | null): readonly string[] =>
  rows.map(({ record, branch }) => {
    const id = ` (${record.session_id})`;
    const name = toLabel(record.name);
    const left = room === null ? null : Math.max(3, room - widthOf(branch) - widthOf(id));
    return `${branch}${left === null ? name : cutTo(name, left)}${id}`;
  });
