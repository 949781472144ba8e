/** What travels between a run and a worker: the order to an agent's workflow, its steps and their results. A step is signed by the person who runs
 * it, because every worker can write to the database. */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { tried } from '../domain/result.ts';

/** What the workflow of an agent begins with. `process` names the process of the run: one that continues it begins workflows of its own. */
export const AgentOrder = z.strictObject({ run: z.string(), agent: z.string(), process: z.string() });
export type AgentOrder = z.output<typeof AgentOrder>;

/** A state of an agent's tree: a number in the chain of its states, and the commit; null for what the chain begins with. */
export const TreeAt = z.strictObject({ chain: z.string(), n: z.number(), commit: z.string().nullable() });
export type TreeAt = z.output<typeof TreeAt>;

/** One model call or tool call. `repeat` says what follows when an earlier attempt may have run it without a record: `never` is not run again.
 * `parts` are the ids of what `body` refers to. Both are JSON, and the performer reads them. */
const Step = z.strictObject({
  id: z.string(),
  name: z.string(),
  repeat: z.enum(['safe', 'never']),
  body: z.string(),
  parts: z.array(z.string()),
  /** The state of the agent's tree in which it begins; absent: it needs none. */
  tree: TreeAt.optional(),
  /** Whether somebody watches the output while it comes. */
  live: z.boolean(),
});
export type Step = z.output<typeof Step>;
const Signed = Step.extend({ is: z.literal('step'), key: z.string(), signature: z.string() });
export type SignedStep = z.output<typeof Signed>;

export const Message = z.discriminatedUnion('is', [
  Signed,
  z.strictObject({ is: z.literal('stop'), id: z.string() }),
  z.strictObject({ is: z.literal('end') }),
]);
export type Message = z.output<typeof Message>;

/** `unknown`: an earlier attempt began it and left no record, so that it was not run again. `tree` is the state of the agent's tree
 * after it, where it changed. */
export const StepResult = z.discriminatedUnion('is', [
  z.strictObject({
    is: z.literal('done'),
    output: z.string(),
    /** The id of the worker. */
    worker: z.string(),
    tree: TreeAt.optional(),
  }),
  z.strictObject({ is: z.literal('refused'), because: z.string() }),
  z.strictObject({ is: z.literal('unknown') }),
]);
export type StepResult = z.output<typeof StepResult>;

/** The id of the agent's workflow; `attempt` counts those that have ended because nothing was to do. */
export const workflowId = ({ run, agent, process }: AgentOrder, attempt: number): string =>
  `${run}/${agent}/${process}.${attempt}`;

/** Parts are stored once under their content. */
export const contentId = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 32);

export const signText = (text: string, key: KeyObject): string =>
  sign(null, Buffer.from(text), key).toString('base64url');

/** Whether the holder of `key`, the public half, has signed the text. */
export const isSignedText = (text: string, key: string, signature: string): boolean =>
  tried(() => {
    const by = createPublicKey({ key: Buffer.from(key, 'base64url'), type: 'spki', format: 'der' });
    return verify(null, Buffer.from(text), by, Buffer.from(signature, 'base64url'));
  }, false);

/** The public half, as workers name it in `cluster.people`. */
export const publicKeyOf = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64url');

export const signed = (step: Step, run: string, key: KeyObject): SignedStep => ({
  is: 'step',
  ...step,
  key: publicKeyOf(key),
  signature: signText(textOf(step, run), key),
});

/** Whether the step was signed by the holder of its key, for this run. */
export const isSigned = ({ is: _is, key, signature, ...step }: SignedStep, run: string): boolean =>
  isSignedText(textOf(step, run), key, signature);

const textOf = ({ id, name, repeat, body, parts, tree, live }: Step, run: string): string =>
  JSON.stringify([run, id, name, repeat, body, parts, tree?.chain, tree?.n, tree?.commit, live]);
