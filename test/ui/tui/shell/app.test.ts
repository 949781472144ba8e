/** The screen works over Controls and events alone: a log is played, keys are pressed, frames are looked at. */
import { describe, expect, it } from 'vitest';
import { AgentId, SessionId } from '../../../../src/domain/ids.ts';
import { openSession as open } from '../../../support/app-session.ts';
import { settled } from '../../../support/fake-run.ts';
import { finished, midRun, planned, Recording as Log, SESSION, started } from '../../../support/recorded-run.ts';

const ORACLE = AgentId.parse('ROOT::S3');

describe('the session on a screen', () => {
  it('starts with the start screen, and with the plan where a task was given', async () => {
    expect((await open(null)).terminal.rows()[0]).toContain('OFFLINE');
    const { terminal, run } = await open(new Log());
    expect(run.begun).toEqual(['Fix the token refresh race']);
    await run.play(planned(started(new Log())).events);
    expect(terminal.rows()[0]).toContain('Plan › Fix the token refresh race');
  });

  it('shows what the project service learns after the first picture', async () => {
    const { terminal, run } = await open(null);
    run.learn({ suggestions: ['Explain the moon'] });
    expect(terminal.text()).toContain('Explain the moon');
  });

  it('puts a former task that is found by its words into the field', async () => {
    const { terminal, run } = await open(null);
    const session = (id: string, task: string) =>
      ({ id: SessionId.parse(id), task, when: '2026-11-20T18:03:00Z', state: 'finished' }) as const;
    run.learn({ sessions: [session('run-1', 'Fix the race'), session('run-2', 'Document the storage layer')] });
    for (const key of ['ctrl-r', 's', 't', 'o', 'r']) terminal.press(key);
    expect(terminal.text()).toContain('▌ Document the storage layer');
    expect(terminal.text()).toContain('1/1');
    terminal.press('enter');
    expect(terminal.text()).toContain('❯ Document the storage layer');
  });

  it('goes from plan to cards to result by what the log says, and back by keys', async () => {
    const { terminal, run } = await open(midRun());
    expect(terminal.rows()[0]).toContain('MIMIR  Fix the token refresh race');
    terminal.press('p');
    expect(terminal.rows()[0]).toContain('Plan › ');
    await run.play(finished().events.slice(midRun().events.length));
    expect(terminal.rows()[0]).toContain('Result › ');
    terminal.press('esc');
    expect(terminal.rows()[1]).toContain('main');
    terminal.press('v');
    expect(terminal.text()).toContain('mimir report run-7f3a');
    terminal.press('n');
    expect(terminal.rows()[0]).not.toContain('result');
  });

  it('goes on with a stopped run from its result, without leaving', async () => {
    const stopped = midRun();
    const totals = { tokens: 0, cost: 0, agents: 4, duration: 1 };
    stopped.at(193, { type: 'session.finished', status: 'stopped', summary: 'No model could be reached.', totals });
    const { terminal, run } = await open(stopped);
    expect(terminal.rows()[0]).toContain('Result › ');
    expect(terminal.text()).toContain('r    resume: 5 of 6 tasks are left');
    run.learn({
      sessions: [{ id: SESSION, task: 'Fix the token refresh race', when: '2026-01-01T00:00:00Z', state: 'stopped' }],
    });
    terminal.press('r');
    await settled();
    expect([run.begun, terminal.rows()[0]?.includes('Result › ')]).toEqual([
      ['Fix the token refresh race', SESSION],
      false,
    ]);
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
    expect(terminal.text()).toContain('main is never interrupted: resume its agents.');
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
    expect(terminal.text()).toContain('Applies to all agents, including new ones.');
    terminal.press('down');
    await settled();
    for (const words of ['No longer asks before', 'writing files', '2 open questions will be approved now'])
      expect(terminal.text()).toContain(words);
    terminal.press('enter');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Press L to switch');
    terminal.press('L');
    expect(run.commands).toEqual([{ do: 'set mode', mode: 'yolo' }]);
  });

  it('changes to a stricter mode with Enter, and shows the rule where one is refused', async () => {
    const { terminal, run } = await open(midRun());
    run.preview((mode) => ({
      refused: mode === 'yolo' ? 'policy.maxMode confirm (managed, /etc/mimir/policy.yml:4)' : null,
      looser: mode === 'yolo',
      changes: [],
      answers: 0,
    }));
    terminal.press('backtab', 'down', 'L');
    await settled();
    expect(terminal.text()).toContain('Not possible: policy.maxMode confirm (managed, /etc/mimir/policy.yml:4)');
    expect(run.commands).toEqual([]);
    terminal.press('up', 'up');
    await settled();
    expect(terminal.text()).toContain('Asks again before:');
    terminal.press('enter');
    expect(run.commands).toEqual([{ do: 'set mode', mode: 'human' }]);
  });

  it('holds an agent to a stricter mode, and says so on it', async () => {
    const { terminal, run } = await open(midRun());
    terminal.press('P');
    expect(terminal.text()).toContain('main has the mode of the run');
    terminal.press('j', 'j', 'j', 'P', 'down');
    expect(terminal.text()).toContain('Pin oracle to a stricter mode');
    expect(terminal.text()).toContain('Applies to this agent and its children');
    terminal.press('enter');
    await settled();
    expect(run.commands).toEqual([{ do: 'pin mode', agent: 'ROOT::S3', mode: 'human' }]);
    const log = midRun();
    log.at(190, { type: 'agent.pinned', agent: AgentId.parse('ROOT::S3'), mode: 'human' });
    await run.play(log.events.slice(-1));
    expect(terminal.text()).toMatch(/oracle.* human /);
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
    expect((await open(midRun())).terminal.title()).toBe('mimir ● 3 run $0.33');
    expect((await open(finished())).terminal.title()).toBe('mimir ✓ completed $0.33');
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
    expect(terminal.text()).toContain('unknown action "run.nothing"');
    terminal.press('j', 'j', 'j', 'K', 'y');
    expect(run.commands).toEqual([{ do: 'kill', agent: 'ROOT::S3' }]);
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
    expect(terminal.text()).toContain('Quit?');
    expect(terminal.text()).toContain('4 agents are running.');
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
    expect(terminal.text()).toContain('Quit?');
    terminal.press('enter');
    await world.advance(2000);
    terminal.press('k', 'ctrl-c');
    expect(terminal.text()).not.toContain('Quit?');
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
