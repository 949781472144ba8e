/** The steps of agents as JSON, between a run and a worker. What is read was signed by the person, so its shape is checked only roughly. */
import path from 'node:path';
import { z } from 'zod';
import type { ModelOption } from '../../domain/plan/plan.ts';
import type { Result } from '../../domain/result.ts';
import type { ModelReply } from '../../domain/turn.ts';
import type { SandboxRules } from '../../policy/index.ts';
import type { ModelFault, ModelRequest } from '../../ports/model.ts';
import type { ToolContext, ToolOutput } from '../../ports/tool.ts';
import type { PackedTree } from '../../ports/workspace.ts';
import type { ProjectPlace } from '../workspace/index.ts';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** The conversation is sent in parts, so that what was sent before is not sent again: system prompt, tools, turns. */
export type SentRequest = Omit<ModelRequest, 'system' | 'tools' | 'turns'>;

/** What of a tool's context has a meaning elsewhere. */
export type SentContext = Pick<
  ToolContext,
  'agent' | 'sandbox' | 'reads' | 'room' | 'writes' | 'workingDir' | 'judges'
>;

export const StepBody = z.discriminatedUnion('is', [
  z.object({ is: z.literal('model'), request: z.custom<SentRequest>(isObject) }),
  z.object({
    is: z.literal('tool'),
    tool: z.string(),
    input: z.unknown(),
    context: z.custom<SentContext>(isObject),
  }),
]);
export type StepBody = z.output<typeof StepBody>;

/** The parts of a request as they were sent. */
export const Parts = z.custom<Pick<ModelRequest, 'system' | 'tools' | 'turns'>>(isObject);
export const ReplyOutput = z.custom<Result<ModelReply, ModelFault>>(isObject);
export const ToolResult = z.custom<ToolOutput>(isObject);

/** What the rules of a run say of paths in its project, by their names in it. */
type ClosedPaths = Pick<SandboxRules, 'denyRead' | 'denyWrite' | 'allowWrite'>;

export function closedIn({ root, places }: ProjectPlace, box: SandboxRules): ClosedPaths {
  const named = (written: string, above: readonly string[]): readonly string[] => {
    const name = path.relative(root, path.resolve(root, written.replace(/^~(?=\/|$)/, places.home)));
    return /^(?:\.\.\/?)*$/.test(name) ? above : name.startsWith('../') ? [] : [name];
  };
  const within = (above: readonly string[], rules: ClosedPaths['denyRead']): ClosedPaths['denyRead'] =>
    rules.flatMap(({ value, from }) => named(value, above).map((name) => ({ value: name, from })));
  return {
    // What is hidden above a project does not hide it.
    denyRead: within([], box.denyRead),
    denyWrite: within(['.'], box.denyWrite),
    allowWrite: box.allowWrite.map(({ value, from }) => ({ value: value.flatMap((one) => named(one, ['.'])), from })),
  };
}

/** Where an agent works: its project and tree, with the ids of their packs. It is the only part of a step with a tool. */
export const Place = z.object({
  packed: z.custom<Omit<PackedTree, 'packs'>>(isObject),
  packs: z.array(z.string()),
  /** Absent: the run has no such rules. */
  closed: z.custom<ClosedPaths>(isObject).optional(),
});
export type Place = z.output<typeof Place>;

/** What a worker says of itself: the models that it can call, and why it has no sandbox (null: it has one). */
export const WorkerFacts = z.object({ models: z.array(z.string()), sandbox: z.string().nullable() });
export type WorkerFacts = z.output<typeof WorkerFacts>;

/** The models of which a worker says that it can call them. */
export const usableIds = (models: readonly ModelOption[]): readonly string[] =>
  models.filter(({ usable }) => usable.yes).map(({ id }) => id);
