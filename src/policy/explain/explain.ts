/** Explains policy decisions for people: the decision, every rule involved, and what would change it. The gate's own functions decide here
 * too; a change is offered only if deciding again with it allows more. */
import type { Role } from '../../domain/agents/role.ts';
import { type Reason, reasonText } from '../../domain/reason.ts';
import type { ModelRequest } from '../models.ts';
import { chooseModel, entryAllows, entryHolds, isWritten, modelProblem, obstacleTo, resolveModel } from '../models.ts';
import { roleNamed, roleProblem } from '../roles.ts';
import { builtIn, type ModelEntry, type Rules } from '../rules.ts';

/** The reason where nobody wrote a rule. */
const NO_RULE = builtIn('no rule denies it');

/** `substitute`: allowed, but with another model than requested. */
export type Outcome = 'allow' | 'ask' | 'deny' | 'substitute';

export interface TookPart {
  readonly reason: Reason;
  readonly says: Outcome | 'unclear';
  readonly decides: boolean;
}

export interface Explanation {
  /** `model haiku-4.5`, `command npm test`. */
  readonly subject: string;
  readonly decision: Outcome;
  /** The deciding rule; without one, a built-in reason. */
  readonly because: Reason;
  /** The deciding rule first, then the overruled ones. */
  readonly rules: readonly TookPart[];
  /** Empty when there is nothing more to allow. */
  readonly change: readonly string[];
  /** Names as written, with the resolved ids. */
  readonly resolved: readonly { readonly written: string; readonly id: string }[];
  /** The model that is used in the end; null for other subjects. */
  readonly used: string | null;
}

/** A change that would help. */
export interface Change<T> {
  readonly words: string;
  apply(given: T): T;
}

export const ruleChange = <T extends { readonly rules: Rules }>(
  words: string,
  alter: (rules: Rules) => Partial<Rules>,
): Change<T> => ({ words, apply: (given) => ({ ...given, rules: { ...given.rules, ...alter(given.rules) } }) });

const RANK: Readonly<Record<Outcome, number>> = { deny: 0, substitute: 1, ask: 1, allow: 2 };

/** Changes that help alone; otherwise the smallest helpful combination; otherwise a note that nothing helps. */
export function whatHelps<T>(given: T, changes: readonly Change<T>[], judge: (given: T) => Outcome): readonly string[] {
  const now = RANK[judge(given)];
  if (now === RANK.allow) return [];
  const helps = (some: readonly Change<T>[]): boolean =>
    RANK[judge(some.reduce((soFar, change) => change.apply(soFar), given))] > now;
  const alone = changes.filter((change) => helps([change]));
  if (alone.length > 0) return alone.map(({ words }) => words);
  if (!helps(changes)) return ['nothing: it is built in'];
  const needed = changes.toReversed().reduce((soFar, change) => {
    const rest = soFar.filter((each) => each !== change);
    return helps(rest) ? rest : soFar;
  }, changes);
  return [`only together: ${needed.map(({ words }) => words).join('; ')}`];
}

/** The deciding rule first, each rule once. */
export function ranked(because: Reason, others: readonly Omit<TookPart, 'decides'>[], says: Outcome): TookPart[] {
  const name = reasonText(because);
  const known = new Map(others.map((each) => [`${reasonText(each.reason)} ${each.says}`, each]));
  const own = [...known.values()].find(({ reason }) => reasonText(reason) === name);
  const rest = [...known.values()].filter((each) => each !== own).map((each) => ({ ...each, decides: false }));
  return [{ says, ...own, reason: because, decides: true }, ...rest];
}

/** `take "haiku-4.5" out of enforcement.deniedModels (managed, /etc/mimir/policy.yml:4)`. */
export const takeOut = (entry: string, from: Reason): string => `remove "${entry}" from ${keyWithPlace(from)}`;
const putInto = (entry: string, from: Reason): string => `add "${entry}" to ${keyWithPlace(from)}`;
export const changeRule = (from: Reason, to: string): string => `set ${to} (${placeText(from)})`;
export const changePlace = (from: Reason): string => `change ${keyWithPlace(from)}`;

/** Only the key, because its value may be long. */
const keyWithPlace = (from: Reason): string => `${from.rule.split(':')[0] ?? ''} (${placeText(from)})`;

function placeText({ layer, file, line }: Reason): string {
  if (file === null) return layer;
  return `${layer === 'managed' ? 'managed, by an administrator' : layer}, ${file}${line === null ? '' : `:${line}`}`;
}

// Why a model is or is not used, explained by `chooseModel` and `modelProblem`, which also decide in a run.

/** `wish.asked` is the name in question. A rule that forbids it is reported before other obstacles. */
export function explainModel(wish: ModelRequest & { readonly asked: string }): Explanation {
  const { asked, rules } = wish;
  const id = resolveModel(asked, wish.models);
  const chosen = chooseModel(wish);
  if (id === null) return unknown(asked, chosen.ok ? `"${asked}" is not a known model` : chosen.fault.text, rules);
  const decision = outcomeOf(wish);
  const rule = modelProblem(id, rules);
  const because = obstacleTo(id, wish) ?? grantOf(id, rules);
  return {
    subject: `model ${asked}`,
    decision,
    because,
    rules: ranked(because, partsOf(id, rules, decision), rule === null ? decision : 'deny'),
    change: decision === 'allow' ? [] : changeTexts(wish, id, rule !== null),
    resolved: [{ written: asked, id }, ...resolvedIn(rules).filter((one) => entryHolds({ pattern: one.id }, id))],
    used: chosen.ok ? chosen.value.choice.used : null,
  };
}

const unknown = (asked: string, text: string, rules: Rules): Explanation => ({
  subject: `model ${asked}`,
  decision: 'deny',
  because: builtIn(text),
  rules: ranked(builtIn(text), [], 'deny'),
  change: ['a known name'],
  resolved: resolvedIn(rules),
  used: null,
});

/** Other obstacles are reported as they are; rule changes are judged as if there were none. */
function changeTexts(wish: ModelRequest, id: string, ruled: boolean): readonly string[] {
  const callable = !wish.offlineOnly && wish.models.some((model) => model.id === id && model.usable.yes);
  if (!ruled && callable) return ['nothing: agents use tools, which it does not support'];
  if (!ruled) return ['a usable provider for it: `mimir doctor` shows what each one lacks'];
  const models = wish.models.map((model): typeof model => ({ ...model, usable: { yes: true } }));
  return whatHelps({ ...wish, models, offlineOnly: false }, changesFor(id, wish.rules), outcomeOf);
}

function outcomeOf(wish: ModelRequest): Outcome {
  const chosen = chooseModel(wish);
  if (!chosen.ok) return 'deny';
  return chosen.value.reason === null ? 'allow' : 'substitute';
}

/** The list entry that allows it, where somebody wrote a list. */
const grantOf = (id: string, { allowedModels }: Rules): Reason =>
  allowedModels.flat().find((each) => entryAllows(each, id))?.from ?? NO_RULE;

type Part = Omit<TookPart, 'decides'>;

function partsOf(id: string, rules: Rules, decision: Outcome): readonly Part[] {
  const denied = rules.deniedModels
    .filter((entry) => entryHolds(entry, id))
    .map(({ from }): Part => ({ reason: from, says: 'deny' }));
  const allowed = rules.allowedModels.flatMap((list): readonly Part[] => {
    const entry = list.find((each) => entryAllows(each, id));
    const from = entry?.from ?? list[0]?.from;
    return from === undefined ? [] : [{ reason: from, says: entry === undefined ? 'deny' : 'allow' }];
  });
  if (decision === 'allow') return [...denied, ...allowed];
  const { from, value } = rules.modelFallback;
  return [...denied, ...allowed, { reason: from, says: value === 'deny' ? 'deny' : 'substitute' }];
}

function changesFor(id: string, rules: Rules): readonly Change<ModelRequest>[] {
  const without = rules.deniedModels
    .filter((entry) => entryHolds(entry, id) && isWritten(entry.from))
    .map((entry) =>
      ruleChange<ModelRequest>(takeOut(entry.written, entry.from), ({ deniedModels }) => ({
        deniedModels: deniedModels.filter((each) => each !== entry),
      })),
    );
  const within = rules.allowedModels.flatMap((list) => {
    const [first] = list;
    if (first === undefined || list.some((entry) => entryAllows(entry, id))) return [];
    const added: ModelEntry = { written: id, pattern: id, from: first.from };
    return [
      ruleChange<ModelRequest>(putInto(id, first.from), ({ allowedModels }) => ({
        allowedModels: allowedModels.map((each) => (each === list ? [...each, added] : each)),
      })),
    ];
  });
  const { from } = rules.modelFallback;
  const listed = ruleChange<ModelRequest>(changeRule(from, 'enforcement.modelFallback: list'), () => ({
    modelFallback: { value: 'list', from },
  }));
  return [...without, ...within, ...(isWritten(from) ? [listed] : [])];
}

/** The entries of model lists with their resolved ids. */
export const resolvedIn = ({ allowedModels, deniedModels, modelBudgets = [] }: Rules): Explanation['resolved'] =>
  [...allowedModels.flat(), ...deniedModels, ...modelBudgets.map(({ model }) => model)]
    .filter(({ written, pattern }) => written !== pattern)
    .map(({ written, pattern }) => ({ written, id: pattern }));

type Roles = readonly Pick<Role, 'name' | 'models'>[];
type Ruled = Readonly<Record<'rules', Rules>>;

/** For the role of this name, in either spelling. */
export function explainRole(name: string, rules: Rules, roles: Roles): Explanation {
  const own = roleNamed(name, roles)?.name ?? name;
  const judge = (given: Ruled): Outcome => (roleProblem(name, given.rules, roles) === null ? 'allow' : 'deny');
  const decision = judge({ rules });
  const because = roleProblem(name, rules, roles)?.reason ?? roleGrant(own, rules);
  return {
    subject: `role ${name}`,
    decision,
    because,
    rules: ranked(because, roleParts(own, rules), decision),
    change: whatHelps({ rules }, roleChanges(own, rules), judge),
    resolved: own === name ? [] : [{ written: name, id: own }],
    used: null,
  };
}

const roleGrant = (role: string, { allowedSubAgents }: Rules): Explanation['because'] =>
  allowedSubAgents.find(({ value }) => value.includes(role))?.from ?? NO_RULE;

const roleParts = (role: string, { disabledRoles, allowedSubAgents, forcedAgents = [] }: Rules): readonly Part[] => [
  ...disabledRoles.filter((entry) => entry.role === role).map(({ from }): Part => ({ reason: from, says: 'deny' })),
  ...allowedSubAgents.map(({ value, from }): Part => ({ reason: from, says: value.includes(role) ? 'allow' : 'deny' })),
  // A mandatory review runs whatever the lists for plans contain.
  ...forcedAgents.filter(({ name }) => name === role).map(({ from }): Part => ({ reason: from, says: 'allow' })),
];

function roleChanges(role: string, rules: Rules): readonly Change<Ruled>[] {
  const on = rules.disabledRoles
    .filter((entry) => entry.role === role && isWritten(entry.from))
    .map((entry) =>
      ruleChange(takeOut('enabled: false', entry.from), ({ disabledRoles }) => ({
        disabledRoles: disabledRoles.filter((each) => each !== entry),
      })),
    );
  const listed = rules.allowedSubAgents
    .filter(({ value }) => !value.includes(role))
    .map((list) =>
      ruleChange(putInto(role, list.from), ({ allowedSubAgents }) => ({
        allowedSubAgents: allowedSubAgents.map((each) =>
          each === list ? { ...each, value: [...each.value, role] } : each,
        ),
      })),
    );
  return [...on, ...listed];
}
