/** A session with a long log: what it takes to resume it, to show it, and to list it, beside reading its file once. */
import { cpSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { openMeter } from './double/open.ts';
import { mimirRun } from './headless.ts';
import { writeLongLog } from './long-log.ts';
import { openPlace } from './place.ts';
import type { Command, Ran } from './process.ts';
import { runToEnd } from './process.ts';
import type { Measurement } from './run.ts';
import { figure } from './run.ts';
import { reading } from './work.ts';

/** Agents of the run, and how many of them are resumed: as many as a plain run has that its memory is compared with. */
const AGENTS = 256;
const CUT = 8;
const PATIENCE = 600_000;

export const long: Measurement = {
  name: 'long',
  about: 'a session with a log of 541 MB: resume, show, sessions',
  async measure({ programs, quick, say }) {
    const double = await openMeter(reading(1));
    const place = openPlace(double.url);
    const setting = { programs, place, double };
    try {
      const plain = await mimirRun(setting, CUT);
      const bytes = quick ? 20e6 : 541e6;
      await writeLongLog(setting, { agents: quick ? 32 : AGENTS, cut: CUT, bytes });
      say(`  ${Math.round(place.logBytes() / 1e6)} MB are written`);
      const folder = dirname(place.logFile());
      const kept = `${folder}-kept`;
      cpSync(folder, kept, { recursive: true });
      const of = (args: readonly string[]): Promise<Ran> => ended(place.command(programs.mimir, args));
      const all: Record<'sessions' | 'show' | 'resume' | 'floor', Ran[]> = {
        sessions: [],
        show: [],
        resume: [],
        floor: [],
      };
      for (let round = 0; round < (quick ? 1 : 3); round += 1) {
        rmSync(folder, { recursive: true });
        cpSync(kept, folder, { recursive: true });
        all.floor.push(await ended(place.command(programs.floor('read'), [place.logFile()])));
        all.sessions.push(await of(['sessions']));
        all.show.push(await of(['show']));
        all.resume.push(await of(['resume', '--yes']));
      }
      const above = ({ peakMb }: Ran): number => Math.max(0, peakMb - plain.peakMb);
      return (['sessions', 'show', 'resume'] as const).flatMap((verb) => {
        const what = `a log of 541 MB: ${verb === 'resume' ? 'resumed' : verb}`;
        return [
          figure(what, 'ms', ({ wallMs }) => wallMs, { mimir: all[verb], floor: all.floor }),
          figure(`${what}, CPU`, 'ms', ({ cpuMs }) => cpuMs, { mimir: all[verb], floor: all.floor }),
          figure(`${what}, MB above a plain run`, '', above, { mimir: all[verb] }),
        ];
      });
    } finally {
      await double.close();
      place.remove();
    }
  },
};

async function ended(command: Command): Promise<Ran> {
  const ran = await runToEnd(command, { timeoutMs: PATIENCE, onOut: () => undefined });
  if (ran.code !== 0) throw new Error(`${command.args.slice(-2).join(' ')} ended with ${ran.code}: ${ran.err}`);
  return ran;
}
