/**
 * What came back of children to who called them: by how many tokens the caller's context grew for it.
 * Estimated from the text at first; counted once the provider has counted a request in which nothing else was new.
 */
import { tokensOf } from '../domain/budget.ts';
import type { EventOf } from './by-type.ts';
import type { EventBody } from './event.ts';
import type { AgentState, Growth, Returned } from './state.ts';

/** The tool whose calls have a child. */
const TASK = 'Task';
const BYTES_PER_TOKEN = 4;
/** A count that is so far from the estimate is one of something else: reasoning that was left out, say. */
const LEAST = 0.5;
const MOST = 4;
const SLACK = 200;

/**
 * For a state in which nobody reads the outputs of tools. The results of Task calls stay, because they are counted, and so does the first
 * line of a failed call, which the run's log shows.
 */
export function withoutOutput<E extends EventBody>(event: E): E {
  if (event.type !== 'tool.finished' || event.tool === TASK) return event;
  return { ...event, output: event.ok ? '' : event.output.slice(0, event.output.indexOf('\n') + 1 || undefined) };
}

/** May `withoutOutput` have left something out of this event? Then its whole output is in the log alone. */
export const isShortened = ({ ok, output }: EventOf<'tool.finished'>): boolean =>
  output === '' || (!ok && output.indexOf('\n') === output.length - 1);

type Part = Pick<AgentState, 'returns' | 'growth'>;

/** Something new stands in the context: a word, or the result of a tool. */
export function withNews({ returns = [], growth = NO_GROWTH }: Part, result?: EventOf<'tool.finished'>): Part {
  const next: Growth = { ...growth, since: growth.since + 1 };
  if (result?.tool !== TASK) return { ...(returns.length === 0 ? {} : { returns }), growth: next };
  const tokens = Math.ceil(Buffer.byteLength(result.output) / BYTES_PER_TOKEN);
  return {
    returns: [...returns, { call: result.call, tokens, by: 'estimate' }],
    growth: { ...next, returned: next.returned + 1 },
  };
}

/** A reply: its request was counted with all that was new in it. */
export function withReply({ returns, growth = NO_GROWTH }: Part, { usage, model }: EventOf<'model.finished'>): Part {
  const all = tokensOf(usage);
  // Our own analyst counts by the same estimate.
  const counts = all > 0 && !model.startsWith('offline/');
  const next: Growth = { counted: counts ? all : null, since: 0, returned: 0 };
  const last = returns?.at(-1);
  if (returns === undefined || last === undefined) return { growth: next };
  const grew = counts ? countedGrowth(growth, last, all - usage.output) : null;
  if (grew === null) return { returns, growth: next };
  return { returns: [...returns.slice(0, -1), { ...last, tokens: grew, by: 'provider' }], growth: next };
}

/** What the request grew by for the last answer, if for that alone. */
function countedGrowth({ counted, since, returned }: Growth, { tokens }: Returned, request: number): number | null {
  if (counted === null || since !== 1 || returned !== 1) return null;
  const grew = request - counted;
  return grew < LEAST * tokens || grew > MOST * tokens + SLACK ? null : grew;
}

export const NO_GROWTH: Growth = { counted: null, since: 0, returned: 0 };
