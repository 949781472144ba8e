/** The `write_file` tool: creates a new file, or replaces a whole file whose digest is known. */
import { z } from 'zod';
import type { AgentId } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Tool } from '../../ports/tool.ts';
import { changingTool, currentText, type FilePlace, type Planned } from './edit-file.ts';
import { insideName, type Root } from '../paths/root.ts';
import { writeRefusal } from './replace-file.ts';
import type { Seen } from './read-file.ts';
import { exists } from '../workspace.ts';

const Input = z.strictObject({
  path: z.string().describe('Path of the file, relative to the project root. Missing folders are created.'),
  content: z.string().max(5_000_000).describe('The whole content.'),
  digest: z
    .string()
    .max(64)
    .optional()
    .describe(
      'To replace a file: the digest of its current content. Not needed after you have read it; omit for a new file.',
    ),
});
type Input = z.output<typeof Input>;

export const writeFileTool = (place: FilePlace): Tool<Input> =>
  changingTool(place, 'write', plannedWrite, {
    name: 'write_file',
    description:
      'Creates a new file, or replaces a whole file that you have read (or whose digest you pass). For a change within a file use edit_file. The result is the diff.',
    input: Input,
  });

async function plannedWrite(root: Root, seen: Seen, agent: AgentId, input: Input): Promise<Result<Planned, string>> {
  const refusal = writeRefusal(root, input.path);
  if (refusal !== null) return fail(refusal);
  const name = insideName(root.path, input.path);
  if (!name.ok) return name;
  const after = input.content.toWellFormed();
  if (!(await exists(root, name.value))) {
    if (input.digest !== undefined) return fail(`${name.value}: no such file; omit the digest to create it`);
    return ok({ name: name.value, before: null, after, expected: null });
  }
  const current = await currentText(root, name.value);
  if (!current.ok) return current;
  const expected = input.digest ?? seen.digest(agent, name.value);
  if (expected === current.value.digest) return ok({ name: name.value, before: current.value.text, after, expected });
  const now = `digest now: ${current.value.digest}`;
  if (expected === null) return fail(`${name.value}: exists; read it before you replace it (${now})`);
  return fail(`${name.value}: has changed since it was read (expected ${expected}, ${now}); read it again`);
}
