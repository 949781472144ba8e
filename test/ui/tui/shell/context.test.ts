/** When the screen has a clock on it, and so is painted although nothing happens. */
import { expect, it } from 'vitest';
import { foldAll } from '../../../../src/events/fold.ts';
import type { RunState } from '../../../../src/events/state.ts';
import { hasClock } from '../../../../src/ui/tui/shell/app.ts';
import type { Recording } from '../../../support/recorded-run.ts';
import { approval, asks, finished, midRun, planned, Recording as Log, started } from '../../../support/recorded-run.ts';

const after = (log: Recording): RunState => foldAll(log.events);

it('a run counts seconds while it plans, works or asks, and not while a plan waits for the person', () => {
  const cases: readonly (readonly [string, Recording])[] = [
    ['planning', started(new Log())],
    ['approving', planned(started(new Log()))],
    ['running', midRun()],
    ['asking', asks(midRun(), 185, 'ROOT::S4', 'a1', approval({}))],
    ['finished', finished('stopped')],
  ];
  expect(cases.flatMap(([name, log]) => (hasClock(after(log), true) ? [name] : []))).toEqual([
    'planning',
    'running',
    'asking',
  ]);
});
