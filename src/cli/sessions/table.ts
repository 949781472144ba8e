/** A run's sessions as a table: a line each, whatever the window; columns that don't fit are left out, names and words are cut. */
import type { Millis } from '../../domain/ids.ts';
import type { Family, SessionRecord } from '../../events/sessions/record.ts';
import { formatCost, formatTokens } from '../../app/views/text/format.ts';
import { toLabel } from '../../app/views/text/sanitise.ts';
import { widthOf } from '../../app/views/text/width.ts';
import { activityWords, ago, branches, cutTo } from './words.ts';

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
export function tableLines(family: Pick<Family, 'sessions'>, now: Millis, width: number | null): readonly string[] {
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
