/** What a test and `box-child.ts` say to each other. */
import { z } from 'zod';

const paths = z.array(z.string()).readonly();
const rules = z.array(z.string().transform((path) => ({ path, rule: `rule on ${path}` }))).readonly();
const list = paths.transform((each) => ({ paths: each, rule: `only ${each.join(', ')}` }));

export const BoxOrders = z.strictObject({
  root: z.string(),
  home: z.string(),
  stateDir: z.string(),
  paths: z.strictObject({ denyRead: rules, denyWrite: rules, allowWrite: z.array(list).readonly() }).optional(),
  box: z.enum(['none', 'read-only', 'read-write']),
  commands: paths,
  timeout: z.number().default(30),
  /** Where the answer goes; standard output when left out. */
  out: z.string().optional(),
  /** It leaves by an exit of its own as soon as the first command says something. */
  leaves: z.literal(true).optional(),
  /** As in `ToolContext`. */
  door: z.string().optional(),
  workingDir: z.string().optional(),
  /** As in `SandboxOptions`. */
  program: z
    .strictObject({ node: z.string(), entry: z.string(), parts: paths, cache: z.string().nullable() })
    .optional(),
  hide: paths.optional(),
  /** Names of variables that commands see beside the usual ones. */
  passthrough: paths.optional(),
  /** Commands that only read, which nobody was asked about. */
  reads: z.literal(true).optional(),
});
export type BoxOrders = z.input<typeof BoxOrders>;

export const BoxAnswer = z.strictObject({
  state: z.union([
    z.strictObject({ is: z.literal('none'), because: z.string() }),
    z.strictObject({ is: z.literal('bubblewrap'), version: z.string().optional() }),
  ]),
  /** What the model would read, without the time. */
  texts: paths,
  /** The time of each, in seconds. */
  seconds: z.array(z.number()).readonly(),
  /** Nine of ten turns of the event loop were no later than this, in milliseconds. */
  late: z.number(),
});
export type BoxAnswer = z.output<typeof BoxAnswer>;
