/** A run that had begun before, in lines: where it stands, and then only what is new. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { MimirEvent } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { EMPTY } from '../../../src/events/state.ts';
import { LineRun } from '../../../src/ui/lines/run.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { finished, START } from '../../support/recorded-run.ts';
import type { Recording } from '../../support/recorded-run.ts';

const LATER = 300;

/** Stopped once, and gone on with at `LATER` seconds. */
function goneOnWith(): Recording {
  const log = finished('stopped');
  log.at(LATER, { type: 'session.resumed', policyHash: 'rules', version: '0.1.0' });
  return log;
}

async function* given(events: readonly MimirEvent[]): AsyncGenerator<MimirEvent> {
  await Promise.resolve();
  yield* events;
}

/** What is said of a log, and of which kinds somebody else hears. */
async function toldOf(events: readonly MimirEvent[], joined: number, found = EMPTY) {
  const begun = await fakeRun().projectService.start('task');
  if (!begun.ok) throw new Error('not begun');
  const [said, heard]: [string[], string[]] = [[], []];
  const parts = {
    say: (line: string) => void said.push(line),
    paint: new Chalk({ level: 0 }),
    now: () => START + LATER * 1000,
    verbosity: () => 'normal' as const,
  };
  const controls = { ...begun.value, found, events: (after: number) => given(events.slice(after)) };
  await new LineRun(controls, parts, { happened: ({ type }) => void heard.push(type) }, joined).ended;
  return { said, heard };
}

describe('a run that is gone on with in lines', () => {
  it('says in two lines what that is, and not again what was said of it before', async () => {
    const { said, heard } = await toldOf(goneOnWith().events, START + LATER * 1000);
    expect(said).toEqual([
      'Resuming session run-7f3a: Fix the token refresh race',
      '0 running, 5 completed, 1 failed, 1 interrupted, 3m 19s, $0.33 of $2.00, no open questions.',
    ]);
    // Of what asks the person something only the last of each kind, when all is known.
    expect(heard.filter((type, at) => heard.indexOf(type) !== at)).toEqual([]);
  });

  it('says the same where the log was read before', async () => {
    const { events } = goneOnWith();
    const joined = START + LATER * 1000;
    const before = foldAll(events.slice(0, -1));
    expect((await toldOf(events, joined, before)).said).toEqual((await toldOf(events, joined)).said);
  });

  it('takes no former going on for this one, however short a time ago that was', async () => {
    const log = goneOnWith();
    log.at(LATER + 0.2, { type: 'session.mode', mode: 'human' });
    log.at(LATER + 1, { type: 'session.resumed', policyHash: 'rules', version: '0.1.0' });
    log.at(LATER + 1, { type: 'session.mode', mode: 'confirm' });
    const { said } = await toldOf(log.events, START + (LATER + 1) * 1000);
    expect(said.filter((line) => line.startsWith('Resuming'))).toHaveLength(1);
    expect(said.filter((line) => line.startsWith('mode is'))).toEqual(['mode is now confirm for all agents']);
  });
});
