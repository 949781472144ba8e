/** Branded ids, so that they cannot be mixed up. Each schema is the only way from text to its id. Agents are `ROOT` and children such as
 * `ROOT::S1::S2`, numbered per parent. */
import { z } from 'zod';
import { AGENT_ID, SESSION_ID } from './text/text.ts';

export const AgentId = z.string().regex(AGENT_ID, 'an agent id has the form ROOT::S1::S2').brand<'AgentId'>();
export type AgentId = z.infer<typeof AgentId>;
export const ROOT = AgentId.parse('ROOT');

/** Ids of plan tasks: letters, digits, `-`, `_`, `.`, at most 64. */
export const TaskId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'a task id has up to 64 letters, digits, ".", "_" or "-"')
  .brand<'TaskId'>();
export type TaskId = z.infer<typeof TaskId>;

/** Names of roles and custom agents, case-sensitive. */
export const RoleName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/, 'a role name has up to 40 letters, digits, "_" or "-"')
  .brand<'RoleName'>();
export type RoleName = z.infer<typeof RoleName>;

/** A canonical model id: `provider/name`, with the name that the provider's API uses. */
export const ModelId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*\/\S{1,200}$/, 'a canonical model id has the form provider/id')
  .brand<'ModelId'>();
export type ModelId = z.infer<typeof ModelId>;

/** The offline analyst. It calls nothing and costs nothing, so only `deniedModels` can forbid it. */
export const OFFLINE = ModelId.parse('offline/analyst');

/** The part of a canonical id before the first slash. */
export const providerOf = (model: ModelId): string => model.slice(0, model.indexOf('/'));

/** The providers of agents of other programs, whose models are the agents themselves (`acp/claude`): by the protocol that they speak, or in a terminal. */
export const FOREIGN_PROVIDERS = { protocol: 'acp', terminal: 'tmux' } as const;
export const isForeign = (model: string): boolean =>
  Object.values(FOREIGN_PROVIDERS).some((name) => model.startsWith(`${name}/`));
/** The agent works in a session of tmux. */
export const isInTerminal = (model: string): boolean => model.startsWith(`${FOREIGN_PROVIDERS.terminal}/`);

export const SessionId = z
  .string()
  .regex(SESSION_ID, 'a session id has up to 64 lower-case letters, digits or "-"')
  .brand<'SessionId'>();
export type SessionId = z.infer<typeof SessionId>;

/** One model call or tool call; unique within a session. */
export const CallId = z.string().min(1).max(200).brand<'CallId'>();
export type CallId = z.infer<typeof CallId>;

/** Milliseconds: since the epoch for a time, plain for a duration. */
export type Millis = number;

/** US dollars. Sums are computed in micro-dollars (`toMicro`) to avoid rounding errors. */
export type Usd = number;
export const toMicro = (usd: Usd): number => Math.round(usd * 1_000_000);
export const fromMicro = (micro: number): Usd => micro / 1_000_000;

/** The parent of an agent, or null for ROOT. */
export function parentOf(agent: AgentId): AgentId | null {
  const cut = agent.lastIndexOf('::');
  return cut === -1 ? null : AgentId.parse(agent.slice(0, cut));
}

/** Whether `id` is a descendant of `top`; false for `top` itself. */
export const isBelow = (id: AgentId, top: AgentId): boolean => id.startsWith(`${top}::`);

/** ROOT has depth 0. */
export const depthOf = (agent: AgentId): number => agent.split('::').length - 1;

/** The `number`th child (from 1) of `parent`. */
export const childOf = (parent: AgentId, number: number): AgentId => AgentId.parse(`${parent}::S${number}`);
