/** Digests of plans and other values: an approval and a run are compared by the plan's digest. */
import { createHash } from 'node:crypto';
import type { AgentId, SessionId } from './ids.ts';
import type { SoundPlan } from './plan/plan.ts';

/** SHA-256 in hex over the plan's JSON with sorted keys. Equal plans have equal digests. */
export const planDigest = (plan: SoundPlan): string => jsonDigest(plan);

/** SHA-256 in hex over the canonical JSON of any plain value. */
export const jsonDigest = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('hex');

/** The short id of an agent, equal in every process: six letters and digits derived from its session and id. */
export const shortId = (session: SessionId, agent: AgentId): string =>
  BigInt(`0x${createHash('sha256').update(`${session}/${agent}`).digest('hex')}`)
    .toString(36)
    .slice(-6);

/** The session of tmux in which an agent of another program works. */
export const terminalOf = (session: SessionId, agent: AgentId): string => `mimir-${shortId(session, agent)}`;

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((each: unknown) => canonical(each)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}
