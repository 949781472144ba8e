/** Spawning a child from the run screen: its form, the command it leads to, and when there is none. */
import { describe, expect, it } from 'vitest';
import type { Session } from '../../../../support/app-session.ts';
import { openSession } from '../../../../support/app-session.ts';
import { idleLog, spawnedLog } from '../../../../support/family-log.ts';
import { PROJECT_SERVICE, settled } from '../../../../support/fake-run.ts';
import type { Recording } from '../../../../support/recorded-run.ts';
import { midRun } from '../../../../support/recorded-run.ts';

const role = (name: string, description: string) => ({
  name,
  description,
  tools: [],
  capabilities: [],
  models: [],
  prompt: '',
  source: 'built-in',
  whyKept: 'it is built in',
});
const AGENTS = { all: [role('main', 'All'), role('code', 'Changes code.'), role('finder', 'Finds.')], leftOut: [] };

async function after(log: Recording, ...keys: readonly string[]): Promise<Session> {
  const session = await openSession(log, {
    width: 120,
    height: 40,
    projectService: { ...PROJECT_SERVICE, agents: AGENTS },
  });
  for (const key of keys) {
    session.terminal.press(key);
    await settled();
    await session.world.advance(400);
  }
  return session;
}
const letters = (text: string): readonly string[] => text.split('').map((sign) => (sign === ' ' ? 'space' : sign));

describe('a child from the screen', () => {
  it('is asked for by a form, and spawned below main (S022, D33)', async () => {
    const form = await after(idleLog(), 'a');
    const text = form.terminal.text();
    expect(text).toContain('Spawn a child of main (ROOT)');
    expect(text).toMatch(/Role.*code/);
    const session = await after(idleLog(), 'a', ...letters('Look'), 'tab', 'tab', ...letters('x1'), 'ctrl-s');
    expect(session.run.commands).toEqual([
      {
        do: 'spawn',
        parent: 'ROOT',
        wish: { prompt: 'Look', role: 'code', model: null, name: 'code-x1', wait: null, workingDir: null },
      },
    ]);
    expect(session.terminal.text()).toContain('done: spawn');
  });

  it('that is refused leaves what was typed in its form, and the reason in words', async () => {
    const session = await after(idleLog(), 'a', ...letters('Look'), 'tab', 'tab', ...letters('x1'));
    session.run.refuse('There is no room for another child: 4 of 4 work');
    session.terminal.press('ctrl-s');
    await settled();
    await session.world.advance(400);
    const text = session.terminal.text();
    expect(text).toContain('There is no room for another child');
    expect(text).toMatch(/Prompt +Look/);
    expect(text).toMatch(/Name +x1/);
  });

  it('says what is missing, and what is none', async () => {
    const nothing = await after(idleLog(), 'a', 'ctrl-s');
    expect(nothing.terminal.text()).toContain('Prompt: enter its instructions');
    const wait = await after(idleLog(), 'a', 'L', 'tab', 'tab', 'tab', 'tab', 'x', 'ctrl-s');
    expect(wait.terminal.text()).toContain('Wait: enter 0 to 86400 seconds, or nothing');
    const name = await after(idleLog(), 'a', 'L', 'tab', 'tab', '/', 'ctrl-s');
    expect(name.terminal.text()).toContain('Name: a name has up to 60 letters');
  });

  it('stands below the agent that is selected, in a planned run as well, but not below one that has ended', async () => {
    expect((await after(spawnedLog(), 'j', 'j', 'S')).terminal.text()).toContain(
      'Spawn a child of engineer-cache (ROOT::S2)',
    );
    expect((await after(spawnedLog(), 'j', 'S')).terminal.text()).toContain(
      'reviewer-diff has ended and cannot spawn children.',
    );
    expect((await after(midRun(), 'j', 'j', 'j', 'S')).terminal.text()).toContain('Spawn a child of oracle (ROOT::S3)');
    expect((await after(midRun(), 'a')).terminal.text()).not.toContain('Spawn');
  });
});
