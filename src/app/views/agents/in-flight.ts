/** What a run that is handed over waits for: replies that models write and tools that run, in a few words each. */
import type { AgentState, RunState } from '../../../events/state.ts';
import { inOrder, modelName } from './agent-lines.ts';
import { toLabel } from '../text/sanitise.ts';
import { childOf } from '../../../events/queries.ts';

/** Calls that only wait themselves, for a child or for the person: they go on in the other process. */
const WAITING: ReadonlySet<string> = new Set(['Task', 'ask_user']);

export interface UnderWay {
  /** The agent's name. */
  readonly who: string;
  /** `a reply of haiku-4.5`, `$ npm test`. */
  readonly what: string;
}

/** In the order of the agents; empty when nothing runs that an interruption would lose. */
export const underWay = (state: RunState): readonly UnderWay[] =>
  inOrder(state).flatMap((agent) => partsOf(agent, state).map((what) => ({ who: agent.name, what })));

function partsOf(agent: AgentState, state: RunState): readonly string[] {
  const { open, blocks } = agent;
  const replies = open.map(({ model }) => `a reply of ${modelName(model)}`);
  const tools = blocks.flatMap((block) =>
    // A command that has come to a child (protocol: text) waits for that as well.
    block.is === 'tool' &&
    block.ok === null &&
    !WAITING.has(block.tool) &&
    childOf(block.call, agent, state) === undefined
      ? [toLabel(block.label || block.tool)]
      : [],
  );
  return [...replies, ...tools];
}
