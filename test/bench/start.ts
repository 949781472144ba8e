/** Start: first byte, first frame and first echoed key of the published program in a terminal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openPlace } from './place.ts';
import type { Command } from './process.ts';
import { watch } from './pty.ts';
import type { Measurement } from './run.ts';
import { figure, inTurn } from './run.ts';

interface Start {
  readonly firstByte: number;
  readonly paint: number;
  readonly echo: number;
}

/** A word of both first frames (blanks may be left out), and a key that neither shows otherwise. */
const GREETING = 'want';
const KEY = 'Ж';

export const start: Measurement = {
  name: 'start',
  about: 'first byte, first frame, first echoed key',
  async measure({ programs, quick }) {
    const place = openPlace();
    for (const program of [programs.mimir, programs.floor('screen')]) await keptCompiled(place.command(program, []));
    const results = await inTurn(quick ? 3 : 15, {
      mimir: () => started(place.command(programs.mimir, [])),
      floor: () => started(place.command(programs.floor('screen'), [])),
      letter: () => wroteLetter(place.command(programs.floor('letter'), [])),
    });
    place.remove();
    return [
      figure('Node writing one letter', 'ms', ({ firstByte }) => firstByte, { mimir: results.letter }),
      figure('start: first byte', 'ms', ({ firstByte }) => firstByte, results),
      figure('start: first paint', 'ms', ({ paint }) => paint, results),
      figure('start: key echo', 'ms', ({ echo }) => echo, results),
    ];
  },
};

/** Long enough for both to have kept what they compiled: a first start of all is not what people wait for every day. */
const KEPT_MS = 3000;

async function keptCompiled(command: Command): Promise<void> {
  const program = watch(command);
  await program.printed(GREETING);
  await sleep(KEPT_MS);
  await program.end();
}

/** The key is typed as soon as there is a frame to type into. */
async function started(command: Command): Promise<Start> {
  const program = watch(command);
  program.blind();
  const begun = performance.now();
  const firstByte = program.firstByte();
  const paint = program.printed(GREETING);
  await paint;
  await program.echo(KEY);
  const echo = performance.now() - begun;
  await program.end();
  return { firstByte: await firstByte, paint: await paint, echo };
}

async function wroteLetter(command: Command): Promise<Start> {
  const program = watch(command);
  const firstByte = await program.firstByte();
  await program.end();
  return { firstByte, paint: firstByte, echo: firstByte };
}
