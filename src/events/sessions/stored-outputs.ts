/**
 * Lets go of what tools of ended agents gave: the log has it, and it is read there when somebody looks. For states that are shown,
 * of which a long run would fill the memory with what nobody reads any more.
 */
import { keptOutput } from '../fold-agent.ts';
import { isShortened } from '../child-results.ts';
import type { MimirEvent } from '../event.ts';
import { withAgent } from '../roster.ts';
import type { AgentState, Block, RunState } from '../state.ts';

/** The stored event with this number; null where it can't be read. */
export type ReadEvent = (seq: number) => MimirEvent | null;

type ToolBlock = Extract<Block, { readonly is: 'tool' }>;

/** Outputs of up to so many characters cost no more than the way to the log. */
const SHORT = 200;
const UNREAD = '(this is in the log, which can not be read now)';

export class StoredOutputs {
  readonly #read: ReadEvent;
  /** Where the output of a block stands in the log. */
  readonly #places = new WeakMap<Block, number>();

  constructor(read: ReadEvent) {
    this.#read = read;
  }

  /** `state` is that after `event`: the same, without the outputs of an agent that has ended with it. */
  after(state: RunState, event: MimirEvent): RunState {
    if (event.type !== 'tool.finished' && event.type !== 'agent.finished') return state;
    const agent = state.agents.get(event.agent);
    if (agent === undefined) return state;
    if (event.type === 'agent.finished') return { ...state, agents: withAgent(state.agents, this.#lightened(agent)) };
    const at = agent.blocks.findLastIndex((one) => one.is === 'tool' && one.call === event.call);
    const block = agent.blocks[at];
    if (block?.is !== 'tool') return state;
    if (!isShortened(event)) {
      this.#places.set(block, event.seq);
      return state;
    }
    // Only the log has the whole output.
    const blocks = agent.blocks.with(at, this.#stored(block, event.seq));
    return { ...state, agents: withAgent(state.agents, { ...agent, blocks }) };
  }

  #lightened(agent: AgentState): AgentState {
    return { ...agent, blocks: agent.blocks.map((block) => this.#lightBlock(block)) };
  }

  #lightBlock(block: Block): Block {
    const seq = this.#places.get(block);
    return block.is !== 'tool' || seq === undefined || block.output.length <= SHORT ? block : this.#stored(block, seq);
  }

  #stored({ is, call, tool, label, started, ok, ms }: ToolBlock, seq: number): ToolBlock {
    const outputAt = (): string => this.#outputAt(seq);
    return {
      is,
      call,
      tool,
      label,
      started,
      ok,
      ms,
      get output() {
        return outputAt();
      },
    };
  }

  #outputAt(seq: number): string {
    const event = this.#read(seq);
    return event?.type === 'tool.finished' ? keptOutput(event.output) : UNREAD;
  }
}
