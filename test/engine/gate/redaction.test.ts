/** What a run records and streams, without secrets; and what a recorder tells of it. */
import { describe, expect, it } from 'vitest';
import { openRedactor } from '../../../src/domain/text/redact.ts';
import { planDigest } from '../../../src/domain/digest.ts';
import type { SoundPlan } from '../../../src/domain/plan/plan.ts';
import { CallId, SessionId } from '../../../src/domain/ids.ts';
import { openRecorder, redactedTicks } from '../../../src/engine/gate/recorder.ts';
import type { EventBody } from '../../../src/events/event.ts';
import type { Tick } from '../../../src/ports/controls.ts';
import { memoryLog } from '../../support/log.ts';
import { AGENT } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const KEY = 'canary-key-of-a-test';
const redactor = openRedactor([KEY]);
const S1 = AGENT('ROOT::S1');

describe('a recorder with a redactor', () => {
  it('M03 stores, folds and tells an event without the key, in whatever field it was', () => {
    const log = memoryLog();
    const session = SessionId.parse('session');
    const recorder = openRecorder(log, session, fakeWorld(), redactor);
    const body = (words: string): EventBody => ({
      type: 'tool.started',
      agent: S1,
      call: CallId.parse('call-1'),
      tool: 'bash',
      label: `echo ${words}`,
      input: { command: [`echo ${words}`, { deep: words }] },
      repeat: 'never',
    });
    const [told] = recorder.record(body(KEY));
    expect(told).toMatchObject(body('[key]'));
    expect(log.read(session)).toEqual([told]);
    const clean: EventBody = { type: 'session.mode', mode: 'yolo' };
    expect(recorder.record(clean)[0]).toMatchObject(clean);
  });

  it('gives a plan without the key the digest of the plan that is recorded, which is the one that is approved', () => {
    const recorder = openRecorder(memoryLog(), SessionId.parse('session'), fakeWorld(), redactor);
    const plan: SoundPlan = { reason: `print ${KEY}`, tasks: [] };
    const digest = planDigest(plan);
    const bodies: readonly EventBody[] = [
      {
        type: 'plan.proposed',
        plan,
        digest,
        choices: { models: [], roles: [], limits: { maxTasks: 1, maxParallel: 1, run: {}, agent: {} } },
        by: 'x',
        ms: 1,
      },
      { type: 'plan.edited', plan, digest, edit: 'a task' },
      { type: 'plan.amended', plan, digest, changes: [], by: 'person' },
    ];
    for (const body of bodies) {
      const [told] = recorder.record(body);
      if (told === undefined || !('plan' in told)) throw new Error('no plan was recorded');
      expect([told.type, JSON.stringify(told).includes(KEY), told.digest]).toEqual([
        body.type,
        false,
        planDigest(told.plan),
      ]);
      expect(told.digest).not.toBe(digest);
    }
  });
});

describe('text that streams', () => {
  const shown = (ticks: readonly Tick[]): readonly Tick[] => {
    const seen: Tick[] = [];
    const show = redactedTicks((tick) => void seen.push(tick), redactor);
    for (const tick of ticks) show(tick);
    return seen;
  };
  const text = (delta: string, agent = S1): Tick => ({ agent, is: 'text', delta });

  it('M03 shows no part of a key that comes in pieces, and the rest at once', () => {
    expect(shown([text('it is '), text('canary-key'), text('-of-a-'), text('test, so')])).toEqual([
      text('it is '),
      text('[key], so'),
    ]);
  });

  it('keeps the name of the tool whose call is written', () => {
    const call = (delta: string): Tick => ({ agent: S1, is: 'call', tool: 'write_file', delta });
    expect(shown([call('{"a":"canary-key-'), call('of-a-test"}')])).toEqual([call('{"a":"'), call('[key]"}')]);
  });

  it('holds nothing back any more where it might be the beginning of a key for 24000 characters', () => {
    const seen: Tick[] = [];
    const endless = { ...redactor, open: (all: string) => all.length };
    const show = redactedTicks((tick) => void seen.push(tick), endless);
    show(text('x'.repeat(24_000)));
    expect(seen).toEqual([]);
    show(text('y'));
    expect(seen).toEqual([text(`${'x'.repeat(24_000)}y`)]);
  });

  it('holds back for each agent by itself, and what turns out to be none is shown', () => {
    const other = AGENT('ROOT::S2');
    expect(shown([text('canary-'), text('key-of-a-test', other), text('bird')])).toEqual([
      text('key-of-a-test', other),
      text('canary-bird'),
    ]);
  });
});
