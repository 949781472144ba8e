/** Lists of sessions as verbs print them: rows of one kind, a tree of a run with what it used. */
import type { Family, SessionRecord } from '../../events/sessions/record.ts';
import { counted, formatCost, formatTokens } from '../../app/views/text/format.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { tableLines } from './table.ts';
import { ago, cutTo, endOrProgress, rowLines } from './words.ts';
import { world } from '../../app/process/world.ts';

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
