/** What an agent can make the screen do: how long one piece of hostile output or one huge action holds it up, keys included. */
import { AgentId, CallId } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { runApp } from '../../../src/ui/tui/shell/app.ts';
import { UNICODE } from '../../../src/ui/tui/text/glyphs.ts';
import { fakeRun, settled } from '../../support/fake-run.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import type { Recording } from '../../support/recorded-run.ts';
import { approval, midRun, START } from '../../support/recorded-run.ts';
import { fakeWorld } from '../../support/world.ts';
import type { Figure } from '../table.ts';
import type { Size } from './part.ts';
import { middleAnd, times } from './part.ts';

const AGENT = AgentId.parse('ROOT::S4');
const LONG = 'x'.repeat(2 * 1024 * 1024);
const COLOURS = '\u001b[31mx\u001b[0m'.repeat(50_000);

export async function screen(size: Size): Promise<readonly Figure[]> {
  const count = times(size, 50);
  const stalls = async (what: string, bodies: (index: number) => readonly EventBody[]): Promise<readonly Figure[]> => {
    const found: number[] = [];
    for (let index = -3; index < count; index += 1) {
      const took = await stall(bodies(index));
      if (index >= 0) found.push(took);
    }
    return middleAnd(what, 95, found);
  };
  return [
    ...(await stalls('a line of 2 MB, on the screen', (index) => printed(index, LONG))),
    ...(await stalls('100,000 colours, on the screen', (index) => printed(index, COLOURS))),
    ...(await stalls('an action of 2 MB, asked about', (index) => asked(index, LONG))),
  ];
}

const printed = (index: number, output: string): readonly EventBody[] => {
  const call = CallId.parse(`long-${index}`);
  return [
    { type: 'tool.started', agent: AGENT, call, tool: 'bash', label: 'yes', input: {}, repeat: 'never' },
    { type: 'tool.finished', agent: AGENT, call, tool: 'bash', ok: true, output, ms: 1 },
  ];
};

const asked = (index: number, exact: string): readonly EventBody[] => [
  {
    type: 'approval.requested',
    agent: AGENT,
    approval: `a-${index}`,
    call: null,
    request: approval({ exact }),
  },
];

/** How long nothing else could be done: from the events on until they stand on the screen and four keys were followed. */
async function stall(bodies: readonly EventBody[]): Promise<number> {
  const terminal = fakeTerminal(120, 40);
  const run = fakeRun();
  const paints: (() => void)[] = [];
  void runApp({
    terminal,
    projectService: run.projectService,
    world: fakeWorld({ start: START + 192_000 }),
    glyphs: UNICODE,
    firstTask: 'Fix the token refresh race',
    schedule: (parts) => {
      paints.push(() => parts.paint());
      return { now: () => parts.paint(), soon: () => undefined, clock: () => undefined, stop: () => undefined };
    },
  });
  await settled();
  const recording = midRun();
  await run.play(recording.events);
  const before = recording.events.length;
  const after: Recording = bodies.reduce((all, body) => all.at(190, body), recording);
  const begun = performance.now();
  await run.play(after.events.slice(before));
  for (const paint of paints) paint();
  terminal.press('j', 'enter', 'G', 'down');
  return performance.now() - begun;
}
