/** Lists of sessions as commands print them: rows of one kind, a tree of a run with what it used. */
import { type Arguments, sanitise, type Io, world } from '../../app/process/index.ts';
import { clip, plural, formatCost, formatTokens, plain, span, toLabel, widthOf } from '../../app/views/index.ts';
import type { Millis } from '../../domain/ids.ts';
import type { RunSessions, SessionRecord } from '../../events/index.ts';
import { tell } from '../verb.ts';

/** Lines are cut to the terminal's width; in a pipe they are whole. */
export const widthFor = ({ terminal, width }: Io): number | null => (terminal ? width : null);

/** A session in a list. */
export interface Row {
  readonly record: SessionRecord;
  readonly branch: string;
}

/** Rows without tree branches. */
export const flat = (records: readonly SessionRecord[]): readonly Row[] =>
  records.map((record) => ({ record, branch: '' }));

/** Prints each run: its heading, what is waiting, and its sessions as a tree with usage. Each is read when it is printed. */
export async function tellRuns(
  args: Arguments,
  io: Io,
  families: AsyncIterable<RunSessions>,
  jsonOf: (family: RunSessions) => unknown = (family) => family,
): Promise<void> {
  const read: RunSessions[] = [];
  for await (const family of families) {
    if (io.lost.aborted) return;
    if (!args.has('json')) {
      if (read.length > 0) io.say('');
      printRun(family, io);
    }
    read.push(family);
  }
  if (args.has('json')) io.json(read.map(jsonOf));
  else if (read.length === 0) io.say('This project has no sessions yet. `mimir` starts one.');
}

function printRun(family: RunSessions, io: Io): void {
  const width = widthFor(io);
  const now = world.now();
  const cut = (text: string): string => cutTo(text, width);
  io.say(io.paint.bold(cut(headOf(family, now))));
  if (family.task !== '') io.say(cut(`  ${sanitise(family.task).split('\n')[0] ?? ''}`));
  for (const waits of waitingWords(family)) io.say(io.paint.yellow(`  ${waits}`));
  const tops = family.sessions.filter(({ parent_session_id }) => parent_session_id === null);
  const rows = branches(family.sessions, tops);
  const room = width === null ? null : Math.max(1, width - 2);
  // In a narrow terminal the use of what is below a session is left out.
  const spent = room === null || room >= WIDE ? spentWords : ownWords;
  const cells = (record: SessionRecord): readonly string[] => [record.status, spent(record)];
  for (const line of linesOf(rows, { width: room, cells, words: activityWords })) io.say(`  ${line}`);
}

const WIDE = 100;

function headOf({ run, state, mode, sessions, cost, tokens, started_at }: RunSessions, now: number): string {
  const agents = plural(sessions.length, 'agent');
  const spent = `${formatCost(cost)} · ${formatTokens(tokens)} tok`;
  return `Run ${run} · ${state} · ${agents} · ${spent} · mode ${mode} · ${ago(started_at, now)}`;
}

function waitingWords({ run, state, questions, kept_messages, reviews_due }: RunSessions): readonly string[] {
  const lives = state === 'running';
  const kept = plural(kept_messages, 'message');
  return [
    ...(lives && questions > 0 ? [`${plural(questions, 'question')} for you: \`mimir attach ${run}\``] : []),
    ...(kept_messages === 0
      ? []
      : [lives ? `${kept} on the way` : `${kept} stored: \`mimir resume ${run}\` delivers them`]),
    ...reviews_due.map((role) =>
      lives
        ? `${role} reviews this work when it is idle`
        : `${role} has not reviewed this work: \`mimir resume ${run}\` does that first`,
    ),
  ];
}

/** `└─ engineer-cache (4f9a2c)`: in a narrow terminal a long name is cut, the id never, because people type it. */
function nameOf({ record, branch }: Row, width: number | null): string {
  const id = ` (${record.session_id})`;
  const room = width === null ? null : Math.max(3, width - widthOf(branch) - widthOf(id));
  return `${branch}${cutTo(toLabel(record.name), room)}${id}`;
}

/** `30s`, `5min`, `3h`, `2d` */
export function ageOf(ms: Millis): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}min`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** `5min ago` */
export const ago = (since: string, now: Millis): string => `${ageOf(now - Date.parse(since))} ago`;

/** The last cell: the answer or why the session ended, otherwise `In progress`. */
const endOrProgress = ({ completion_message, is_complete, partial, status }: SessionRecord): string =>
  is_complete ? `${partial ? 'partial: ' : ''}${completion_message ?? ENDS[status] ?? status}` : 'In progress';

const ENDS: Readonly<Partial<Record<SessionRecord['status'], string>>> = { completed: 'done', error: 'failed' };

/** What a session is doing now. */
export function activityWords(record: SessionRecord): string {
  if (record.is_complete) return endOrProgress(record);
  const { status, current_activity } = record;
  // An idle root has no activity besides its status.
  return current_activity === null || current_activity === status ? (WAITS[status] ?? 'running') : current_activity;
}

const WAITS: Readonly<Partial<Record<SessionRecord['status'], string>>> = {
  spawned: 'not started',
  starting: 'queued',
  waiting_input: 'waiting for a person',
  idle: 'waiting for messages or children',
};

const ownWords = ({ cost, tokens_used }: SessionRecord): string =>
  `${formatCost(cost)} ${formatTokens(tokens_used)} tok`;

/** `$0.01 6.2k tok`, with the subtree's usage if it has children. */
export function spentWords(record: SessionRecord): string {
  const { children, subtree_cost, subtree_tokens } = record;
  const all = `${formatCost(subtree_cost)} ${formatTokens(subtree_tokens)} tok`;
  return children === 0 ? ownWords(record) : `${ownWords(record)} (subtree ${all})`;
}

/** The smallest useful width of the last cell. */
const LEAST_WORDS = 16;
const BAR = ' | ';

/** How rows are printed: in at most `width` columns, with these cells after the name, and a text at the end. */
interface RowFormat {
  readonly width: number | null;
  readonly cells: (record: SessionRecord) => readonly string[];
  readonly words: (record: SessionRecord) => string;
}

const statusCells = ({ status, created_at }: SessionRecord): readonly string[] => [
  status,
  ago(created_at, world.now()),
];

/** Prints the rows as `engineer (4f9a2c) | running | 5min ago | In progress`, in columns with tree branches, or `none` if there are none. */
export function tellRows(args: Arguments, io: Io, rows: readonly Row[], none: string): void {
  const lines = linesOf(rows, { width: widthFor(io), cells: statusCells, words: endOrProgress });
  tell(
    args,
    io,
    rows.map(({ record }) => record),
    rows.length === 0 ? [none] : lines,
  );
}

/** In columns; if the terminal is too narrow, each row takes three lines: the name, its cells, and the text. */
function linesOf(rows: readonly Row[], { width, cells: cellsOf, words }: RowFormat): readonly string[] {
  const lines = rows.map((row) => [nameOf(row, null), ...cellsOf(row.record)]);
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => widthOf(line[at] ?? ''))));
  const used = widths.reduce((sum, one) => sum + one + BAR.length, LEAST_WORDS);
  if (width !== null && used > width) return rows.flatMap((row) => stacked(row, width, cellsOf, words));
  return rows.map(({ record }, at) => {
    const cells = (lines[at] ?? []).map((cell, column) => padded(cell, widths[column] ?? 0));
    return cutTo([...cells, toLabel(words(record))].join(BAR), width);
  });
}

function stacked(row: Row, width: number, cells: RowFormat['cells'], words: RowFormat['words']): readonly string[] {
  const under = `${row.branch.replaceAll('├─ ', '│  ').replaceAll('└─ ', '   ')}  `;
  const rest = [cells(row.record).join(BAR), toLabel(words(row.record))].map((text) => cutTo(`${under}${text}`, width));
  return [nameOf(row, width), ...rest];
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** A line without styles, cut to `width` columns; null: whole. */
export const cutTo = (text: string, width: number | null): string =>
  width === null ? text : plain(clip([span(text)], width));

/** Records as rows of a tree with `tops` at the left. Parents come before their children. */
export function branches(records: readonly SessionRecord[], tops: readonly SessionRecord[]): readonly Row[] {
  const walk = (record: SessionRecord, branch: string, stem: string): readonly Row[] => {
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

/** The named fields of `record`, in that order. */
export const picked = (record: object, names: readonly string[]): Readonly<Record<string, unknown>> => {
  const all = new Map<string, unknown>(Object.entries(record));
  return Object.fromEntries(names.map((name) => [name, all.get(name) ?? null]));
};
