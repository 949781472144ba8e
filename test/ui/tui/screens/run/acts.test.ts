/** The keys that act on a run: each sends its command and shows the receipt, or says why it can't be done now. */
import { describe, expect, it } from 'vitest';
import { openSession, type SessionSetting } from '../../../../support/app-session.ts';
import { ModelId } from '../../../../../src/domain/ids.ts';
import { settled } from '../../../../support/fake-run.ts';
import { grandchildLog } from '../../../../support/family-log.ts';
import { approval, asks, finished, midRun } from '../../../../support/recorded-run.ts';

const SIZE: Partial<SessionSetting> = { width: 140, height: 40 };

/** The screen after `keys`, of a run whose selected agent is the `row`th. */
async function after(log: ReturnType<typeof midRun>, row: number, ...keys: readonly string[]): Promise<string> {
  const session = await openSession(log, SIZE);
  session.terminal.press(...Array.from({ length: row }, () => 'j'));
  for (const key of keys) {
    session.terminal.press(key);
    await settled();
    await session.world.advance(400);
  }
  return `${session.terminal.text()}\n${JSON.stringify(session.run.commands)}`;
}

describe('a key on the run screen', () => {
  it.each([
    ['s interrupts', 3, ['s'], '"do":"interrupt","agent":"ROOT::S3"', 'done: interrupt'],
    ['R tries again', 2, ['R'], '"do":"retry","agent":"ROOT::S2"', 'done: retry'],
    ['x kills after a question', 3, ['x', 'y'], '"do":"kill","agent":"ROOT::S3"', 'done: kill'],
    ['w skips what has not begun, after a question', 6, ['w', 'y'], '"do":"skip","agent":"ROOT::S5"', 'done: skip'],
    ['X stops all after a word', 3, ['X', 'k', 'i', 'l', 'l', 'enter'], '"do":"stop run"', 'done: stop run'],
    [
      'i writes to one',
      3,
      ['i', 'h', 'i', 'enter'],
      '"to":"ROOT::S3","text":"hi","delivery":"sequential"',
      'done: message',
    ],
    ['Tab says when', 3, ['i', 'h', 'i', 'tab', 'tab', 'enter'], '"delivery":"urgent"', 'done: message'],
    ['I writes to all', 3, ['I', 'h', 'i', 'enter'], '"to":"all","text":"hi"', 'done: message'],
  ] as const)('%s, and the receipt is seen', async (_, row, keys, command, receipt) => {
    const seen = await after(midRun(), row, ...keys);
    expect(seen).toContain(command);
    expect(seen).toContain(receipt);
  });

  it('S071: W opens the terminal of an agent that works in one, and says of any other that it does not', async () => {
    const log = midRun();
    const at = log.events.findIndex((event) => event.type === 'agent.created' && event.agent === 'ROOT::S3');
    const made = log.events[at];
    if (made?.type !== 'agent.created') throw new Error('the recording has no such agent');
    log.events[at] = { ...made, model: { ...made.model, used: ModelId.parse('tmux/codex') } };
    const session = await openSession(log, SIZE);
    session.terminal.press('j', 'j', 'W');
    await settled();
    expect(session.terminal.text()).toContain('This agent works in no terminal.');
    session.terminal.press('j', 'W');
    await settled();
    expect(session.terminal.done.filter((one) => one.startsWith('attach'))).toEqual([
      expect.stringMatching(/^attach mimir-[0-9a-z]{6}$/),
    ]);
  });

  it('x names every agent that a kill ends, grandchildren as well', async () => {
    const question = (await after(grandchildLog(), 2, 'x')).replaceAll(/[^\w.,:-]+/g, ' ');
    expect(question).toContain('Kill engineer-cache');
    expect(question).toMatch(/3 agents: engineer-cache,.*explore-evictions, finder-callers\./);
  });

  it.each([
    ['M', 'Model', 'oracle: model from the next turn'],
    ['b', 'Budget', 'Budget of oracle: $0.12, 31k tokens so far'],
    ['a', 'Add', 'Add'],
    ['P', 'Pin', 'oracle'],
    ['c', 'Charts', 'Spend over time'],
    ['p', 'Plan', 'Plan 6 tasks'],
    ['T', 'Graph', ' Graph '],
  ] as const)('%s opens what it names: %s', async (key, _, words) => {
    expect(await after(midRun(), 3, key)).toContain(words);
  });

  it.each([
    [0, 'r', 'main is never interrupted: resume its agents.'],
    [1, 's', 'finder has ended already.'],
    [0, 'x', 'main ends with the run: stop the run instead.'],
    [1, 'x', 'finder has ended already.'],
    [1, 'M', 'finder has ended already.'],
    [1, 'b', 'finder has ended already.'],
    [1, 'P', 'finder has ended already.'],
    [0, 'P', 'main has the mode of the run: change that instead.'],
    [3, 'R', 'oracle has not failed: it is still working.'],
    [3, 'V', 'No manual review is configured.'],
    [3, 'v', 'The run has not ended.'],
    [3, 'A', 'No open questions.'],
    [3, ' ', 'It has no children to fold.'],
  ] as const)('of agent %i says why %s does nothing', async (row, key, words) => {
    expect(await after(midRun(), row, key)).toContain(words);
  });

  it.each(['I', 'X', 'M', 'b', 'a', 'P', 'V'])('%s says that the run has ended when it has', async (key) => {
    expect(await after(finished(), 1, 'esc', key)).toMatch(/The run has ended\.|has ended already\./);
  });

  it('i writes to main when the run has ended, whoever is selected', async () => {
    expect(await after(finished(), 1, 'esc', 'i')).toContain('to main (ROOT), which keeps its context');
  });

  it('goes through the agents at the side as well, where the graph may stand', async () => {
    const session = await openSession(midRun(), { width: 200, height: 60 });
    session.terminal.press('3', 'j', 'j', 'j');
    expect(session.terminal.text()).toContain('Message oracle (ROOT::S3)');
    expect(session.terminal.text()).toContain('┏━ Graph ━');
  });

  it('A opens the oldest question, and l changes the log', async () => {
    const log = asks(midRun(), 190, 'ROOT::S3', 'p1', approval({ title: 'npm publish' }));
    expect(await after(log, 0, 'esc', 'A')).toContain('oracle wants to');
    const rows = async (...keys: readonly string[]): Promise<number> =>
      (await after(midRun(), 3, ...keys)).split('\n').filter((row) => /│ \d\d:\d\d:\d\d /.test(row)).length;
    expect([await rows(), await rows('l'), await rows('l', 'l')]).toEqual([16, 16, 0]);
    expect(await after(midRun(), 0, '4', 'L')).toContain(' 1 of 16 entries: warnings and errors ');
  });
});
