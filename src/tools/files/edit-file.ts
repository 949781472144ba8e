/** The `edit_file` tool: replaces exact text in a file that the agent has read. The match must be unique unless `all` is set. */
import { z } from 'zod';
import type { CommandChanges, VersionChange } from '../../domain/changes/changes.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { Tool, ToolOutput } from '../../ports/tool.ts';
import { type Change, diffCounts, unifiedDiff } from './diff.ts';
import * as result from '../process/output.ts';
import { FilePath, type Seen } from './read-file.ts';
import { digestOf, replaceFile, writeRefusal } from './replace-file.ts';
import { type Root, rootFor } from '../paths/root.ts';
import type { Writes } from '../writes/writes.ts';
import { openFile, realName } from '../workspace.ts';
import { plural } from '../../domain/lists.ts';

const Input = z.strictObject({
  path: FilePath,
  old_text: z
    .string()
    .min(1)
    .max(200_000)
    .describe('Exact text to replace, without line numbers, with its indentation.'),
  new_text: z.string().max(1_000_000).describe('Text to put in its place.'),
  all: z.boolean().default(false).describe('Replace every match; otherwise there must be exactly one.'),
  digest: z.string().max(64).optional().describe('Digest of the content to edit; default: the content you last read.'),
});
type Input = z.output<typeof Input>;

export const editFileTool = (place: FilePlace): Tool<Input> =>
  changingTool(place, 'edit', plannedEdit, {
    name: 'edit_file',
    description:
      'Replaces exact text in a file: `old_text` must occur exactly once (add surrounding lines until it does) unless `all` is set. Read the file first; the edit is refused when the file has changed since. The result is the diff.',
    input: Input,
  });

/** What the tools that change a file work on. */
export interface FilePlace {
  readonly root: Root;
  readonly seen: Seen;
  readonly writes?: Writes;
  /** Keeps the contents before and after a change; absent: nothing is kept. */
  readonly keep?: Keep;
}

type Keep = (change: Change, signal: AbortSignal) => Promise<Result<Pick<VersionChange, 'before' | 'after'>, string>>;

/** A tool that changes one file, as `planned` says from what an agent has seen. `verb` begins its labels. */
export const changingTool = <Input extends { readonly path: string }>(
  { root: project, seen, writes, keep }: FilePlace,
  verb: string,
  planned: (root: Root, seen: Seen, agent: AgentId, input: Input) => Promise<Result<Planned, string>>,
  tool: Pick<Tool<Input>, 'name' | 'description' | 'input'>,
): Tool<Input> => ({
  ...tool,
  capability: 'write',
  repeat: 'never',
  label: ({ path }) => `${verb} ${path}`,

  async preview(input, context) {
    const change = await planned(rootFor(project, context), seen, context.agent, input);
    return change.ok ? ok(unifiedDiff(change.value) || `${verb} ${input.path}: changes nothing`) : change;
  },

  async run(input, context) {
    const root = rootFor(project, context);
    if (context.signal.aborted) return result.refused('stopped');
    await writes?.begin();
    const change = await planned(root, seen, context.agent, input);
    const output = await carriedOut(root, context.agent, change, seen, writes);
    if (!change.ok || !output.ok || keep === undefined) return output;
    const changes = await changesOf(root, change.value, keep);
    return { ...output, ...defined({ changed: changes ?? undefined }) };
  },
});

/** A change of one file; `before` and `expected` are null when the file is new. */
export interface Planned {
  readonly name: string;
  readonly before: string | null;
  readonly after: string;
  /** Digest of the content to be replaced. */
  readonly expected: string | null;
}

/** The change with both contents; null where they cannot be kept, or where it changed nothing. */
async function changesOf(root: Root, { name, before, after }: Planned, keep: Keep): Promise<CommandChanges | null> {
  // A link leads to the file that was really written. What is done stays done, so no signal ends this.
  const real = realName(root, name, 'write');
  if (!real.ok || before === after) return null;
  const kept = await keep({ name: real.value, before, after }, new AbortController().signal);
  if (!kept.ok) return null;
  const [added, removed] = diffCounts(unifiedDiff({ name, before, after }));
  const is = before === null ? 'added' : 'changed';
  return { files: [{ path: real.value, is, added, removed, ...kept.value }], more: 0, also: [] };
}

/** Writes the planned change and records the new digest; gives an error result when the plan or the write failed. */
async function carriedOut(
  root: Root,
  agent: AgentId,
  planned: Result<Planned, string>,
  seen: Seen,
  writes: Writes | undefined,
): Promise<ToolOutput> {
  if (!planned.ok) return result.refused(planned.fault);
  const { name, after, expected } = planned.value;
  const written = await replaceFile(root, { path: name, content: after, expected });
  if (!written.ok) return result.refused(written.fault);
  seen.note(agent, name, written.value);
  writes?.wrote(name);
  return changed(unifiedDiff(planned.value), name, written.value);
}

/** The result that the model reads after a write: how much changed, the new digest, the diff. */
export function changed(diff: string, name: string, digest: string): ToolOutput {
  const [added, removed] = diffCounts(diff);
  const words = `${result.shownName(name)}: +${added} -${removed} lines, digest now ${digest}`;
  return { ...result.done(`${words}\n${result.capLines(diff, result.LINE_COLUMNS)}`), saw: { file: name, digest } };
}

/** The whole text of a file that may be edited. */
export async function currentText(
  root: Root,
  path: string,
): Promise<Result<{ readonly name: string; readonly text: string; readonly digest: string }, string>> {
  const refusal = writeRefusal(root, path);
  if (refusal !== null) return fail(refusal);
  const file = await openFile(root, path);
  if (!file.ok) return file;
  const { handle, name, size } = file.value;
  try {
    if (size > result.WHOLE_FILE_BYTES) return fail(`${path}: larger than 10 MiB; change it with a command`);
    const bytes = await handle.readFile();
    if (result.isBinary(bytes)) return fail(`${path}: a binary file`);
    const text = result.decode(bytes);
    // Invalid UTF-8 would not survive a round trip through text, so such a file cannot be edited as text.
    if (!Buffer.from(text).equals(bytes)) return fail(`${path}: not UTF-8 text; change it with a command`);
    return ok({ name, text, digest: digestOf(bytes) });
  } finally {
    await handle.close();
  }
}

async function plannedEdit(root: Root, seen: Seen, agent: AgentId, input: Input): Promise<Result<Planned, string>> {
  const current = await currentText(root, input.path);
  if (!current.ok) return current;
  const { name, text, digest } = current.value;
  const expected = input.digest ?? seen.digest(agent, name);
  if (expected === null) return fail(`${name}: read it before you edit it`);
  if (expected !== digest)
    return fail(`${name}: has changed since it was read (expected digest ${expected}, now ${digest}); read it again`);
  const after = replaced(text, input);
  return after.ok ? ok({ name, before: text, after: after.value, expected }) : fail(`${name}: ${after.fault}`);
}

function replaced(text: string, { old_text, new_text, all }: Input): Result<string, string> {
  if (old_text === new_text) return fail('old_text and new_text are the same');
  const pieces = text.split(old_text);
  const matches = pieces.length - 1;
  if (matches === 0) return fail(noMatch(text, old_text));
  if (matches > 1 && !all) {
    const lines = pieces.slice(0, -1).map(
      (_, index) =>
        pieces
          .slice(0, index + 1)
          .join(old_text)
          .split('\n').length,
    );
    const shown = lines.slice(0, 10).join(', ');
    return fail(`old_text occurs ${matches} times (lines ${shown}); add surrounding lines, or set all`);
  }
  return ok(pieces.join(new_text));
}

/** Names the likely cause of a missing match, so that the model can correct its call. */
function noMatch(text: string, sought: string): string {
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(sought))
    return String.raw`old_text is not in the file: its lines end in \r\n; write \r\n in old_text and new_text`;
  const first = sought.split('\n').find((line) => line.trim() !== '');
  const loose = first === undefined ? -1 : text.split('\n').findIndex((line) => line.trim() === first.trim());
  if (loose === -1) return 'old_text is not in the file; read it again';
  const lines = plural(sought.split('\n').length, 'line');
  return `old_text is not in the file exactly; line ${loose + 1} resembles its first line: compare ${lines} from there, including indentation`;
}
