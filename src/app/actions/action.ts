/** What a person can do to a run, once for the screen, line mode and the command line. */
import type { AgentId } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { Command } from '../../ports/controls.ts';

export interface Action<Args> {
  /** A verb and its object, at most three words: "Retry failed tasks". */
  readonly name: string;
  /** One sentence for the help. */
  readonly help: string;
  /** Default keys on the screen. */
  readonly keys: readonly string[];
  /** The word in line mode. */
  readonly word: string;
  /** Null when it can be done now; else why not. */
  whyNot(state: RunState, args: Args): string | null;
  /** What is asked of the run. */
  command(state: RunState, args: Args): Command;
  /** What to confirm first; absent: it is done at once. */
  confirm?(state: RunState, args: Args): Confirmation;
}

/** A question before something that cannot be undone. Every answer but the wanted one leaves things as they are. */
export interface Confirmation {
  /** `Kill oracle?` */
  readonly title: string;
  /** Sentences; the first says what happens. */
  readonly lines: readonly [string, ...string[]];
  /** A verb that completes "to": `kill`. */
  readonly yes: string;
  /** The same for the safe choice: `keep it running`. */
  readonly no: string;
  /** What must be typed; empty: a plain yes is enough. */
  readonly word: string;
}

/** An action on one agent: on the screen the selected one, in line mode the one whose number is typed. */
export interface AgentAction extends Action<{ readonly agent: AgentId }> {
  /** Stable name for `keys:` of the configuration: `run.kill`. */
  readonly id: string;
  /** One or two words for the footer. */
  readonly hint: string;
  /** Shorter words in line mode. */
  readonly short: readonly string[];
}

/** `why` of the agent of these arguments, as `whyNot` of its action. */
export function whyNotAgent(
  { agents, finished }: RunState,
  agent: AgentId,
  why: (agent: AgentState) => string | null,
): string | null {
  if (finished !== null) return 'The run has ended.';
  const found = agents.get(agent);
  return found === undefined ? 'There is no agent yet.' : why(found);
}
