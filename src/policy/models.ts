/**
 * Which model an agent gets. Names become canonical ids by exact look-up only; rules are
 * judged on the canonical id. Nothing is ever made up: without an allowed and usable model the answer is a refusal.
 */
import type { ModelChoice } from '../domain/agents/agent.ts';
import { ModelId, providerOf } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { type Reason, reasonText } from '../domain/reason.ts';
import type { Role } from '../domain/agents/role.ts';
import { type Result, fail, ok } from '../domain/result.ts';
import { ALIASES } from './aliases.ts';
import { foldName, identityOf, isRelease } from './model-identity.ts';
import { type ModelEntry, type Rules, builtIn } from './rules.ts';

/** Calls nothing and costs nothing, so only `deniedModels` can forbid it. */
export const OFFLINE = ModelId.parse('offline/analyst');

type Named = Pick<ModelOption, 'id' | 'aliases'>;

/** The canonical id of a name as people write it, or null for a name that nobody registered. */
export function resolveModel(name: string, models: readonly Named[]): ModelId | null {
  const folded = foldName(name);
  for (const { id, aliases } of models) {
    if (foldName(id) === folded || aliases.some((alias) => foldName(alias) === folded)) return id;
  }
  return ALIASES.get(folded) ?? SPELLINGS.get(folded) ?? null;
}

/**
 * Does an entry of a list that allows mean this id? Its own id in each registered spelling, and a family `provider/name@*` its
 * dated releases. The same model at another provider is not meant: who allows a model allows it where they named it.
 */
export function entryAllows({ pattern }: Pick<ModelEntry, 'pattern'>, id: string): boolean {
  const spellings = [id, resolveModel(id, []) ?? id];
  if (!pattern.endsWith('@*')) return spellings.includes(pattern);
  const family = pattern.slice(0, -2);
  return spellings.some((one) => one === family || isRelease(family, one));
}

/** Does a rule that forbids or limits the model of an entry hold for this id? It does whatever catalogue names the model (D44). */
export const entryHolds = ({ pattern }: Pick<ModelEntry, 'pattern'>, id: string): boolean =>
  identityOf(pattern) === identityOf(id);

/** The other registered spellings of a canonical id: without its provider, without its date. Ambiguous ones are left out. */
const SPELLINGS: ReadonlyMap<string, ModelId> = spellings([...new Set(ALIASES.values())]);

function spellings(ids: readonly ModelId[]): ReadonlyMap<string, ModelId> {
  const table = new Map<string, ModelId | null>();
  for (const id of ids) {
    const bare = id.slice(id.indexOf('/') + 1);
    const dated = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;
    for (const name of new Set([id, bare, id.replace(dated, ''), bare.replace(dated, '')].map(foldName))) {
      table.set(name, table.has(name) ? null : id);
    }
  }
  return new Map([...table].filter((entry): entry is [string, ModelId] => entry[1] !== null));
}

/** The rule that forbids a canonical id, or null when none does. */
export function modelProblem(id: ModelId, rules: Rules): Reason | null {
  const denied = rules.deniedModels.find((entry) => entryHolds(entry, id));
  if (denied !== undefined) return denied.from;
  if (id === OFFLINE) return null;
  const without = rules.allowedModels.find((list) => !list.some((entry) => entryAllows(entry, id)));
  return without === undefined ? null : (without[0]?.from ?? builtIn('enforcement.allowedModels: []'));
}

/** The rule that forbids to call models on this host, or null. To be asked with the host that is really called. */
export const endpointProblem = (host: string, rules: Rules): Reason | null =>
  (rules.allowedEndpoints ?? []).find(({ value }) => !value.some((each) => each.toLowerCase() === host.toLowerCase()))
    ?.from ?? null;

export interface ModelWish {
  /** The name that a plan, a flag or a person asked for; null: the role's own first one. */
  readonly asked: string | null;
  readonly role: string;
  /** The role's models in order of preference, names as written. */
  readonly fallbacks: readonly string[];
  readonly rules: Rules;
  readonly models: readonly ModelOption[];
  /** No provider is configured at all: the offline one stands in. */
  readonly offlineOnly: boolean;
  /** Does the role work by words, or could it (it has a shell)? Absent: not looked at. */
  readonly words?: 'only' | 'can' | 'never';
}

export interface ChosenModel {
  readonly choice: ModelChoice;
  /** Why it is another one than the one asked for; null when it isn't. */
  readonly reason: Reason | null;
}

export interface NoModel {
  readonly text: string;
  /** The written rules that stand in the way, to be told behind the text. */
  readonly reasons: readonly Reason[];
}

/**
 * The one asked for if it is allowed and usable; else the first such of the role's own; else the first such of
 * `allowedModels`, or where nobody wrote such a list, one of the catalogue that is of the same grade; else the offline one
 * where no provider is configured; else a refusal that names the rules.
 */
export function chooseModel(wish: ModelWish): Result<ChosenModel, NoModel> {
  const asked = wish.asked ?? wish.fallbacks[0] ?? null;
  if (asked === null) return instead(wish, 'offline', builtIn(`role ${wish.role} names no model`));
  const id = resolveModel(asked, wish.models);
  if (id === null && wish.asked !== null) return fail(unknown(asked, wish.models));
  const obstacle = id === null ? builtIn(`"${asked}" is not a known model`) : obstacleTo(id, wish);
  if (id !== null && obstacle === null) return ok({ choice: { asked, used: id, because: null }, reason: null });
  return instead(wish, asked, obstacle ?? builtIn('not usable'));
}

/** Models to go on with when the used one can't be reached: allowed, usable, in order; none where substitution is off. */
export function fallbackModels(wish: Omit<ModelWish, 'asked'> & { readonly used: ModelId }): readonly ModelId[] {
  if (wish.rules.modelFallback.value === 'deny') return [];
  const usable = candidates(wish).filter((id) => id !== wish.used && id !== OFFLINE && obstacleTo(id, wish) === null);
  return [...new Set(usable)];
}

type Field = Pick<ModelWish, 'fallbacks' | 'rules' | 'models' | 'offlineOnly' | 'words'>;

/** Why `id` can't be used here: a rule, or that it can't be called; null when it can. */
export function obstacleTo(id: ModelId, { rules, models, offlineOnly, words }: Field): Reason | null {
  const rule = modelProblem(id, rules);
  if (rule !== null) return rule;
  if (id === OFFLINE) return null;
  if (offlineOnly) return builtIn('no provider');
  const option = models.find((model) => model.id === id);
  if (option === undefined) return builtIn(`no provider for ${id}`);
  if (!option.usable.yes) return builtIn(option.usable.because);
  return speaksOtherwise(option, words);
}

/** By words an agent works in a shell only, so that its role needs one. */
function speaksOtherwise({ label, tools, protocol }: ModelOption, words: ModelWish['words']): Reason | null {
  if (protocol === 'text')
    return words === 'never' ? builtIn(`${label} works by commands (protocol: text), and the role has no shell`) : null;
  return tools === false && words !== 'only' ? builtIn(`${label} takes no tool calls`) : null;
}

/** How agents of a role can speak with a model. */
export const wordsOf = ({
  protocol,
  capabilities,
}: Pick<Role, 'protocol' | 'capabilities'>): 'only' | 'can' | 'never' =>
  protocol === 'text' ? 'only' : capabilities.includes('shell') ? 'can' : 'never';

/** The role's own models, then those that lists of allowed models mean, as far as they are known here. */
function candidates({ fallbacks, rules, models }: Field): readonly ModelId[] {
  const own = fallbacks.map((name) => resolveModel(name, models)).filter((id) => id !== null);
  const listed = rules.allowedModels.flatMap((list) =>
    list.flatMap((entry) => models.map(({ id }) => id).filter((id) => entryAllows(entry, id))),
  );
  return [...own, ...listed];
}

/**
 * Any model that can be used, where no list of anybody's says which may be: of the grade that was asked for before others,
 * with a known price before others (and none without where somebody set a limit on cost), else in the catalogue's order.
 */
function standIn(wish: ModelWish, asked: string): ModelId | undefined {
  const { rules, models } = wish;
  if (rules.allowedModels.length > 0) return undefined;
  const id = resolveModel(asked, models);
  const grade = models.find((model) => model.id === id)?.grade;
  const fitting = models
    .filter((model) => model.id !== OFFLINE && obstacleTo(model.id, wish) === null)
    .filter(({ price }) => price !== null || !rules.costLimitSet);
  const rank = (model: ModelOption): number =>
    (grade === undefined || model.grade === grade ? 0 : 2) + (model.price === null ? 1 : 0);
  return fitting.sort((a, b) => rank(a) - rank(b))[0]?.id;
}

function instead(wish: ModelWish, asked: string, obstacle: Reason): Result<ChosenModel, NoModel> {
  const { rules } = wish;
  if (rules.modelFallback.value === 'deny') {
    const text = `${asked} can't be used by ${wish.role}${aside(obstacle)}, and no other model may take its place`;
    return fail({ text, reasons: [obstacle, rules.modelFallback.from].filter(isWritten) });
  }
  const listed = candidates(wish).find((id) => id !== OFFLINE && obstacleTo(id, wish) === null);
  const found = listed ?? standIn(wish, asked);
  const used = found ?? (wish.offlineOnly && modelProblem(OFFLINE, rules) === null ? OFFLINE : null);
  if (used === null) return fail(nothingLeft(wish, asked, obstacle));
  const reason = used === OFFLINE ? builtIn('no provider') : obstacle;
  return ok({ choice: { asked, used, because: plain(reason) }, reason });
}

/** A rule with its place; the program's own reasons have none worth telling. */
const plain = (reason: Reason): string => (reason.file === null ? reason.rule : `not allowed: ${reasonText(reason)}`);

/** Rules of the program itself are told in the text, with no place to look up. */
const isWritten = ({ layer }: Reason): boolean => layer !== 'default';
const aside = (reason: Reason): string => (isWritten(reason) ? '' : ` (${reason.rule})`);

/** Names that a refusal lists. */
const SOME = 12;

/** Who asked may be an agent in its box, which has no command to look them up. */
function unknown(asked: string, models: readonly ModelOption[]): NoModel {
  const names = [...new Set(models.filter(({ usable }) => usable.yes).map(({ label }) => label))];
  const more = names.length > SOME ? ', …; `mimir models` lists all' : '';
  return {
    text: `There is no model "${asked}"${names.length === 0 ? '' : `; there are ${names.slice(0, SOME).join(', ')}${more}`}`,
    reasons: [],
  };
}

function nothingLeft(wish: ModelWish, asked: string, obstacle: Reason): NoModel {
  const { role, rules } = wish;
  const heads = [rules.deniedModels, ...rules.allowedModels].flatMap((list) => list.slice(0, 1));
  const all = [obstacle, ...heads.map(({ from }) => from)].filter(isWritten);
  const reasons = [...new Map(all.map((reason) => [reasonText(reason), reason])).values()];
  return { text: `No model is left for ${role}, which asked for ${asked}${aside(obstacle)}${unpriced(wish)}`, reasons };
}

/** The model that only lacks a price, and where to say it. */
function unpriced(wish: ModelWish): string {
  if (wish.rules.allowedModels.length > 0) return '';
  const { id, label } = wish.models.find((one) => one.id !== OFFLINE && obstacleTo(one.id, wish) === null) ?? {};
  if (id === undefined) return '';
  const provider = providerOf(id);
  return `; ${label} could be used, but a limit on cost is set and its price is not known: say it under providers.${provider}.prices`;
}
