/**
 * What a person may choose at a limit, in words, and what an answer means. Pure; who is asked and what follows is
 * gate-limit.ts's.
 */
import type { Usd } from '../../../domain/ids.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { Reason } from '../../../domain/reason.ts';
import { reasonText } from '../../../domain/reason.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import type { Exhausted } from './limits.ts';
import { amountText } from './limits.ts';

export interface Offers {
  /** The limit as it would be, and the most that an amount in the answer may make of it; null when nothing may be added. */
  readonly add: { readonly from: number; readonly to: number; readonly most: number } | null;
  /** Why no more may be added than that. */
  readonly rule: Reason;
  readonly cheaper: { readonly model: ModelOption; readonly worst: Usd } | null;
}

/** As much as a budget can say. */
export const MOST = { cost: 1e6, tokens: 1e12, time: 1e10 } as const satisfies Readonly<
  Record<Exhausted['what'], number>
>;

export type Choice =
  | { readonly is: 'add'; readonly to: number }
  | { readonly is: 'finish' }
  | { readonly is: 'stop' }
  | { readonly is: 'cheaper'; readonly model: ModelOption };

/** `need`: what the call that did not fit may use at worst. `most`: null where nothing may ever be added. */
export function addition(exhausted: Exhausted, need: number, most: number | null): Offers['add'] {
  const { limit, spent } = exhausted;
  const from = Math.max(limit, spent);
  if (most === null || most <= limit) return null;
  const step = STEPS[exhausted.what];
  // Whole cents, thousands and seconds: an odd sum is hard to agree to.
  const to = Math.ceil((from + Math.max(limit, need)) / step - 1e-9) * step;
  return { from: limit, to: Math.min(most, Number(to.toFixed(6))), most };
}

const STEPS = { cost: 0.01, tokens: 1000, time: 1000 } as const;

/** The question, whole: whose limit, what is used of it, and the answers that there are. The first one spends nothing. */
export function requestFor(exhausted: Exhausted, owner: string, offers: Offers, note: string): ApprovalRequest {
  const { what, spent, limit, scope, agent } = exhausted;
  const rule = reasonText(offers.rule);
  const options = [
    'finish: hand over what there is',
    ...(offers.add === null ? [] : [addText(what, offers.add)]),
    ...(offers.cheaper === null ? [] : [cheaperText(offers.cheaper)]),
    'stop: end the run; mimir resume goes on',
  ];
  const used = `${amountText(what, spent)} of ${amountText(what, limit)} are ${what === 'time' ? 'used' : 'used or promised'}, and the next step does not fit.`;
  return {
    action: 'budget',
    title: `${WHOSE[scope](owner)} limit of ${amountText(what, limit)} is met`,
    exact: [...(note === '' ? [] : [note]), used, ceilingText(what, offers), ...options].join('\n'),
    options,
    unsandboxed: false,
    because: rule,
    same: `budget:${limitKey({ scope, agent, what, limit })}`,
  };
}

/** In front of `limit of $2.00`; `owner` is the name of the agent whose budget it is. */
const WHOSE = {
  run: () => "the run's",
  agent: (owner: string) => `${owner}'s`,
  day: () => "the day's",
  model: () => "the model's daily",
} as const satisfies Readonly<Record<Exhausted['scope'], (owner: string) => string>>;

/** One limit, as it stands now: raised, it is another one. */
export const limitKey = ({
  scope,
  agent,
  what,
  limit,
}: Pick<Exhausted, 'scope' | 'agent' | 'what' | 'limit'>): string =>
  `${scope === 'agent' ? agent : scope}:${what}:${limit}`;

function ceilingText(what: Exhausted['what'], { add, rule }: Offers): string {
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  return add.most < MOST[what]
    ? `At most ${amountText(what, add.most)}: ${reasonText(rule)}.`
    : 'No rule says how much.';
}

const addText = (what: Exhausted['what'], { from, to }: NonNullable<Offers['add']>): string =>
  `add: ${amountText(what, to - from)} more, ${amountText(what, to)} in all (or type an amount)`;

function cheaperText({ model, worst }: NonNullable<Offers['cheaper']>): string {
  const price =
    model.price === null ? '' : ` ($${model.price.input} in, $${model.price.output} out per million tokens)`;
  return `cheaper: go on with ${model.label}${price}, at most ${amountText('cost', worst)} for the next call`;
}

/** What an answer means; a text when it means nothing that is offered. An answer without words is the first option. */
export function choiceFrom(text: string, exhausted: Exhausted, offers: Offers): Choice | string {
  const said = text.trim();
  const [word = '', amount = ''] = said.toLowerCase().split(/[\s:]+/);
  switch (word) {
    case '':
    case 'finish':
      return { is: 'finish' };
    case 'stop':
      return { is: 'stop' };
    case 'cheaper':
      return offers.cheaper === null
        ? 'No cheaper model may be used and fits.'
        : { is: 'cheaper', model: offers.cheaper.model };
    case 'add':
      return added(said, amount, exhausted, offers);
    default:
      return typed(said, word, exhausted, offers);
  }
}

/** The offer's own words hold an amount as well: they are the offer, whatever it says. */
function added(said: string, amount: string, exhausted: Exhausted, offers: Offers): Choice | string {
  const { add, rule } = offers;
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  const isOffer = amount === '' || said === addText(exhausted.what, add);
  return isOffer ? { is: 'add', to: add.to } : typed(said, amount, exhausted, offers);
}

/** An amount of the person's own, within what the rules allow. */
function typed(said: string, amount: string, exhausted: Exhausted, { add, rule }: Offers): Choice | string {
  const { what, limit, spent } = exhausted;
  const asked = amountFrom(what, amount);
  if (asked === null || asked <= 0) return `"${said}" is none of the answers.`;
  if (add === null) return `No more may be added: ${reasonText(rule)}.`;
  const to = Math.max(limit, spent) + asked;
  if (to <= add.most) return { is: 'add', to };
  return `${amountText(what, asked)} more would be above ${amountText(what, add.most)}: ${reasonText(rule)}.`;
}

const UNITS = {
  cost: { '': 1 },
  tokens: { '': 1, k: 1000, m: 1_000_000 },
  time: { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000 },
} as const satisfies Readonly<Record<Exhausted['what'], Readonly<Record<string, number>>>>;

/** `2.00`, `$2`, `200k`, `5m`: in dollars, tokens, milliseconds. Null when it is no amount. */
function amountFrom(what: Exhausted['what'], text: string): number | null {
  const [, digits, unit = ''] = /^\$?(\d{1,12}(?:\.\d{1,6})?)([a-z]*)$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = UNITS[what];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (digits === undefined || factor === undefined) return null;
  const amount = Number(digits) * factor;
  return what === 'cost' ? amount : Math.round(amount);
}
