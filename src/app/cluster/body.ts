/** The steps of agents as JSON, between a run and a worker. What is read was signed by the person, so its shape is checked only roughly. */
import { z } from 'zod';
import type { ModelOption } from '../../domain/plan/plan.ts';
import type { Result } from '../../domain/result.ts';
import type { ModelReply } from '../../domain/turn.ts';
import type { ModelFault, ModelRequest } from '../../ports/model.ts';
import type { ToolContext, ToolOutput } from '../../ports/tool.ts';
import type { PackedTree } from '../../ports/workspace.ts';

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

/** Where an agent works: its project and tree, with the ids of their packs. It is the only part of a step with a tool. */
export const Place = z.object({ packed: z.custom<Omit<PackedTree, 'packs'>>(isObject), packs: z.array(z.string()) });
export type Place = z.output<typeof Place>;

/** What a worker says of itself: the models that it can call, and why it has no sandbox (null: it has one). */
export const WorkerFacts = z.object({ models: z.array(z.string()), sandbox: z.string().nullable() });
export type WorkerFacts = z.output<typeof WorkerFacts>;

/** The models of which a worker says that it can call them. */
export const usableIds = (models: readonly ModelOption[]): readonly string[] =>
  models.filter(({ usable }) => usable.yes).map(({ id }) => id);
