/**
 * One file of settings, read and judged by itself: syntax, types, keys that this layer may not set. What several layers say
 * together is merge.ts's.
 */
import type { z } from 'zod';
import type { Layer as LayerName, Reason } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { builtIn } from '../../policy/rules.ts';
import { type Path, ruleOf } from '../schema/keys.ts';
import { knownKeys } from '../schema/known-keys.ts';
import { configSchemaJson, Settings } from '../schema/schema.ts';
import { type Judged, keyOf, PREPARED } from './parse-cache.ts';
import type { ConfigFault } from './fault.ts';
import { nameOf, shown, valueAt, wordsFor } from './issues.ts';
import { leavesOf, placeOf, plainOf, respelled, without } from './tree-walk.ts';
import { readTree, type Tree } from './tree.ts';

export interface Layer {
  readonly name: LayerName;
  /** The file as people would name it; null for the command line. */
  readonly file: string | null;
  readonly settings: Settings;
  /** Where a key is written, as a reason with the rule in words. */
  reason(path: Path): Reason;
  /** A fault at a key of this layer. */
  fault(path: Path, problem: string, remedy: string): ConfigFault;
}

export interface ReadLayer {
  readonly layer: Layer;
  /** Warnings: keys that have no effect. */
  readonly notes: readonly string[];
}

/** How people meet the file of the package's own defaults. */
export const OWN_FILE = "Mimir's own .mimir/config.yml";

/** Reads the text of a layer's file. All faults of the file are told at once. */
export function readLayer(
  name: LayerName,
  file: string,
  text: string,
  trusted = false,
): Result<ReadLayer, readonly ConfigFault[]> {
  const before = PREPARED.layers.get(keyOf(name, file, text));
  const judged = before === undefined ? judgeLayer(name, file, text, trusted) : ok(before);
  if (!judged.ok) return judged;
  const { tree, settings, notes } = judged.value;
  return ok({ layer: layerOf(name, file, tree, settings), notes });
}

/**
 * What of a layer's file may be remembered: plain JSON, and nothing else than these decide of it. `trusted`: may a project's
 * file say what it prefers?
 */
export function judgeLayer(
  name: LayerName,
  file: string,
  text: string,
  trusted = false,
): Result<Judged, readonly ConfigFault[]> {
  const tree = readTree(text, file);
  if (!tree.ok) return fail([tree.fault]);
  const checked = checkedSettings(file, respelled(tree.value));
  if (!checked.ok) return checked;
  const faults = leavesOf(checked.value.tree).flatMap((path) => forbidden(name, file, checked.value.tree, path));
  if (faults.length > 0) return fail(faults);
  if (name !== 'project') return checked;
  return ok(trusted ? withoutYolo(file, checked.value) : withoutPreferences(file, checked.value));
}

/** A layer made of settings that stand in no file: the flags. `words` names the flag of a path. */
export function typedLayer(settings: Settings, words: (path: Path) => string): Layer {
  return {
    name: 'command line',
    file: null,
    settings,
    reason: (path) => ({ rule: words(path), layer: 'command line', file: null, line: null }),
    fault: (path, problem, remedy) => ({ file: words(path), line: null, column: null, problem, remedy }),
  };
}

function layerOf(name: LayerName, file: string, tree: Tree, settings: Settings): Layer {
  return {
    name,
    file,
    settings,
    reason: (path) => {
      const list = path.filter((part) => typeof part === 'string');
      const rule = `${list.join('.')}: ${words(valueAt(settings, list))}`;
      return name === 'default' ? builtIn(rule) : { rule, layer: name, file, line: placeOf(tree, path).line };
    },
    fault: (path, problem, remedy) => ({ file, ...placeOf(tree, path), problem, remedy }),
  };
}

/** A value as YAML would have it on one line: `[haiku-4.5, o3]`. */
export function words(value: unknown): string {
  if (Array.isArray(value)) return cut(`[${value.map((each) => words(each)).join(', ')}]`);
  if (typeof value === 'object' && value !== null) {
    return cut(
      `{${Object.entries(value)
        .map(([key, each]) => `${key}: ${words(each)}`)
        .join(', ')}}`,
    );
  }
  return typeof value === 'string' ? value : shown(value);
}
const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 99)}…` : text);

function checkedSettings(file: string, tree: Tree): Result<Judged, readonly ConfigFault[]> {
  const checked = Settings.safeParse(plainOf(tree));
  if (checked.success) return ok({ tree, settings: checked.data, notes: [] });
  const faults = checked.error.issues.flatMap((issue) => faultsOf(file, tree, issue));
  return fail(faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)));
}

function faultsOf(file: string, tree: Tree, issue: z.core.$ZodIssue): readonly ConfigFault[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code !== 'unrecognized_keys')
    return [{ file, ...placeOf(tree, path), ...wordsFor(issue, valueAt(plainOf(tree), path)) }];
  const known = knownKeys(configSchemaJson(), path);
  return issue.keys.map((key) => {
    const whole = [...path.map(String), key];
    const problem = `unknown key ${nameOf(whole)}`;
    return { file, ...placeOf(tree, whole), problem, remedy: ADVICE.get(key) ?? suggestion(key, known) };
  });
}

/** For keys that people expect and that no spelling leads to. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['apiKey', 'a file never holds a key: set a variable and write its name, as in "apiKeyEnv: ANTHROPIC_API_KEY"'],
]);

/** Keys that this layer may not set at all. */
function forbidden(name: LayerName, file: string, tree: Tree, path: readonly string[]): readonly ConfigFault[] {
  const { kind } = ruleOf(path);
  const at = placeOf(tree, path);
  if (kind === 'managed only' && name !== 'managed') {
    return [{ file, ...at, problem: `${nameOf(path)} is for the managed policy only`, remedy: 'take it out' }];
  }
  if (kind !== 'grant' || name !== 'project') return [];
  const problem = `${nameOf(path)} can't be set by a project`;
  return [{ file, ...at, problem, remedy: 'move it to your own config.yml (`mimir config show` names it)' }];
}

/** A project may prefer a mode, but none that asks nobody. */
function withoutYolo(file: string, checked: Judged): Judged {
  const path = ['mode', 'default'];
  if (checked.settings.mode?.default !== 'yolo') return checked;
  const tree = without(checked.tree, path);
  const line = placeOf(checked.tree, path).line;
  const note = `${file}:${line}: mode.default: yolo is ignored: what a project prefers is never looser than confirm`;
  return { tree, settings: Settings.parse(plainOf(tree)), notes: [...checked.notes, note] };
}

/** Before trust a project may only restrict. */
function withoutPreferences(file: string, checked: Judged): Judged {
  const preferences = leavesOf(checked.tree).filter((path) => ruleOf(path).kind === 'preference');
  if (preferences.length === 0) return checked;
  const tree = preferences.reduce(without, checked.tree);
  const settings = Settings.parse(plainOf(tree));
  const note = `${file}: ignored, since this project is not trusted: ${preferences.map(nameOf).join(', ')}`;
  return { tree, settings, notes: [...checked.notes, note] };
}
