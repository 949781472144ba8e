/** Which questions the grants of a session answer. They stand in the log, so a resumed run has them; policy judges before them each time. */
import { coveredWords, type GrantScope } from '../../../domain/agents/grant.ts';
import type { AgentId } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import { fail, ok } from '../../../domain/result.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import type { Grant } from '../../../events/decisions.ts';
import type { StandingGrant } from '../../../events/state.ts';
import type { InputFile } from './approvals.ts';
import type { Recorder } from '../../run/recorder.ts';

export type Cover = { readonly is: 'yes' | 'no' } | { readonly is: 'changed'; readonly paths: readonly string[] };

/** The grant that an answer of this scope gives; null where the question offers none. */
export function grantOf(request: ApprovalRequest, scope: GrantScope, inputs: readonly InputFile[]): Grant | null {
  const { action, same, programs, file, title } = request;
  if (same === undefined || coveredWords(request, scope) === null) return null;
  return {
    scope,
    action,
    same,
    ...(scope === 'program' && programs !== undefined ? { programs } : {}),
    ...(scope === 'file' && file !== undefined ? { file } : {}),
    title,
    inputs: scope === 'session' ? inputs : [],
  };
}

/** `changed`: it was allowed, but files that it reads are other now. */
export function coverOf(
  grants: readonly StandingGrant[],
  agent: AgentId,
  request: ApprovalRequest,
  inputs: readonly InputFile[],
): Cover {
  if (request.same === undefined) return { is: 'no' };
  if (hasPrograms(grants, request) || grants.some((grant) => isOfFile(grant, agent, request))) return { is: 'yes' };
  const equal = grants.findLast((grant) => isEqual(grant, agent, request));
  if (equal === undefined) return { is: 'no' };
  const paths = changedInputs(equal.inputs, inputs);
  return paths.length === 0 ? { is: 'yes' } : { is: 'changed', paths };
}

/** Is each of its programs allowed, by whichever answers? */
function hasPrograms(grants: readonly StandingGrant[], { programs }: ApprovalRequest): boolean {
  if (programs === undefined) return false;
  const allowed = new Set(grants.flatMap((grant) => grant.programs ?? []).map((words) => JSON.stringify(words)));
  return programs.every((words) => allowed.has(JSON.stringify(words)));
}

const isOfFile = ({ scope, file, agent }: StandingGrant, asker: AgentId, request: ApprovalRequest): boolean =>
  scope === 'file' && agent === asker && request.action === 'write' && file === request.file;

/** Changes of files were allowed to one agent, everything else to all. */
const isEqual = ({ scope, same, action, agent }: StandingGrant, asker: AgentId, request: ApprovalRequest): boolean =>
  scope === 'session' && same === request.same && (action !== 'write' || agent === asker);

/** Paths of files that are other now, new, or gone. */
export function changedInputs(before: readonly InputFile[], now: readonly InputFile[]): readonly string[] {
  const known = new Map(before.map(({ path, digest }) => [path, digest]));
  const changed = now.filter(({ path, digest }) => known.get(path) !== digest).map(({ path }) => path);
  const gone = before.filter(({ path }) => !now.some((one) => one.path === path)).map(({ path }) => path);
  return [...changed, ...gone];
}

/** Ends a grant: what it covered is asked about again, from the next act on. */
export function withdrawGrant(recorder: Recorder, id: string): Result<string, string> {
  const found = recorder.state().grants.find((grant) => grant.id === id);
  if (found === undefined) return fail('there is no such grant: it was withdrawn already');
  recorder.record({ type: 'grant.withdrawn', grant: id });
  return ok(`withdrawn: ${coveredWords(found, found.scope) ?? found.title} asks again`);
}
