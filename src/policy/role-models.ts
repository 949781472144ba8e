/** Which models a role asks for, in order: the grade that it prefers, as far as one of it can be used here, then the list of its file. Pure. */
import { providerOf } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { Role } from '../domain/agents/role.ts';
import { obstacleTo, OFFLINE, wordsOf } from './models.ts';
import type { Rules } from './rules.ts';

interface Here {
  readonly rules: Rules;
  readonly models: readonly ModelOption[];
  readonly offlineOnly: boolean;
}

/** Names as written, and by its short name the newest usable model of the preferred grade before them. */
export function modelsOfRole(
  role: Pick<Role, 'models' | 'prefers' | 'protocol' | 'capabilities'>,
  here: Here,
): readonly string[] {
  const { models: listed, prefers } = role;
  if (prefers === undefined) return listed;
  const field = { ...here, fallbacks: listed, words: wordsOf(role) };
  const [newest] = newestFirst(here.models.filter(({ grade, id }) => grade === prefers && id !== OFFLINE)).filter(
    ({ id, price }) => obstacleTo(id, field) === null && (price !== null || !here.rules.costLimitSet),
  );
  if (newest === undefined) return listed;
  const names: ReadonlySet<string> = new Set([newest.id, newest.label, ...newest.aliases]);
  return [newest.label, ...listed.filter((name) => !names.has(name))];
}

/**
 * Of each maker the highest version first, as ids write it; makers in the catalogue's order: versions of two makers can't be
 * compared. Models of equal versions stay in the catalogue's order.
 */
function newestFirst(models: readonly ModelOption[]): readonly ModelOption[] {
  const makers = [...new Set(models.map(makerOf))];
  return models.toSorted(
    (a, b) => makers.indexOf(makerOf(a)) - makers.indexOf(makerOf(b)) || versionOf(b) - versionOf(a),
  );
}

const makerOf = ({ id }: ModelOption): string => providerOf(id);

/** `claude-opus-5-5` and `gpt-5.6-sol` have a part behind the dot; a date at the end is none. */
function versionOf({ id }: ModelOption): number {
  const [, major = '0', minor = '0'] = /(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)/.exec(id.slice(id.lastIndexOf('/'))) ?? [];
  return Number(major) + Number(minor) / 100;
}
