/** What somebody may do to a run of the family machine at any moment: chosen by numbers from what there is then. */
import * as fc from 'fast-check';
import { type AgentId, ROOT, SessionId } from '../../src/domain/ids.ts';
import type { PlanEdit } from '../../src/domain/plan/plan-edit.ts';
import type { SpawnRequest } from '../../src/domain/agents/agent.ts';
import type { AgentState, RunState } from '../../src/events/state.ts';
import type { Command } from '../../src/ports/controls.ts';
import { wishOf } from './children.ts';
import type { Box, Played } from './family-machine.ts';
import type { TestRun } from './run.ts';

export const SESSION = SessionId.parse('test-session');

const DEEDS = [
  'spawn',
  'spawn',
  'child',
  'child',
  'child',
  'message',
  'message',
  'message',
  'word',
  'word',
  'kill',
  'end child',
  'complete',
  'interrupt',
  'resume',
  'retry',
  'skip',
  'answer',
  'answer',
  'mode',
  'pin',
  'add task',
  'drop task',
  'hand over',
  'stay',
  'letter',
  'time',
  'approve',
  'approve',
  'reject',
  'stop',
] as const;

/** One thing that somebody does; what `whom` and `what` choose depends on what there is then. */
export const deed = fc.record({
  do: fc.constantFrom(...DEEDS),
  whom: fc.nat({ max: 1000 }),
  what: fc.nat({ max: 1000 }),
  /** Turns of the loop before it. */
  after: fc.nat({ max: 4 }),
});
export type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

export const wishBy = (number: number): SpawnRequest =>
  wishOf('look', {
    wait: [null, 0, 5][number % 3] ?? null,
    role: number % 2 === 0 ? 'leader' : 'explore',
    name: [null, 'scout', 'main'][number % 5] ?? null,
  });

const pick = <T>(all: readonly T[], number: number): T | undefined => all[number % Math.max(all.length, 1)];

/** Does it; the promise of its receipt, which nobody waits for. */
export function act({ run, world }: Played, one: Deed, box: Box): Promise<unknown> | null {
  const state = run.view.state();
  const all = [...state.agents.values()];
  const agent = pick(all, one.whom)?.id ?? ROOT;
  if (one.do === 'time') return world.advance(one.what * 100);
  if (one.do === 'letter') {
    box.put(SESSION, { id: `l${box.all.length}`, to: agent, text: 'a letter', delivery: delivery(one.what), at: '' });
    run.poke();
    return null;
  }
  if (one.do === 'add task' || one.do === 'drop task') return amended(run, state, one.do, one.what);
  const command = commandOf(state, one, agent);
  return command === null ? null : run.controls.submit(...command);
}

const delivery = (what: number) => (['sequential', 'important', 'urgent'] as const)[what % 3] ?? 'important';

type Asked = readonly [command: Command, by?: AgentId];

function commandOf(state: RunState, { do: what, whom, what: number }: Deed, agent: AgentId): Asked | null {
  const other = pick([...state.agents.values()], number)?.id ?? ROOT;
  switch (what) {
    case 'spawn':
      return [{ do: 'spawn', parent: agent, wish: wishBy(number) }];
    case 'child':
      return [{ do: 'spawn', parent: agent, wish: wishBy(number) }, agent];
    case 'message':
      return [{ do: 'message', to: number % 9 === 0 ? 'all' : agent, text: 'more', delivery: delivery(number) }];
    case 'word':
      return [{ do: 'message', to: number % 9 === 0 ? 'all' : other, text: 'word', delivery: delivery(number) }, agent];
    case 'end child': {
      const child = pick([...state.agents.values()].filter(isChild), whom);
      return child === undefined ? null : [{ do: 'kill', agent: child.id }, child.owner ?? ROOT];
    }
    case 'complete':
      return [{ do: 'complete', agent, status: number % 2 === 0 ? 'completed' : 'error', message: 'enough' }, agent];
    case 'kill':
    case 'interrupt':
    case 'resume':
    case 'retry':
    case 'skip':
      return [{ do: what, agent }];
    default:
      return ofRun(state, what, number);
  }
}

const isChild = ({ spawned }: AgentState): boolean => spawned !== null;

function ofRun(state: RunState, what: Deed['do'], number: number): Asked | null {
  switch (what) {
    case 'answer': {
      const asked = pick(state.approvals, number);
      const scope = number % 4 === 0 ? 'session' : 'once';
      return asked === undefined
        ? null
        : [{ do: 'answer', approval: asked.id, allow: number % 3 !== 0, scope, text: '' }];
    }
    case 'mode':
    case 'pin':
      return ofModes(state, what, number);
    case 'hand over':
      return [{ do: 'hand over', how: number % 4 === 0 ? 'now' : 'when quiet' }];
    case 'stay':
      return [{ do: 'hand over', how: 'stay' }];
    case 'approve':
      return [{ do: 'approve plan', digest: state.planDigest ?? '' }];
    case 'reject':
      return number % 5 === 0 ? [{ do: 'reject plan' }] : null;
    case 'stop':
      return number % 3 === 0 ? [{ do: 'stop run', reason: 'by the machine' }] : null;
    default:
      return null;
  }
}

function ofModes(state: RunState, what: 'mode' | 'pin', number: number): Asked {
  const mode = (['confirm', 'yolo', 'human'] as const)[number % 3] ?? 'yolo';
  if (what === 'mode') return [{ do: 'set mode', mode }];
  const agent = pick([...state.agents.keys()], number) ?? ROOT;
  return [{ do: 'pin mode', agent, mode: number % 4 === 0 ? null : mode }];
}

async function amended(
  run: TestRun,
  state: RunState,
  what: 'add task' | 'drop task',
  number: number,
): Promise<unknown> {
  const dropped = pick(state.plan?.tasks ?? [], number);
  const add: PlanEdit = { is: 'add', description: `more ${number}`, role: 'leader', dependsOn: [] };
  const edits: readonly PlanEdit[] =
    what === 'add task' ? [add] : dropped === undefined ? [] : [{ is: 'drop', task: dropped.id }];
  const preview = await run.controls.previewPlan(edits);
  if (!preview.ok) return null;
  return run.controls.submit({
    do: 'amend plan',
    edits,
    base: preview.value.base,
    digest: preview.value.digest,
  });
}
