/** What comes from who can't be trusted: at the doors of agents, and bytes of any kind. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/domain/ids.ts';
import { ok } from '../../src/domain/result.ts';
import { FINDER, familyFor, KNOCKED, message } from '../support/control-run.ts';
import { atDoor, agentSocketOf, HELLO, pathOf, raw, reached, served } from '../support/knocking.ts';
import { holding } from '../support/like.ts';
import { until } from '../support/until.ts';
import { fakeWorld } from '../support/world.ts';

const WISH = { prompt: 'count', role: null, model: null, name: null, wait: null, workingDir: null };
const HERE = { mimir: 'control', protocol: 1, session: KNOCKED, as: null };

describe('an agent at its door', () => {
  it('D27, I04: is who its door says, whatever it says of itself', async () => {
    const { run, control } = await served();
    const client = await raw(await agentSocketOf(control));
    const forged = [
      { ...message('one'), from: 'ROOT', by: 'person', as: null },
      { do: 'spawn', parent: ROOT, wish: WISH },
      { do: 'spawn', wish: WISH },
      { do: 'complete', agent: ROOT, status: 'completed', message: 'all done' },
    ];
    client.socket.write(HELLO);
    for (const [id, command] of forged.entries()) {
      client.socket.write(`${JSON.stringify({ id, ask: 'submit', command, as: null, by: ROOT, from: 'person' })}\n`);
    }
    await until(() => run.submitted.length === 4);
    expect(run.submitted).toEqual([
      { command: message('one'), by: FINDER },
      { command: { do: 'spawn', parent: FINDER, wish: WISH }, by: FINDER },
      { command: { do: 'spawn', parent: FINDER, wish: WISH }, by: FINDER },
      { command: { do: 'complete', agent: FINDER, status: 'completed', message: 'all done' }, by: FINDER },
    ]);
  });

  it('D27: asks for itself, as far as it may see', async () => {
    const { run, control } = await served();
    const door = await atDoor(control);
    expect([door.as, door.session]).toEqual([FINDER, KNOCKED]);
    expect(await door.family()).toEqual(familyFor(FINDER));
    expect((await door.detail(FINDER)).ok).toBe(true);
    expect(await door.detail(ROOT)).toEqual({ ok: false, fault: 'you may not look into ROOT' });
    expect(await door.events(null, 0)).toEqual({ ok: false, fault: 'you may not read the whole run' });
    expect(await door.events(FINDER, 0)).toEqual(ok(run.stored));
  });

  it('I06: is refused whatever is a person’s: modes, answers, plans, what others say, letters', async () => {
    const { run, control } = await served();
    const door = await atDoor(control);
    const { controls } = door;
    expect(await controls.submit({ do: 'set mode', mode: 'yolo' })).toEqual({
      ok: false,
      fault: { text: `an agent may not set mode: only a person may` },
    });
    const others = [
      { do: 'answer', approval: 'a1', allow: true, scope: 'session' },
      { do: 'approve plan', digest: '' },
      { do: 'set budget', agent: FINDER, budget: { maxCost: 100 } },
      { do: 'resume', agent: FINDER },
      { do: 'hand over', how: 'now' },
      { do: 'stop run', reason: 'tired' },
    ] as const;
    for (const command of others) expect((await controls.submit(command)).ok).toBe(false);
    await expect(door.poke()).rejects.toThrow(`an agent may not ask for "poke"`);
    await expect(controls.events(0)[Symbol.asyncIterator]().next()).rejects.toThrow(
      `an agent may not ask for "follow"`,
    );
    controls.ticks(() => undefined);
    await controls.submit(message('the last of these'));
    expect(run.watched()).toEqual({ events: 0, ticks: 0 });
    expect(run.submitted).toEqual([{ command: message('the last of these'), by: FINDER }]);
  });
});

describe('a stranger', () => {
  it('is told what is wrong with a request, and may go on', async () => {
    const { run, where } = await served();
    const client = await raw(pathOf(where));
    client.socket.end(
      [
        HELLO.trim(),
        '{"id":1,"ask":"dance"}',
        '{"id":2,"ask":"submit","command":{"do":"kill","agent":"somebody"}}',
        '{"id":3,"ask":"submit","command":{"do":"kill","agent":"ROOT::S1","all":true}}',
        '{"id":4,"ask":"follow","after":-1}',
        '{"id":5,"ask":"poke","__proto__":{"ask":"family"}}',
        '{"id":6,"ask":"poke"}\n',
      ].join('\n'),
    );
    const [hello, ...answers] = await client.heard;
    expect(hello).toEqual(HERE);
    expect(answers).toEqual([
      { id: 1, refused: holding(`invalid request: ask: `) },
      { id: 2, refused: `invalid request: command.agent: an agent id has the form ROOT::S1::S2` },
      { id: 3, refused: holding('"all"') },
      { id: 4, refused: holding('after: ') },
      { id: 5, refused: holding('__proto__') },
      { id: 6, value: null },
    ]);
    expect(run.submitted).toEqual([]);
  });

  it('follows once on one connection, however often it asks', async () => {
    const { run, where } = await served();
    const client = await raw(pathOf(where));
    client.socket.write(`${HELLO}${'{"id":1,"ask":"follow","after":0}\n'.repeat(100)}`);
    await client.next();
    for (let at = 1; at < 100; at += 1) {
      expect(await client.next()).toEqual({ id: 1, refused: 'this connection already follows the run: open another' });
    }
    expect(run.watched().events).toBe(1);
  });

  it.each([
    ['no hello', 'GET / HTTP/1.1\n', 'the first line must be {"mimir":"control","protocol":1}'],
    ['another version', '{"mimir":"control","protocol":2}\n', 'you speak version 2 of the protocol'],
    ['no JSON', `${HELLO}kill everything\n`, 'not a request: send JSON with an "id", up to 1 MiB per line'],
    ['no number', `${HELLO}{"ask":"poke"}\n`, 'not a request: send JSON with an "id", up to 1 MiB per line'],
    ['no text', Buffer.from([...Buffer.from(HELLO), 0xff, 0xfe, 0x0a]), 'not a request'],
    ['5 MB in one line (I04)', `${HELLO}{"id":1,"text":"${'x'.repeat(5_000_000)}`, 'not a request'],
    ['a million brackets', `${HELLO}${'['.repeat(1_000_000)}\n`, 'not a request'],
  ])('is told why, and hung up on, who sends %s', async (_, bytes, words) => {
    const { run, where } = await served();
    const client = await raw(pathOf(where));
    client.socket.end(bytes);
    const heard = await client.heard;
    expect(heard).toEqual([HERE, { bye: holding(words) }]);
    expect(run.submitted).toEqual([]);
  });

  it('is hung up on when it never says hello', async () => {
    const world = fakeWorld();
    const { where } = await served(undefined, world);
    const client = await raw(pathOf(where));
    await client.next();
    await world.advance(10_000);
    expect(await client.next()).toEqual({ bye: 'no hello was received' });
    await world.advance(1000);
    await client.heard;
  });

  it('whose line is not ended when it dies has asked for nothing, wherever it was cut', async () => {
    const { run, where } = await served();
    const whole = `${HELLO}${JSON.stringify({ id: 1, ask: 'submit', command: message('cut') })}`;
    const path = pathOf(where);
    for (let length = 0; length <= whole.length; length += 7) {
      const client = await raw(path);
      client.socket.write(whole.slice(0, length), () => client.socket.destroy());
      await client.heard;
    }
    await (await reached(where)).poke();
    expect(run.submitted).toEqual([]);
  });

  it('ends neither the run nor the socket, and changes nothing, whatever bytes it sends', async () => {
    const { run, where } = await served();
    const path = pathOf(where);
    const json = fc.json({ maxDepth: 3 }).map((text) => Buffer.from(`${text}\n`));
    const asked = fc
      .record({
        id: fc.oneof(fc.nat(), fc.anything()),
        ask: fc.constantFrom('submit', 'family', 'detail', 'events', 'follow', 'ticks', 'mode', 'plan', 'x'),
        command: fc.oneof(fc.anything(), fc.record({ do: fc.constantFrom('kill', 'spawn'), agent: fc.anything() })),
        agent: fc.anything(),
        after: fc.anything(),
      })
      .map((request) =>
        Buffer.from(`${JSON.stringify(request, (_, each: unknown) => (typeof each === 'bigint' ? 0 : each))}\n`),
      );
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      json,
      asked,
    );
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(piece, { maxLength: 6 }), async (hello, pieces) => {
        const client = await raw(path);
        client.socket.end(Buffer.concat([Buffer.from(hello ? HELLO : ''), ...pieces]));
        await client.heard;
      }),
      { numRuns: 150 },
    );
    await until(() => run.watched().ticks === 0);
    const person = await reached(where);
    expect(await person.family()).toEqual(familyFor(null));
    expect([run.submitted, run.stored]).toEqual([[], []]);
  });
});
