import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../src/domain/turn.ts';
import type { EventBody } from '../../src/events/event.ts';
import { openCalls } from '../../src/engine/gate/tools/interrupted-call.ts';
import { Conversation } from '../../src/events/turns.ts';
import { history } from '../support/events.ts';
import {
  asked,
  began,
  callId,
  created,
  FINDER,
  replied,
  REVIEWER,
  said,
  status,
  story,
  told,
  turnsOf,
  used,
} from '../support/story.ts';

const call = (id: string): ToolCall => ({ id: callId(id), tool: 'read_file', input: { path: 'src/a.ts' } });
const turns = (...bodies: readonly EventBody[]): ReturnType<typeof turnsOf> =>
  turnsOf(story(created(FINDER), ...bodies), FINDER);
const uncertain = (bodies: readonly EventBody[]): ReturnType<typeof openCalls> =>
  openCalls(story(...bodies)).filter(({ repeat }) => repeat === 'never');

describe('the conversation that the log knows', () => {
  it('is the task, the replies and the results, in order', () => {
    expect(
      turns(
        told(FINDER, 'find it'),
        asked(FINDER, 'c1'),
        replied(FINDER, 'c1', { calls: [call('t1'), call('t2')] }),
        said(FINDER, 'c1', 'I look'),
        began(FINDER, 't1'),
        began(FINDER, 't2'),
        used(FINDER, 't2', 'second'),
        used(FINDER, 't1', 'first', false),
        replied(FINDER, 'c2', { opaque: { signature: 'x' } }),
        said(FINDER, 'c2', 'Found.'),
      ),
    ).toEqual([
      { by: 'user', text: 'find it' },
      { by: 'model', text: 'I look', calls: [call('t1'), call('t2')] },
      {
        by: 'tools',
        results: [
          { call: 't1', ok: false, text: 'first' },
          { call: 't2', ok: true, text: 'second' },
        ],
      },
      { by: 'model', text: 'Found.', calls: [], opaque: { signature: 'x' } },
    ]);
  });

  it("has nothing of other agents' (H023)", () => {
    expect(turns(told(FINDER, 'find'), told(REVIEWER, 'review'), said(REVIEWER, 'c9', 'mine'))).toEqual([
      { by: 'user', text: 'find' },
    ]);
  });

  it.each(['output limit', 'refused'] as const)('leaves out a last reply that ended with %s', (stopReason) => {
    const cut = replied(FINDER, 'c1', { calls: [call('t1')], stopReason });
    expect(turns(told(FINDER, 'find'), cut)).toEqual([{ by: 'user', text: 'find' }]);
  });

  it('starts anew when the agent is retried', () => {
    expect(turns(told(FINDER, 'find'), replied(FINDER, 'c1'), status(FINDER, 'pending'), told(FINDER, 'find'))).toEqual(
      [{ by: 'user', text: 'find' }],
    );
  });

  it('goes on from a summary: its first turn, the summary, the last turns that were kept (I005)', () => {
    const before = [
      told(FINDER, 'find it'),
      replied(FINDER, 'c1', { calls: [call('t1')] }),
      used(FINDER, 't1', 'first'),
      replied(FINDER, 'c2', { calls: [call('t2')] }),
      used(FINDER, 't2', 'second'),
    ];
    const summary = [
      asked(FINDER, 'c3', 0, 0, 'compact'),
      replied(FINDER, 'c3'),
      said(FINDER, 'c3', 'what the model said of it'),
    ];
    const task = { by: 'user', text: 'find it' };
    const rest = [
      { by: 'model', text: '', calls: [call('t2')] },
      { by: 'tools', results: [{ call: 't2', ok: true, text: 'second' }] },
    ];
    const kept = (turns: number): EventBody => ({
      type: 'context.compacted',
      agent: FINDER,
      summary: 'SUMMARY',
      kept: turns,
      tokens: { before: 9, after: 3 },
    });
    expect(turns(...before, ...summary, kept(2))).toEqual([task, { by: 'user', text: 'SUMMARY' }, ...rest]);
    expect(turns(...before, ...summary, kept(0), told(FINDER, 'hurry'))).toEqual([
      task,
      { by: 'user', text: 'SUMMARY' },
      { by: 'user', text: 'hurry' },
    ]);
    // Begun and given up: nothing of it is in the conversation.
    expect(turns(...before, ...summary)).toHaveLength(5);
  });

  it('leaves out a call of the model that was not answered', () => {
    expect(turns(told(FINDER, 'find'), asked(FINDER, 'c1'))).toEqual([{ by: 'user', text: 'find' }]);
  });

  it('after a crash in the middle of tool calls has the answers there are, and names effects that are uncertain', () => {
    const calls = [call('done'), call('effect'), call('read'), call('not begun')];
    const bodies = [
      replied(FINDER, 'c1', { calls }),
      began(FINDER, 'done', 'never'),
      used(FINDER, 'done', 'ok'),
      began(FINDER, 'effect', 'never'),
      began(FINDER, 'read', 'safe'),
    ];
    expect(turns(...bodies)).toEqual([
      { by: 'model', text: '', calls },
      { by: 'tools', results: [{ call: 'done', ok: true, text: 'ok' }] },
    ]);
    expect(uncertain(bodies).map(({ call: id }) => id)).toEqual(['effect']);
  });

  it("names an effect that is uncertain although another agent ended a call of the same id: ids are the models' own", () => {
    const bodies = [
      began(FINDER, 'call-1', 'never'),
      began(REVIEWER, 'call-1', 'never'),
      used(REVIEWER, 'call-1', 'ok'),
    ];
    expect(uncertain(bodies).map(({ agent }) => agent)).toEqual([FINDER]);
  });

  it('leaves out a reply that was cut off and asked for again after a crash, also when there is more behind it', () => {
    const cut = [replied(FINDER, 'c1', { stopReason: 'output limit' }), said(FINDER, 'c1', 'half of')];
    const whole = [replied(FINDER, 'c2', { stopReason: 'end' }), said(FINDER, 'c2', 'whole')];
    const resumed: EventBody = { type: 'session.resumed', policyHash: '', version: '' };
    expect(turns(told(FINDER, 'find'), ...cut, resumed, told(FINDER, 'hurry'), ...whole)).toEqual([
      { by: 'user', text: 'find' },
      { by: 'user', text: 'hurry' },
      { by: 'model', text: 'whole', calls: [] },
    ]);
  });

  it('takes the answer of a read that was repeated after the crash, once', () => {
    expect(
      turns(
        replied(FINDER, 'c1', { calls: [call('t1')] }),
        began(FINDER, 't1'),
        began(FINDER, 't1'),
        used(FINDER, 't1', 'first'),
        used(FINDER, 't1', 'again'),
      ).at(-1),
    ).toEqual({ by: 'tools', results: [{ call: 't1', ok: true, text: 'again' }] });
  });

  it('puts an answer behind its call even when a message came in between', () => {
    expect(
      turns(
        replied(FINDER, 'c1', { calls: [call('t1')] }),
        began(FINDER, 't1'),
        told(FINDER, 'hurry'),
        used(FINDER, 't1', 'ok'),
      ),
    ).toEqual([
      { by: 'model', text: '', calls: [call('t1')] },
      { by: 'tools', results: [{ call: 't1', ok: true, text: 'ok' }] },
      { by: 'user', text: 'hurry' },
    ]);
  });

  it('is the same, told event by event and looked at after each, as read from the log at once', () => {
    fc.assert(
      fc.property(history, (bodies) => {
        const events = story(...bodies);
        const own = new Conversation(FINDER);
        for (const [at, event] of events.entries()) {
          own.take(event);
          expect(own.position().turns).toEqual(turnsOf(events.slice(0, at + 1), FINDER));
        }
      }),
    );
  });

  it('never answers a call that was not asked for, and keeps answers in the order of the calls', () => {
    fc.assert(
      fc.property(history, (bodies) => {
        const all = turnsOf(story(...bodies), FINDER);
        all.forEach((turn, index) => {
          if (turn.by !== 'tools') return;
          const before = all[index - 1];
          const asked = before?.by === 'model' ? before.calls.map(({ id }) => id) : [];
          const answered = turn.results.map((result) => result.call);
          expect(asked.filter((id) => answered.includes(id))).toEqual(answered);
        });
      }),
    );
  });
});
