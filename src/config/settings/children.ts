/**
 * What the settings say of children beyond the plan, as rules; what can't be meant, and what
 * is read but concerns no agent of Mimir's own. What a rule means for a spawn is policy's to say.
 */
import path from 'node:path';
import type { ChildRules, Rule, Rules } from '../../policy/rules.ts';
import type { ConfigFault } from '../files/fault.ts';
import type { Layer } from '../files/layer.ts';
import type { Effective } from '../files/merge.ts';
import { durationMs } from '../schema/schema.ts';
import { NAME_REMEDY } from './sandbox.ts';

type Values = ReadonlyMap<string, Effective>;

/** No key at all where nobody says anything but the package's own defaults: equal policies, equal digests. */
export function childRulesFrom(values: Values): Pick<Rules, 'children'> {
  const said = saidIn(values);
  const idleTimeout = idleOf(said);
  const children: Partial<ChildRules> = {
    ...ruled('mode', among(said('mode'), ['auto', 'supervised', 'manual'] as const)),
    ...plain('orphans', among(said('orphans'), ['adopt', 'kill', 'keep'] as const)),
    ...ruled('messages', among(said('messages'), ['run', 'family'] as const)),
    ...ruled('maxPerParent', numberIn(said('maxPerParent'))),
    ...plain('defaultModel', textIn(said('defaultModel'))),
    ...(idleTimeout === null ? {} : { idleTimeout }),
    ...noticesOf(said),
    ...plain('killOnComplete', truthIn(said('cleanup.autoKillOnComplete'))),
    ...archiveOf(said),
    ...plain('workingDir', among(said('workingDir'), ['inherit', 'specify'] as const)),
    ...namingOf(said),
  };
  return Object.keys(children).length === 0 ? {} : { children };
}

/** A value that a file says, by its name below `childAgents`; null where only the defaults do. */
type SaidOf = (name: string) => Effective | null;

const saidIn =
  (values: Values): SaidOf =>
  (name) => {
    const found = values.get(`childAgents.${name}`);
    return found === undefined || found.from.layer === 'default' ? null : found;
  };

/** With its place, where one was said. */
const ruled = <const K extends string, T>(key: K, rule: Rule<T> | null): Partial<Record<K, Rule<T>>> =>
  rule === null ? {} : withKey(key, rule);
const plain = <const K extends string, T>(key: K, rule: Rule<T> | null): Partial<Record<K, T>> =>
  rule === null ? {} : withKey(key, rule.value);
function withKey<const K extends string, T>(key: K, value: T): Partial<Record<K, T>> {
  const made: Partial<Record<K, T>> = {};
  made[key] = value;
  return made;
}

function among<const T extends string>(said: Effective | null, choices: readonly T[]): Rule<T> | null {
  const value = choices.find((choice) => choice === said?.value);
  return said === null || value === undefined ? null : { value, from: said.from };
}
const textIn = (said: Effective | null): Rule<string> | null =>
  said !== null && typeof said.value === 'string' ? { value: said.value, from: said.from } : null;
const truthIn = (said: Effective | null): Rule<boolean> | null =>
  said === null ? null : { value: said.value === true, from: said.from };
const numberIn = (said: Effective | null): Rule<number> | null =>
  said !== null && typeof said.value === 'number' ? { value: said.value, from: said.from } : null;

/** Milliseconds. A bare number is seconds here (S099), unlike elsewhere. Switched off is never: 0. */
function idleOf(said: SaidOf): number | null {
  if (said('autoComplete.enabled')?.value === false) return 0;
  const written = said('autoComplete.idleTimeout')?.value;
  if (typeof written === 'number') return Math.round(written * 1000);
  return typeof written === 'string' ? durationMs(written) : null;
}

function noticesOf(said: SaidOf): Pick<Partial<ChildRules>, 'notify'> {
  const of = (what: string): boolean | undefined => truthIn(said(`notifications.notifyParentOn${what}`))?.value;
  const [complete, error, idle] = [of('Complete'), of('Error'), of('Idle')];
  if (complete === undefined && error === undefined && idle === undefined) return {};
  return { notify: { complete: complete ?? true, error: error ?? true, idle: idle ?? false } };
}

/** A folder alone says that transcripts are wanted there; without one the log is the archive. */
function archiveOf(said: SaidOf): Pick<Partial<ChildRules>, 'archivePath'> {
  const folder = textIn(said('cleanup.archivePath'));
  if (folder === null) return {};
  return { archivePath: said('cleanup.autoArchiveTranscript')?.value === false ? null : folder.value };
}

function namingOf(said: SaidOf): Pick<Partial<ChildRules>, 'naming'> {
  const [pattern, fallback] = [textIn(said('naming.pattern')), textIn(said('naming.fallback'))];
  if (pattern === null && fallback === null) return {};
  return {
    naming: { pattern: pattern?.value ?? '{friendly_name}', fallback: fallback?.value ?? 'child-{short_id}' },
  };
}

/** What a name of a child may be made of. */
const PLACEHOLDERS = ['friendly_name', 'role', 'short_id', 'id'];

/** Names that can't be made, folders that are nowhere, variables that are none. */
export const childFaults = (layer: Layer): readonly ConfigFault[] => {
  const { naming, cleanup, inheritEnvironment = [] } = layer.settings.childAgents ?? {};
  return [
    ...(['pattern', 'fallback'] as const).flatMap((key) => namingFaults(layer, key, naming?.[key])),
    ...archiveFaults(layer, cleanup?.archivePath),
    ...inheritEnvironment.flatMap((name, index) =>
      /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)
        ? []
        : [
            layer.fault(
              ['childAgents', 'inheritEnvironment', index],
              'childAgents.inheritEnvironment names no variable',
              NAME_REMEDY,
            ),
          ],
    ),
  ];
};

function namingFaults(layer: Layer, key: 'pattern' | 'fallback', written = ''): readonly ConfigFault[] {
  const at = ['childAgents', 'naming', key];
  const unknown = [...written.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
  const wrong = unknown.find((name) => !PLACEHOLDERS.includes(name));
  const known = `write ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')} and letters, digits, "-" or "_"`;
  if (wrong !== undefined) return [layer.fault(at, `naming.${key} has no value for {${wrong}}`, known)];
  const rest = written.replaceAll(/\{[^}]*\}/g, '');
  return /^[\p{L}\p{N} ._-]*$/u.test(rest) ? [] : [layer.fault(at, `naming.${key} has signs that no name has`, known)];
}

function archiveFaults(layer: Layer, written: string | undefined): readonly ConfigFault[] {
  if (written === undefined || path.isAbsolute(written) || /^~(?:\/|$)/.test(written)) return [];
  const at = ['childAgents', 'cleanup', 'archivePath'];
  // Beside the project's files agents could read, and commit, what other agents were told.
  return [layer.fault(at, `archivePath is ${written === '' ? 'empty' : `"${written}"`}`, 'write a folder from / or ~')];
}

/** Read, but for agents of other programs, whose events can't be seen, or true already. */
const FOREIGN: Readonly<Record<string, string>> = {
  command: "it is for agents of other programs; Mimir's own are none that are started",
  args: "they are for agents of other programs; Mimir's own are none that are started",
  'autoComplete.detectCompletionPhrases':
    "it is for agents of other programs; Mimir's own end with their turn, never because of words",
  'autoComplete.completionPatterns':
    "they are for agents of other programs; Mimir's own end with their turn, never because of words",
  'cleanup.closeTmuxSession': "it is for agents of other programs; Mimir's own have no tmux session",
  'progress.enableTokenTracking': 'tokens are always counted',
  'progress.enableToolTracking': 'tools are always counted',
  'progress.snapshotInterval': 'figures are taken from the log at each look',
};

/** A line for each key that somebody set and that changes nothing. */
export const childNotes = (values: Values): readonly string[] =>
  Object.entries(FOREIGN).flatMap(([name, why]) => {
    const said = saidIn(values)(name);
    if (said === null) return [];
    const { file, layer, line } = said.from;
    return [`${file ?? layer}${line === null ? '' : `:${line}`}: childAgents.${name} has no effect: ${why}`];
  });
