/**
 * Random trees of agents below random limits, who call models of random prices at once, fall back, are given more or less,
 * are killed and shorten their conversations, in any order; after every event what is used and promised is compared with
 * every limit, to the micro-dollar. A run of the engine with everything in it but time.
 */
import * as fc from 'fast-check';
import type { Budget, Usage } from '../../src/domain/budget.ts';
import { tokensOf } from '../../src/domain/budget.ts';
import type { AgentId } from '../../src/domain/ids.ts';
import { CallId, childOf, parentOf, ROOT, RoleName, SessionId, toMicro } from '../../src/domain/ids.ts';
import type { ModelOption } from '../../src/domain/plan/plan.ts';
import { reserve, settle } from '../../src/engine/gate/budget/reserve.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import { committed } from '../../src/events/queries.ts';
import type { RunState } from '../../src/events/state.ts';
import { EMPTY } from '../../src/events/state.ts';
import { scriptedModel } from './scripted.ts';

/** One thing that happens; numbers are taken modulo what there is. */
export type Gust =
  | { readonly is: 'ask'; readonly agent: number; readonly model: number; readonly bytes: number }
  | { readonly is: 'settle'; readonly call: number; readonly usage: Usage; readonly failed: boolean }
  /** A call that is broken off unpaid: its promise is free again. */
  | { readonly is: 'break'; readonly call: number }
  | { readonly is: 'add'; readonly agent: number; readonly tokens: number; readonly micro: number }
  | { readonly is: 'spawn'; readonly parent: number; readonly budget: Budget }
  | { readonly is: 'kill'; readonly agent: number };

export interface Storm {
  readonly run: Budget;
  readonly agents: readonly Budget[];
  readonly prices: readonly { readonly input: number; readonly output: number }[];
  readonly gusts: readonly Gust[];
}

const tokens = fc.integer({ min: 0, max: 120_000 });
const micro = fc.integer({ min: 0, max: 2_000_000 });
const index = fc.nat({ max: 63 });
const budget: fc.Arbitrary<Budget> = fc.record(
  { maxTokens: tokens, maxCost: micro.map((whole) => whole / 1_000_000) },
  { requiredKeys: [] },
);
const count = fc.oneof(fc.integer({ min: -3, max: 40_000 }), fc.constantFrom(Number.NaN, 0.5, 1e300, Infinity));
const usage = fc.record<Usage>({ input: count, output: count, cacheRead: count, cacheWrite: count });
const sane = fc.record<Usage>({
  input: fc.nat({ max: 3000 }),
  output: fc.nat({ max: 9000 }),
  cacheRead: fc.constant(0),
  cacheWrite: fc.constant(0),
});

const gust: fc.Arbitrary<Gust> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ is: fc.constant('ask'), agent: index, model: index, bytes: fc.nat({ max: 20_000 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('settle'),
      call: index,
      usage: fc.oneof(usage, sane),
      failed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('break'), call: index }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('add'), agent: index, tokens, micro }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('spawn'), parent: index, budget }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('kill'), agent: index }) },
);

/** Any storm: up to 60 things that happen to up to 64 agents. */
export const storm: fc.Arbitrary<Storm> = fc.record({
  run: budget,
  agents: fc.array(budget, { minLength: 1, maxLength: 6 }),
  prices: fc.array(
    fc.record({
      input: fc.double({ min: 0, max: 90, noNaN: true }),
      output: fc.double({ min: 0, max: 400, noNaN: true }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  gusts: fc.array(gust, { minLength: 5, maxLength: 60 }),
});

/** What a storm broke, a line each: nothing where all limits held. With `careful: false` promises are made and not kept. */
export function brokenIn({ run, agents, prices, gusts }: Storm, { careful = true } = {}): readonly string[] {
  const models = prices.map((price, n) => scriptedModel(`scripted/m${n}`, { price }));
  const ledger = new Ledger(run, agents);
  for (const [n, one] of gusts.entries()) blow(ledger, one, models, { n, careful });
  return ledger.broken;
}

const SESSION = SessionId.parse('storm');

interface OpenPromise {
  readonly agent: AgentId;
  readonly call: CallId;
  readonly model: ModelOption;
  readonly reserved: { readonly tokens: number; readonly cost: number };
}

/** The state as the log would give it, and what is compared after every event. */
class Ledger {
  readonly broken: string[] = [];
  readonly open: OpenPromise[] = [];
  readonly dead = new Set<AgentId>();
  state: RunState = EMPTY;
  /** Settled sums by hand, in whole micro-dollars. */
  private spent = { tokens: 0, micro: 0 };

  constructor(run: Budget, agents: readonly Budget[]) {
    this.record(created(ROOT, run), { type: 'budget.changed', agent: ROOT, budget: run, by: 'storm' });
    for (const [n, own] of agents.entries()) this.record(created(childOf(ROOT, n + 1), own));
  }

  record(...bodies: readonly EventBody[]): void {
    for (const body of bodies) {
      const event: MimirEvent = {
        ...body,
        v: 1,
        seq: this.state.seq + 1,
        time: '2026-01-01T00:00:00.000Z',
        session: SESSION,
      };
      this.state = fold(this.state, event);
      this.look(event);
    }
  }

  charge(amount: { readonly tokens: number; readonly micro: number }): void {
    this.spent = { tokens: this.spent.tokens + amount.tokens, micro: this.spent.micro + amount.micro };
  }

  /** I3, for all agents and the run. A limit that was lowered below what is used lets nothing more be promised. */
  private look(event: MimirEvent): void {
    if (event.type !== 'model.started') return;
    for (let at: AgentId | null = event.agent; at !== null; at = parentOf(at)) {
      const used = committed(this.state, at);
      const limit = at === ROOT ? this.state.budget : (this.state.agents.get(at)?.budget ?? {});
      if (used.limitTokens > (limit.maxTokens ?? Infinity))
        this.broken.push(`${at}: ${used.limitTokens} of ${limit.maxTokens} tokens`);
      if (toMicro(used.cost) > toMicro(limit.maxCost ?? Infinity))
        this.broken.push(`${at}: $${used.cost} of $${limit.maxCost}`);
    }
  }

  /** The sums of the state are those of the charges, exactly. */
  compare(): void {
    const all = committed(this.state, ROOT);
    const settled = { tokens: all.tokens - all.reservedTokens, micro: toMicro(all.cost) - toMicro(all.reservedCost) };
    if (settled.tokens !== this.spent.tokens || settled.micro !== this.spent.micro)
      this.broken.push(`the sum is ${settled.micro} micro-dollars, charged were ${this.spent.micro}`);
  }
}

const created = (agent: AgentId, own: Budget): EventBody => ({
  type: 'agent.created',
  agent,
  parent: parentOf(agent),
  role: RoleName.parse('finder'),
  name: agent,
  task: '',
  taskId: null,
  tools: [],
  budget: own,
  dependsOn: [],
  model: { asked: 'm', used: scriptedModel().id, because: null },
  iterations: 20,
});

interface How {
  readonly n: number;
  readonly careful: boolean;
}

function blow(ledger: Ledger, one: Gust, models: readonly ModelOption[], how: How): void {
  const living = [...ledger.state.agents.keys()].filter((id) => !ledger.dead.has(id));
  const agentAt = (n: number): AgentId => living[n % living.length] ?? ROOT;
  switch (one.is) {
    case 'ask':
      return ask(ledger, agentAt(one.agent), models[one.model % models.length], { ...how, bytes: one.bytes });
    case 'settle':
    case 'break':
      return end(ledger, one);
    case 'add': {
      const agent = agentAt(one.agent);
      const maxCost = one.micro / 1_000_000;
      return ledger.record({ type: 'budget.changed', agent, budget: { maxTokens: one.tokens, maxCost }, by: 'storm' });
    }
    case 'spawn': {
      const parent = agentAt(one.parent);
      const number = (ledger.state.agents.get(parent)?.children.length ?? 0) + 1;
      return ledger.record(created(childOf(parent, number), one.budget));
    }
    case 'kill':
      // Its calls under way are broken off later, and charged then: a promise outlives its agent.
      ledger.dead.add(agentAt(one.agent));
      ledger.dead.delete(ROOT);
  }
}

function ask(
  ledger: Ledger,
  agent: AgentId,
  model: ModelOption | undefined,
  { n, careful, bytes }: How & { readonly bytes: number },
): void {
  if (model === undefined) return;
  // Careless: what others hold is not looked at, as if each checked before any had written.
  const state = careful ? ledger.state : withoutPromises(ledger.state);
  const promise = reserve(state, { agent, model, inputBound: bytes, now: 0 });
  if (!promise.ok) return;
  const call = CallId.parse(`call-${n}`);
  const reserved = { tokens: promise.tokens, cost: promise.cost };
  ledger.open.push({ agent, call, model, reserved });
  ledger.record({ type: 'model.started', agent, call, model: model.id, purpose: 'work', reserved });
}

const withoutPromises = (state: RunState): RunState => ({
  ...state,
  agents: new Map([...state.agents].map(([id, one]) => [id, { ...one, open: [] }])),
});

function end(ledger: Ledger, one: Extract<Gust, { is: 'settle' | 'break' }>): void {
  const [given] = ledger.open.splice(one.call % Math.max(1, ledger.open.length), 1);
  if (given === undefined) return;
  const { agent, call, model, reserved } = given;
  const failed = { type: 'model.failed', agent, call, model: model.id, cause: 'cut', message: 'cut' } as const;
  if (one.is === 'break') ledger.record(failed);
  else {
    const { usage: used, cost, priced } = settle(model, one.usage, reserved);
    ledger.charge({ tokens: tokensOf(used), micro: toMicro(cost) });
    const charged = { usage: used, cost, priced };
    ledger.record(
      one.failed
        ? { ...failed, ...charged }
        : { type: 'model.finished', agent, call, model: model.id, ...charged, stopReason: 'end', ms: 0, calls: [] },
    );
    if (tokensOf(used) > reserved.tokens || toMicro(cost) > toMicro(reserved.cost))
      ledger.broken.push(`${call} was charged more than was promised`);
  }
  ledger.compare();
}
