/**
 * Agents on workers: a thousand with steps of 50 ms, which is about a hundred times as dense as real work; what a step costs there, beside the same
 * steps written to the log of one machine; and how soon the agents of a killed worker continue.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { answerLines, openDatabase, openLine, publicKeyOf } from '../../src/distributed/index.ts';
import { ROOT, SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { openLog } from '../../src/store/log.ts';
import { type Bench as Cluster, openBench, type ScriptedWorker } from '../distributed/scripted.ts';
import { residentMb, treeCpuMs } from './process.ts';
import type { Measurement } from './run.ts';
import { figure } from './run.ts';
import { percentile } from './statistics.ts';

const [STEPS, STEP_MS, WORKERS, KILLS] = [20, 50, 8, 10];

export const cluster: Measurement = {
  name: 'cluster',
  about: `1000 agents of ${STEPS} steps of ${STEP_MS} ms on ${WORKERS} workers, and ${KILLS} kills`,
  async measure({ quick, say }) {
    const agents = quick ? 50 : 1000;
    say(`  ${agents} agents on workers`);
    const there = await onWorkers(agents);
    say(`  ${agents} agents here`);
    const here = await onThisMachine(agents);
    say(`  ${quick ? 2 : KILLS} kills`);
    const takeOvers = await afterKills(quick ? 2 : KILLS);
    const one = (what: string, unit: 'ms' | 'MB' | 'bytes' | '', value: number, floor?: number) =>
      figure(`cluster: ${what}`, unit, (of: number) => of, {
        mimir: [value],
        ...(floor !== undefined && { floor: [floor] }),
      });
    return [
      one('steps per second', '', there.perSecond, here.perSecond),
      one('CPU per step: run', 'ms', there.cpu.run, here.cpuMs),
      one('CPU per step: workers', 'ms', there.cpu.workers),
      one('CPU per step: database', 'ms', there.cpu.database),
      one('memory of a worker', 'MB', there.memory),
      one('a step beyond its own time p50', 'ms', percentile(there.beyond, 50), percentile(here.beyond, 50)),
      one('a step beyond its own time p95', 'ms', percentile(there.beyond, 95), percentile(here.beyond, 95)),
      one('events per second', '', there.perSecond * EVENTS, here.perSecond * EVENTS),
      one('an event is in the database p50', 'ms', percentile(there.written, 50)),
      one('an event is in the database p95', 'ms', percentile(there.written, 95)),
      one('an event is at a terminal p50', 'ms', percentile(there.shown, 50)),
      one('an event is at a terminal p95', 'ms', percentile(there.shown, 95)),
      one('growth per step', 'bytes', there.growth, here.growth),
      one('agents continue after a kill p50', 'ms', percentile(takeOvers, 50)),
      one('agents continue after a kill p95', 'ms', percentile(takeOvers, 95)),
    ];
  },
};

/** Two of them are recorded for each step. */
const BODY: EventBody = { type: 'agent.status', agent: ROOT, status: 'running', reason: 'a step of an agent' };
const EVENTS = 2;

/** A terminal on another machine, to which the run sends a line every 50 ms; the milliseconds that each took. */
function openTerminal({ db }: Cluster): { readonly waits: number[]; end(): void } {
  const waits: number[] = [];
  const own = generateKeyPairSync('ed25519').privateKey;
  const keys = { own, others: [publicKeyOf(own)] };
  let timer: NodeJS.Timeout | null = null;
  const [here, there] = [openDatabase(db.url, 2), openDatabase(db.url, 2)];
  const end = answerLines(here, 'run', keys, (line) => {
    timer = setInterval(() => line.send(`${performance.now()}\n`), 50);
  });
  const line = openLine(there, 'run', keys);
  line.receive((text) => {
    for (const sent of text.trim().split('\n')) waits.push(performance.now() - Number(sent));
  });
  return {
    waits,
    end: () => {
      if (timer !== null) clearInterval(timer);
      line.close();
      end();
      void here.close();
      void there.close();
    },
  };
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `agent-${n}`);
const sizeOf = async ({ db }: Cluster): Promise<number> => {
  const [row] = await db.rows(
    z.object({ size: z.coerce.number() }),
    'select pg_database_size(current_database()) as size',
  );
  return row?.size ?? 0;
};

async function onWorkers(agents: number) {
  const at = await openBench(mkdtempSync(join(tmpdir(), 'mimir-bench-')));
  try {
    const workers = await Promise.all(names(WORKERS).map((name) => at.worker(`w-${name}`, { slots: 125 })));
    const pids = workers.map(({ child }) => child.pid ?? 0);
    const cpuNow = () => ({
      run: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
      workers: pids.reduce((sum, pid) => sum + treeCpuMs(pid), 0),
      database: treeCpuMs(at.postgres.pid()),
    });
    const [before, size, began] = [cpuNow(), await sizeOf(at), performance.now()];
    const [beyond, written]: [number[], number[]] = [[], []];
    const { log } = at.cluster;
    const record = (): void => log.append([new Date().toISOString(), [BODY]]);
    const terminal = openTerminal(at);
    await Promise.all(
      names(agents).map(async (name) => {
        for (let n = 0; n < STEPS; n += 1) {
          const started = performance.now();
          // As a run does: what leads to the step is there before it.
          record();
          await log.written();
          written.push(performance.now() - started);
          await at.step(name, `${name}.${n}`, { ms: STEP_MS });
          record();
          beyond.push(performance.now() - started - STEP_MS);
        }
      }),
    );
    terminal.end();
    const [after, steps] = [cpuNow(), agents * STEPS];
    const each = (side: keyof typeof before): number => (after[side] - before[side]) / steps;
    return {
      perSecond: (steps * 1000) / (performance.now() - began),
      cpu: { run: each('run'), workers: each('workers'), database: each('database') },
      memory: Math.max(...pids.map(residentMb)),
      beyond,
      written,
      shown: terminal.waits,
      growth: ((await sizeOf(at)) - size) / steps,
    };
  } finally {
    await at.end();
  }
}

/** The same steps with a record before and after each in the log of one machine. */
async function onThisMachine(agents: number) {
  const folder = mkdtempSync(join(tmpdir(), 'mimir-bench-'));
  const session = SessionId.parse('bench');
  const log = openLog({ stateDir: folder, project: folder });
  try {
    log.claim(session);
    const record = (): void => void log.append(session, new Date().toISOString(), [BODY]);
    const [before, began] = [process.cpuUsage(), performance.now()];
    const beyond: number[] = [];
    await Promise.all(
      names(agents).map(async () => {
        for (let n = 0; n < STEPS; n += 1) {
          const started = performance.now();
          record();
          await new Promise((done) => setTimeout(done, STEP_MS));
          record();
          beyond.push(performance.now() - started - STEP_MS);
        }
      }),
    );
    const { user, system } = process.cpuUsage(before);
    const steps = agents * STEPS;
    const perSecond = (steps * 1000) / (performance.now() - began);
    return { perSecond, cpuMs: (user + system) / 1000 / steps, beyond, growth: 2 * JSON.stringify(BODY).length };
  } finally {
    log.release(session);
    log.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Milliseconds from each kill to the first step of each of its agents that ends elsewhere. */
async function afterKills(kills: number): Promise<readonly number[]> {
  const at = await openBench(mkdtempSync(join(tmpdir(), 'mimir-bench-')));
  const waits: number[] = [];
  try {
    let workers: readonly ScriptedWorker[] = await Promise.all([at.worker('first'), at.worker('second')]);
    for (let kill = 0; kill < kills; kill += 1) {
      const agents = names(20).map((name) => `${name}-${kill}`);
      const by = await Promise.all(agents.map((name) => at.step(name, `${name}.0`)));
      const [killed, ...others] = workers;
      const theirs = agents.filter((_, n) => by[n] === `done on ${killed?.id}`);
      killed?.child.kill('SIGKILL');
      const began = performance.now();
      await Promise.all(
        theirs.map(async (name) => {
          await at.step(name, `${name}.1`);
          waits.push(performance.now() - began);
        }),
      );
      await Promise.all(agents.map((name) => at.cluster.ended(name)));
      workers = [...others, await at.worker(`next ${kill}`)];
    }
    return waits;
  } finally {
    await at.end();
  }
}
