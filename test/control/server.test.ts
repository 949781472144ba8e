/** A run that is knocked at, by real sockets. */
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Control } from '../../src/control/server.ts';
import { openControl } from '../../src/control/server.ts';
import { reach, reachDoor } from '../../src/control/reach.ts';
import type { Where } from '../../src/control/places.ts';
import { whereOf } from '../../src/control/places.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import type { Reached } from '../../src/ports/control.ts';
import { world } from '../../src/verbs/world.ts';
import type { KnockedRun } from '../support/control-run.ts';
import { FINDER, FINISHED, familyFor, KNOCKED, knockedRun, message, said } from '../support/control-run.ts';
import { freshFolder } from '../support/folder.ts';

describe('a run that is knocked at', () => {
  it('S003, S004: answers the person: commands, previews, sessions, events', async () => {
    const { run, person } = await served();
    run.record(said('one'));
    expect(await person.controls.submit(message('hello'))).toEqual({ ok: true, value: { text: 'done: message' } });
    expect(run.submitted).toEqual([{ command: message('hello'), by: null }]);
    expect(await person.family()).toEqual(familyFor(null));
    expect(await person.detail(FINDER)).toEqual({
      ok: true,
      value: { last_words: 'of ROOT::S1', recent_tools: [], elapsed: 1 },
    });
    expect(await person.events(null, 0)).toEqual({ ok: true, value: run.stored });
    await person.poke();
    expect(run.pokes()).toBe(1);
  });

  it('S139: tells every event to everybody who follows, in order, until the run has ended', async () => {
    const { run, where, person } = await served();
    const other = await reached(where);
    run.record(said('before'));
    const seen = Promise.all([person, other].map((one) => all(one.controls.events(0))));
    run.record(said('after'));
    run.record(FINISHED);
    expect(await seen).toEqual([run.stored, run.stored]);
  });

  it('D27, I04: stamps an agent by its door, whatever it says of itself', async () => {
    const { run, control } = await served();
    const door = await atDoor(control);
    expect(door.as).toBe(FINDER);
    await door.controls.submit(message('from whom?'));
    expect(run.submitted).toEqual([{ command: message('from whom?'), by: FINDER }]);
    expect(await door.family()).toEqual(familyFor(FINDER));
  });
});

export interface Served {
  readonly run: KnockedRun;
  readonly where: Where;
  readonly control: Control;
  readonly person: Reached;
}

async function served(run: KnockedRun = knockedRun()): Promise<Served> {
  const where = somewhere();
  const control = openControl(where, world);
  onTestFinished(() => control.close());
  await control.serve(run.given);
  return { run, where, control, person: await reached(where) };
}

function somewhere(): Where {
  const stateDir = freshFolder();
  return whereOf({ stateDir, runtimeDir: join(stateDir, 'runtime'), project: '/', session: KNOCKED });
}

async function reached(where: Where): Promise<Reached> {
  const found = await reach(where, KNOCKED);
  if (found === null) throw new Error('nobody is there');
  onTestFinished(() => found.close());
  return found;
}

async function atDoor(control: Control): Promise<Reached> {
  const path = await control.doors.open(FINDER);
  if (path === null) throw new Error('there is no door');
  expect([lstatSync(path).mode & 0o777, lstatSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
  const door = await reachDoor(path);
  onTestFinished(() => door.close());
  return door;
}

const all = async (events: AsyncIterable<MimirEvent>): Promise<MimirEvent[]> => {
  const seen: MimirEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
};
