/** What the recorder hands out of a long log: events to those who follow the run, and what a resume reads. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import type { EventBody, MimirEvent } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { ResumedLog } from '../../../src/events/sessions/folded-log.ts';
import { openCalls } from '../../../src/engine/gate/tools/interrupted-call.ts';
import type { Log } from '../../../src/ports/log.ts';
import { openLog } from '../../../src/store/log.ts';
import { history } from '../../support/events.ts';
import { freshFolder } from '../../support/folder.ts';
import { memoryLog } from '../../support/log.ts';
import { fakeWorld } from '../../support/world.ts';
import { openRecorder } from '../../../src/engine/gate/recorder.ts';

const SESSION = SessionId.parse('long');
const NOON = '2026-01-01T12:00:00.000Z';
const mode = (at: number): EventBody => ({ type: 'session.mode', mode: at % 2 === 0 ? 'human' : 'confirm' });

/** A log of so many events that tells how many of them were taken out of it. */
function countedLog(events: number): { readonly log: Log; readonly taken: () => number } {
  const whole = memoryLog();
  whole.append(
    SESSION,
    NOON,
    Array.from({ length: events }, (_, at) => mode(at)),
  );
  let taken = 0;
  const log: Log = {
    ...whole,
    *each(session, after) {
      for (const event of whole.each(session, after)) {
        taken += 1;
        yield event;
      }
    },
  };
  return { log, taken: () => taken };
}

describe('who follows a run that has a long log', () => {
  it('takes what is stored one by one, however much there is of it', async () => {
    const { log, taken } = countedLog(1000);
    const recorder = openRecorder(log, SESSION, fakeWorld());
    const folded = taken();
    const events = recorder.events(0)[Symbol.asyncIterator]();
    for (const seq of [1, 2, 3]) {
      expect((await events.next()).value).toMatchObject({ seq });
      expect(taken() - folded).toBe(seq);
    }
  });

  it('hears every event once, in order, when more is recorded while it reads and after that', async () => {
    const { log } = countedLog(10);
    const recorder = openRecorder(log, SESSION, fakeWorld());
    const heard: number[] = [];
    for await (const { seq } of recorder.events(4)) {
      heard.push(seq);
      if (seq === 6 || seq === 10) recorder.record(mode(0), mode(1));
      if (seq === 12) void Promise.resolve().then(() => recorder.record(mode(0)));
      if (seq === 15) recorder.close();
    }
    expect(heard).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
  });

  it('hears the rest of what is stored when the run has ended meanwhile', async () => {
    const { log } = countedLog(10);
    const recorder = openRecorder(log, SESSION, fakeWorld());
    const heard: number[] = [];
    for await (const { seq } of recorder.events(0)) {
      heard.push(seq);
      if (seq === 2) recorder.close();
    }
    expect(heard).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('hears no more of a log that was closed before it had read all of it', async () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const log = openLog(place);
    log.append(
      SESSION,
      NOON,
      Array.from({ length: 1000 }, (_, at) => mode(at)),
    );
    const recorder = openRecorder(log, SESSION, fakeWorld());
    let heard = 0;
    for await (const { seq } of recorder.events(0)) {
      heard = seq;
      if (seq === 300) log.close();
    }
    // What was read with it is still told.
    expect(heard).toBe(400);
  });
});

describe('a recorder of a log that was read already', () => {
  it('reads only what came since, and has found the same', () => {
    const { log, taken } = countedLog(40);
    const folded = new ResumedLog();
    for (const event of log.each(SESSION)) if (event.seq <= 30) folded.hear(event);
    const before = taken();
    const recorder = openRecorder(log, SESSION, fakeWorld(), undefined, folded);
    expect(taken() - before).toBe(10);
    expect(recorder.initial).toEqual(foldAll(log.read(SESSION)));
    recorder.record(mode(0));
    expect(recorder.initial.seq).toBe(40);
    expect(recorder.state().seq).toBe(41);
  });
});

const filesIn = (events: readonly MimirEvent[]): readonly MimirEvent[] =>
  events.filter((event) => event.type === 'tool.finished' && event.saw !== undefined);

describe('what is kept of a log for a resume', () => {
  it('gives the same open calls, effects and files as the whole log, once', () => {
    fc.assert(
      fc.property(history, (bodies) => {
        const log = memoryLog();
        const events = log.append(SESSION, NOON, bodies);
        const recorder = openRecorder(log, SESSION, fakeWorld());
        const kept = recorder.takeEarlier();
        expect(openCalls(kept)).toEqual(openCalls(events));
        expect(filesIn(kept)).toEqual(filesIn(events));
        expect(recorder.takeEarlier()).toEqual([]);
      }),
    );
  });
});
