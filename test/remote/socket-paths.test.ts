/** Where the sockets of a run lie. */
import { chmodSync, existsSync, lchownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { socketName, knownPaths, placeFor, whereOf } from '../../src/remote/socket-paths.ts';
import type { Where } from '../../src/remote/socket-paths.ts';
import { reach } from '../../src/remote/client.ts';
import { openControl } from '../../src/remote/server.ts';
import { AgentId, ROOT, SessionId } from '../../src/domain/ids.ts';
import { world } from '../../src/app/process/index.ts';
import { FINDER, KNOCKED, knockedRun } from '../support/control-run.ts';
import { freshFolder } from '../support/folder.ts';
import { hosted, reached, served, somewhere } from '../support/knocking.ts';
import { skipWithout } from '../support/needs.ts';

const at = (stateDir: string, runtimeDir: string, session = KNOCKED): Where =>
  whereOf({ stateDir, runtimeDir, project: '/', session });

describe('the place of a run’s sockets', () => {
  it('has short names of its own for each session and each agent', () => {
    const [one, other] = [at('/s', '/r'), at('/s', '/r', SessionId.parse('another'))];
    expect(one.folders).toEqual(['/r', '/s/run', join(tmpdir(), `mimir-${process.getuid?.()}`)]);
    const names = [one.name, other.name, socketName(one, ROOT), socketName(one, FINDER), socketName(other, FINDER)];
    expect(new Set(names).size).toBe(5);
    expect(names.map((name) => /^[0-9a-f]{16}(?:-[0-9a-f]{7})?$/.test(name))).toEqual(names.map(() => true));
    expect(at('/s', '/r')).toEqual(one);
  });

  it('leaves out folders whose paths are too long for a socket, and listens all the same', async () => {
    const deep = join(freshFolder(), 'a'.repeat(120));
    const where = at(deep, join(deep, 'runtime'));
    expect(where.folders).toEqual([join(tmpdir(), `mimir-${process.getuid?.()}`)]);
    const control = openControl(where, world);
    onTestFinished(() => control.close());
    await control.serve(knockedRun().given);
    expect(await control.agentSockets.open(AgentId.parse(`ROOT${'::S99'.repeat(20)}`))).not.toBeNull();
    await reached(where);
    const [folder = ''] = where.folders;
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  });

  it('is in a private folder, and what is only open to others is closed', async () => {
    const state = freshFolder();
    const runtime = join(state, 'runtime');
    mkdirSync(runtime, { mode: 0o755 });
    expect(await placeFor(at(state, runtime), 'name')).toBe(join(runtime, 'name'));
    expect(lstatSync(runtime).mode & 0o777).toBe(0o700);
  });

  it('is not where a folder is in its way, which is said and left alone', async () => {
    const state = freshFolder();
    const folder = join(state, 'runtime', 'name');
    mkdirSync(folder, { recursive: true });
    await expect(placeFor(at(state, join(state, 'runtime')), 'name')).rejects.toThrow(
      `cannot create a socket at ${folder}: a folder is in its place\n  move the folder away`,
    );
    expect(existsSync(folder)).toBe(true);
  });

  it('is nowhere where other users could change it, nor behind a symbolic link', async () => {
    const state = freshFolder();
    const open = join(state, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    mkdirSync(join(state, 'elsewhere'));
    symlinkSync(join(state, 'elsewhere'), join(state, 'link'));
    writeFileSync(join(state, 'file'), '');
    for (const runtime of [join(open, 'mimir'), join(state, 'link'), join(state, 'file')]) {
      expect(await placeFor(at(state, runtime), 'name')).toBe(join(state, 'run', 'name'));
    }
  });

  it('is not in another user’s folder, and nobody knocks there', async ({ skip }) => {
    skipWithout('root', skip);
    const state = freshFolder();
    const { where } = await served();
    const theirs = join(state, 'theirs');
    mkdirSync(theirs, { mode: 0o700 });
    lchownSync(theirs, 12_345, 12_345);
    const here = at(state, theirs);
    expect(await placeFor(here, 'name')).toBe(join(state, 'run', 'name'));
    const server = createServer().listen(join(theirs, here.name));
    onTestFinished(() => void server.close());
    expect(await reach(here, KNOCKED)).toBeNull();
    expect(knownPaths(where)).toHaveLength(1);
  });

  it('says why where there is none', async () => {
    const state = freshFolder();
    writeFileSync(join(state, 'file'), '');
    const where: Where = { ...somewhere(state), folders: [join(state, 'file')] };
    const control = openControl(where, world);
    await expect(control.serve(knockedRun().given)).rejects.toThrow(
      `no folder for the run's socket: ${join(state, 'file')}`,
    );
    expect(await control.agentSockets.open(FINDER)).toBeNull();
    await control.close();
  });

  it('is taken over from a process that is gone, never from one that lives', async () => {
    const { where, child } = await hosted();
    const late = openControl(where, world);
    await expect(late.serve(knockedRun().given)).rejects.toThrow(
      'another process already listens for session knocked-at',
    );
    await late.close();
    await reached(where);
    child.kill('SIGKILL');
    const [path = ''] = knownPaths(where);
    await new Promise((resolve) => child.once('exit', resolve));
    expect(existsSync(path)).toBe(true);
    expect(await reach(where, KNOCKED)).toBeNull();
    const control = openControl(where, world);
    onTestFinished(() => control.close());
    await control.serve(knockedRun().given);
    await reached(where);
  });

  it('is waited for while the process that hands a run over closes it', async () => {
    const { where, control } = await served();
    const next = openControl(where, world);
    onTestFinished(() => next.close());
    const [serving, door] = [next.serve(knockedRun().given), next.agentSockets.open(FINDER)];
    await control.close();
    await serving;
    expect(await door).not.toBeNull();
    await reached(where);
  });

  it('is found by who has another runtime folder, or none', async () => {
    const { where } = await served();
    const [path = ''] = knownPaths(where);
    const state = join(where.note, '..', '..');
    for (const other of [at(state, join(state, 'run')), at(state, '/nowhere/mimir')]) {
      expect(knownPaths(other)).toEqual([path]);
      expect((await reached(other)).session).toBe(KNOCKED);
    }
  });

  it('is somebody else’s: it is said, and nobody is taken for Mimir who isn’t', async () => {
    const state = freshFolder();
    const where = somewhere(state);
    const path = (await placeFor(where, where.name)) ?? '';
    const server = createServer((socket) => socket.on('error', () => undefined).end('220 mail ESMTP\n')).listen(path);
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(reach(where, KNOCKED)).rejects.toThrow(`${path}: the process that listens there is not Mimir`);
  });

  it('holds another session: it is said', async () => {
    const { where } = await served();
    await expect(reach(where, SessionId.parse('another'))).rejects.toThrow(
      'belongs to session knocked-at, not another',
    );
  });
});
