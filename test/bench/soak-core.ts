/**
 * Many agents for long, over a wire that breaks now and then: who ended how, and whether Mimir's ledger says what the double
 * would bill. Used by the bench for minutes and by a test for seconds.
 */
import type { Bill } from '../support/double/double.ts';
import type { Script, WireFault } from '../support/double/script.ts';
import { openMeter } from './double/open.ts';
import { openPlace } from './place.ts';
import type { Cost } from './process.ts';
import { runToEnd } from './process.ts';
import { prose, readCall } from './work.ts';

export interface Soak {
  /** `node …` up to the arguments. */
  readonly program: readonly string[];
  readonly agents: number;
  /** How long each agent talks, about. */
  readonly seconds: number;
  /** Tokens a second of each agent. */
  readonly rate: number;
  /** Share of requests that a fault strikes. */
  readonly share: number;
  /** Seconds of one reply; after each the agent reads a file. */
  readonly replySeconds: number;
}

/** Tokens by class. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface Soaked extends Cost {
  readonly code: number | null;
  readonly err: string;
  /** How many agents ended so. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What Mimir's log charges for replies, and for calls that failed. */
  readonly ledger: {
    readonly answered: Tokens & { readonly calls: number };
    readonly failed: Tokens & { readonly calls: number };
  };
  /** Tokens of the whole run, as its last event has them. */
  readonly total: number;
  readonly retries: number;
  readonly bill: Bill;
  readonly prefixFaults: number;
}

/** What real providers and networks do: each is either refused before work began, or broken off in its midst. */
const FAULTS: readonly WireFault[] = [
  { is: 'status', status: 429, headers: { 'retry-after': '1' } },
  { is: 'status', status: 529 },
  { is: 'status', status: 500 },
  { is: 'cut', at: 'head' },
  { is: 'cut', at: 5 },
  { is: 'cut', at: 20 },
  { is: 'error event', at: 8, type: 'overloaded_error', message: 'Overloaded' },
  { is: 'bad event', at: 12 },
];

/** Runs it to its end. Never throws for what agents did: that is what is asked about. */
export async function soak({ program, agents, seconds, rate, share, replySeconds }: Soak): Promise<Soaked> {
  const turns = Math.max(2, Math.round(seconds / replySeconds));
  const double = await openMeter(scriptOf({ turns, rate, share, tokens: rate * replySeconds }));
  const place = openPlace(double.url);
  try {
    const ledger = openLedger();
    const args = ['run', 'Bench', '--plan', place.plan(agents), '--yes', '--json'];
    const ran = await runToEnd(place.command(program, args), {
      timeoutMs: seconds * 3000 + 120_000,
      onOut: (piece) => ledger.take(piece),
    });
    const { bill, prefixFaults } = await double.report();
    return { ...ran, ...ledger.sums(), bill, prefixFaults };
  } finally {
    await double.close();
    place.remove();
  }
}

const scriptOf = (of: { turns: number; rate: number; share: number; tokens: number }): Script => ({
  rate: of.rate,
  chaos: { share: of.share, faults: FAULTS, seed: 1 },
  rules: [
    ...Array.from({ length: of.turns }, (_, index) => ({
      when: { turn: index + 1, system: 'one agent of Mimir' },
      answer: { text: prose(of.tokens), ...(index + 1 < of.turns ? { calls: [readCall(index)] } : {}) },
    })),
    { answer: { text: 'done' } },
  ],
});

/** Adds up the events of `--json` as they come. */
function openLedger() {
  const [answered, failed] = [zero(), zero()];
  const outcomes: Record<string, number> = {};
  let [rest, total, retries] = ['', 0, 0];
  const take = (line: string): void => {
    const event: unknown = JSON.parse(line);
    const type = field(event, 'type');
    if (type === 'model.finished') add(answered, field(event, 'usage'));
    if (type === 'model.failed') add(failed, field(event, 'usage'));
    if (type === 'model.retry') retries += 1;
    if (type === 'session.finished') total = Number(field(field(event, 'totals'), 'tokens'));
    if (type !== 'agent.finished' || field(event, 'agent') === 'ROOT') return;
    const outcome = String(field(event, 'outcome'));
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  return {
    take(piece: string): void {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    },
    sums: () => ({ ledger: { answered, failed }, outcomes, total, retries }),
  };
}

const zero = () => ({ calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });

function add(sum: ReturnType<typeof zero>, usage: unknown): void {
  sum.calls += 1;
  for (const kind of CLASSES) sum[kind] += Number(field(usage, kind) ?? 0);
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;

/** Tokens by which two sums differ, class by class: what is too much in one doesn't make up for too little in another. */
export const differenceOf = (one: Tokens, other: Tokens): number =>
  CLASSES.reduce((sum, kind) => sum + Math.abs(one[kind] - other[kind]), 0);

const CLASSES = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

export const tokensOf = ({ input, output, cacheRead, cacheWrite }: Tokens): number =>
  input + output + cacheRead + cacheWrite;
