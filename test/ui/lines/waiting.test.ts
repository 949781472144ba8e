/** What waits for a person, said where nobody types. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { MimirEvent } from '../../../src/events/event.ts';
import { fold } from '../../../src/events/fold.ts';
import { EMPTY } from '../../../src/events/state.ts';
import { pendingPrinter } from '../../../src/ui/lines/follow.ts';
import { approval, asks, created, planned, Recording, runs, SESSION, started } from '../../support/recorded-run.ts';

function saidOf(events: readonly MimirEvent[]): readonly string[] {
  const said: string[] = [];
  const waits = pendingPrinter(SESSION, { say: (line) => void said.push(line), paint: new Chalk({ level: 0 }) });
  let state = EMPTY;
  for (const event of events) waits((state = fold(state, event)));
  return said;
}

const WHERE = 'answer it in a terminal: mimir attach run-7f3a';

describe('what waits for a person', () => {
  it('is said of a plan once, however often that is proposed anew', () => {
    const log = planned(planned(started(new Recording())));
    expect(saidOf(log.events)).toEqual([`The plan waits for approval; ${WHERE}`]);
  });

  it('is said of each question once, with who asks and what', () => {
    const log = runs(created(planned(started(new Recording()))), 10, 'ROOT::S1');
    asks(log, 11, 'ROOT::S1', 'a1', approval({ title: 'finder: run npm\u0007 test' }));
    asks(log, 12, 'ROOT::S3', 'a2', approval({}));
    expect(saidOf(log.events).slice(1)).toEqual([
      `[finder] asks you: run npm\\x07 test; ${WHERE}`,
      `[oracle] asks you: npm test; ${WHERE}`,
    ]);
  });
});
