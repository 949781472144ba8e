/** The screen while agents stream: how long a typed letter takes to be seen, and what the painting costs meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Meter } from './double/open.ts';
import { openMeter } from './double/open.ts';
import { openPlace } from './place.ts';
import type { Watched } from './pty.ts';
import { watch } from './pty.ts';
import type { Measurement } from './run.ts';
import { figure, inTurn } from './run.ts';
import { percentile } from './statistics.ts';
import type { Talk } from './work.ts';
import { talking } from './work.ts';

interface Typed {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  /** Percent of one core. */
  readonly cpu: number;
  /** Bytes a second to the terminal. */
  readonly bytes: number;
}

const CASES: readonly (Omit<Talk, 'seconds'> & { readonly name: string })[] = [
  { name: 'one stream of 500/s', agents: 1, rate: 500 },
  { name: '8 agents at 50/s', agents: 8, rate: 50 },
  { name: '16 agents at 50/s', agents: 16, rate: 50 },
  { name: '64 agents at 50/s', agents: 64, rate: 50 },
];

export const echo: Measurement = {
  name: 'echo',
  about: 'from key to screen at 120x40 while agents stream',
  async measure({ programs, quick, say }) {
    const keys = quick ? 30 : 80;
    const figures = [];
    for (const one of CASES) {
      say(`  ${one.name}`);
      const double = await openMeter(talking({ ...one, seconds: 60 }));
      const place = openPlace(double.url);
      try {
        const results = await inTurn(quick ? 1 : 3, {
          mimir: () => typedInMimir(watch(place.command(programs.mimir, [])), { double, agents: one.agents, keys }),
          floor: () =>
            typedInFloor(watch(place.command(programs.floor('screen'), [String(one.agents)])), {
              double,
              agents: one.agents,
              keys,
            }),
        });
        figures.push(
          figure(`${one.name}: echo p50`, 'ms', ({ p50 }: Typed) => p50, results),
          figure(`${one.name}: echo p95`, 'ms', ({ p95 }: Typed) => p95, results),
          figure(`${one.name}: echo max`, 'ms', ({ max }: Typed) => max, results),
          figure(`${one.name}: CPU`, '%', ({ cpu }: Typed) => cpu, results),
          figure(`${one.name}: to the terminal`, 'bytes/s', ({ bytes }: Typed) => bytes, results),
        );
      } finally {
        await double.close();
        place.remove();
      }
    }
    return figures;
  },
};

interface Session {
  readonly double: Meter;
  readonly agents: number;
  readonly keys: number;
}

/** Task, plan, yes, and a message to an agent that is being typed while all of them stream. */
async function typedInMimir(program: Watched, session: Session): Promise<Typed> {
  try {
    await session.double.forget();
    await program.shows(/What do you want to do/);
    program.write('Bench');
    await program.shows(/Bench/);
    program.write('\r');
    // The start screen speaks of accepting as well.
    await program.shows(/⏎ accept/);
    program.write('\r');
    await everybodyStreams(session);
    program.write('i');
    await program.shows(/save draft/);
    return await typed(program, session.keys);
  } finally {
    await program.end();
  }
}

async function typedInFloor(program: Watched, session: Session): Promise<Typed> {
  try {
    await session.double.forget();
    await everybodyStreams(session);
    return await typed(program, session.keys);
  } finally {
    await program.end();
  }
}

/** Each has read once and asked again. */
async function everybodyStreams({ double, agents }: Session): Promise<void> {
  for (let waited = 0; waited < 30_000; waited += 50) {
    if ((await double.report()).marks.requests >= agents * 2) return sleep(1000);
    await sleep(50);
  }
  throw new Error(`${(await double.report()).marks.requests} requests of ${agents} agents within 30 s`);
}

/** Letters that nobody else writes, at the pace of a person and never in step with the frames. */
const LETTERS = 'абвгдежзийклмнопрстуфхцчшщъыьэюя'.split('');
const paceOf = (index: number): number => 60 + ((index * 37) % 61);

async function typed(program: Watched, keys: number): Promise<Typed> {
  program.blind();
  await sleep(200);
  const [started, cpu, bytes] = [performance.now(), program.cpuMs(), program.bytes()];
  const times: number[] = [];
  for (let index = 0; index < keys; index += 1) {
    await sleep(paceOf(index));
    times.push(await program.echo(LETTERS[index % LETTERS.length] ?? 'я'));
  }
  const ms = performance.now() - started;
  return {
    p50: percentile(times, 50),
    p95: percentile(times, 95),
    max: Math.max(...times),
    cpu: ((program.cpuMs() - cpu) * 100) / ms,
    bytes: ((program.bytes() - bytes) * 1000) / ms,
  };
}
