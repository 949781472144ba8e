/** What specs of the engine look at in a run, and two runs that many of them begin with. */
import type { MimirEvent } from '../../src/events/event.ts';
import type { Setting, TestRun } from './run.ts';
import type { RunResult } from '../../src/engine/run/open-run.ts';
import { AGENT, calling, planOf, testRun } from './run.ts';
import type { FakeWorld } from './world.ts';

const S1 = AGENT('ROOT::S1');

/** The events of one type of one agent, the first planned one when it isn't named. */
export const eventsOf = (run: TestRun, type: MimirEvent['type'], agent = 'ROOT::S1'): MimirEvent[] =>
  run.events().filter((event) => event.type === type && 'agent' in event && event.agent === agent);

/** What tools gave, in order. */
export const outputs = (run: TestRun): [boolean, string][] =>
  run.events().flatMap((event) => (event.type === 'tool.finished' ? [[event.ok, event.output]] : []));

export const toldTo = (run: TestRun, agent: string): string[] =>
  run.events().flatMap((event) => (event.type === 'agent.told' && event.agent === agent ? [event.text] : []));

/** A finished run of one agent, an oracle when its task begins with `o`. */
export async function ran(script: Setting['script'], setting: Setting = {}): Promise<TestRun> {
  const run = testRun({ plan: planOf(['o']), mode: 'yolo', ...setting, ...(script ? { script } : {}) });
  await run.result;
  return run;
}

/** A run whose first agent is in its second turn, and stays there until `go` is resolved. */
export function held(setting: Setting = {}): { readonly run: TestRun; readonly go: PromiseWithResolvers<void> } {
  const go = Promise.withResolvers<void>();
  const run = testRun({
    plan: planOf(['a'], ['b']),
    ...setting,
    script: async (request, n) => {
      if (request.agent !== S1) return setting.script?.(request, n);
      if (n === 0) return { ...calling('read x'), text: 'looking' };
      if (n === 1) await go.promise;
      return undefined;
    },
  });
  return { run, go };
}

export const inSecondTurn = (run: TestRun): Promise<unknown> =>
  run.until(({ agents }) => agents.get(S1)?.iterations === 2 && agents.get(S1)?.open.length === 1);

/** The result of a run that waits: its clock is moved to each next waking until it has ended. */
export async function throughTime(run: TestRun, world: FakeWorld): Promise<RunResult> {
  const ended = { yet: false };
  const result = run.result.finally(() => (ended.yet = true));
  for (let steps = 0; !ended.yet; steps += 1) {
    if (steps === 20_000) throw new Error('the run does not end');
    await world.advance(world.nextWake() ?? 0);
  }
  return result;
}
