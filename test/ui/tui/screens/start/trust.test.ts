/** The question before anything of a project but its restrictions counts. */
import { describe, expect, it } from 'vitest';
import { runApp } from '../../../../../src/ui/tui/shell/app.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { ok } from '../../../../../src/domain/result.ts';
import type { TrustQuestion } from '../../../../../src/ports/project-service.ts';
import type { FakeRun } from '../../../../support/fake-run.ts';
import { fakeRun, PROJECT_SERVICE, settled } from '../../../../support/fake-run.ts';
import type { FakeTerminal } from '../../../../support/fake-terminal.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';
import type { FakeWorld } from '../../../../support/world.ts';
import { fakeWorld } from '../../../../support/world.ts';

const QUESTION: TrustQuestion = {
  state: 'new',
  digest: 'd1',
  brings: ['role deploy: read, shell (.mimir/agents/deploy.md)', 'instructions: AGENTS.md\u202e'],
  diff: '',
};

interface Opened {
  readonly terminal: FakeTerminal;
  readonly run: FakeRun;
  readonly world: FakeWorld;
  readonly trusted: string[];
}

async function open(trust: TrustQuestion, firstTask?: string, height = 40): Promise<Opened> {
  const terminal = fakeTerminal(100, height);
  const run = fakeRun({ ...PROJECT_SERVICE, trust });
  const world = fakeWorld({ start: 0 });
  const trusted: string[] = [];
  const projectService = {
    ...run.projectService,
    trust: (digest: string) => {
      trusted.push(digest);
      run.learn({ trust: { ...trust, state: 'trusted' } });
      return Promise.resolve(ok({ text: 'Trusted.' }));
    },
  };
  const paints = (paint: () => void) => ({ now: paint, soon: paint, clock: () => undefined, stop: () => undefined });
  void runApp({
    terminal,
    projectService,
    world,
    glyphs: UNICODE,
    ...(firstTask === undefined ? {} : { firstTask }),
    schedule: (parts) => paints(() => parts.paint()),
  });
  await settled();
  return { terminal, run, world, trusted };
}

describe('a project that is new here', () => {
  it('is shown with all it would bring, hidden characters too, before a task begins', async () => {
    const { terminal, run } = await open(QUESTION, 'Fix it');
    for (const words of ['Do you trust this project?', 'role deploy: read, shell', String.raw`AGENTS.md\u{202e}`])
      expect(terminal.text()).toContain(words);
    expect(run.begun).toEqual([]);
  });

  it('is not trusted by Enter, nor by what was typed before it was seen', async () => {
    const { terminal, run, world, trusted } = await open(QUESTION, 'Fix it');
    terminal.press('T', 'enter');
    expect(run.begun).toEqual([]);
    await world.advance(300);
    terminal.press('enter');
    await settled();
    expect({ begun: run.begun, trusted }).toEqual({ begun: ['Fix it'], trusted: [] });
  });

  it('is trusted by its own key, exactly as it was shown; then the task begins', async () => {
    const { terminal, run, world, trusted } = await open(QUESTION, 'Fix it');
    await world.advance(300);
    terminal.press('T');
    await settled();
    expect({ begun: run.begun, trusted }).toEqual({ begun: ['Fix it'], trusted: ['d1'] });
  });

  it('is not trusted by a key that is held since before it was seen', async () => {
    const { terminal, world, trusted } = await open(QUESTION, 'Fix it');
    for (let at = 0; at < 2000; at += 33) {
      terminal.press('T');
      await world.advance(33);
    }
    expect(trusted).toEqual([]);
    await world.advance(1500);
    terminal.press('T');
    await settled();
    expect(trusted).toEqual(['d1']);
  });

  it('says on the start screen that it is not trusted, and asks again by key', async () => {
    const { terminal, world } = await open(QUESTION);
    await world.advance(300);
    terminal.press('esc');
    expect(terminal.text()).not.toContain('Do you trust');
    expect(terminal.text()).toContain('not trusted: only its restrictions apply   ^T review');
    terminal.press('ctrl-t');
    expect(terminal.text()).toContain('Do you trust this project?');
  });
});

describe('a project that has changed', () => {
  it('shows what changed, and has to be read to its end', async () => {
    const diff = ['--- AGENTS.md', '+++ AGENTS.md', ...Array.from({ length: 60 }, (_, n) => `+line ${n}`)].join('\n');
    const { terminal, world, trusted } = await open({ ...QUESTION, state: 'changed', diff }, 'Fix it', 24);
    await world.advance(300);
    expect(terminal.text()).toContain('This project has changed since you trusted it');
    terminal.press('T');
    expect(terminal.text()).toContain('Scroll to the end (G)');
    terminal.press('G');
    expect(terminal.text()).toContain('+line 59');
    terminal.press('T');
    await settled();
    expect(trusted).toEqual(['d1']);
  });

  it('has to be read to its end in a terminal that gets wider as well', async () => {
    const long = Array.from({ length: 60 }, (_, n) => `+line ${n} ${'with words '.repeat(8)}`);
    const diff = ['--- AGENTS.md', '+++ AGENTS.md', ...long].join('\n');
    const { terminal, world, trusted } = await open({ ...QUESTION, state: 'changed', diff }, 'Fix it', 24);
    terminal.resize({ width: 40, height: 24 });
    await world.advance(300);
    terminal.press('pagedown', 'pagedown', 'pagedown', 'pagedown');
    terminal.resize({ width: 100, height: 24 });
    expect(terminal.text()).toMatch(/line 1\d /);
    terminal.press('T');
    await settled();
    expect(trusted).toEqual([]);
    terminal.press('G', 'T');
    await settled();
    expect(trusted).toEqual(['d1']);
  });

  it('is not asked about where it is trusted or says nothing', async () => {
    for (const state of ['trusted', 'nothing'] as const) {
      const { terminal, run } = await open({ ...QUESTION, state }, 'Fix it');
      expect(terminal.text()).not.toContain('trust this project');
      expect(run.begun).toEqual(['Fix it']);
    }
  });
});
