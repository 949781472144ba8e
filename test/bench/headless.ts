/** A run without a screen against the double, Mimir's and the floor's, and that it did what it should have done. */
import type { Marks, Meter } from './double/open.ts';
import type { Place } from './place.ts';
import type { Cost } from './process.ts';
import { runToEnd } from './process.ts';
import type { Programs } from './program.ts';

export interface Headless extends Cost {
  readonly marks: Marks;
  /** How many agents ended well. */
  readonly completed: number;
  /** Events and bytes of the log; 0 for who keeps none. */
  readonly events: number;
  readonly logBytes: number;
}

export interface Setting {
  readonly programs: Programs;
  readonly place: Place;
  readonly double: Meter;
}

/** `mimir run --plan` of so many tasks. Throws when not all of them end well. */
export async function mimirRun({ programs, place, double }: Setting, agents: number): Promise<Headless> {
  place.forget();
  await double.forget();
  const args = ['run', 'Bench', '--plan', place.plan(agents), '--yes', '--json'];
  const tally = tallyEvents();
  const ran = await runToEnd(place.command(programs.mimir, args), { timeoutMs: 300_000, onOut: tally.take });
  const { events, completed } = tally;
  if (ran.code !== 0 || completed() !== agents) {
    throw new Error(`${completed()} of ${agents} agents ended well, exit code ${ran.code}\n${ran.err}\n${tally.bad()}`);
  }
  const { marks } = await double.report();
  return { ...ran, marks, completed: completed(), events: events(), logBytes: place.logBytes() };
}

/** The floor's run of so many agents. Throws when not all of them end. */
export async function floorRun({ programs, place, double }: Setting, agents: number): Promise<Headless> {
  await double.forget();
  const ran = await runToEnd(place.command(programs.floor('loop'), [String(agents)]), { timeoutMs: 300_000 });
  if (ran.code !== 0 || ran.out !== `${agents}\n`) throw new Error(`the floor ended with ${ran.code}: ${ran.err}`);
  return { ...ran, marks: (await double.report()).marks, completed: agents, events: 0, logBytes: 0 };
}

/** Counts events as they are printed, and keeps the last words of agents that did not end well. */
function tallyEvents() {
  let [rest, events, completed] = ['', 0, 0];
  const bad: string[] = [];
  return {
    take: (piece: string): void => {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        events += 1;
        if (!line.includes('"type":"agent.finished"')) continue;
        if (line.includes('"agent":"ROOT"')) continue;
        if (line.includes('"outcome":"completed"')) completed += 1;
        else bad.push(line.slice(0, 500));
      }
    },
    events: () => events,
    completed: () => completed,
    bad: () => bad.slice(0, 3).join('\n'),
  };
}
