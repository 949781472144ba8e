/** What is said of a run by itself, and how fast. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { MimirEvent } from '../../../src/events/event.ts';
import { fold } from '../../../src/events/fold.ts';
import { EMPTY, type RunState } from '../../../src/events/state.ts';
import { otherNumbers, statusOf } from '../../../src/ui/lines/agents.ts';
import { Announcer, type Verbosity } from '../../../src/ui/lines/run.ts';
import { AgentId } from '../../../src/domain/ids.ts';
import { begun, midRun, runs, START, uses } from '../../support/recorded-run.ts';

/** Plays a log at its own times; what is said to whom wants that much. */
class Listener {
  readonly said: string[] = [];
  state: RunState = EMPTY;
  now = 0;
  readonly #announcer: Announcer;

  constructor(verbosity: Verbosity = 'normal') {
    this.#announcer = new Announcer({
      say: (line) => void this.said.push(line),
      paint: new Chalk({ level: 0 }),
      now: () => this.now,
      verbosity: () => verbosity,
    });
  }

  hear(events: readonly MimirEvent[]): this {
    for (const event of events) {
      this.now = Date.parse(event.time);
      this.state = fold(this.state, event);
      this.#announcer.announce(event, this.state);
    }
    return this;
  }

  /** Seconds after the start of the log. */
  tick(after: number): readonly string[] {
    this.now = START + after * 1000;
    const before = this.said.length;
    this.#announcer.tick(this.state);
    return this.said.slice(before);
  }
}

describe('what is announced', () => {
  it('sums the tools of one agent that come close together into how far it is (I017, I018)', () => {
    const log = runs(begun(), 10, 'ROOT::S1');
    const before = log.events.length;
    for (let many = 0; many < 6; many += 1) uses(log, 11 + many / 10, 'ROOT::S1', 'search', `Search ${many}`, 'x');
    const listener = new Listener().hear(log.events.slice(0, before));
    listener.said.length = 0;
    listener.hear(log.events.slice(before));
    expect(listener.said).toEqual(['[finder]   Search 0']);
    expect(listener.tick(15.5)).toEqual(['[finder] ... 6 tools, 5.5s']);
    // Nothing changed: nothing is said.
    expect(listener.tick(30)).toEqual([]);
  });

  it('sums those of many agents into one line', () => {
    const log = begun();
    for (const id of [1, 2, 3, 4, 5]) runs(log, 10, `ROOT::S${id}`);
    const before = log.events.length;
    for (let many = 0; many < 3; many += 1)
      for (const id of [1, 2, 3, 4, 5]) uses(log, 11, `ROOT::S${id}`, 'search', `Search ${many}`);
    const listener = new Listener().hear(log.events.slice(0, before));
    listener.said.length = 0;
    listener.hear(log.events.slice(before));
    expect(listener.said).toHaveLength(5);
    expect(listener.tick(16)).toEqual(['5 agents: 10 more tools, most of them finder 2, librarian 2 and oracle 2']);
  });

  it('is no more than a few lines, however many tools there are', () => {
    const log = runs(begun(), 10, 'ROOT::S1');
    for (let many = 0; many < 500; many += 1) uses(log, 11 + many / 100, 'ROOT::S1', 'search', `Search ${many}`, 'x');
    const listener = new Listener().hear(log.events);
    expect(listener.said.filter((line) => line.includes('  Search')).length).toBeLessThan(4);
    const verbose = new Listener('verbose').hear(log.events);
    expect(verbose.said.filter((line) => line.includes('  Search'))).toHaveLength(500);
  });

  it('is in quiet only what a person must know', () => {
    const { said } = new Listener('quiet').hear(midRun().events);
    expect(said.filter((line) => line.startsWith('['))).toEqual([
      '[librarian] failed, provider refused the request (400) (0 tools, 48.0s)',
    ]);
    expect(said.some((line) => line.includes('Multi-Agent Execution Plan'))).toBe(true);
  });
});

describe('where an agent stands', () => {
  it('is called by the same number, also where its task has another place in the plan', () => {
    const { state } = new Listener().hear(midRun().events);
    expect(otherNumbers(state)).toEqual([]);
    const { plan } = state;
    if (plan === null) throw new Error('no plan');
    const [first, second, ...rest] = plan.tasks;
    if (first === undefined || second === undefined) throw new Error('no tasks');
    expect(otherNumbers({ ...state, plan: { ...plan, tasks: [second, first, ...rest] } })).toEqual([
      '#1 librarian of the plan is agent 2',
      '#2 finder of the plan is agent 1',
    ]);
  });

  it('names a dependency that has failed', () => {
    const { state, now } = new Listener().hear(midRun().events);
    const four = state.agents.get(AgentId.parse('ROOT::S4'));
    if (four === undefined) throw new Error('no such agent');
    const pending = { ...four, status: 'pending', runningSince: null } as const;
    expect(statusOf(state, pending, now)).toBe('waiting for #2 librarian (failed)');
  });
});
