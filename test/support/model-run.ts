/** A run on language models as its log has it: one agent waits for its provider, one fell back, one summarised, one has no price. */
import { AgentId, CallId, ModelId } from '../../src/domain/ids.ts';
import type { Usage } from '../../src/domain/budget.ts';
import { created, planned, Recording, runs, says, started } from './recorded-run.ts';

const SONNET = ModelId.parse('anthropic/claude-sonnet-4-5');
const GPT = ModelId.parse('openai/gpt-5');
const LOCAL = ModelId.parse('openrouter/moonshotai/kimi-k2-thinking-0905');

const agentId = (id: string): AgentId => AgentId.parse(id);

interface Call {
  readonly model?: ModelId;
  readonly usage?: Usage;
  readonly cost?: number;
  readonly priced?: boolean;
  /** What was said; a call without it is left open, with its reservation. */
  readonly text?: string;
}

/** A call of a model with its own numbers, `after` seconds from the start. */
export function calls(log: Recording, after: number, id: string, of: Call): Recording {
  const call = CallId.parse(`m${log.events.length}`);
  const { model = SONNET, usage, cost = 0, priced = true, text } = of;
  const agent = agentId(id);
  const reserved = { tokens: 9000, cost: priced ? 0.02 : 0 };
  log.at(after, { type: 'model.started', agent, call, model, purpose: 'work', reserved });
  if (text === undefined || usage === undefined) return log;
  const end = { stopReason: 'end', ms: 4000, calls: [] } as const;
  log.at(after + 4, { type: 'model.finished', agent, call, model, usage, cost, priced, ...end });
  return log.at(after + 4, { type: 'agent.message', agent, call, text });
}

/** A try that broke off, and the wait of 12 seconds before the next. */
export function waits(log: Recording, after: number, id: string, cause = 'rate limited'): Recording {
  const call = CallId.parse(`m${log.events.length}`);
  const agent = agentId(id);
  const model = SONNET;
  const reserved = { tokens: 9000, cost: 0.02 };
  log.at(after, { type: 'model.started', agent, call, model, purpose: 'work', reserved });
  const usage = { input: 1200, output: 40, cacheRead: 0, cacheWrite: 0 };
  const message = 'anthropic: 429, too many requests a minute; the limits of the account are in its console';
  log.at(after, { type: 'model.failed', agent, call, model, cause, message, usage, cost: 0.0042, priced: true });
  log.at(after, { type: 'model.retry', agent, call, model, cause, wait: 12_000, attempt: 2, attempts: 5 });
  const reason = `anthropic is ${cause}; next try in 12 s (2 of 5)`;
  return log.at(after, { type: 'agent.status', agent, status: 'waiting', reason, waitsFor: 'provider' });
}

/** 3 minutes and 12 seconds after its start, 5 seconds before the next try of the oracle. */
export function modelRun(): Recording {
  const log = created(planned(started(new Recording(), 'anthropic, openai')));
  runs(log, 1, 'ROOT');
  says(log, 7, 'ROOT', 'Planned.', 12_000, 0.0912);
  runs(log, 10, 'ROOT::S1');
  const long = { input: 3000, output: 1200, cacheRead: 41_000, cacheWrite: 6000 };
  calls(log, 12, 'ROOT::S1', { usage: long, cost: 0.0618, text: 'Fourteen callers so far.' });
  log.at(30, {
    type: 'context.compacted',
    agent: agentId('ROOT::S1'),
    summary: 'Callers: src/auth/tokens.ts, src/http/session.ts.\nNot looked at yet: test/.',
    kept: 2,
    tokens: { before: 182_000, after: 9400 },
  });
  calls(log, 180, 'ROOT::S1', {});
  runs(log, 10, 'ROOT::S2');
  const cause = 'overloaded: anthropic answers 529 since 14:03; status.anthropic.com says more';
  const rule = 'models.fallback in .mimir/config.yml:12';
  log.at(40, { type: 'model.fallback', agent: agentId('ROOT::S2'), from: SONNET, to: GPT, cause, rule });
  const usage = { input: 15_000, output: 900, cacheRead: 0, cacheWrite: 0 };
  calls(log, 41, 'ROOT::S2', { model: GPT, usage, cost: 0.0278, text: 'RFC 6819 asks for rotation.' });
  runs(log, 59, 'ROOT::S3');
  calls(log, 60, 'ROOT::S3', { usage, cost: 0.0585, text: 'Both calls read generation 7.' });
  waits(log, 185, 'ROOT::S3');
  runs(log, 96, 'ROOT::S4');
  calls(log, 100, 'ROOT::S4', { model: LOCAL, usage, priced: false, text: 'Moving rotation.' });
  return log;
}
