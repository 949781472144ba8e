/** `kill -9` of a verb that spawns, of the box it was typed in, of the child's own command, and of the process that carries it all. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MimirEvent } from '../../src/events/event.ts';
import { brokenByChildren } from '../support/children-promises.ts';
import { jsonLines } from '../support/cli.ts';
import { cutAt, eventsIn, processesOf } from '../support/cut-spawns.ts';
import { needs } from '../support/needs.ts';
import type { RunSessions, Members } from '../support/shell-family.ts';
import { openFamily } from '../support/shell-family.ts';
import { until } from '../support/until.ts';

const eventsOf = ({ home }: RunSessions): readonly MimirEvent[] =>
  eventsIn({ stateDir: home.state, project: home.project });

/** Those that belong to a folder and have these words, killed; how many they were. */
function kill(folder: string, words: string): number {
  const found = processesOf(folder).filter((line) => line.includes(words));
  for (const line of found) process.kill(Number(line.split(' ')[0]), 'SIGKILL');
  return found.length;
}

async function nothingIsLeft({ home }: RunSessions): Promise<void> {
  await until(() => processesOf(home.root).length === 0);
}

describe('killed at the step it was at', () => {
  needs('bubblewrap');

  it('S151: a verb makes no child, or one that is whole; the next run takes over the socket of one that was killed', async () => {
    const family = await openFamily({ worker: { commands: ['echo ran >> effects'], answer: 'It is done.' } });
    const { home, env } = family;
    const flags = ['--hosted', 'killed-verbs', '--mode', 'yolo'];
    const host = home.start(['run', ...flags, '--idle'], { env });
    onTestFinished(() => void host.child.kill('SIGKILL'));
    await until(() => eventsOf(family).some(({ type }) => type === 'agent.status') || host.child.exitCode !== null);
    const spawn = ['spawn', 'code', '[worker] Work.'];
    for (const where of ['connect', 'asked', 'answered']) {
      expect(await home.run(spawn, { env: { ...env, ...cutAt(where) } })).toMatchObject({ signal: 'SIGKILL', out: '' });
    }
    const ends = (): number => eventsOf(family).filter(({ type }) => type === 'agent.finished').length;
    const made = (): number => eventsOf(family).filter(({ type }) => type === 'agent.created').length - 1;
    // Who was killed before it had asked asked for nothing.
    await until(() => made() === 2 && ends() === 2);
    host.child.kill('SIGKILL');
    await host.ended;
    await nothingIsLeft(family);

    const { out } = await home.run(['children', 'killed-verbs/ROOT', '--status', 'all', '--json']);
    expect(jsonLines(out.trim().slice(1, -1).replaceAll('},{', '}\n{')).map((one) => one['status'])).toEqual([
      'completed',
      'completed',
    ]);
    const again = home.start(['resume', 'killed-verbs', ...flags.slice(0, 2)], { env });
    onTestFinished(() => void again.child.kill('SIGKILL'));
    await until(() => eventsOf(family).some(({ type }) => type === 'session.resumed') || again.child.exitCode !== null);
    expect(await home.run(spawn, { env })).toMatchObject({ code: 0, err: '' });
    await until(() => ends() === 3);
    expect(brokenByChildren(eventsOf(family), false)).toEqual([]);
    expect(readFileSync(join(home.project, 'effects'), 'utf8')).toBe('ran\n'.repeat(3));
    again.child.kill('SIGTERM');
    await again.ended;
    await nothingIsLeft(family);
  });

  const members: Members = {
    lead: {
      planned: { maySpawn: true, writes: ['**'] },
      commands: ['mimir spawn code "[worker] Work." --name worker --wait 60; touch spawned; sleep 7301', null, null],
      answer: 'The lead knows.',
    },
    worker: { commands: ['echo ran >> effects; sleep 7302', 'echo ran >> effects'], answer: 'It is done.' },
  };

  it('S151: the box that a child was spawned in, and the box of the child, take nothing with them; both agents are told', async () => {
    const family = await openFamily(members);
    const { home } = family;
    const ran = family.run();
    await until(() => existsSync(join(home.project, 'spawned')) && existsSync(join(home.project, 'effects')));
    expect(kill(home.root, 'sleep 7301')).toBeGreaterThan(0);
    expect(kill(home.root, 'sleep 7302')).toBeGreaterThan(0);
    expect(await ran).toMatchObject({ code: 0, err: '' });
    expect(brokenByChildren(eventsOf(family), true)).toEqual([]);
    const outcomes = eventsOf(family).flatMap((event) =>
      event.type === 'agent.finished' ? [[event.agent, event.outcome]] : [],
    );
    expect(outcomes).toEqual([
      ['ROOT::S1::S1', 'completed'],
      ['ROOT::S1', 'completed'],
      ['ROOT', 'completed'],
    ]);
    expect(readFileSync(join(home.project, 'effects'), 'utf8')).toBe('ran\nran\n');
    const told = (name: string): readonly string[] => family.heard(name).map((text) => text.split('\n')[0] ?? '');
    expect([told('lead')[0], told('worker')[0]]).toEqual([
      expect.stringMatching(/^exit code 137 after/),
      expect.stringMatching(/^exit code 137 after/),
    ]);
    await nothingIsLeft(family);
  });
});
