/** Runs of the plan of all cases: in one process, and with workers. Whatever carries out the steps is killed in their midst, and another goes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokensOf } from '../../src/domain/budget.ts';
import type { CallId } from '../../src/domain/ids.ts';
import { tried } from '../../src/domain/result.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { jsonLines, PUBLISHED } from '../support/cli.ts';
import { openTestCluster } from '../support/cluster.ts';
import { eventsIn } from '../support/cut-spawns.ts';
import type { Asked, Double } from '../support/double/double.ts';
import { LEDGER, type Machine } from '../support/journey.ts';
import { ownModel } from '../support/on-the-wire.ts';
import { until } from '../support/until.ts';
import { CASES, type Facts, LETTER, PLAN, RULES } from './cases.ts';

/** A run after it was cut off and has come to its end. */
export interface Carried {
  readonly code: number | null;
  readonly events: readonly MimirEvent[];
  readonly asked: readonly Asked[];
  readonly machine: Machine;
}

interface Stage {
  readonly machine: Machine;
  readonly double: Double;
  readonly flags: readonly string[];
  /** Kills what carries out the steps; another is there. */
  kill(run: ChildProcess): Promise<void>;
  end(): Promise<void>;
}

const CONFIG = 'agentOrchestration: { maxParallelAgents: 16 }\n';

const alone = async (): Promise<Stage> => {
  const made = await ownModel('anthropic', { script: { rules: RULES }, files: LEDGER, config: CONFIG });
  return { ...made, flags: [], kill: killed, end: () => Promise.resolve() };
};

const onWorkers = async (who: 'worker' | 'run'): Promise<Stage> => {
  const cluster = await openTestCluster(RULES, LEDGER, CONFIG);
  const worker = await cluster.worker({ slots: 16 });
  return {
    ...cluster,
    flags: ['--cluster'],
    async kill(run) {
      if (who === 'run') return killed(run);
      await cluster.worker({ slots: 16 });
      worker.child.kill('SIGKILL');
      return undefined;
    },
  };
};

const killed = async (child: ChildProcess): Promise<void> => {
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await ended;
};

/** What may carry out the steps of a run, and is killed. */
export const EXECUTORS: readonly (readonly [name: string, open: () => Promise<Stage>])[] = [
  ['the process of a run', alone],
  ['workers, of which one is killed', () => onWorkers('worker')],
  ['workers, of a run whose process is killed', () => onWorkers('run')],
];

export async function carry(open: () => Promise<Stage>): Promise<Carried> {
  const stage = await open();
  const { machine, double, flags } = stage;
  const plan = join(machine.home, 'plan.json');
  writeFileSync(plan, JSON.stringify(PLAN));
  const all = ['--yes', '--json', '--mode', 'yolo', ...flags];
  const run = start(machine, ['run', 'Work', '--plan', plan, ...all]);
  try {
    await run.comes(() => isThere(machine, double.asked));
    const session = String(jsonLines(run.out())[0]?.['session']);
    await machine.mimir('send', `${session}/${idOf('letter')}`, LETTER);
    await machine.mimir('kill', `code ${numberOf('cancelled')}`);
    await run.comes(() => /"type":"agent.finished".*"outcome":"killed"/.test(run.out()));
    await stage.kill(run.child);
    const first = await run.ended;
    const code = first ?? (await machine.mimir('resume', session, ...all)).code;
    const events = eventsIn({ stateDir: join(machine.home, 'state/mimir'), project: machine.project });
    return { code, events, asked: double.asked, machine };
  } finally {
    run.child.kill('SIGKILL');
    await stage.end();
  }
}

const numberOf = (name: string): number => CASES.findIndex((one) => one.name === name) + 1;
export const idOf = (name: string): string => {
  const parent = CASES.find((one) => one.name === name)?.parent;
  return parent === undefined ? `ROOT::S${numberOf(name)}` : `${idOf(parent)}::S1`;
};

/** Is every task in the state that its case is about? */
const isThere = ({ home }: Machine, asked: readonly Asked[]): boolean =>
  CASES.every(({ name, silentAt, writes }) => {
    if (silentAt !== undefined && !asked.some((one) => one.first.startsWith(`[${name}]`) && one.turn === silentAt))
      return false;
    return writes === undefined || globSync(`**/${name}.txt`, { cwd: home }).length > 0;
  });

function start(machine: Machine, args: readonly string[]) {
  const [node = '', ...program] = PUBLISHED;
  const child = spawn(node, [...program, ...args], { cwd: machine.project, env: machine.env });
  let out = '';
  child.stdout.on('data', (more) => (out += String(more)));
  child.stderr.on('data', (more) => (out += String(more)));
  return {
    child,
    out: () => out,
    ended: new Promise<number | null>((done) => child.once('close', done)),
    async comes(holds: () => boolean): Promise<void> {
      await until(() => child.exitCode !== null || holds());
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${out}`);
    },
  };
}

/** The call has no reply, and counts with all that was reserved for it: the provider may have billed that. */
function isPaidInFull(events: readonly MimirEvent[], call: CallId, reserved: number): boolean {
  const end = events.find((one) => (one.type === 'model.finished' || one.type === 'model.failed') && one.call === call);
  if (end === undefined) return true;
  return end.type === 'model.failed' && end.usage !== undefined && tokensOf(end.usage) === reserved;
}

/** What became of the task of a case. */
export function factsOf({ events, machine, asked }: Carried, name: string): Facts {
  const own = events.filter((event) => 'agent' in event && event.agent === idOf(name));
  const became = (call: CallId | string): Facts['tools'][number][1] => {
    const end = own.find((one) => one.type === 'tool.finished' && one.call === call);
    if (end?.type !== 'tool.finished') return 'failed';
    if (end.ok) return 'done';
    return /not known|unknown/i.test(end.output) ? 'unknown' : 'failed';
  };
  const text = tried(() => readFileSync(join(machine.project, `${name}.txt`), 'utf8').trim(), '');
  const calls = own.flatMap((event) => (event.type === 'model.started' ? [event] : []));
  return {
    outcome: own.flatMap((event) => (event.type === 'agent.finished' ? [event.outcome] : [])).at(-1) ?? 'none',
    tools: own.flatMap((event) => (event.type === 'tool.started' ? [[event.tool, became(event.call)] as const] : [])),
    calls: calls.length,
    cutOff: calls.filter(({ call, reserved }) => isPaidInFull(own, call, reserved.tokens)).length,
    letters: (asked.findLast((one) => one.first.startsWith(`[${name}]`))?.raw.split(LETTER).length ?? 1) - 1,
    // A worker that is lost takes with it what a command had begun to write.
    lines: text.split('\n').filter((line, at) => line !== '' && (line !== 'began' || at > 0)),
  };
}
