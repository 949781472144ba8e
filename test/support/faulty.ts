/** Runs whose models fail: faults, who meets them, and the clock that is moved through the waits. */
import type { MimirEvent } from '../../src/events/event.ts';
import type { ScriptedReply } from './scripted.ts';
import type { ModelFault } from '../../src/ports/model.ts';
import { throughTime } from './run-looks.ts';
import type { Script, Setting, TestRun } from './run.ts';
import { AGENT, planOf, ROLES, testRun } from './run.ts';
import type { FakeWorld } from './world.ts';
import { fakeWorld } from './world.ts';

export const fault = (is: ModelFault['is'], more: Partial<ModelFault> = {}): ScriptedReply => ({
  fault: { is, message: `it is ${is}`, ...more },
});

/** A run and its clock; with the model `fast` only, unless the setting says more. */
export function waiting(setting: Setting): { readonly run: TestRun; readonly world: FakeWorld } {
  const world = fakeWorld();
  const roles = ROLES.map((role) => ({ ...role, models: ['fast'] }));
  return { run: testRun({ plan: planOf(['a']), world, roles, ...setting }), world };
}

/** One that is carried through, whatever it waits for. */
export async function ended(setting: Setting): Promise<TestRun> {
  const { run, world } = waiting(setting);
  await throughTime(run, world);
  return run;
}

/** The first agent meets these, one a call, and then gets its answer. */
export const meets =
  (...faults: readonly ScriptedReply[]): Script =>
  ({ agent, purpose }, n) =>
    agent === AGENT('ROOT::S1') && purpose.is === 'work' ? faults[n] : undefined;

/** Every hop from one model to another: from, to, cause. */
export const hops = (run: TestRun): unknown[] =>
  run.events().flatMap((event) => (event.type === 'model.fallback' ? [[event.from, event.to, event.cause]] : []));

/** When events of a type happened, in milliseconds since the run began. */
export const timesOf = (run: TestRun, type: MimirEvent['type']): readonly number[] =>
  run.events().flatMap((event) => (event.type === type ? [Date.parse(event.time) - run.state().startedAt] : []));

/** The first event of a type. */
export const one = <T extends MimirEvent['type']>(run: TestRun, type: T): Extract<MimirEvent, { type: T }> => {
  const found = run.events().find((event): event is Extract<MimirEvent, { type: T }> => event.type === type);
  if (!found) throw new Error(`no ${type}`);
  return found;
};
