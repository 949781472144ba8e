/**
 * Children of a run in a process of its own: how long from asking for one to its end, beyond the model's own time; whether any
 * of 200 asked for at once is lost; and what the verb takes by itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { reach } from '../../src/remote/client.ts';
import { whereOf } from '../../src/remote/socket-paths.ts';
import { AgentId, ROOT, SessionId } from '../../src/domain/ids.ts';
import type { RemoteRun } from '../../src/ports/control.ts';
import type { Command } from './process.ts';
import { runToEnd } from './process.ts';
import { openMeter } from './double/open.ts';
import type { Place } from './place.ts';
import { openPlace } from './place.ts';
import type { Measurement } from './run.ts';
import { figure } from './run.ts';
import { percentile } from './statistics.ts';
import { reading } from './work.ts';

/** What the model takes: everything beyond is Mimir's. */
const LATENCY_MS = 100;
const SESSION = SessionId.parse('bench');

export const spawns: Measurement = {
  name: 'spawn',
  about: `children one after the other and 200 at once, at ${LATENCY_MS} ms a reply`,
  async measure({ programs, quick, say }) {
    const double = await openMeter(reading(0, LATENCY_MS));
    const place = openPlace(double.url);
    const host = startHost(place.command(programs.mimir, ['run', '--hosted', SESSION, '--idle']));
    try {
      const run = await reached(place);
      const ends = follow(run);
      say('  one after the other');
      const { above, receipts } = await oneByOne(run, ends, quick ? 10 : 60);
      const count = quick ? 20 : 200;
      say(`  ${count} at once`);
      const lost = await allAtOnce(run, ends, count);
      say('  by the verb');
      const verb = await byVerb(place, programs.mimir, quick ? 2 : 10);
      run.close();
      return [
        figure('spawn: above the model p50', 'ms', (ms) => ms, { mimir: [percentile(above, 50)] }),
        figure('spawn: above the model p95', 'ms', (ms) => ms, { mimir: [percentile(above, 95)] }),
        figure('spawn: the receipt', 'ms', (ms) => ms, { mimir: receipts }),
        figure(`spawn: lost of ${count} at once`, '', (all) => all, { mimir: [lost] }),
        figure('spawn: by the verb', 'ms', (ms) => ms, { mimir: verb }),
      ];
    } finally {
      await host.end();
      await double.close();
      place.remove();
    }
  },
};

function startHost({ command, args, cwd, env }: Command) {
  const child = spawn(command, [...args], { cwd, env: { ...env }, stdio: 'ignore' });
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill);
  return {
    async end() {
      const gone = once(child, 'exit');
      kill();
      if (child.exitCode === null && child.signalCode === null) await gone;
      process.off('exit', kill);
    },
  };
}

/** Asked for until its socket answers, for 30 s. */
async function reached({ project, env }: Place): Promise<RemoteRun> {
  const stateDir = join(env['XDG_STATE_HOME'] ?? '', 'mimir');
  const where = whereOf({ stateDir, runtimeDir: join(stateDir, 'run'), project, session: SESSION });
  for (const until = performance.now() + 30_000; performance.now() < until; ) {
    const run = await reach(where, SESSION);
    if (run !== null) return run;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the run in a process of its own can not be reached');
}

/** When each child had ended, by this process's clock. */
interface Ends {
  of(agent: AgentId): Promise<number>;
}

function follow({ controls }: RemoteRun): Ends {
  const known = new Map<AgentId, PromiseWithResolvers<number>>();
  const endOf = (agent: AgentId): PromiseWithResolvers<number> => {
    const end = known.get(agent) ?? Promise.withResolvers<number>();
    known.set(agent, end);
    return end;
  };
  void (async () => {
    for await (const event of controls.events(0))
      if (event.type === 'agent.finished') endOf(event.agent).resolve(performance.now());
  })();
  return { of: (agent) => endOf(agent).promise };
}

const wish = { prompt: 'say done', role: 'finder', model: null, name: null, wait: null, workingDir: null };

async function spawned({ controls }: RemoteRun): Promise<AgentId> {
  const receipt = await controls.submit({ do: 'spawn', parent: ROOT, wish });
  if (!receipt.ok || receipt.value.agent === undefined) throw new Error(receipt.ok ? 'no child' : receipt.fault.text);
  return receipt.value.agent;
}

interface Single {
  /** Milliseconds to the child's end, without the model's own. */
  readonly above: number[];
  /** To the answer that it was created. */
  readonly receipts: number[];
}

async function oneByOne(run: RemoteRun, ends: Ends, times: number): Promise<Single> {
  const single: Single = { above: [], receipts: [] };
  for (let round = -2; round < times; round += 1) {
    const asked = performance.now();
    const agent = await spawned(run);
    const told = performance.now();
    const ended = await ends.of(agent);
    // The first ones load what is loaded on use.
    if (round < 0) continue;
    single.receipts.push(told - asked);
    single.above.push(ended - asked - LATENCY_MS);
  }
  return single;
}

/** How many were not created, or did not end well. */
async function allAtOnce(run: RemoteRun, ends: Ends, count: number): Promise<number> {
  const asked = await Promise.allSettled(Array.from({ length: count }, () => spawned(run)));
  const made = new Set(asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
  await Promise.all([...made].map((agent) => ends.of(agent)));
  const { sessions } = await run.family();
  const well = sessions.filter(({ agent, status }) => made.has(AgentId.parse(agent)) && status === 'completed');
  return count - well.length;
}

async function byVerb(place: Place, program: readonly string[], times: number): Promise<readonly number[]> {
  const walls: number[] = [];
  for (let round = -1; round < times; round += 1) {
    const command = place.command(program, ['spawn', 'finder', 'say done', '--json']);
    const { code, err, wallMs } = await runToEnd(command);
    if (code !== 0) throw new Error(`mimir spawn ended with ${code}: ${err}`);
    if (round >= 0) walls.push(wallMs);
  }
  return walls;
}
