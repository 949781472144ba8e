import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { MimirEvent } from '../../../src/events/event.ts';
import { isFinal } from '../../../src/events/queries.ts';
import type { RunState } from '../../../src/events/state.ts';
import { brokenByChildren } from '../../support/children-promises.ts';
import { brokenByRun } from '../../support/family-machine-promises.ts';
import { act, type Deed, deed, SESSION } from '../../support/family-deeds.ts';
import {
  begin,
  type Box,
  openBox,
  type Played,
  settled,
  type Story,
  story,
  turns,
} from '../../support/family-machine.ts';
import { brokenBy } from '../../support/invariants.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';

/** Carried out one after the other, and then to the end of the run; lines where something does not end. */
async function carried(played: Played, deeds: readonly Deed[], box: Box): Promise<readonly string[]> {
  const receipts: Promise<unknown>[] = [];
  for (const one of deeds) {
    await turns(one.after);
    const receipt = act(played, one, box);
    if (receipt !== null) receipts.push(receipt);
  }
  const problem = await settled(played);
  if (problem !== null) {
    played.run.stop('given up');
    await turns(50);
    return [problem];
  }
  const all = await Promise.race([Promise.all(receipts), turns(40).then(() => null)]);
  return all === null ? ['somebody waits for a receipt for ever'] : [];
}

const broken = (events: readonly MimirEvent[]): readonly string[] => {
  const end = events.findLast(({ type }) => type === 'session.finished');
  const whole = end?.type === 'session.finished' && end.status === 'completed';
  return [...brokenByChildren(events, whole), ...brokenBy(events), ...brokenByRun(events)];
};

/** A run leaves the outputs of tools in the log. */
const withoutOutputs = (state: RunState): RunState => ({
  ...state,
  agents: new Map(
    [...state.agents.values()].map((agent) => [
      agent.id,
      { ...agent, blocks: agent.blocks.map((block) => (block.is === 'tool' ? { ...block, output: '' } : block)) },
    ]),
  ),
});

async function machine(one: Story, deeds: readonly Deed[], more: readonly Deed[], cut: number): Promise<void> {
  const box = openBox();
  const lengths: number[] = [];
  const memory = memoryLog();
  const first = begin(one, box, { log: lengthsOf(memory, lengths) });
  expect(await carried(first, deeds, box)).toEqual([]);
  expect(broken(first.run.events())).toEqual([]);
  expect(withoutOutputs(first.run.view.state())).toEqual(withoutOutputs(first.run.state()));
  // Stopped or handed over: it goes on, with more of that.
  let now = first;
  for (let again = 0; again < 3; again += 1) {
    const { status } = await now.run.result;
    if (status !== 'stopped') break;
    now = begin(one, box, { log: lengthsOf(memory, lengths) });
    expect(await carried(now, again === 0 ? more : [], box)).toEqual([]);
    expect(broken(now.run.events())).toEqual([]);
  }
  const events = now.run.events();
  const before = events.slice(0, lengths[cut % lengths.length]);
  const last = begin(one, box, { log: cutLog(SESSION, before) });
  expect(await carried(last, cut % 2 === 0 ? more : [], box)).toEqual([]);
  expect(broken(last.run.events())).toEqual([]);
  // Nobody is left for later where nobody goes on with it.
  const { status } = await last.run.result;
  if (status === 'completed' || status === 'rejected')
    expect([...last.run.state().agents.values()].filter((agent) => !isFinal(agent)).map(({ id }) => id)).toEqual([]);
}

it('any run with any children, steered in any way, keeps its promises, is cut off anywhere and comes to its end', async () => {
  await fc.assert(
    fc.asyncProperty(
      story,
      fc.array(deed, { minLength: 5, maxLength: 40 }),
      fc.array(deed, { maxLength: 15 }),
      fc.nat(),
      machine,
    ),
    { numRuns: 10 },
  );
});
