/** A run that is knocked at, by real sockets. */
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownPaths } from '../../src/remote/socket-paths.ts';
import { openControl } from '../../src/remote/server.ts';
import { reach } from '../../src/remote/client.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { AgentId } from '../../src/domain/ids.ts';
import { ok } from '../../src/domain/result.ts';
import type { Receipt, Tick } from '../../src/ports/controls.ts';
import { world } from '../../src/app/process/index.ts';
import { FINDER, FINISHED, familyFor, KNOCKED, knockedRun, message, said } from '../support/control-run.ts';
import { atDoor, agentSocketOf, HELLO, pathOf, raw, reached, served, somewhere } from '../support/knocking.ts';
import { until } from '../support/until.ts';
import { fakeWorld } from '../support/world.ts';

describe('a run that is knocked at', () => {
  it('S003, S004: answers the person: commands, sessions, events, letters', async () => {
    const { run, where } = await served();
    const person = await reached(where);
    run.record(said('one'));
    expect([person.session, person.as]).toEqual([KNOCKED, null]);
    expect(await person.controls.submit(message('hello'))).toEqual(ok({ text: 'done: message' }));
    expect(run.submitted).toEqual([{ command: message('hello'), by: null }]);
    expect(await person.family()).toEqual(familyFor(null));
    const detail = { last_words: 'of ROOT::S1', recent_tools: [], elapsed: 1 };
    expect(await person.detail(FINDER)).toEqual(ok(detail));
    expect(await person.events(null, 0)).toEqual(ok(run.stored));
    expect(await person.events(null, 1)).toEqual(ok([]));
    await person.poke();
    expect(run.pokes()).toBe(1);
  });

  it('D24: listens in the file system alone: no port is opened', async () => {
    const { where, control } = await served();
    await Promise.all([reached(where), atDoor(control)]);
    const open = process.getActiveResourcesInfo();
    expect(open).toContain('PipeWrap');
    expect(open.filter((name) => /TCP|UDP/.test(name))).toEqual([]);
  });

  it('S139: tells every event to everybody who follows, in order, until the run has ended', async () => {
    const { run, where } = await served();
    const screens = [await reached(where), await reached(where)];
    run.record(said('before\nand after a line'));
    const seen = Promise.all(screens.map((one) => all(one.controls.events(0))));
    run.record(said('half a pair \ud800, a zero \u0000'));
    run.record(FINISHED);
    expect(await seen).toEqual([run.stored, run.stored]);
    expect(await all(screens[0]?.controls.events(2) ?? noEvents())).toEqual(run.stored.slice(2));
    await until(() => run.watched().events === 0);
  });

  it('lets go of who has left, by the next event', async () => {
    const { run, where, control } = await served();
    const screen = await reached(where);
    const following = screen.controls.events(0)[Symbol.asyncIterator]().next();
    await until(() => run.watched().events === 1);
    screen.close();
    expect((await following).done).toBe(true);
    await until(() => control.clients() === 0);
    run.record(said('to nobody'));
    await until(() => run.watched().events === 0);
  });

  it('streams past what streams, to those who listen', async () => {
    const { run, where } = await served();
    const [one, other] = [await reached(where), await reached(where)];
    const heard: Tick[] = [];
    const stop = one.controls.ticks((tick) => heard.push(tick));
    await until(() => run.watched().ticks === 1);
    run.tick({ agent: FINDER, is: 'text', delta: 'It ' });
    run.tick({ agent: FINDER, is: 'text', delta: 'works' });
    run.tick({ agent: FINDER, is: 'call', delta: '{', tool: 'bash' });
    await until(() => heard.length === 2);
    expect(heard).toEqual([
      { agent: FINDER, is: 'text', delta: 'It works' },
      { agent: FINDER, is: 'call', delta: '{', tool: 'bash' },
    ]);
    stop();
    other.close();
    await until(() => run.watched().ticks === 0);
  });

  it('answers two screens and twenty verbs, ten questions each at once', async () => {
    const { run, where } = await served();
    const clients = await Promise.all(Array.from({ length: 22 }, () => reached(where)));
    const answers = await Promise.all(
      clients.flatMap((client, at) =>
        Array.from({ length: 10 }, (_, turn) => client.controls.submit(message(`${at}.${turn}`))),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 220 }, () => ok({ text: 'done: message' })));
    const texts = run.submitted.map(({ command }) => (command.do === 'message' ? command.text : ''));
    expect(new Set(texts).size).toBe(220);
  });

  it('says how many of the person are there: a screen is one, whatever it holds open, and agents are none', async () => {
    const { where, control } = await served();
    const told: number[] = [];
    const stop = control.onClients((clients) => told.push(clients));
    const [screen, verb] = [await reached(where), await reached(where)];
    const following = screen.controls.events(0)[Symbol.asyncIterator]().next();
    await atDoor(control);
    await until(() => told.length === 2);
    expect(control.clients()).toBe(2);
    verb.close();
    await until(() => control.clients() === 1);
    stop();
    screen.close();
    expect((await following).done).toBe(true);
    await until(() => control.clients() === 0);
    expect(told).toEqual([1, 2, 1]);
  });

  it('counts nobody who is gone, though what they asked for is still under way', async () => {
    const slow = Promise.withResolvers<Receipt>();
    const { run, where, control } = await served(knockedRun(async () => ok(await slow.promise)));
    const screen = await reached(where);
    const receipt = screen.controls.submit({ do: 'hand over', how: 'when quiet' });
    await until(() => run.submitted.length === 1);
    expect(control.clients()).toBe(1);
    screen.close();
    await expect(receipt).rejects.toThrow('the process that hosted the run has ended');
    await until(() => control.clients() === 0);
    slow.resolve({ text: 'handed over' });
  });

  it('answers what it was asked before it closes, and leaves no socket behind', async () => {
    const slow = Promise.withResolvers<Receipt>();
    const { run, where, control } = await served(knockedRun(async () => ok(await slow.promise)));
    const [path, door] = [pathOf(where), await agentSocketOf(control)];
    const person = await reached(where);
    const events = all(person.controls.events(0));
    const receipt = person.controls.submit({ do: 'hand over', how: 'when quiet' });
    await until(() => run.submitted.length === 1 && run.watched().events === 1);
    const closed = control.close();
    await until(() => ![path, door, where.note].some((one) => existsSync(one)));
    run.record(FINISHED);
    slow.resolve({ text: 'handed over' });
    expect(await receipt).toEqual(ok({ text: 'handed over' }));
    expect(await events).toEqual(run.stored);
    await closed;
    expect(await person.controls.lost).toBe('the run has ended here');
    await expect(person.family()).rejects.toThrow('the run has ended here');
    expect(await reach(where, KNOCKED)).toBeNull();
    expect(await control.agentSockets.open(FINDER)).toBeNull();
  });

  it('listens again when its folder was taken away, as a login’s is with the login', async () => {
    const world = fakeWorld();
    const { where, control } = await served(undefined, world);
    const [screen, path] = [await reached(where), pathOf(where)];
    const door = await agentSocketOf(control);
    await screen.family();
    rmSync(dirname(path), { recursive: true });
    expect(await reach(where, KNOCKED)).toBeNull();
    await world.advance(30_000);
    await until(() => knownPaths(where).length > 0);
    expect((await reached(where)).session).toBe(KNOCKED);
    expect(await screen.family()).toEqual(familyFor(null));
    expect(existsSync(door)).toBe(false);
    expect(await agentSocketOf(control)).toBe(door);
    expect((await atDoor(control)).as).toBe(FINDER);
  });

  it('answers whoever has ended its own side, and then hangs up', async () => {
    const { where } = await served();
    const client = await raw(pathOf(where));
    client.socket.end(`${HELLO}{"id":7,"ask":"poke"}\n{"id":8,"ask":"follow","after":0}\n{"id":9,"ask":"po`);
    expect(await client.heard).toEqual([
      { mimir: 'control', protocol: 1, session: KNOCKED, as: null },
      { id: 7, value: null },
    ]);
  });
});

describe('the door of an agent', () => {
  it('is for this user alone, the same at each call, and gone when it is closed', async () => {
    const { control } = await served();
    const path = await agentSocketOf(control);
    expect([lstatSync(path).mode & 0o777, lstatSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await agentSocketOf(control)).toBe(path);
    expect(await control.agentSockets.open(AgentId.parse('ROOT::S2'))).not.toBe(path);
    control.agentSockets.close(FINDER);
    // Revived at once: it has its door again.
    expect(await agentSocketOf(control)).toBe(path);
    expect((await atDoor(control)).as).toBe(FINDER);
    control.agentSockets.close(FINDER);
    await until(() => !existsSync(path));
  });

  it('lets in before the run can be asked, and answers then', async () => {
    const run = knockedRun();
    const control = openControl(somewhere(), world);
    const door = await atDoor(control);
    const family = door.family();
    await control.serve(run.given);
    expect(await family).toEqual(familyFor(FINDER));
    await control.close();
  });

  it('turns away whoever waits for a run that never came', async () => {
    const control = openControl(somewhere(), world);
    const family = (await atDoor(control)).family();
    await Promise.all([expect(family).rejects.toThrow('the run has ended here'), control.close()]);
  });

  it('holds thirty-two, and tells the next to come again', async () => {
    const { control } = await served();
    const path = await agentSocketOf(control);
    for (let at = 0; at < 32; at += 1) await (await raw(path)).next();
    await expect(atDoor(control)).rejects.toThrow('32 clients are already connected');
  });
});

async function all(events: AsyncIterable<MimirEvent>): Promise<readonly MimirEvent[]> {
  const seen: MimirEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

async function* noEvents(): AsyncGenerator<MimirEvent> {}
