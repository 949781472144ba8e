/** Reads and validates one file of settings by itself: syntax, types, keys that this layer may not set. merge.ts combines the layers. */
import type { z } from 'zod';
import type { Layer as LayerName, Mode, Reason } from '../../domain/reason.ts';
import type { Permissions } from '../../domain/plan/plan.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { nearest, ownField, suggestion } from '../../domain/text/text.ts';
import { builtIn } from '../../policy/index.ts';
import { ADDRESS, knownKeys, type Path, ruleOf, Settings } from '../schema/schema.ts';
import { type ValidatedLayer, keyOf, PREPARED } from './parse-cache.ts';
import { type ConfigFault, type FaultWords, fileFault } from './read-text.ts';
import { faultAt, leavesOf, placeOf, plainOf, readTree, respelled, type Tree, without } from './tree.ts';

export interface Layer {
  readonly name: LayerName;
  /** The file as people name it; null for the command line. */
  readonly file: string | null;
  readonly settings: Settings;
  /** The place of a key, as a reason that includes the rule. */
  reason(path: Path): Reason;
  fault(path: Path, problem: string, remedy: string): ConfigFault;
}

export interface ReadLayer {
  readonly layer: Layer;
  /** Warnings about keys without effect. */
  readonly notes: readonly string[];
}

/** How the file of the package's defaults is named in messages. */
export const OWN_FILE = "Mimir's own .mimir/config.yml";

/** Reads the text of a layer's file; reports all its faults at once. */
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

/** What of a layer's file may be remembered: plain JSON, and nothing else than these decide of it. `trusted`: may a project's
 * file say what it prefers? */
export function judgeLayer(
  name: LayerName,
  file: string,
  text: string,
  trusted = false,
): Result<ValidatedLayer, readonly ConfigFault[]> {
  const tree = readTree(text, file);
  if (!tree.ok) return fail([tree.fault]);
  const checked = checkedSettings(file, respelled(tree.value));
  if (!checked.ok) return checked;
  const faults = leavesOf(checked.value.tree).flatMap((path) => forbidden(name, file, checked.value.tree, path));
  if (faults.length > 0) return fail(faults);
  if (name !== 'project') return checked;
  return ok(trusted ? withoutYolo(file, checked.value) : withoutPreferences(file, checked.value));
}

const layerOf = (name: LayerName, file: string, tree: Tree, settings: Settings): Layer => ({
  name,
  file,
  settings,
  reason: (path) => {
    const list = path.filter((part) => typeof part === 'string');
    const rule = `${list.join('.')}: ${words(valueAt(settings, list))}`;
    return name === 'default' ? builtIn(rule) : { rule, layer: name, file, line: placeOf(tree, path).line };
  },
  fault: (path, problem, remedy) => faultAt(file, tree, path, problem, remedy),
});

/** A value as YAML on one line: `[haiku-4.5, o3]`. */
export function words(value: unknown): string {
  if (Array.isArray(value)) return cut(`[${value.map((each) => words(each)).join(', ')}]`);
  if (typeof value === 'object' && value !== null)
    return cut(
      `{${Object.entries(value)
        .map(([key, each]) => `${key}: ${words(each)}`)
        .join(', ')}}`,
    );
  return typeof value === 'string' ? value : shown(value);
}
const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 99)}…` : text);

function checkedSettings(file: string, tree: Tree): Result<ValidatedLayer, readonly ConfigFault[]> {
  const checked = Settings.safeParse(plainOf(tree));
  if (checked.success) return ok({ tree, settings: checked.data, notes: [] });
  const faults = checked.error.issues.flatMap((issue) =>
    issueFaults(file, tree, issue, (path, key) => ADVICE.get(key) ?? suggestion(key, knownKeys(path))),
  );
  return fail(faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)));
}

/** Translates one zod issue into faults with places. `remedy` gives the advice for an unknown key. */
export function issueFaults(
  file: string,
  tree: Tree,
  issue: z.core.$ZodIssue,
  remedy: (path: Path, key: string) => string,
): readonly ConfigFault[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code !== 'unrecognized_keys')
    return [{ file, ...placeOf(tree, path), ...wordsFor(issue, valueAt(plainOf(tree), path)) }];
  return issue.keys.map((key) =>
    faultAt(file, tree, [...path, key], `unknown key ${nameOf([...path, key])}`, remedy(path, key)),
  );
}

/** Advice for keys that people expect but that do not exist. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['apiKey', 'set a variable and give its name, as in "apiKeyEnv: ANTHROPIC_API_KEY"; keys are not accepted in files'],
]);

/** Keys that this layer may not set at all. */
function forbidden(name: LayerName, file: string, tree: Tree, path: readonly string[]): readonly ConfigFault[] {
  const { kind } = ruleOf(path);
  const at = (problem: string, remedy: string): readonly ConfigFault[] => [
    faultAt(file, tree, path, `${nameOf(path)} ${problem}`, remedy),
  ];
  if (kind === 'managed only' && name !== 'managed') return at('is only allowed in the managed policy', 'remove it');
  if (kind !== 'grant' || name !== 'project') return [];
  return at('cannot be set by a project', 'move it to your own config.yml (`mimir config show` prints its path)');
}

/** Drops `yolo` from a project's preferences: a project may not prefer a mode without any questions. */
function withoutYolo(file: string, checked: ValidatedLayer): ValidatedLayer {
  const path = ['mode', 'default'];
  if (checked.settings.mode?.default !== 'yolo') return checked;
  const place = `${file}:${placeOf(checked.tree, path).line}`;
  const why = 'mode.default: yolo is ignored: a project cannot prefer a mode less strict than confirm';
  return dropped(checked, [path], `${place}: ${why}`);
}

/** Drops the preferences of an untrusted project, which may only restrict. */
function withoutPreferences(file: string, checked: ValidatedLayer): ValidatedLayer {
  const preferences = leavesOf(checked.tree).filter((path) => ruleOf(path).kind === 'preference');
  if (preferences.length === 0) return checked;
  const names = preferences.map(nameOf).join(', ');
  return dropped(checked, preferences, `${file}: ignored because this project is not trusted: ${names}`);
}

function dropped(before: ValidatedLayer, paths: readonly (readonly string[])[], note: string): ValidatedLayer {
  const tree = paths.reduce(without, before.tree);
  return { tree, settings: Settings.parse(plainOf(tree)), notes: [...before.notes, note] };
}

/** Words one zod issue about the value at `path` for the author of the file: the present value, and what to write instead. */
function wordsFor(issue: z.core.$ZodIssue, value: unknown): FaultWords {
  const name = issue.path.length === 0 ? 'the file' : nameOf(issue.path);
  const is = secretly(issue, value) ?? shown(value);
  switch (issue.code) {
    case 'invalid_type':
      return { problem: `${name} is ${is}`, remedy: `use ${KINDS.get(issue.expected) ?? issue.expected}` };
    case 'invalid_value':
      return { problem: `${name} is ${is}`, remedy: among(value, issue.values.map(String)) };
    case 'too_small':
      return { problem: `${name} is ${is}`, remedy: `use at least ${String(issue.minimum)}` };
    case 'too_big':
      return { problem: `${name} is ${is}`, remedy: `use at most ${String(issue.maximum)}` };
    default:
      return { problem: `${name} is ${is}`, remedy: adviceIn(issue) };
  }
}

/** The text beside the type in the schema, unless it is one of zod's own. */
function adviceIn(issue: z.core.$ZodIssue): string {
  const [inner = issue] = issue.code === 'invalid_key' ? issue.issues : [];
  return inner.message.startsWith('Invalid') ? 'run `mimir config schema` to see the accepted values' : inner.message;
}

/** Keys whose value is the name of a variable with a secret, anywhere in the configuration. */
export const NAMES_SECRET: readonly string[] = ['apiKeyEnv', 'secretEnv', 'botTokenEnv', 'databaseEnv'];
const NAMES_VARIABLE: ReadonlySet<PropertyKey> = new Set([...NAMES_SECRET, 'env', 'passthrough', 'inheritEnvironment']);
const ADDRESSES: ReadonlySet<PropertyKey> = new Set(['baseUrl', 'url', 'server']);

/** A key may stand where the name of its variable belongs, a password in an address, and either where keys and values belong: such
 * values are never repeated. */
function secretly(issue: z.core.$ZodIssue, value: unknown): string | null {
  const [, ...below] = issue.path;
  if (below.some((part) => NAMES_VARIABLE.has(part))) return 'not the name of a variable';
  if (below.includes('headers')) return 'not a header value';
  if (below.some((part) => ADDRESSES.has(part))) return 'not an address';
  if (issue.code !== 'invalid_type' || !['object', 'record'].includes(issue.expected)) return null;
  return Array.isArray(value) ? 'a list' : typeof value === 'string' ? 'text' : null;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['boolean', 'true or false, without quotes'],
  ['int', 'a whole number, without quotes'],
  ['number', 'a number, without quotes'],
  ['string', 'text'],
  ['array', 'a list: [a, b]'],
  ['object', 'keys and values, or remove it'],
  ['record', 'keys and values, or remove it'],
]);

/** `agentOrchestration.roles.finder.tools[1]`. */
export const nameOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');

/** The value at a path of plain JSON. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((here, part) => ownField(here, String(part)), value);

/** A value on one line, at most 60 characters. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  const text = JSON.stringify(value) ?? 'empty';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function among(value: unknown, choices: readonly string[]): string {
  const near = typeof value === 'string' ? nearest(value, choices) : null;
  return near === null ? `use one of: ${choices.join(', ')}` : `did you mean "${near}"?`;
}

/** Flags that set rules and preferences, parsed: milliseconds and US dollars. */
export interface Flags {
  readonly mode?: Mode;
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly maxDuration?: number;
  readonly model?: string;
  readonly roleModels?: Readonly<Record<string, string>>;
  readonly theme?: string;
  /** What agents of this run may do without approval. */
  readonly allow?: Permissions;
}

/** The flags as a layer: they restrict and prefer, and grant only what `--allow` names. */
export function flagLayer(flags: Flags): Layer {
  const { mode, maxCost, maxTokens, maxDuration, theme, allow, roleModels = {} } = flags;
  const roles = Object.entries(roleModels).map(([role, defaultModel]) => [role, { defaultModel }] as const);
  const settings: Settings = {
    budgets: { run: defined({ maxCost, maxTokens, maxDuration }) },
    ...defined({
      mode: mode && { default: mode },
      ui: theme === undefined ? undefined : { theme },
      permissions: allow,
      agentOrchestration: roles.length === 0 ? undefined : { roles: Object.fromEntries(roles) },
    }),
  };
  const flag = (path: Path): string => flagOf(path, flags, valueAt(settings, path));
  return {
    name: 'command line',
    file: null,
    settings,
    reason: (path) => ({ rule: flag(path), layer: 'command line', file: null, line: null }),
    fault: (path, problem, remedy) => fileFault(flag(path), problem, remedy),
  };
}

function flagOf([section, key, third]: Path, { theme = '', mode, roleModels }: Flags, value: unknown): string {
  switch (section) {
    case 'agentOrchestration':
      return `--role-model ${third}=${roleModels?.[String(third)] ?? ''}`;
    case 'permissions':
      return `--allow ${key}`;
    case 'mode':
      return `--mode ${mode}`;
    case 'ui':
      return `--theme ${theme}`;
    default:
      return `--${String(third).replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)} ${words(value)}`;
  }
}

// Is this an address that models may be called at? Judged before it is ever shown: what it holds may be a secret.

/** Why a base URL cannot be used, without repeating it, because it may contain a secret; null if it can. */
export function baseUrlProblem(baseUrl: string): FaultWords | null {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return { problem: 'is not an http or https address', remedy: ADDRESS };
  if (url.username !== '' || url.password !== '')
    return {
      problem: 'contains a user name or password, which would be visible wherever the address is shown',
      remedy: 'remove it, and name the environment variable with the key in apiKeyEnv',
    };
  if (url.search !== '' || url.hash !== '') return { problem: 'has a query or a fragment', remedy: ADDRESS };
  return null;
}
