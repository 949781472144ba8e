/** Which session a word names: its place, its short id, or its name. Pure; what is told of a miss is for a person. */
import { isBelow, ROOT } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import { MAIN } from '../../domain/agents/role.ts';
import type { Family, SessionRecord } from './record.ts';

/** Why nothing is named: nobody, or several. */
export interface Miss {
  readonly is: 'nobody' | 'several';
  readonly candidates: readonly SessionRecord[];
}

/**
 * By place (`ROOT::S1`), then by short id, then by name, then by name in any case; at last by what was given as its name beside a
 * role: `scout` is `finder-scout`.
 */
export function foundIn(family: Pick<Family, 'sessions'>, word: string): Result<SessionRecord, Miss> {
  const low = word.toLowerCase();
  const ways: readonly ((record: SessionRecord) => boolean)[] = [
    ({ agent }) => agent === word,
    ({ session_id }) => session_id === low,
    ({ name, friendly_name }) => name === word || friendly_name === word,
    ({ name, friendly_name }) => name.toLowerCase() === low || friendly_name?.toLowerCase() === low,
    ({ agent }) => agent.toLowerCase() === low,
    ({ friendly_name }) => low !== '' && friendly_name?.toLowerCase().endsWith(`-${low}`) === true,
  ];
  for (const way of ways) {
    const candidates = family.sessions.filter(way);
    const [one] = candidates;
    if (one !== undefined) return candidates.length === 1 ? ok(one) : several(withoutRoot(low, candidates));
  }
  return fail({ is: 'nobody', candidates: [] });
}

/** A plan of one task has a second `main`, which does the work: that one is meant. */
const withoutRoot = (word: string, candidates: readonly SessionRecord[]): readonly SessionRecord[] =>
  word === MAIN ? candidates.filter(({ agent }) => agent !== ROOT) : candidates;

/** Of several with the same name the only one that is not at its end. */
function several(candidates: readonly SessionRecord[]): Result<SessionRecord, Miss> {
  const going = candidates.filter(({ is_complete }) => !is_complete);
  const left = candidates.length === 1 ? candidates : going;
  const [one] = left;
  return one !== undefined && left.length === 1 ? ok(one) : fail({ is: 'several', candidates });
}

/** All that is below `top`, parents before children. */
export function below(family: Pick<Family, 'sessions'>, top: SessionRecord): readonly SessionRecord[] {
  return family.sessions.filter(({ agent }) => isBelow(agent, top.agent));
}

/** Its direct children. */
export const childrenOf = (family: Pick<Family, 'sessions'>, { session_id }: SessionRecord): readonly SessionRecord[] =>
  family.sessions.filter(({ parent_session_id }) => parent_session_id === session_id);
