/** What is asked for when a child beyond the plan is wanted: by a verb, by an agent, by the screen. Plain JSON. */
import { z } from 'zod';

export const SpawnWish = z.strictObject({
  /** The whole prompt: persona and task. All that the child knows. */
  prompt: z.string().min(1).max(50_000),
  /** As written, in any spelling or case; null: `code`. */
  role: z.string().min(1).max(100).nullable(),
  /** As written; null: the role's own. */
  model: z.string().min(1).max(200).nullable(),
  /** The friendly name; null: `childAgents.naming.fallback`. */
  name: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u, 'a name is up to 60 letters, digits, blanks, ".", "_" or "-"')
    .nullable(),
  /** Seconds: the parent is woken when the child has ended, or was idle this long. Null: it only gets a message. */
  wait: z.number().min(0).max(86_400).nullable(),
  /** A folder in the project, relative to its root; null: the parent's. */
  workingDir: z.string().min(1).max(4096).nullable(),
});
export type SpawnWish = z.output<typeof SpawnWish>;
