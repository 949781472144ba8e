/**
 * What may be read and written inside the project, by name: the program's own rules (path-rules.ts) and policy's. Every tool
 * asks here, and the sandbox mounts by the same paths, so that there is one set of rules for all.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { matchesGlob } from '../../domain/text/glob.ts';
import { writesText } from '../../domain/plan/writes.ts';
import { type Access, forbidden } from './path-rules.ts';
import { mountsBelow } from './mounts.ts';
import { isInside, type PathRule, replaced, type Root } from './root.ts';

/** Why `name` (relative to the root, any spelling of it) may not be read or written; null when no rule denies it. Ends with the rule, if it is policy's. */
export function denied(root: Root, name: string, access: Access): string | null {
  const byName = forbidden(name, access) ?? replaced(root) ?? (access === 'write' ? onMount(root, name) : null);
  if (byName !== null) return byName;
  const rule = denyingRule(root, name, access);
  return rule === null ? null : refusal(name, access, rule.rule);
}

/** What is mounted below the project is not the project's own, whatever its name says. */
function onMount({ path: root }: Root, name: string): string | null {
  const mount = mountsBelow(root).find((place) => isInside(place, path.join(root, name)));
  return mount === undefined
    ? null
    : `${name}: ${path.relative(root, mount)} is a file system of its own that is mounted in the project; agents never write there`;
}

/** As `denied`, for a name without links: where lists say what may be written, it must be in each of them. */
export function refused(root: Root, real: string, access: Access): string | null {
  const no = denied(root, real, access);
  if (no !== null || access === 'read') return no;
  const list = missingList(root, real);
  return list === null ? notAmong(root, real) : refusal(real, access, list.rule);
}

/** Why a task may not change a file that everybody else may; null when it may. */
const notAmong = ({ writes }: Root, real: string): string | null =>
  writes === undefined || matchesGlob(writes, real)
    ? null
    : `${real}: this task may change ${writesText(writes)} only. ${WHAT_TO_DO}`;

/** What an agent can do that needs to change something else. */
export const WHAT_TO_DO =
  'If this has to be changed, say so in your answer, or ask with ask_user: a person can widen what the task may change.';

/** Places that may not be read, below `folder` (real), relative to it: what a walk through it passes over. */
export function hiddenBelow({ rules }: Root, folder: string): readonly string[] {
  const places = rules.denyRead.flatMap((rule) => spellings(rule.path));
  const below = places.filter((place) => place !== folder && isInside(folder, place));
  return [...new Set(below.map((place) => path.relative(folder, place)))];
}

const refusal = (name: string, access: Access, rule: string): string =>
  `${name}: not to be ${access === 'read' ? 'read' : 'written'} by agents: ${rule}`;

function denyingRule({ path: root, rules }: Root, name: string, access: Access): PathRule | null {
  const place = path.join(root, name);
  const covers = (rule: PathRule): boolean => spellings(rule.path).some((each) => isInside(each, place));
  // A folder above the project that is hidden doesn't hide the project; one that is kept from writing keeps all in it.
  const read = rules.denyRead.find((rule) => spellings(rule.path).some((each) => isInside(root, each)) && covers(rule));
  return read ?? (access === 'write' ? rules.denyWrite.find(covers) : undefined) ?? null;
}

function missingList({ path: root, rules }: Root, real: string): { readonly rule: string } | null {
  const place = path.join(root, real);
  return rules.allowWrite.find(({ paths }) => !paths.flatMap(spellings).some((each) => isInside(each, place))) ?? null;
}

/** A place as it is written, and as it really is. */
function spellings(place: string): readonly string[] {
  try {
    const real = realpathSync(place);
    return real === place ? [place] : [place, real];
  } catch {
    return [place];
  }
}
