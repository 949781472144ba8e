/**
 * One frame of the run screen at 120x40: views, cells and what is sent, measured inside. While eight agents are on it and one
 * streams; and with 512, of which twenty do something new before each frame.
 */
import { AgentId } from '../../src/domain/ids.ts';
import { runApp } from '../../src/ui/tui/shell/app.ts';
import { UNICODE } from '../../src/ui/tui/text/glyphs.ts';
import { Painter } from '../../src/ui/tui/terminal/painter.ts';
import { fakeRun, settled } from '../support/fake-run.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { crowd, moment } from '../support/crowd.ts';
import type { Recording } from '../support/recorded-run.ts';
import { midRun, START } from '../support/recorded-run.ts';
import { theme } from '../support/theme.ts';
import { fakeWorld } from '../support/world.ts';
import type { Measurement } from './run.ts';
import { spreadOf, percentile } from './statistics.ts';
import { prose } from './work.ts';

const SIZE = { width: 120, height: 40 };
const WORDS = prose(400).split(' ');

export const frame: Measurement = {
  name: 'frame',
  about: 'one frame of the run screen at 120x40',
  async measure({ quick }) {
    const { paint } = await openScreen(midRun());
    const rounds = Array.from({ length: quick ? 2 : 6 }, () => round(paint, quick ? 200 : 1000)).slice(1);
    const crowded: number[] = [];
    for (let index = 0; index < (quick ? 2 : 6); index += 1) crowded.push(await crowdedRound(quick ? 100 : 300));
    const of = (pick: (one: Round) => number) => spreadOf(rounds.map(pick));
    return [
      { what: 'a frame at 120x40', unit: 'ms', mimir: of(({ middle }) => middle), floor: null },
      { what: 'a frame at 120x40, p99', unit: 'ms', mimir: of(({ p99 }) => p99), floor: null },
      { what: 'a frame with 512 agents, CPU', unit: 'ms', mimir: spreadOf(crowded.slice(1)), floor: null },
      { what: 'bytes of a frame', unit: '', mimir: of(({ bytes }) => bytes), floor: null },
    ];
  },
};

interface Round {
  readonly middle: number;
  readonly p99: number;
  readonly bytes: number;
}

/** So many words come in, each painted. */
function round(paint: (words: string) => number, frames: number): Round {
  const times: number[] = [];
  let bytes = 0;
  for (let index = 0; index < frames; index += 1) {
    const started = performance.now();
    bytes += paint(`${WORDS[index % WORDS.length] ?? ''} `);
    times.push(performance.now() - started);
  }
  return { middle: percentile(times, 50), p99: percentile(times, 99), bytes: bytes / frames };
}

const CROWD = 512;
/** Events that come in before each frame: thirty frames a second of them are six hundred. */
const PER_FRAME = 20;

/** CPU a frame in milliseconds, taking in what happened included. */
async function crowdedRound(frames: number): Promise<number> {
  const log = crowd(CROWD);
  const { paint, play } = await openScreen(log);
  const moments = Array.from({ length: frames }, (_, turn) => moment(log, CROWD, turn, PER_FRAME));
  paint('');
  const before = process.cpuUsage();
  for (const events of moments) {
    await play(events);
    paint('on it ');
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / frames;
}

interface Opened {
  /** Lets a word stream in, paints, and says how many bytes were sent. */
  readonly paint: (words: string) => number;
  readonly play: (events: readonly MimirEvent[]) => Promise<void>;
}

/** The screen in the middle of a run. */
async function openScreen(log: Recording): Promise<Opened> {
  let [sent, paints] = [0, (): void => undefined];
  const painter = new Painter({
    theme,
    depth: 24,
    unicode: true,
    size: SIZE,
    write: (text) => {
      sent += Buffer.byteLength(text);
    },
  });
  const run = fakeRun();
  void runApp({
    terminal: { ...fakeTerminal(SIZE.width, SIZE.height), paint: (next) => painter.paint(next) },
    projectService: run.projectService,
    world: fakeWorld({ start: START + 192_000 }),
    glyphs: UNICODE,
    firstTask: 'Fix the token refresh race',
    schedule: (parts) => {
      paints = () => parts.paint();
      return { now: paints, soon: () => undefined, clock: () => undefined, stop: () => undefined };
    },
  });
  await settled();
  await run.play(log.events);
  const agent = AgentId.parse('ROOT::S4');
  return {
    paint: (delta) => {
      sent = 0;
      run.tick({ agent, is: 'text', delta });
      paints();
      return sent;
    },
    play: (events) => run.play(events),
  };
}
