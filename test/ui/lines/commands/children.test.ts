/** Children in lines: spawned, listed, asked after, written to and killed by their numbers; what is heard of them by itself. */
import { describe, expect, it } from 'vitest';
import { grandchildLog, idleLog, spawnedLog, taskLog } from '../../../support/family-log.ts';
import { ROOT } from '../../../../src/domain/ids.ts';
import type { EventBody } from '../../../../src/events/event.ts';
import { linesOf } from '../../../../src/ui/lines/event-lines.ts';
import { EMPTY } from '../../../../src/events/state.ts';
import { fold } from '../../../../src/events/fold.ts';
import { Chalk } from 'chalk';
import { status, turn } from '../../../support/family-story.ts';
import type { Recording } from '../../../support/recorded-run.ts';
import { typist } from '../../../support/typist.ts';

const wish = (more: Readonly<Record<string, unknown>>): unknown => ({
  prompt: 'Review the diff',
  role: null,
  model: null,
  name: null,
  wait: null,
  workingDir: null,
  ...more,
});

describe('children in lines', () => {
  it.each([
    ['spawn Review the diff', 'ROOT', {}],
    ['/spawn "Review the diff"', 'ROOT', {}],
    ['spawn reviewer "Review the diff"', 'ROOT', { role: 'reviewer' }],
    [
      'spawn reviewer "Review the diff" --name diff --model opus --wait 600',
      'ROOT',
      { role: 'reviewer', name: 'reviewer-diff', model: 'opus', wait: 600 },
    ],
    ['spawn "Review the diff" --name "the diff" --wait 5', 'ROOT', { name: 'the diff', wait: 5 }],
    ['spawn under 2 Review the diff', 'ROOT::S2', {}],
  ])('%s (S022 to S030)', async (line, parent, more) => {
    const person = await typist(spawnedLog().events);
    expect(await person.hears(line)).toEqual(['Done: spawn']);
    expect(person.commands).toEqual([{ do: 'spawn', parent, wish: wish(more) }]);
  });

  it('spawns nothing that is not said whole, and says what is wrong', async () => {
    const person = await typist(idleLog().events);
    expect(await person.hears('spawn "Review it" --soon')).toEqual(['Unknown option --soon.']);
    expect(await person.hears('spawn "Review it" --wait long')).toEqual([
      '--wait: "long" is not valid\n  expected seconds, 0 to 86400.',
    ]);
    expect(await person.hears('spawn "Review it" --name=-x')).toEqual([
      expect.stringMatching(/^--name takes up to 60 letters, digits/),
    ]);
    expect(await person.hears('spawn under 7 it')).toEqual(['There is no agent 7: there are none yet.']);
    await person.types('spawn', '');
    expect(person.commands).toEqual([]);
  });

  it('lists them by numbers that tell whose they are: status, who spawned them, result (S044, S045, S048, D14)', async () => {
    const person = await typist(spawnedLog().events);
    const lines = (await person.hears('children')).map((line) =>
      line.replace(/, [\w.-]+, (?:\d+m )?\d+s, .* tools?,/, ', USE,'),
    );
    expect(lines).toEqual([
      '6 agents:',
      '#1 reviewer-diff: completed, USE, spawned by you. Review the diff. Result: Nothing stands against the diff.',
      '#2 engineer-cache: waits for its children (1), USE, spawned by you. Implement the cache with tests. Now: Two questions first.',
      '#2.1 explore-evictions: running, USE, spawned by engineer-cache. Find who evicts. Now: Only `src/lru.ts` evicts.',
      '#2.2 tester-tests: failed, no database, USE, spawned by engineer-cache. Run the tests',
      '#3 finder-callers: killed by you, USE, spawned by you. Find every caller',
      '#3.1 explore-left: running, USE, spawned by finder-callers, adopted by main. Look into the tests',
    ]);
    expect(await person.hears('children 2')).toHaveLength(3);
    expect(await person.hears('children 1')).toEqual(['0 of 6 agents:']);
  });

  it('says what one does, and more of it (S054, S055, T021)', async () => {
    const person = await typist(spawnedLog().events);
    const [now, last] = await person.hears('what 2.1');
    expect(now).toMatch(/^#2\.1 explore-evictions: running, .* Now: Only `src\/lru\.ts` evicts\.$/);
    expect(last).toMatch(/^Id ROOT::S2::S1\. Last activity .* ago\.$/);
    const task = await typist(taskLog().events);
    expect(await task.hears('what 1.1')).toContain('Isolation: child used 12k tokens, parent grew by 60 (counted)');
  });

  it('writes to one that has ended, and kills one after a question (S049, S056, S131)', async () => {
    const person = await typist(spawnedLog().events);
    await person.types('/send 1 look at the tests as well', '/kill 2.1', 'yes');
    expect(person.commands).toEqual([
      { do: 'message', to: 'ROOT::S1', text: 'look at the tests as well', delivery: 'important' },
      { do: 'kill', agent: 'ROOT::S2::S1' },
    ]);
  });

  it('names every agent that a kill ends, grandchildren as well, before it asks', async () => {
    const person = await typist(grandchildLog().events);
    await person.types('kill 2');
    expect(person.said.slice(-2).join(' ')).toContain('3 agents: engineer-cache, explore-evictions, finder-callers.');
    expect(person.prompt()).toBe('Kill engineer-cache? Type yes to kill, anything else to keep it running: ');
    await person.types('no');
    expect(person.commands).toEqual([]);
  });
});

/** What is said of a log by itself, from the start. */
function announced(log: Recording): readonly string[] {
  const said: string[] = [];
  let state = EMPTY;
  for (const event of log.events) {
    state = fold(state, event);
    said.push(...linesOf(event, state, { paint: new Chalk({ level: 0 }) }));
  }
  return said.slice(1);
}
const answers = (text: string): readonly EventBody[] => [
  status(ROOT, 'running'),
  ...turn(ROOT, 'm1', 900, 0.001, text),
  status(ROOT, 'waiting', 'idle'),
];

describe('a run without a plan in lines', () => {
  it('takes what is no command for a word to main, and the prompt says to whom one talks (H013, H014)', async () => {
    const person = await typist(idleLog().events);
    expect(person.prompt()).toBe('main (ROOT)> ');
    const hint = 'Text is sent to main as a message; help lists the commands.';
    expect(person.said.filter((line) => line === hint)).toHaveLength(1);
    await person.types('Look into the cache, please');
    expect(person.commands).toEqual([
      { do: 'message', to: 'ROOT', text: 'Look into the cache, please', delivery: 'important' },
    ]);
    expect(await person.hears('agnets')).toEqual(['Unknown command "agnets". Did you mean agents? Nothing was done.']);
    expect(person.commands).toHaveLength(1);
  });

  it('says what main answers, whole (H012)', () => {
    const log = idleLog();
    for (const body of answers('It evicts too late.\nSee `src/lru.ts:9`.')) log.at(5, body);
    expect(announced(log)).toEqual(['[main] It evicts too late.', 'See `src/lru.ts:9`.']);
  });

  it('says who was spawned by whom, who waits, and what came of it (S076, H012)', () => {
    expect(announced(spawnedLog()).map((line) => line.replace(/\d+\.\ds/, 'TIME'))).toEqual([
      '[reviewer-diff] spawned by you: Review the diff',
      '[engineer-cache] spawned by you: Implement the cache with tests',
      '[reviewer-diff] done (0 tools, TIME): Nothing stands against the diff.',
      '[explore-evictions S2::S1] spawned by engineer-cache: Find who evicts',
      '[tester-tests S2::S2] spawned by engineer-cache: Run the tests',
      '[engineer-cache] waits for its children (2)',
      '[tester-tests S2::S2] failed, no database (0 tools, TIME)',
      '[finder-callers] spawned by you: Find every caller',
      '[explore-left S3::S1] spawned by finder-callers: Look into the tests',
      '[explore-left S3::S1] adopted by main: its parent ended',
      '[finder-callers] killed by you (0 tools, TIME)',
    ]);
  });

  it('has the lines of Task as they are written (T015, T016, T021)', () => {
    expect(announced(taskLog())).toEqual([
      '[oracle] spawned by you: Lead the survey of the code',
      '[oracle] > Task(explore): find auth files',
      '[explore] find auth files - done (0 tools, 39.0s)',
      '[explore] find auth files: child used 12k tokens, parent grew by about 11 (estimated)',
      '[oracle] > Task(explore): find callers',
      '[oracle] > Task(explore): read the tests',
      '[explore] find callers - done (0 tools, 39.0s)',
      '[explore] find callers: child used 9.1k tokens, parent grew by about 8 (estimated)',
    ]);
  });
});
