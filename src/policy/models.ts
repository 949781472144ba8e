/** Which model an agent gets. Names become canonical ids only by exact look-up, and rules apply to canonical ids. Without an allowed and
 * usable model the answer is a refusal. */
import type { ModelChoice } from '../domain/agents/agent.ts';
import type { Role } from '../domain/agents/role.ts';
import { isForeign, ModelId, OFFLINE, providerOf } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { type Reason, reasonText } from '../domain/reason.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { writtenName } from '../domain/text/text.ts';
import TABLE from './aliases.json' with { type: 'json' };
import { builtIn, type ModelEntry, priceProblem, type Rules } from './rules.ts';

// Short names of models and their canonical ids, in aliases.json. Decisions use the canonical id, and prices and windows are in the catalogue
// in models/. The ids are those of the vendors' client libraries (`Model` of @anthropic-ai/sdk, `ChatModel` of openai); of several, the dated one.

/** Alias -> canonical id. A map, so that names of Object.prototype are not found. */
export const ALIASES: ReadonlyMap<string, ModelId> = new Map(
  Object.entries(TABLE).map(([alias, id]) => [alias, ModelId.parse(id)]),
);

const LINES: ReadonlyMap<string, string> = new Map([
  ['opus', 'opus-4.5'],
  ['sonnet', 'sonnet-4.5'],
  ['haiku', 'haiku-4.5'],
]);

/** Expands a short name that a spawn may use, for a model line of the built-in roles. Other names are returned unchanged. Rules and roles
 * use full names, because a line would mean another model with each release. */
export const spokenModel = (name: string): string => LINES.get(name.trim().toLowerCase()) ?? name;

// The identity of a model: an alias, another spelling, a dated release, the family and a person's own entry under any provider are one
// model. Based on names only: what a private server really runs behind an unknown name cannot be known.

/** Names are compared trimmed, with compatibility forms folded, in lower case. */
export const foldName = (name: string): string => name.trim().normalize('NFKC').toLowerCase();

/** Dates and `latest`, as vendors and clouds append them to a name. */
const RELEASE = /[-@](?:\d{6,8}|\d{4}-\d{2}-\d{2}|latest)$/;

const isRelease = (family: string, id: string): boolean =>
  id.startsWith(family) && new RegExp(`^${RELEASE.source}`).test(id.slice(family.length));

/** What clouds and routers add to a vendor's name: their own version, a tag for a kind of service. */
const AROUND: readonly RegExp[] = [
  /^(?:(?:us|eu|apac|jp|au|ca|us-gov|global)\.)?(?:anthropic|openai|qwen)\./,
  /-v\d+:\d+$/,
  /:(?:latest|free|thinking|beta|nitro|floor|online|extended|exacto)$/,
  /\[\d+[km]\]$/,
  RELEASE,
];

/** The bare name of a model: without providers, release and additions. */
function bareName(name: string): string {
  const folded = foldName(name).replace(/[\p{Cc}\p{Cf}]/gu, '');
  let bare = folded.slice(folded.lastIndexOf('/') + 1);
  for (let before = ''; before !== bare; ) {
    before = bare;
    for (const around of AROUND) bare = bare.replace(around, '');
  }
  return bare.replace(/[._]/g, '-');
}

/** The catalogue's short names mapped to the vendors' names. */
const NAMED: ReadonlyMap<string, string> = new Map([...ALIASES].map(([alias, id]) => [bareName(alias), bareName(id)]));

/** Prefix of the offline analyst, which no other model equals. */
const BUILT_IN = 'offline/';

/** The identity of a canonical id, or of a family `provider/name@*`: equal texts are one model. */
function identityOf(id: string): string {
  if (id.startsWith(BUILT_IN)) return id;
  const bare = bareName(id.endsWith('@*') ? id.slice(0, -2) : id);
  return NAMED.get(bare) ?? bare;
}

type Named = Pick<ModelOption, 'id' | 'aliases'>;

/** The canonical id of a name as people write it, or null for an unregistered name. */
export function resolveModel(name: string, models: readonly Named[]): ModelId | null {
  const folded = foldName(name);
  for (const { id, aliases } of models) {
    if (foldName(id) === folded || aliases.some((alias) => foldName(alias) === folded)) return id;
  }
  return ALIASES.get(folded) ?? SPELLINGS.get(folded) ?? null;
}

/** Whether an entry of an allow list matches this id: the id in each registered spelling, or the dated releases of a family
 * `provider/name@*`. The same model at another provider does not match. */
export function entryAllows({ pattern }: Pick<ModelEntry, 'pattern'>, id: string): boolean {
  const spellings = [id, resolveModel(id, []) ?? id];
  if (!pattern.endsWith('@*')) return spellings.includes(pattern);
  const family = pattern.slice(0, -2);
  return spellings.some((one) => one === family || isRelease(family, one));
}

/** Whether a forbidding or limiting rule for an entry applies to this id; it applies under every provider. */
export const entryHolds = ({ pattern }: Pick<ModelEntry, 'pattern'>, id: string): boolean =>
  identityOf(pattern) === identityOf(id);

/** The other registered spellings of a canonical id, without provider or date. Ambiguous ones are left out. */
const SPELLINGS: ReadonlyMap<string, ModelId> = spellings([...new Set(ALIASES.values())]);

function spellings(ids: readonly ModelId[]): ReadonlyMap<string, ModelId> {
  const dated = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;
  const named = ids.flatMap((id) => {
    const bare = id.slice(id.indexOf('/') + 1);
    const names = [id, bare, id.replace(dated, ''), bare.replace(dated, '')].map(foldName);
    return [...new Set(names)].map((name) => ({ name, id }));
  });
  return new Map(
    [...Map.groupBy(named, ({ name }) => name)].flatMap(([name, [one, other]]) =>
      one === undefined || other !== undefined ? [] : [[name, one.id] as const],
    ),
  );
}

/** The rule that forbids a canonical id, or null. */
export function modelProblem(id: ModelId, rules: Rules): Reason | null {
  const denied = rules.deniedModels.find((entry) => entryHolds(entry, id));
  if (denied !== undefined) return denied.from;
  if (id === OFFLINE) return null;
  const without = rules.allowedModels.find((list) => !list.some((entry) => entryAllows(entry, id)));
  return without === undefined ? null : (without[0]?.from ?? builtIn('enforcement.allowedModels: []'));
}

/** The rule that forbids model calls to this host, or null. Pass the host that is really called. */
export const endpointProblem = (host: string, rules: Rules): Reason | null =>
  (rules.allowedEndpoints ?? []).find(({ value }) => !value.some((each) => each.toLowerCase() === host.toLowerCase()))
    ?.from ?? null;

export interface ModelRequest {
  /** The name that a plan, a flag or a person asked for; null: the role's first model. */
  readonly asked: string | null;
  readonly role: string;
  /** The role's models in order of preference, as written. */
  readonly fallbacks: readonly string[];
  readonly rules: Rules;
  readonly models: readonly ModelOption[];
  /** No provider is configured, so the offline analyst answers. */
  readonly offlineOnly: boolean;
  /** Whether the role uses the text protocol, or could (it has a shell). Absent: not considered. */
  readonly words?: 'only' | 'can' | 'never';
}

export interface ChosenModel {
  readonly choice: ModelChoice;
  /** Why it differs from the requested model; null when it does not. */
  readonly reason: Reason | null;
}

export interface NoModel {
  readonly text: string;
  /** The written rules that prevent it, for the end of the text. */
  readonly reasons: readonly Reason[];
}

/** The requested model if it is allowed and usable; otherwise the first such of the role; then of `allowedModels` or, without such a list, one of the
 * same grade from the catalogue; then the offline analyst if no provider is configured; otherwise a refusal that names the rules. */
export function chooseModel(wish: ModelRequest): Result<ChosenModel, NoModel> {
  const asked = wish.asked ?? wish.fallbacks[0] ?? null;
  if (asked === null) return instead(wish, 'offline', builtIn(`role ${wish.role} names no model`));
  const id = resolveModel(asked, wish.models);
  if (id === null && wish.asked !== null) return fail(unknown(asked, wish.models));
  const obstacle = id === null ? builtIn(`"${asked}" is not a known model`) : obstacleTo(id, wish);
  if (id !== null && obstacle === null) return ok({ choice: { asked, used: id, because: null }, reason: null });
  return instead(wish, asked, obstacle ?? builtIn('not usable'));
}

/** Models that may replace an unreachable one: allowed, usable, in order; none where fallback is denied. */
export function fallbackModels(wish: Omit<ModelRequest, 'asked'> & { readonly used: ModelId }): readonly ModelId[] {
  if (wish.rules.modelFallback.value === 'deny') return [];
  const usable = candidates(wish).filter((id) => id !== wish.used && id !== OFFLINE && obstacleTo(id, wish) === null);
  return [...new Set(usable)];
}

type Field = Pick<ModelRequest, 'fallbacks' | 'rules' | 'models' | 'offlineOnly' | 'words'>;

/** Why `id` cannot be used here: a rule, or that it cannot be called; null when it can. */
export function obstacleTo(id: ModelId, { rules, models, offlineOnly, words, fallbacks }: Field): Reason | null {
  const rule = modelProblem(id, rules);
  if (rule !== null) return rule;
  const foreign = foreignProblem(id, { fallbacks, rules });
  if (foreign !== null) return foreign;
  if (id === OFFLINE) return null;
  if (offlineOnly && !isForeign(id)) return builtIn('no provider');
  const option = models.find((model) => model.id === id);
  if (option === undefined) return builtIn(`no provider for ${id}`);
  return !option.usable.yes ? builtIn(option.usable.because) : speaksOtherwise(option, words);
}

/** An agent of another program works as its own role only, that role by nothing else, and neither under a cost limit. */
function foreignProblem(id: ModelId, { fallbacks, rules }: Pick<Field, 'fallbacks' | 'rules'>): Reason | null {
  if (isForeign(id) !== isForeignRole(fallbacks)) return builtIn(isForeign(id) ? OF_ITS_ROLE : NO_OTHER);
  return isForeign(id) ? priceProblem(null, rules, UNKNOWN_COST) : null;
}

export const isForeignRole = (fallbacks: readonly string[]): boolean => fallbacks.some(isForeign);
const OF_ITS_ROLE = 'an agent of another program works only as its own role';
const UNKNOWN_COST = 'what an agent of another program costs is not known before, so the limit cannot be enforced';
const NO_OTHER = 'the role is an agent of another program';

/** The text protocol needs a role with a shell. */
function speaksOtherwise({ label, tools, protocol }: ModelOption, words: ModelRequest['words']): Reason | null {
  if (protocol === 'text')
    return words === 'never' ? builtIn(`${label} works by commands (protocol: text), but the role has no shell`) : null;
  return tools === false && words !== 'only' ? builtIn(`${label} does not support tool calls`) : null;
}

/** Which protocols agents of a role can use. */
export const wordsOf = ({
  protocol,
  capabilities,
}: Pick<Role, 'protocol' | 'capabilities'>): 'only' | 'can' | 'never' =>
  protocol === 'text' ? 'only' : capabilities.includes('shell') ? 'can' : 'never';

/** The role's own models, then the known models of allow lists. */
function candidates({ fallbacks, rules, models }: Field): readonly ModelId[] {
  const own = fallbacks.map((name) => resolveModel(name, models)).filter((id) => id !== null);
  const listed = rules.allowedModels.flatMap((list) =>
    list.flatMap((entry) => models.map(({ id }) => id).filter((id) => entryAllows(entry, id))),
  );
  return [...own, ...listed];
}

/** Any usable model where no allow list exists: preferably of the requested grade, then with a known price (required where a cost limit is
 * set), then in the catalogue's order. */
function standIn(wish: ModelRequest, asked: string): ModelId | undefined {
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

function instead(wish: ModelRequest, asked: string, obstacle: Reason): Result<ChosenModel, NoModel> {
  const { rules } = wish;
  if (rules.modelFallback.value === 'deny') {
    const text = `${asked} cannot be used by ${wish.role}${aside(obstacle)}, and no other model may replace it`;
    return fail({ text, reasons: [obstacle, rules.modelFallback.from].filter(isWritten) });
  }
  const listed = candidates(wish).find((id) => id !== OFFLINE && obstacleTo(id, wish) === null);
  const found = listed ?? standIn(wish, asked);
  const mayBeOffline = wish.offlineOnly && obstacleTo(OFFLINE, wish) === null;
  const used = found ?? (mayBeOffline ? OFFLINE : null);
  if (used === null) return fail(nothingLeft(wish, asked, obstacle));
  const reason = used === OFFLINE ? builtIn('no provider') : obstacle;
  const because = reason.file === null ? reason.rule : `not allowed: ${reasonText(reason)}`;
  return ok({ choice: { asked, used, because }, reason });
}

/** Built-in rules have no location, and cannot be removed. */
export const isWritten = ({ layer }: Reason): boolean => layer !== 'default';
const aside = (reason: Reason): string => (isWritten(reason) ? '' : ` (${reason.rule})`);
const SOME = 12;

/** The asking agent may be in a sandbox without a command to look the names up. */
function unknown(asked: string, models: readonly ModelOption[]): NoModel {
  const names = [...new Set(models.filter(({ usable }) => usable.yes).map(({ label }) => label))];
  const more = names.length > SOME ? ', …; `mimir models` lists all' : '';
  return {
    text: `There is no model "${writtenName(asked)}"${names.length === 0 ? '' : `; available: ${names.slice(0, SOME).join(', ')}${more}`}`,
    reasons: [],
  };
}

function nothingLeft(wish: ModelRequest, asked: string, obstacle: Reason): NoModel {
  const { role, rules } = wish;
  const heads = [rules.deniedModels, ...rules.allowedModels].flatMap((list) => list.slice(0, 1));
  const all = [obstacle, ...heads.map(({ from }) => from)].filter(isWritten);
  const reasons = [...new Map(all.map((reason) => [reasonText(reason), reason])).values()];
  return { text: `No model is left for ${role}, which asked for ${asked}${aside(obstacle)}${unpriced(wish)}`, reasons };
}

/** The model that only lacks a price, and where to set it. */
function unpriced(wish: ModelRequest): string {
  if (wish.rules.allowedModels.length > 0) return '';
  const { id, label } = wish.models.find((one) => one.id !== OFFLINE && obstacleTo(one.id, wish) === null) ?? {};
  if (id === undefined) return '';
  const provider = providerOf(id);
  return `; ${label} could be used, but a cost limit is set and its price is unknown: set it under providers.${provider}.prices`;
}

// The models that a role asks for, in order: a usable model of its preferred grade, then the list in its file. Pure.

/** Names as written; the newest usable model of the preferred grade precedes them by its short name. */
export function modelsOfRole(
  role: Pick<Role, 'models' | 'prefers' | 'protocol' | 'capabilities'>,
  here: Pick<ModelRequest, 'rules' | 'models' | 'offlineOnly'>,
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

/** Per vendor the highest version first, by the numbers in the id; vendors in the catalogue's order, because versions of two vendors cannot
 * be compared. Equal versions keep the catalogue's order. */
function newestFirst(models: readonly ModelOption[]): readonly ModelOption[] {
  const makers = [...new Set(models.map(makerOf))];
  return models.toSorted(
    (a, b) => makers.indexOf(makerOf(a)) - makers.indexOf(makerOf(b)) || versionOf(b) - versionOf(a),
  );
}

const makerOf = ({ id }: ModelOption): string => providerOf(id);

/** `claude-opus-5-5` and `gpt-5.6-sol` have a minor version; a final date is none. */
function versionOf({ id }: ModelOption): number {
  const [, major = '0', minor = '0'] = /(\d{1,2})(?:[.-](\d{1,2}))?(?=-|$)/.exec(id.slice(id.lastIndexOf('/'))) ?? [];
  return Number(major) + Number(minor) / 100;
}

// Whether the answering model is the requested one, judged by name only.

/** Equal, or one is the dated release of the other (`…-20251001`, `-latest`). Private servers may add a tag (`qwen3` -> `qwen3:latest`). Two
 * different dates are two models. */
export function isSameModel(asked: ModelId, answered: ModelId): boolean {
  const [ours, theirs] = [foldName(asked), foldName(answered)];
  if (ours === theirs || isRelease(ours, theirs) || isRelease(theirs, ours)) return true;
  return theirs.startsWith(`${ours}:`) && /^[\w.-]+$/.test(theirs.slice(ours.length + 1));
}

/** The person's settings about model names in replies. */
interface Terms {
  /** Names under which the requested model may answer. */
  readonly answersAs: readonly string[];
  readonly own: boolean;
}

/** Whether the person allows the name, or it comes from a private server that may name its models freely. */
function isTaken(name: string, isKnown: boolean, terms: Terms | null, { allowedModels, deniedModels }: Rules): boolean {
  if (terms === null) return false;
  if (terms.answersAs.some((one) => foldName(one) === foldName(name))) return true;
  return terms.own && !isKnown && allowedModels.length + deniedModels.length === 0;
}

/** Why a reply from `answered` to a call of `asked` must not be used; null when it may. Another name must be allowed by the person, or be an unknown
 * name of a private server where no rule restricts models. The answering model is also judged as if requested, so that no forbidden model is used. */
export function answerProblem(
  asked: ModelId,
  answered: ModelId,
  terms: Terms | null,
  rules: Rules,
): Reason | 'another model' | null {
  if (isSameModel(asked, answered)) return null;
  const name = answered.slice(answered.indexOf('/') + 1);
  const known = [name, name.slice(name.lastIndexOf('/') + 1)].flatMap((one) => resolveModel(one, []) ?? []);
  return !isTaken(name, known.length > 0, terms, rules) ? 'another model' : modelProblem(answered, rules);
}
