/**
 * Runs that outlive their screen, for journeys: one agent with a command that waits for a file and leaves a line for each time that
 * it has begun, then a reply that comes slowly, and the end.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { jsonLines } from './cli.ts';
import type { Double } from './double/double.ts';
import type { Rule, Script } from './double/script.ts';
import type { Machine, Person } from './journey.ts';
import { ACCEPT, LEDGER, newest } from './journey.ts';
import type { Event } from './on-the-wire.ts';
import { ownModel, planText } from './on-the-wire.ts';
import { until } from './until.ts';

export const WORK = 'Run the checks';
export const THOUGHT = 'The checks went on as they should, and now I look at what stands in src before I say so.';
export const ANSWER = 'All of the checks are well.';

const COMMAND = 'echo ran >> effects; while [ ! -e go ]; do sleep 0.05; done; echo went on';

const script = (rate: number | undefined, more: readonly Rule[]): Script => ({
  rules: [
    ...more,
    { when: { first: '# Roles' }, answer: { text: planText([WORK, 'oracle']) } },
    { when: { first: `^${WORK}`, turn: 1 }, answer: { calls: [{ tool: 'bash', input: { command: COMMAND } }] } },
    {
      when: { first: `^${WORK}`, turn: 2 },
      answer: {
        text: THOUGHT,
        calls: [{ tool: 'list_files', input: { path: 'src' } }],
        ...(rate === undefined ? {} : { rate }),
      },
    },
    { when: { first: `^${WORK}` }, answer: { text: ANSWER } },
  ],
});

export interface LeftRunning {
  readonly machine: Machine;
  readonly double: Double;
  /** How often the command has begun. */
  effects(): number;
  /** Lets the command end. */
  go(): void;
  /** The events of the newest session. */
  events(): Promise<readonly Event[]>;
  /** Waits until the newest session stands so in the list. */
  stands(state: 'running' | 'finished' | 'stopped'): Promise<void>;
  /** Processes without a terminal that carry runs of this machine. */
  hosts(): readonly number[];
}

const projects: string[] = [];
// What a test leaves behind outlives it, as it should.
afterAll(() => {
  for (const pid of projects.flatMap(hostsIn)) process.kill(pid, 'SIGKILL');
});

/** `rate`: tokens a second of the reply behind the command; all at once when left out. `more`: for other agents. */
export async function leftRunning(rate?: number, more: readonly Rule[] = []): Promise<LeftRunning> {
  const { machine, double } = await ownModel('anthropic', { script: script(rate, more), files: LEDGER });
  const { project } = machine;
  projects.push(project);
  const effects = join(project, 'effects');
  return {
    machine,
    double,
    effects: () => (existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').length - 1 : 0),
    go: () => writeFileSync(join(project, 'go'), ''),
    events: async () => jsonLines((await machine.mimir('events', await newest(machine), '--json')).out),
    async stands(state) {
      for (let tries = 0; tries < 100; tries += 1) {
        const { out } = await machine.mimir('sessions');
        if (out.split('\n')[0]?.includes(` ${state} `) === true) return;
      }
      throw new Error(`the session never stood at ${state}`);
    },
    hosts: () => hostsIn(project),
  };
}

function hostsIn(project: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const args = argumentsOf(pid);
      return args.includes('--hosted') && args.includes(project);
    })
    .map(Number);
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Somebody on whose screen the command runs. */
export async function atTheCommand(run: LeftRunning): Promise<Person> {
  const person = run.machine.opens([WORK, '--mode', 'yolo']);
  await person.sees(ACCEPT);
  person.press('enter');
  await until(() => run.effects() === 1);
  await person.sees(/● main/, /echo ran/);
  return person;
}
