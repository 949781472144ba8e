/** Whoever reaches for a run and finds something odd: it is said in words, and never taken for an answer. */
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Where } from '../../src/remote/socket-paths.ts';
import { placeFor } from '../../src/remote/socket-paths.ts';
import { reach } from '../../src/remote/client.ts';
import { fail, ok } from '../../src/domain/result.ts';
import { ControlFault } from '../../src/ports/control.ts';
import type { Controls } from '../../src/ports/controls.ts';
import { FINDER, KNOCKED, knockedRun, message, said } from '../support/control-run.ts';
import { reached, served, somewhere } from '../support/knocking.ts';

const HELLO = { mimir: 'control', protocol: 1, session: KNOCKED, as: null };
const STRANGE = 'the process that hosts the run sent an invalid answer';

describe('who reaches for a run', () => {
  it.each([
    ['speaks another version', { ...HELLO, protocol: 2 }, 'the process there speaks version 2 of the protocol'],
    ['is no Mimir', { hello: 'world' }, 'the process that listens there is not Mimir'],
    ['does not name its session', { ...HELLO, session: '' }, 'does not name its session'],
    ['has no room', { bye: 'too many are here' }, 'too many are here'],
  ])('is told when what listens %s', async (_, hello, words) => {
    const where = await listening((socket) => socket.write(`${JSON.stringify(hello)}\n`));
    await expect(reach(where, KNOCKED)).rejects.toThrow(words);
  });

  it('finds nobody where somebody hangs up without a word', async () => {
    const where = await listening((socket) => void socket.destroy());
    expect(await reach(where, KNOCKED)).toBeNull();
  });

  it('takes no answer for what it is not', async () => {
    const where = await listening((socket) => {
      socket.write(`${JSON.stringify(HELLO)}\n`);
      socket.setEncoding('utf8').on('data', (asked: string) => {
        for (const [, id] of asked.matchAll(/"id":(\d)/g)) socket.write(`{"id":${id},"value":{"odd":true}}\n`);
      });
    });
    const person = await reached(where);
    const asked = [person.family(), person.detail(FINDER), person.controls.submit(message('x')), person.poke()];
    const all = await Promise.allSettled(asked);
    expect(all).toEqual(asked.map(() => ({ status: 'rejected', reason: new ControlFault(STRANGE) })));
  });

  it('hears what makes no sense as the end', async () => {
    const where = await listening((socket) => socket.write(`${JSON.stringify(HELLO)}\nnonsense\n`));
    expect(await (await reached(where)).controls.lost).toBe('the run sent an invalid message');
  });

  it('is told what went wrong with the source of events, and of what was never asked', async () => {
    const run = knockedRun();
    const controls: Controls = {
      ...run.given.controls,
      async *events(after) {
        yield* run.stored.filter(({ seq }) => seq > after);
        await Promise.reject(new Error('the disk is full'));
      },
    };
    const { where } = await served({ ...run, given: { ...run.given, controls } });
    run.record(said('one'));
    const events = (await reached(where)).controls.events(0)[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual(run.stored[0]);
    await expect(events.next()).rejects.toThrow(new ControlFault('follow failed: the disk is full'));
  });

  it('is refused in words by a command that can’t be done, or is too long to be asked', async () => {
    const { run, where } = await served(knockedRun(() => Promise.resolve(fail({ text: 'it has ended' }))));
    const { controls } = await reached(where);
    expect(await controls.submit(message('x'))).toEqual(fail({ text: 'it has ended' }));
    expect(await controls.submit(message('x'.repeat(1_100_000)))).toEqual(
      fail({ text: 'the request is too long: at most 1 MiB' }),
    );
    expect(run.submitted).toHaveLength(1);
  });

  it('is told of a command that broke, and the run goes on', async () => {
    const { where } = await served(knockedRun(() => Promise.reject(new Error('a bug'))));
    const person = await reached(where);
    expect(await person.controls.submit(message('x'))).toEqual(fail({ text: 'submit failed: a bug' }));
    expect(await person.events(null, 0)).toEqual(ok([]));
  });
});

/** Something that listens where the run should. */
async function listening(met: (socket: Socket) => void): Promise<Where> {
  const where = somewhere();
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => undefined));
    met(socket);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  const path = await placeFor(where, where.name);
  await new Promise<void>((resolve) => server.listen(path ?? '', resolve));
  return where;
}
