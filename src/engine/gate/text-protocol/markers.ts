/**
 * The markers of the text protocol. One counts only where the agent's own command begins with an
 * `echo` (or `printf`) of it and the output begins with the same line: no printed file, no tool, nobody else can set one off. Pure.
 */
import { firstLineEchoed } from '../../../policy/commands/echo.ts';

export type Marked =
  | { readonly is: 'spawn'; readonly name: string | null; readonly task: string }
  | { readonly is: 'finding'; readonly task: string; readonly from: number }
  | { readonly is: 'final'; readonly text: string };

const NAME = String.raw`[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}`;
/** As `read_finding` takes them: the task or its agent, and the character to begin with. */
const FINDING = String.raw`READ_FINDING::(#?[\p{L}\p{N}][\p{L}\p{N}:._-]{0,199})(?: from (\d{1,9}))?`;
const MARKER = new RegExp(`^(?:MIMIR|MINI_SWE_AGENT)_(?:(SPAWN_CHILD)(?:::(${NAME}))?|${FINDING}|FINAL_OUTPUT)$`, 'u');

/** The marker that `command` begins with, as it is written; null: it begins otherwise, and nothing that it prints is one. */
export function markerOf(command: string): string | null {
  const line = firstLineEchoed(command)?.trimEnd() ?? '';
  return MARKER.test(line) ? line : null;
}

/** What bash says of a command that ended well, before the output. */
const ENDED_WELL = /^exit code 0 after [^\n]*(?:\n|$)/;

/** What a command that has ended asks for: null, as nearly always, nothing but that its output is read. */
export function markedBy(command: string, result: { readonly ok: boolean; readonly text: string }): Marked | null {
  const marker = markerOf(command);
  if (marker === null || !result.ok || !ENDED_WELL.test(result.text)) return null;
  const rest = afterMarker(result.text.replace(ENDED_WELL, ''), marker);
  if (rest === null) return null;
  const [, spawn, name, task, from] = MARKER.exec(marker) ?? [];
  if (task !== undefined) return { is: 'finding', task, from: Number(from ?? 0) };
  return spawn === undefined ? { is: 'final', text: rest } : { is: 'spawn', name: nameOf(name), task: rest };
}

const nameOf = (written: string | undefined): string | null => written?.trim() ?? null;

/** Everything behind the first line, when that is the marker. */
function afterMarker(output: string, marker: string): string | null {
  if (!output.startsWith(marker)) return null;
  const rest = output.slice(marker.length);
  const end = /^[ \t\r]*(?:\n|$)/.exec(rest);
  if (end !== null) return rest.slice(end[0].length).trim();
  // `echo "MARKER\ntask"`: bash leaves the sign for a line's end as it is, other shells don't.
  return rest.startsWith('\\n') ? rest.replaceAll('\\n', '\n').trim() : null;
}
