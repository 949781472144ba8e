/** Idle: what the start screen costs while nobody does anything. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openPlace } from './place.ts';
import type { Command } from './process.ts';
import { residentMb } from './process.ts';
import { watch } from './pty.ts';
import type { Measurement } from './run.ts';
import { figure, inTurn } from './run.ts';

/** What a start still does after its first frame (looking at the repository, the compile cache) is over by then. */
const SETTLE_MS = 3000;

export const idle: Measurement = {
  name: 'idle',
  about: 'memory, CPU and bytes of the start screen over ten seconds',
  async measure({ programs, quick }) {
    const place = openPlace();
    const ms = quick ? 2000 : 10_000;
    const results = await inTurn(quick ? 1 : 3, {
      mimir: () => rested(place.command(programs.mimir, []), ms),
      floor: () => rested(place.command(programs.floor('screen'), []), ms),
    });
    place.remove();
    return [
      figure('idle: memory', 'MB', ({ memory }) => memory, results),
      figure('idle: CPU', '%', ({ cpu }) => cpu, results),
      figure('idle: bytes to the terminal', '', ({ bytes }) => bytes, results),
    ];
  },
};

async function rested(command: Command, ms: number): Promise<{ memory: number; cpu: number; bytes: number }> {
  const program = watch(command);
  await program.printed('want');
  program.blind();
  await sleep(SETTLE_MS);
  const [cpu, bytes] = [program.cpuMs(), program.bytes()];
  await sleep(ms);
  const rest = {
    memory: residentMb(program.pid),
    cpu: ((program.cpuMs() - cpu) * 100) / ms,
    bytes: program.bytes() - bytes,
  };
  await program.end();
  return rest;
}
