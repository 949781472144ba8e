/** The type of an action: one row describes what a person can do to a run. The screen, line mode, the command line and the help read these rows. */
import type { AgentId } from '../../domain/ids.ts';
import type { AgentState, RunState } from '../../events/index.ts';
import type { Command } from '../../ports/controls.ts';
import ROWS from './rows.json' with { type: 'json' };

/** The names of an interaction: its key on the screen, its word in line mode, its entry in the help of both. */
export interface Interaction {
  /** Stable name for `keys:` of the configuration: `run.kill`. */
  readonly id: string;
  /** Default keys on the screen. */
  readonly keys: readonly string[];
  /** One or two words for the footer; empty keeps it out of the footer. */
  readonly hint: string;
  /** The word in line mode; `short` holds its aliases. */
  readonly word: string;
  readonly short?: readonly string[];
  /** The arguments in line mode, such as `N TEXT`; optional ones in brackets. Absent: none. */
  readonly arguments?: string;
  /** Its name in the help and the palette: verb and object. */
  readonly help: string;
  /** One sentence that adds what the name does not tell. */
  readonly more?: string;
}

type RowName = keyof typeof ROWS;

/** The names of an interaction by its id, from rows.json. */
export function rowOf(id: RowName): Interaction {
  const row: Omit<Interaction, 'id' | 'hint'> = ROWS[id];
  return { id, hint: '', ...row };
}

/** An interaction that sends a command to the run. Commands that agents may send are in ports/controls.ts. */
export interface Action<Args> extends Interaction {
  /** Null if the action is possible now, otherwise the reason. */
  whyNot(state: RunState, args: Args): string | null;
  command(state: RunState, args: Args): Command;
  /** The question before the command is sent; absent if it is sent at once. */
  confirm?(state: RunState, args: Args): Confirmation;
}

/** A question before an act that cannot be undone. Any answer but `yes` cancels it. */
export interface Confirmation {
  /** `Kill oracle?` */
  readonly title: string;
  /** Sentences; the first describes the effect. */
  readonly lines: readonly [string, ...string[]];
  /** The label of the confirming choice, a verb: `kill`. */
  readonly yes: string;
  /** The label of the safe choice: `keep it running`. */
  readonly no: string;
  /** The word that must be typed; empty if a plain yes is enough. */
  readonly word: string;
}

/** An action on one agent: the selected one on the screen, the one with the typed number in line mode. */
export type AgentAction = Action<{ readonly agent: AgentId }>;

export const ENDED = 'The run has ended.';
export const NO_AGENT = 'No agents yet.';
export const NO_REPORT = 'The run has not ended.';
export const NO_RUN = 'No run.';

/** Why an action on `agent` is impossible: the run has ended, the agent is unknown, or the result of `why`. */
export function whyNotAgent(
  { agents, finished }: RunState,
  agent: AgentId,
  why: (agent: AgentState) => string | null,
): string | null {
  if (finished !== null) return ENDED;
  const found = agents.get(agent);
  return found === undefined ? NO_AGENT : why(found);
}

/** The `why` of actions that are possible for every agent that has not ended. */
export const whyNotRunning = (agent: AgentState): string | null =>
  agent.outcome === null ? null : `${agent.name} has ended already.`;
