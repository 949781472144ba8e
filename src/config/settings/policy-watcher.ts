/**
 * Watches the administrator's files during a run. Whatever they tighten holds at once, whatever they loosen
 * waits for the next start. What can't be read or is gone pauses this run, and so does what a run takes on only at its start
 * (paths, endpoints): resumed, it has it. All other files are as the run found them.
 */
import { type Result, fail, ok } from '../../domain/result.ts';
import { deciding, fixedAtStart } from '../../policy/fingerprint.ts';
import { meet } from '../../policy/intersect-rules.ts';
import type { Rules } from '../../policy/rules.ts';
import type { Law } from '../../ports/policy-watcher.ts';
import { faultText } from '../files/fault.ts';
import { inForce } from './check.ts';
import type { Loaded } from './load.ts';
import { managedMark } from '../managed/managed.ts';
import { type ManagedLayers, readManagedLayers } from '../managed/layers-managed.ts';

/** `rules`: those that the run begins with. Between two changes, `now` looks at sizes, times and owners of a few files. */
export function openLaw(loaded: Pick<Loaded, 'rules' | 'managed' | 'standing'>, rules: Rules): Law {
  const { managed, standing } = loaded;
  const { managedRoot, layers, known, version } = standing;
  let files = managed.map(({ shown }) => shown);
  let mark = standing.mark;
  let current: Result<Rules, string> = ok(rules);
  let holding = rules;
  let written = loaded.rules;
  const fixed = fixedAtStart(rules);
  const waiting: string[] = [];

  const anew = (): Result<Rules, string> => {
    const read = readManagedLayers(managedRoot, version);
    if (!read.ok) return fail(`the managed policy can't be used: ${read.fault.map(faultText).join('; ')}`);
    const gone = files.filter((file) => read.value.files.every(({ shown }) => shown !== file));
    if (gone.length > 0) return fail(goneText(gone));
    const found = inForce([...layers, ...layersOf(read.value)], known);
    if (!found.ok) return fail(`the managed policy can't be used: ${found.fault.map(faultText).join('; ')}`);
    files = read.value.files.map(({ shown }) => shown);
    if (isLooser(found.value.rules, written)) waiting.push(looserText(files));
    written = found.value.rules;
    holding = meet(holding, written);
    // Nobody goes on under paths or endpoints that the tools of this run don't know of.
    return fixedAtStart(holding) === fixed ? ok(holding) : fail(resumeText(files));
  };

  return {
    now() {
      const seen = managedMark(managedRoot, files);
      if (seen === mark) return current;
      const watched = files;
      current = anew();
      // From before the reading, so that a change during it shows at the next look; anew where other files are watched now.
      mark = same(watched, files) ? seen : '';
      return current;
    },
    notes: () => waiting.splice(0),
  };
}

/**
 * The same law, looked at once for all that is decided in one turn of the event loop: with hundreds of agents that is much,
 * and a turn takes milliseconds.
 */
export function oncePerTurn(law: Law): Law {
  let last: ReturnType<Law['now']> | null = null;
  return {
    ...law,
    now() {
      if (last !== null) return last;
      setImmediate(() => (last = null));
      return (last = law.now());
    },
  };
}

const layersOf = ({ layers }: ManagedLayers): readonly ManagedLayers['layers'][number]['layer'][] =>
  layers.map(({ layer }) => layer);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** In anything at all. */
const isLooser = (next: Rules, before: Rules): boolean => !same(deciding(meet(before, next)), deciding(next));

const goneText = (files: readonly string[]): string =>
  `${files.join(', ')} ruled this run and ${files.length === 1 ? 'is' : 'are'} gone: put ${files.length === 1 ? 'it' : 'them'} back`;

const resumeText = (files: readonly string[]): string =>
  `the managed policy (${files.join(', ')}) has tightened paths, variables or endpoints, which a run takes on when it begins: resume it`;

const looserText = (files: readonly string[]): string =>
  `the managed policy has changed (${files.join(', ')}): what tightens holds now, what loosens when Mimir is started again`;
