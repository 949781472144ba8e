/** What came back of a Task call, in tokens of who called: the proof that nothing else did. */
import { describe, expect, it } from 'vitest';
import { CallId, ModelId, ROOT } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { agentAt, made, started, status, told, turn } from '../support/family-story.ts';

const LEAD = agentAt('ROOT::S1');
const text = (tokens: number): string => 'abcd'.repeat(tokens);

const reply = (call: string, input: number, output: number, model = 'anthropic/claude-haiku-4-5'): EventBody => ({
  type: 'model.finished',
  agent: LEAD,
  call: CallId.parse(call),
  model: ModelId.parse(model),
  usage: { input: 100, output, cacheRead: input - 100, cacheWrite: 0 },
  cost: 0,
  priced: true,
  stopReason: 'end',
  ms: 1,
  calls: [],
});
/** A call of Task comes back with so many tokens, by the estimate. */
const back = (call: string, tokens: number, name = 'Task'): EventBody => ({
  type: 'tool.finished',
  agent: LEAD,
  call: CallId.parse(call),
  tool: name,
  ok: true,
  output: text(tokens),
  ms: 5,
});

function after(...bodies: readonly EventBody[]): unknown {
  const events = told(
    [started(), made(ROOT, 'main', 'all'), made(LEAD, 'oracle', 'lead'), status(LEAD, 'running'), ...bodies].map(
      (body, at) => ({ at, body }),
    ),
  );
  return foldAll(events).agents.get(LEAD)?.returns;
}

describe('what comes back of a child', () => {
  it('is its answer, estimated until the next request was counted, and then as the provider counted it (T020, T021)', () => {
    const both = [reply('m1', 1000, 50), back('c1', 380)];
    expect([after(...both), after(...both, reply('m2', 1441, 20))]).toEqual([
      [{ call: 'c1', tokens: 380, by: 'estimate' }],
      [{ call: 'c1', tokens: 391, by: 'provider' }],
    ]);
  });

  it('stays an estimate where something else came into the same request', () => {
    const others: readonly EventBody[] = [
      back('c2', 300),
      back('c2', 12, 'read_file'),
      { type: 'agent.told', agent: LEAD, text: 'Hurry', messages: [] },
    ];
    for (const other of others) {
      const seen = after(
        reply('m1', 1000, 50),
        back('c1', 380),
        other,
        reply('m2', 1800, 20),
        back('c9', 9, 'read'),
        reply('m3', 1900, 9),
      );
      expect(seen).toContainEqual({ call: 'c1', tokens: 380, by: 'estimate' });
      expect(seen).not.toContainEqual(expect.objectContaining({ by: 'provider' }));
    }
  });

  it('stays an estimate where nothing counts, or the count is of something else', () => {
    const by = (...bodies: readonly EventBody[]): unknown => after(...bodies);
    const kept = [{ call: 'c1', tokens: 380, by: 'estimate' }];
    expect(
      by(reply('m1', 1000, 50, 'offline/analyst'), back('c1', 380), reply('m2', 1441, 20, 'offline/analyst')),
    ).toEqual(kept);
    expect(by(back('c1', 380), reply('m2', 1441, 20))).toEqual(kept);
    expect(by(reply('m1', 1000, 50), back('c1', 380), reply('m2', 1060, 20))).toEqual(kept);
    expect(by(reply('m1', 1000, 50), back('c1', 380), reply('m2', 9000, 20))).toEqual(kept);
  });

  it('is not there without a Task call', () => {
    expect(after(...turn(LEAD, 'm1', 9, 0), back('c1', 12, 'read_file'), ...turn(LEAD, 'm2', 9, 0))).toBeUndefined();
  });
});
