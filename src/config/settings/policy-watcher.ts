/** Watches the administrator's files during a run. Tighter rules apply at once; looser ones wait for the next start. An unreadable or missing
 * file pauses the run, and so does a change of rules that are fixed at the start of a run (paths, endpoints), until it is resumed. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../../domain/result.ts';
import { deciding, fixedAtStart, meet, type Rules } from '../../policy/index.ts';
import type { PolicyWatcher } from '../../ports/policy-watcher.ts';
import { codeOf, type ConfigFault, faultText, fileFault, type Places, shownPath } from '../files/read-text.ts';
import { managedMark, readManagedLayers } from '../managed/managed.ts';
import { replaceFile } from '../trust/files.ts';
import { inForce } from './check.ts';
import type { Loaded } from './load.ts';

/** `rules` are those of the start. Without changes, `now` only checks sizes, times and owners of a few files. */
export function openPolicyWatcher(
  loaded: Pick<Loaded, 'rules' | 'managed' | 'staticConfig'>,
  rules: Rules,
): PolicyWatcher {
  const { managed, staticConfig } = loaded;
  const { managedRoot, layers, known, version } = staticConfig;
  let files = managed.map(({ shown }) => shown);
  let mark = staticConfig.mark;
  let current: Result<Rules, string> = ok(rules);
  let holding = rules;
  let written = loaded.rules;
  const fixed = fixedAtStart(rules);
  const waiting: string[] = [];

  const anew = (): Result<Rules, string> => {
    const read = readManagedLayers(managedRoot, version);
    if (!read.ok) return fail(`the managed policy cannot be used: ${read.fault.map(faultText).join('; ')}`);
    const gone = files.filter((file) => read.value.files.every(({ shown }) => shown !== file));
    if (gone.length > 0) return fail(goneText(gone));
    const found = inForce([...layers, ...read.value.layers.map(({ layer }) => layer)], known);
    if (!found.ok) return fail(`the managed policy cannot be used: ${found.fault.map(faultText).join('; ')}`);
    files = read.value.files.map(({ shown }) => shown);
    if (isLooser(found.value.rules, written)) waiting.push(looserText(files));
    written = found.value.rules;
    holding = meet(holding, written);
    // The tools of this run do not know the new paths or endpoints, so it must not continue.
    return fixedAtStart(holding) === fixed ? ok(holding) : fail(resumeText(files));
  };

  return {
    now() {
      const seen = managedMark(managedRoot, files);
      if (seen === mark) return current;
      const watched = files;
      current = anew();
      // The mark from before the reading detects a change during it; another set of files needs a new mark.
      mark = same(watched, files) ? seen : '';
      return current;
    },
    notes: () => waiting.splice(0),
  };
}

/** Checks the files once per turn of the event loop: hundreds of agents make many decisions in one turn, which takes milliseconds. */
export function oncePerTurn(policyWatcher: PolicyWatcher): PolicyWatcher {
  let last: ReturnType<PolicyWatcher['now']> | null = null;
  return {
    ...policyWatcher,
    now() {
      if (last !== null) return last;
      setImmediate(() => (last = null));
      return (last = policyWatcher.now());
    },
  };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const isLooser = (next: Rules, before: Rules): boolean => !same(deciding(meet(before, next)), deciding(next));

const goneText = (files: readonly string[]): string =>
  `${files.join(', ')} applied to this run and ${files.length === 1 ? 'is' : 'are'} missing: restore ${files.length === 1 ? 'it' : 'them'}`;

const resumeText = (files: readonly string[]): string =>
  `the managed policy (${files.join(', ')}) now has tighter paths, variables or endpoints, which take effect when a run starts: resume it`;

const looserText = (files: readonly string[]): string =>
  `the managed policy has changed (${files.join(', ')}): tighter rules apply now, looser ones after a restart of Mimir`;

// Records in the person's state which managed files existed. A missing file is refused, since it may only be hidden. After a real removal by an
// administrator, the record has to be deleted; the refusal names it.

const Seen = z.strictObject({
  v: z.literal(1),
  files: z.array(z.strictObject({ shown: z.string().max(4096), digest: z.string().max(128) })).max(200),
});

type Managed = Loaded['managed'];

/** The path of the record; deleting it confirms that the files were removed on purpose. */
export const seenFile = ({ state }: Pick<Places, 'state'>): string => path.join(state, 'managed-seen.json');

/** A fault for each recorded file that is missing, and for an unreadable record. */
export function vanished(managed: Managed, places: Places): readonly ConfigFault[] {
  const file = seenFile(places);
  const known = shownPath(file, places.home);
  const remedy = `restore it; if the administrator removed it, delete ${known}`;
  const before = readSeen(file);
  if (before === 'unreadable') {
    const problem = 'this record of the managed policy is damaged';
    return [fileFault(known, problem, 'check the managed policy, then remove this file')];
  }
  return before
    .filter(({ shown }) => managed.every((each) => each.shown !== shown))
    .map(({ shown }) => fileFault(shown, 'applied here before and is missing', remedy));
}

/** Writes the record if it has changed. Never fails: without a writable state no run starts anyway. */
export function rememberManaged(managed: Managed, places: Pick<Places, 'state'>): void {
  const file = seenFile(places);
  const text = `${JSON.stringify({ v: 1, files: managed })}\n`;
  const before = readSeen(file);
  if (before !== 'unreadable' && JSON.stringify({ v: 1, files: before }) === text.trim()) return;
  try {
    mkdirSync(places.state, { recursive: true, mode: 0o700 });
    replaceFile(file, text);
  } catch (error) {
    if (codeOf(error) === 'unknown error') throw error;
  }
}

function readSeen(file: string): Managed | 'unreadable' {
  try {
    const read = Seen.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    return read.success ? read.data.files : 'unreadable';
  } catch (error) {
    return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR' ? [] : 'unreadable';
  }
}
