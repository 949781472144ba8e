import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelId } from '../../../../src/domain/ids.ts';
import {
  type Cause,
  chanceOf,
  LONGEST_WAIT,
  timeForMore,
  waitAfter,
  waitReason,
} from '../../../../src/engine/gate/model/call-scope.ts';
import {
  type Entry,
  type ProviderQueues,
  openProviderQueues,
  type Ticket,
  type QueueStatus,
} from '../../../../src/engine/gate/provider-queue.ts';
import { isSameModel } from '../../../../src/policy/models.ts';
import type { ModelFault } from '../../../../src/ports/model.ts';
import { type FakeWorld, fakeWorld } from '../../../support/world.ts';

/** The visitors of these tests go away after so many. */
const MOST_TRIES = 5;

const LIMITED: ModelFault = { is: 'rate limited', message: 'too many' };

/** Somebody who stands in line; `entry` is null until it has ended. */
interface Visitor {
  entry: Entry | null;
  readonly standings: QueueStatus[];
  readonly leave: () => void;
}

function visit(
  lines: ProviderQueues,
  more: { readonly provider?: string; readonly tries?: number; readonly patience?: number } = {},
): Visitor {
  const { provider = 'one', tries = 0, patience = Infinity } = more;
  const control = new AbortController();
  const mayWait = (standing: QueueStatus): boolean => standing.tries < MOST_TRIES && standing.wait <= patience;
  const visitor: Visitor = { entry: null, standings: [], leave: () => control.abort() };
  const onWait = (standing: QueueStatus): void => void visitor.standings.push(standing);
  void lines
    .of(provider)
    .enter({ tries, mayWait, onWait, signal: control.signal })
    .then((entry) => (visitor.entry = entry));
  return visitor;
}

const passOf = ({ entry }: Visitor): Ticket => {
  if (entry?.is !== 'ticket') throw new Error(`no pass: ${entry?.is ?? 'waiting'}`);
  return entry.ticket;
};
const inside = (visitors: readonly Visitor[]): number => visitors.filter(({ entry }) => entry?.is === 'ticket').length;

async function opened(): Promise<{
  readonly world: FakeWorld;
  readonly lines: ProviderQueues;
  readonly settle: () => Promise<void>;
}> {
  const world = fakeWorld();
  const settle = (): Promise<void> => world.advance(0);
  return { world, lines: openProviderQueues(world), settle };
}
/** A line whose first call was refused for two seconds. */
async function cooling(): Promise<Awaited<ReturnType<typeof opened>>> {
  const all = await opened();
  const first = visit(all.lines);
  await all.settle();
  passOf(first).refused(LIMITED, 2000);
  passOf(first).end();
  return all;
}

describe('the line in front of a provider', () => {
  it('is none while nothing is wrong, and none for other providers when something is (J01)', async () => {
    const { lines, settle } = await opened();
    const many = Array.from({ length: 64 }, () => visit(lines));
    await settle();
    expect(inside(many)).toBe(64);
    passOf(many[0] ?? visit(lines)).refused(LIMITED, 2000);
    const [here, there] = [visit(lines), visit(lines, { provider: 'two' })];
    await settle();
    expect([here.entry, there.entry?.is]).toEqual([null, 'ticket']);
    expect(here.standings).toEqual([{ fault: LIMITED, wait: 2000, tries: 0, downFor: 0 }]);
    here.leave();
  });

  it('lets one go first when the time is over, then two for each that got through (J01)', async () => {
    const { world, lines, settle } = await cooling();
    const many = Array.from({ length: 64 }, () => visit(lines));
    await world.advance(1999);
    expect(inside(many)).toBe(0);
    const waves: number[] = [];
    for (let through = 0; through < 64; ) {
      await world.advance(1);
      const now = inside(many);
      waves.push(now - through);
      for (const one of many.slice(through, now)) passOf(one).accepted();
      await settle();
      through = now;
      for (const one of many.slice(0, now)) passOf(one).end();
    }
    expect(waves).toEqual([1, 2, 4, 8, 16, 32, 1]);
    expect(world.sleepers()).toBe(0);
  });

  it('is served in the order they came; who leaves is not missed', async () => {
    const { world, lines } = await cooling();
    const [a, b, c] = [visit(lines), visit(lines), visit(lines)];
    a.leave();
    await world.advance(2000);
    expect([a.entry?.is, b.entry?.is, c.entry]).toEqual(['left', 'ticket', null]);
    // The one in front ends without a word: the next one goes.
    passOf(b).end();
    await world.advance(0);
    expect(c.entry?.is).toBe('ticket');
  });

  it('waits again when the first is refused, which counts as a try of all that stood there', async () => {
    const { world, lines, settle } = await cooling();
    const many = Array.from({ length: 5 }, () => visit(lines, { tries: 1 }));
    for (let tries = 2; tries < MOST_TRIES; tries += 1) {
      await world.advance(2000);
      const probe = many[tries - 2] ?? visit(lines);
      passOf(probe).refused(LIMITED, 2000);
      passOf(probe).end();
      await settle();
      expect(many.at(-1)?.standings.at(-1)).toEqual({
        fault: LIMITED,
        wait: 2000,
        tries,
        downFor: (tries - 1) * 2000,
      });
    }
    await world.advance(2000);
    passOf(many[3] ?? visit(lines)).refused(LIMITED, 2000);
    await settle();
    expect(many.at(-1)?.entry).toEqual({ is: 'hopeless', fault: LIMITED, tries: MOST_TRIES });
  });

  it('takes refusals of calls sent before the first one for no news', async () => {
    const { world, lines, settle } = await opened();
    const burst = Array.from({ length: 64 }, () => visit(lines));
    await settle();
    const again: Visitor[] = [];
    for (const one of burst) {
      passOf(one).refused(LIMITED, 1000);
      passOf(one).end();
      again.push(visit(lines, { tries: 1 }));
    }
    await settle();
    expect(again.every(({ standings }) => standings.length === 1 && standings[0]?.tries === 1)).toBe(true);
    await world.advance(1000);
    expect(inside(again)).toBe(1);
    for (const one of again) one.leave();
  });

  it('takes a call that was not refused for five seconds for one that got through', async () => {
    const { world, lines } = await cooling();
    const [a, b] = [visit(lines), visit(lines)];
    await world.advance(2000);
    await world.advance(4999);
    expect([a.entry?.is, b.entry]).toEqual(['ticket', null]);
    await world.advance(1);
    expect(b.entry?.is).toBe('ticket');
  });

  it('is left at once by who has no time for it, and by all when the key was refused (J07)', async () => {
    const { lines, settle } = await cooling();
    const [hasty, patient] = [visit(lines, { patience: 1999 }), visit(lines, { patience: 2000 })];
    await settle();
    expect([hasty.entry, patient.entry]).toEqual([{ is: 'hopeless', fault: LIMITED, tries: 0 }, null]);
    const refused: ModelFault = { is: 'unauthorised', message: 'no' };
    lines.of('one').close(refused);
    const late = visit(lines);
    await settle();
    expect([patient.entry, late.entry]).toEqual([
      { is: 'hopeless', fault: refused, tries: 0 },
      { is: 'hopeless', fault: refused, tries: 0 },
    ]);
    expect([lines.of('one').isClosed(), lines.of('two').isClosed(), lines.allDown()]).toEqual([true, false, true]);
  });

  it('never lets more calls be under way unproven than it says, and lets everybody go in the end', async () => {
    const act = fc.constantFrom('through', 'refused', 'end');
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 40 }), async (acts) => {
        const { world, lines, settle } = await cooling();
        const many = Array.from({ length: 12 }, () => visit(lines));
        const ended = new Set<Visitor>();
        let proven = 0;
        for (const what of [...acts, ...Array.from({ length: 60 }, () => 'through' as const)]) {
          const next = many.find((one) => one.entry?.is === 'ticket' && !ended.has(one));
          if (!next) {
            await world.advance(2000);
            continue;
          }
          const underWay = inside(many) - ended.size;
          expect(underWay).toBeLessThanOrEqual(proven + 1);
          ended.add(next);
          if (what === 'through') {
            passOf(next).accepted();
            proven += 1;
          }
          if (what === 'refused') {
            passOf(next).refused(LIMITED, 2000);
            proven = 0;
            // What was sent before says nothing of the time after it.
            for (const other of many.filter(({ entry }) => entry?.is === 'ticket')) {
              passOf(other).end();
              ended.add(other);
            }
          }
          passOf(next).end();
          await settle();
        }
        expect(many.every(({ entry }) => entry !== null)).toBe(true);
        expect(world.sleepers()).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a wait', () => {
  const cause = fc.constantFrom<Cause>('rate limited', 'overloaded', 'unreachable', 'cut', 'silent', 'malformed');

  it('is never longer than a minute, nor shorter than asked below that, whatever is asked (J02)', () => {
    const asked = fc.option(fc.oneof(fc.double(), fc.integer({ min: 0, max: 200_000 })), { nil: undefined });
    fc.assert(
      fc.property(
        cause,
        asked,
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (is, retryAfterMs, tries, chance) => {
          const fault = { is, message: '', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
          const wait = waitAfter(fault, tries, chance);
          expect(wait).toBeGreaterThanOrEqual(50);
          expect(wait).toBeLessThanOrEqual(LONGEST_WAIT);
          if (retryAfterMs !== undefined && retryAfterMs > 0 && Number.isFinite(retryAfterMs))
            expect(wait).toBeGreaterThanOrEqual(Math.round(Math.min(LONGEST_WAIT, retryAfterMs)));
        },
      ),
    );
  });

  it('is followed by no other try once the time of the provider is over', () => {
    const so = { tries: 9, lost: 1, failing: 59_000, downFor: 0, retryFor: 600_000, hasFallback: false };
    const left = (is: Cause, more: Partial<typeof so> = {}): number =>
      timeForMore({ is, message: '' }, { ...so, ...more });
    expect([left('overloaded'), left('overloaded', { failing: 600_000 })]).toEqual([541_000, 0]);
    expect([left('unreachable', { hasFallback: true }), left('rate limited', { hasFallback: true })]).toEqual([
      1000, 541_000,
    ]);
    expect(left('overloaded', { hasFallback: true, downFor: 60_000 })).toBe(0);
    expect([left('cut', { lost: 5 }), left('malformed', { lost: 2 }), left('refused')]).toEqual([0, 0, 0]);
  });

  it('is spread over all that its bound allows', () => {
    const at = (chance: number): number[] => [1, 2, 3, 4, 9].map((tries) => waitAfter(LIMITED, tries, chance));
    expect(at(1)).toEqual([500, 1000, 2000, 4000, 60_000]);
    expect(at(0.5)).toEqual([250, 500, 1000, 2000, 30_000]);
    expect(at(0)).toEqual([50, 50, 50, 50, 50]);
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-z-]{1,12}$/), (name) => {
        const chance = chanceOf(name);
        expect(chance >= 0 && chance < 1).toBe(true);
      }),
    );
  });

  it('tells who, why, how long and how often, as a sentence and as data', () => {
    const words = { cause: 'rate limited', wait: 12_000, attempt: 2, attempts: 5 } as const;
    const limited = { is: 'provider', why: 'anthropic is rate limited', wait: 12_000, attempt: 2 } as const;
    expect(waitReason('anthropic', words)).toEqual({
      reason: 'anthropic is rate limited; retrying in 12s (2 of 5)',
      waitingFor: { ...limited, attempts: 5 },
    });
    expect(waitReason('anthropic', { ...words, attempts: null })).toEqual({
      reason: 'anthropic is rate limited; retrying in 12s (try 2)',
      waitingFor: limited,
    });
    expect(waitReason('openai', { ...words, cause: 'unreachable', wait: 0, attempt: 1 })).toEqual({
      reason: 'openai cannot be reached; queued for a retry',
      waitingFor: { is: 'provider', why: 'openai cannot be reached', wait: null },
    });
  });
});

describe('the model that answered', () => {
  it.each([
    ['anthropic/claude-haiku-4-5', 'anthropic/claude-haiku-4-5', true],
    ['anthropic/claude-haiku-4-5', 'anthropic/claude-haiku-4-5-20251001', true],
    ['anthropic/claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4-5', true],
    ['openai/gpt-5', 'openai/gpt-5-2025-08-07', true],
    ['local/qwen3', 'local/qwen3:latest', true],
    ['local/Qwen3', 'local/qwen3', true],
    ['openai/gpt-5', 'openai/gpt-5-mini', false],
    ['openai/gpt-5', 'openai/gpt-5-mini-2025-08-07', false],
    ['anthropic/claude-haiku-4-5-20251001', 'anthropic/claude-haiku-4-5-20260101', false],
    ['anthropic/claude-haiku-4-5', 'anthropic/claude-opus-4-5', false],
    ['local/qwen3:8b', 'local/qwen3:70b', false],
  ])('asked as %s and named %s is the same: %s (A08)', (asked, answered, same) => {
    expect(isSameModel(ModelId.parse(asked), ModelId.parse(answered))).toBe(same);
  });
});
