/** The state of a session, folded from its log. Outputs of tools stay in the log and are read when they are displayed, because the outputs
 * of a long run would fill the memory. */
import type { EventOf, EventType, MimirEvent } from '../event.ts';
import { fold } from '../fold.ts';
import { isShortened, keptOutput } from '../fold-agent.ts';
import { withAgent } from '../roster.ts';
import { type AgentState, type Block, EMPTY, type RunState } from '../state.ts';

/** The stored event with this number; null if it cannot be read. */
export type ReadEvent = (seq: number) => MimirEvent | null;

export type ToolBlock = Extract<Block, { readonly is: 'tool' }>;

/** Outputs up to this many characters stay in memory: reading them from the log costs more. */
const SHORT = 200;
const UNREAD = '(This output is in the log, which cannot be read now.)';

/** The state after the events that were added, in order. */
export class FoldedLog {
  #state: RunState;
  readonly #read: ReadEvent | null;
  readonly #places = new WeakMap<Block, number>();

  /** `read`: reads outputs that were omitted, and those of finished agents; null: outputs are kept as in the events. */
  constructor(read: ReadEvent | null = null, from: RunState = EMPTY) {
    this.#read = read;
    this.#state = from;
  }

  get state(): RunState {
    return this.#state;
  }

  hear(event: MimirEvent): void {
    const after = fold(this.#state, event);
    this.#state = this.#read === null ? after : this.#lighter(after, event, this.#read);
  }

  #lighter(state: RunState, event: MimirEvent, read: ReadEvent): RunState {
    if (event.type !== 'tool.finished' && event.type !== 'agent.finished') return state;
    const agent = state.agents.get(event.agent);
    if (agent === undefined) return state;
    const withBlocks = (blocks: AgentState['blocks']): RunState => ({
      ...state,
      agents: withAgent(state.agents, { ...agent, blocks }),
    });
    if (event.type === 'agent.finished') return withBlocks(agent.blocks.map((block) => this.#lightBlock(block, read)));
    const at = agent.blocks.findLastIndex((one) => one.is === 'tool' && one.call === event.call);
    const block = agent.blocks[at];
    if (block?.is !== 'tool') return state;
    // Only the log has the whole output.
    if (isShortened(event)) {
      const blocks = [...agent.blocks];
      blocks[at] = stored(block, event.seq, read);
      return withBlocks(blocks);
    }
    this.#places.set(block, event.seq);
    return state;
  }

  #lightBlock(block: Block, read: ReadEvent): Block {
    const seq = this.#places.get(block);
    return block.is !== 'tool' || seq === undefined || block.output.length <= SHORT ? block : stored(block, seq, read);
  }
}

const stored = (block: ToolBlock, seq: number, read: ReadEvent): ToolBlock =>
  new ReadLater(block, () => {
    const event = read(seq);
    return event?.type === 'tool.finished' ? keptOutput(event.output) : UNREAD;
  });

/** The same block with an output that is read on each access. One class for all: thousands of own getters take ten times the memory. */
export class ReadLater implements ToolBlock {
  readonly is = 'tool';
  readonly call: ToolBlock['call'];
  readonly tool: string;
  readonly label: string;
  readonly started: ToolBlock['started'];
  readonly ok: ToolBlock['ok'];
  readonly ms: ToolBlock['ms'];
  declare readonly changed?: ToolBlock['changed'];
  declare readonly output: string;
  readonly #read: () => string;

  constructor({ call, tool, label, started, ok, ms, changed }: Omit<ToolBlock, 'is' | 'output'>, read: () => string) {
    this.call = call;
    this.tool = tool;
    this.label = label;
    this.started = started;
    this.ok = ok;
    this.ms = ms;
    if (changed !== undefined) Object.assign(this, { changed });
    this.#read = read;
    Object.defineProperty(this, 'output', ReadLater.#OUTPUT);
  }

  /** An own and enumerable property, like the others. */
  static readonly #OUTPUT: PropertyDescriptor & ThisType<ReadLater> = {
    enumerable: true,
    get() {
      return this.#read();
    },
  };
}

const KEPT: ReadonlySet<EventType> = new Set<EventType>([
  'session.started',
  'session.resumed',
  'budget.changed',
  'agent.created',
  'agent.status',
]);

/** The same, with the few events that a resume needs again. */
export class ResumedLog extends FoldedLog {
  /** By their numbers, in order. */
  readonly #few = new Map<number, MimirEvent>();
  /** The numbers of the events that started unfinished calls. */
  readonly #open = new Map<string, readonly number[]>();
  /** The state at the last end that was not a stop; empty without one. */
  lastEnd: RunState = EMPTY;

  override hear(event: MimirEvent): void {
    super.hear(event);
    if (event.type === 'session.finished' && event.status !== 'stopped') this.lastEnd = this.state;
    if (KEPT.has(event.type)) this.#few.set(event.seq, event);
    if (event.type === 'tool.started') {
      // Ids of calls may come from the model and repeat.
      this.#open.set(callOf(event), [...(this.#open.get(callOf(event)) ?? []), event.seq]);
      this.#few.set(event.seq, { ...event, input: null });
    }
    if (event.type !== 'tool.finished') return;
    for (const begun of this.#open.get(callOf(event)) ?? []) this.#few.delete(begun);
    this.#open.delete(callOf(event));
    if (event.saw !== undefined) this.#few.set(event.seq, event);
  }

  /** The first events of the session and its agents, unfinished tool calls, and the files that agents have read, in order. Can be taken once. */
  take(): readonly MimirEvent[] {
    const few = [...this.#few.values()];
    this.#few.clear();
    this.#open.clear();
    return few;
  }
}

const callOf = ({ agent, call }: EventOf<'tool.started' | 'tool.finished'>): string => `${agent} ${call}`;
