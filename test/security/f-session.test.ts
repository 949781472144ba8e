/**
 * Whole sessions with anything a person may press and anything others may say, drawn into a strict terminal: no sequence but the
 * drawing's own, no frame of another size, no key that ends the program.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../src/domain/ids.ts';
import { ASCII, UNICODE } from '../../src/ui/tui/text/glyphs.ts';
import { APP_KEYS } from '../../src/ui/tui/shell/app-keys.ts';
import { screenActions } from '../../src/ui/tui/shell/screen-router.ts';
import { Painter } from '../../src/ui/tui/terminal/painter.ts';
import type { Input, Size } from '../../src/ui/tui/terminal/terminal.ts';
import { toTerminal } from '../../src/app/views/text/sanitise.ts';
import type { Session } from '../support/app-session.ts';
import { openSession } from '../support/app-session.ts';
import { settled } from '../support/fake-run.ts';
import { poisoned } from '../support/poisoned.ts';
import { finished, midRun, planned, Recording, started } from '../support/recorded-run.ts';
import { theme } from '../support/theme.ts';
import type { StrictTerminal } from '../support/vt.ts';
import { openStrict } from '../support/vt.ts';
import { NASTY } from '../ui/tui/text/texts.ts';

/** Leaving is what these keys are for. */
const LEAVES = new Set(['ctrl-c', 'ctrl-z']);
const KEYS = [
  ...new Set([...screenActions({}).flatMap(({ actions }) => actions), ...APP_KEYS].flatMap(({ keys }) => keys)),
  ...'yn1234 '.split(''),
].filter((key) => !LEAVES.has(key));

const coordinate = fc.integer({ min: -1, max: 130 });
const nasty = fc.constantFrom(...NASTY);
const input: fc.Arbitrary<Input> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...KEYS).map((key) => ({ is: 'key', key }) as const) },
  { weight: 1, arbitrary: nasty.map((text) => ({ is: 'paste', text: toTerminal(text) }) as const) },
  { weight: 1, arbitrary: nasty.map((text) => ({ is: 'edited', text: toTerminal(text) }) as const) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('click' as const), x: coordinate, y: coordinate }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant('wheel' as const),
      x: coordinate,
      y: coordinate,
      by: fc.constantFrom(1 as const, -1 as const),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ is: 'focus' } as const, { is: 'blur' } as const) },
);
const size: fc.Arbitrary<Size> = fc.oneof(
  fc.constantFrom({ width: 40, height: 10 }, { width: 80, height: 24 }, { width: 120, height: 40 }),
  fc.record({ width: fc.integer({ min: 1, max: 210 }), height: fc.integer({ min: 1, max: 70 }) }),
);
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ do: fc.constant('input' as const), input }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stream' as const), text: nasty }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.constantFrom(10, 400, 61_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resize' as const), size }) },
);

const LOGS = [
  null,
  (): Recording => started(new Recording()),
  (): Recording => planned(started(new Recording())),
  midRun,
  (): Recording => finished(),
  (): Recording => finished('failed'),
];

interface Screen {
  readonly strict: StrictTerminal;
  readonly painter: Painter;
}

/** A terminal of this size that obeys nothing but drawing, and what draws on it. */
function drawnOn({ width, height }: Size, depth: 0 | 4 | 24, unicode: boolean): Screen {
  const strict = openStrict(width, height);
  const painter = new Painter({
    theme,
    depth,
    unicode,
    size: { width, height },
    write: (bytes) => strict.write(bytes),
  });
  return { strict, painter };
}

const setting = fc.record({
  log: fc.constantFrom(...LOGS),
  text: nasty,
  size,
  depth: fc.constantFrom(0 as const, 4 as const, 24 as const),
  ascii: fc.boolean(),
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
});
type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never;

async function lived({ log, text, size: first, depth, ascii, steps }: Setting): Promise<void> {
  const recording = log === null ? null : Object.assign(new Recording(), { events: poisoned(log(), text) });
  const session: Session = await openSession(recording, { ...first, glyphs: ascii ? ASCII : UNICODE });
  const { terminal, run, world } = session;
  let failed: unknown = null;
  session.end.catch((error: unknown) => (failed = error));
  let screen = drawnOn(first, depth, !ascii);
  const look = (): void => {
    const { width, height } = terminal.size();
    expect(terminal.frame().lines.length).toBe(height);
    if (screen.painter.size.width !== width || screen.painter.size.height !== height)
      screen = drawnOn({ width, height }, depth, !ascii);
    screen.painter.paint(terminal.frame());
    expect(toTerminal(terminal.title())).toBe(terminal.title());
  };
  look();
  for (const one of steps) {
    if (one.do === 'input') terminal.send(one.input);
    else if (one.do === 'stream') run.tick({ agent: AgentId.parse('ROOT::S3'), is: 'text', delta: one.text });
    else if (one.do === 'resize') terminal.resize(one.size);
    else await world.advance(one.ms);
    // While the person's own editor has the screen nothing is drawn, nor is a key of theirs ours: it ends first.
    await settled();
    if (failed !== null) throw failed;
    look();
  }
  await world.advance(0);
  if (failed !== null) throw failed;
}

describe('a session with anything pressed and anything said', () => {
  it('F01 F05 F07: draws what it should and nothing else, and goes on', async () => {
    await fc.assert(fc.asyncProperty(setting, lived), { numRuns: 120 });
  });
});
