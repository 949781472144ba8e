/** What ids look like, without the schemas of ids.ts: for programs that start often and read little. */
import type { z } from 'zod';

type Id<Name extends string> = string & z.core.$brand<Name>;

export const AGENT_ID = /^ROOT(::S[1-9][0-9]*)*$/;
export const SESSION_ID = /^[0-9a-z-]{4,64}$/;

export const isAgentId = (value: unknown): value is Id<'AgentId'> => typeof value === 'string' && AGENT_ID.test(value);
export const isSessionId = (value: unknown): value is Id<'SessionId'> =>
  typeof value === 'string' && SESSION_ID.test(value);
