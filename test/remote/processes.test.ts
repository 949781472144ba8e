/** Runs in processes of their own: how they are reached, how they are lost, how they are started. */
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ProcessRequest, StartedProcess } from '../../src/remote/host.ts';
import { startProcess } from '../../src/remote/host.ts';
import { reach, reachSocket } from '../../src/remote/client.ts';
import { readLine } from '../../src/remote/wire.ts';
import { TaskId } from '../../src/domain/ids.ts';
import { ControlFault } from '../../src/ports/control.ts';
import { FINDER, familyFor, KNOCKED, message, said } from '../support/control-run.ts';
import { freshFolder } from '../support/folder.ts';
import { holding } from '../support/like.ts';
import { hosted, pathOf, raw, reached } from '../support/knocking.ts';
import { until } from '../support/until.ts';

describe('a run in another process', () => {
  it('S003: says what changes would do, from before its first event to the last', async () => {
    const { where } = await hosted();
    const { controls } = await reached(where);
    const preview = { refused: null, looser: true, changes: ['all at 0'], answers: 0 };
    expect(await controls.previewMode('yolo')).toEqual(preview);
    expect(await controls.previewMode('confirm', FINDER)).toEqual({
      ...preview,
      looser: false,
      changes: ['ROOT::S1 at 0'],
    });
    expect(await controls.previewPlan([])).toEqual({ ok: false, fault: 'no edits, no plan' });
    expect(await controls.previewPlan([{ is: 'drop', task: TaskId.parse('t1') }])).toEqual({
      ok: true,
      value: { plan: { reason: 'none', tasks: [] }, digest: 'of 1', base: 'before', changes: [] },
    });
  });

  it('is lost when it is killed, and everybody hears of it in words', async () => {
    const { where, child, door } = await hosted();
    const [person, agent] = [await reached(where), await reachSocket(door)];
    onTestFinished(() => agent.close());
    const following = person.controls.events(0)[Symbol.asyncIterator]().next();
    const waiting = person.family();
    await waiting;
    child.kill('SIGKILL');
    const gone = 'the process that hosted the run has ended';
    await expect(following).rejects.toThrow(new ControlFault(gone));
    expect(await person.controls.lost).toBe(gone);
    await expect(person.controls.submit(message('hello?'))).rejects.toThrow(new ControlFault(gone));
    await expect(person.controls.events(0)[Symbol.asyncIterator]().next()).rejects.toThrow(new ControlFault(gone));
    expect((await person.controls.previewMode('yolo')).refused).toBe(gone);
    expect(await person.controls.previewPlan([])).toEqual({ ok: false, fault: gone });
    expect(await reach(where, KNOCKED)).toBeNull();
    await expect(agent.family()).rejects.toThrow(new ControlFault(gone));
    await expect(reachSocket(door)).rejects.toThrow(`nothing listens at ${door}: the run of this agent has ended`);
  });

  it('is reached again when another process carries it on', async () => {
    const state = freshFolder();
    const first = await hosted(state);
    const before = await reached(first.where);
    first.child.kill('SIGKILL');
    await before.controls.lost;
    const second = await hosted(state);
    expect(second.door).toBe(first.door);
    expect(await (await reached(second.where)).family()).toEqual(familyFor(null));
  });

  it('ends with its last event, and every client with it', async () => {
    const { where, child, door } = await hosted();
    const person = await reached(where);
    const seen = person.controls.events(0)[Symbol.asyncIterator]();
    await person.controls.submit(message('begun'));
    await seen.next();
    expect(await person.controls.submit({ do: 'stop run', reason: 'enough' })).toMatchObject({ ok: true });
    expect((await seen.next()).value).toMatchObject({ type: 'session.finished' });
    expect(await seen.next()).toEqual({ done: true, value: undefined });
    expect(await person.controls.lost).toBe('the run has ended here');
    await until(() => child.exitCode !== null);
    expect([child.exitCode, existsSync(door), existsSync(where.note)]).toEqual([0, false, false]);
  });

  it('answers late what it was asked while it stood still, and one that dies meanwhile leaves nothing open', async () => {
    const { where, child } = await hosted();
    const { controls } = await reached(where);
    child.kill('SIGSTOP');
    const late = controls.previewMode('confirm');
    child.kill('SIGCONT');
    expect(await late).toMatchObject({ refused: null, changes: ['all at 0'] });
    child.kill('SIGSTOP');
    const open = [controls.previewMode('yolo'), controls.previewPlan([])];
    child.kill('SIGKILL');
    const gone = 'the process that hosted the run has ended';
    expect(await Promise.all(open)).toEqual([
      { refused: gone, looser: false, changes: [], answers: 0 },
      { ok: false, fault: gone },
    ]);
  });

  it('notices nothing of clients that are killed in the middle of a word', async () => {
    const { where } = await hosted();
    for (let at = 0; at < 20; at += 1) {
      const client = await raw(pathOf(where));
      client.socket.write(`{"mimir":"control","protocol":1}\n{"id":1,"ask":"follow","after":0}\n{"id":2,"ask":"sub`);
      if (at % 2 === 0) await client.next();
      client.socket.destroy();
    }
    const person = await reached(where);
    expect(await person.controls.submit(message('still there?'))).toMatchObject({ ok: true });
    expect(await person.events(null, 0)).toMatchObject({ ok: true, value: [said('still there?')] });
  });
});

describe('a process of its own', () => {
  it('has its own session, no terminal and no input, the given folder and environment, and a private output', async () => {
    const cwd = freshFolder();
    const code = `
      const { readFileSync } = require('node:fs');
      const stat = readFileSync('/proc/self/stat', 'utf8');
      const [, , , group, session, tty] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
      const input = readFileSync(0).length;
      console.log(JSON.stringify({ pid: process.pid, group, session, tty, input, cwd: process.cwd(), env: process.env }));
      console.error('done');
      process.exit(3);`;
    const started = startIn(cwd, { command: [process.execPath, '-e', code], env: { ONLY: 'this' } });
    await until(() => started.ended() !== null);
    const { code: exit, words } = started.ended() ?? { code: 0, words: '' };
    const [line = '', last] = words.split('\n');
    const heard = readLine(line);
    const pid = Number(heard?.['pid']);
    expect(heard).toEqual({
      pid,
      group: `${pid}`,
      session: `${pid}`,
      tty: '0',
      input: 0,
      cwd,
      env: { ONLY: 'this' },
    });
    expect([exit, last]).toEqual([3, 'done']);
    expect(lstatSync(started.file).mode & 0o777).toBe(0o600);
    expect(readFileSync(started.file, 'utf8')).toContain('done\n');
  });

  it('is told of in words when it can not be started, or was killed', async () => {
    const cwd = freshFolder();
    const none = startIn(cwd, { command: [join(cwd, 'no-such-program')] });
    await until(() => none.ended() !== null);
    expect(none.ended()).toMatchObject({ code: 1, words: holding('ENOENT') });
    const long = startIn(cwd, {
      command: [process.execPath, '-e', `console.log('\\u001b[31mup'); setInterval(() => {}, 1000)`],
    });
    await until(() => readFileSync(long.file, 'utf8').includes('up'));
    expect(long.ended()).toBeNull();
    long.stop();
    await until(() => long.ended() !== null);
    expect(long.ended()).toEqual({ code: 128, words: '[31mup\nit was ended by SIGTERM' });
    long.stop();
  });

  it('holds no file open but its output', async () => {
    const cwd = freshFolder();
    const code = `
      const { readdirSync, readlinkSync } = require('node:fs');
      const open = readdirSync('/proc/self/fd').flatMap((fd) => { try { return [readlinkSync('/proc/self/fd/' + fd)]; } catch { return []; } });
      console.log(open.filter((name) => name.startsWith('/') && !name.startsWith('/proc')).join('\\n'));`;
    const started = startIn(cwd, { command: [process.execPath, '-e', code] });
    await until(() => started.ended() !== null);
    const open = (started.ended()?.words ?? '').split('\n');
    expect(new Set(open)).toEqual(new Set(['/dev/null', started.file]));
    expect(existsSync(readlinkSync('/proc/self/exe'))).toBe(true);
  });
});

const startIn = (cwd: string, wish: Pick<ProcessRequest, 'command'> & Partial<ProcessRequest>): StartedProcess =>
  startProcess({ cwd, env: {}, stateDir: join(cwd, 'state'), session: KNOCKED, ...wish });
