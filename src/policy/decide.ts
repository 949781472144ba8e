/**
 * What may happen to an action: one pure, total function. Anything odd is a denial, an exception too.
 * Paths, budgets and forced agents are judged elsewhere; a mode never loosens them.
 */
import { CAPABILITIES, type Capability } from '../domain/agents/role.ts';
import { MODES, isLooser, type Mode } from '../domain/mode.ts';
import type { AllPermissions, Permitted } from '../domain/plan/permissions.ts';
import type { ModelId } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { Reason } from '../domain/reason.ts';
import { priceProblem } from './budgets.ts';
import { childRules } from './children.ts';
import { moreThanReading, type ReadingPlace } from './commands/reading/reading.ts';
import { type CommandVerdict, judgeCommand } from './commands/judge.ts';
import { modelProblem } from './models.ts';
import { Permit } from './permit.ts';
import { builtIn, type Decision, type Rules } from './rules.ts';

export type Action =
  /** A tool call. `command` is the whole text for a shell; null capability: a tool of the agent's own. */
  | {
      readonly is: 'tool';
      readonly tool: string;
      readonly capability: Capability | null;
      readonly command?: string;
    }
  /**
   * A child beyond the plan. `depth` is the child's own (ROOT has 0), `agents` how many the run has already, `siblings` how many
   * children of its parent are not at their end; absent: not counted. `by`: absent, an agent asks for it.
   */
  | {
      readonly is: 'spawn';
      readonly depth: number;
      readonly agents: number;
      readonly siblings?: number;
      readonly by?: 'person';
      /** The child can only read: it has no capability to change anything. */
      readonly reads?: boolean;
    }
  /** One more turn of the agent. */
  | { readonly is: 'turn' }
  /** One call of a model: its canonical id, and its price where that is known. */
  | { readonly is: 'model'; readonly model: ModelId; readonly price: ModelOption['price'] };

/** What was found out about the project for a command that only reads. */
export interface ReadingFacts {
  readonly place: ReadingPlace;
  /** Why it asks all the same, in words; null: nothing speaks against it. */
  readonly obstacle: string | null;
}

export interface Circumstances {
  readonly mode: Mode;
  /** A person can be asked: there is a terminal. */
  readonly interactive: boolean;
  /** The box that this command would run in. */
  readonly sandbox: 'none' | 'read-only' | 'read-write';
  readonly capabilities: readonly Capability[];
  /** The person allowed equal actions for the session. Never counts for a shell without a sandbox. */
  readonly granted: boolean;
  /** What the approved plan lets the agent do without asking; absent: nothing. */
  readonly permissions?: AllPermissions;
  /** Where a command that only reads would run without a question. Absent: nowhere, it asks as others do. */
  readonly reading?: ReadingFacts | undefined;
  /** The person has just allowed this very action: what would ask is allowed now, what is denied stays denied. */
  readonly answered?: boolean;
  /** Who will do what (its digest): an allowed action gets a permit for exactly this. Absent: nothing will be done by it. */
  readonly binds?: { readonly agent: string; readonly action: string };
}

/** Judges `action`. Never throws; what would ask is a denial where nobody can be asked. */
export function decide(action: Action, rules: Rules, context: Circumstances): Decision {
  try {
    return permitted(settled(judged(action, rules, context), context), rules, context);
  } catch (error) {
    return deny(builtIn(`the decision failed: ${error instanceof Error ? error.message : 'unknown fault'}`));
  }
}

const allow = (because: Reason): Decision => ({ verdict: 'allow', because });
const ask = (because: Reason): Decision => ({ verdict: 'ask', because });
const askExactly = (because: Reason): Decision => ({ verdict: 'ask', because, exactly: true });
const exactly = (decision: Decision): Decision =>
  decision.verdict === 'ask' ? { ...decision, exactly: true } : decision;
const askSingly = (because: Reason): Decision => ({ verdict: 'ask', because, singly: true });
const deny = (because: Reason): Decision => ({ verdict: 'deny', because });

/** After an answer the question is answered; without a person it can't be put. */
function settled(decision: Decision, context: Circumstances): Decision {
  if (decision.verdict !== 'ask') return decision;
  if (context.answered === true) return allow(decision.because);
  if (context.interactive) return decision;
  const because = { ...decision.because, rule: `${decision.because.rule}, and nobody can be asked here` };
  return { verdict: 'deny', because, unanswered: true };
}

function permitted(decision: Decision, { policyHash }: Rules, { binds }: Circumstances): Decision {
  if (decision.verdict !== 'allow' || binds === undefined) return decision;
  return { ...decision, permit: Permit.mint({ ...binds, policyHash, box: decision.box }) };
}

function judged(action: Action, rules: Rules, context: Circumstances): Decision {
  const mode = strictest(context.mode, rules.maxMode.value);
  if (mode === null) return deny(builtIn(`unknown mode "${context.mode}"`));
  const row = reasonOfMode(mode, rules, context);
  switch (action.is) {
    case 'tool':
      return judgedTool(action, rules, { ...context, mode }, row);
    case 'spawn':
      return judgedSpawn(action, rules, { ...context, mode }, row);
    case 'turn':
      return mode === 'human' ? ask(row('each turn waits for you')) : allow(row('turns run'));
    case 'model':
      return judgedModel(action, rules);
    default:
      return deny(builtIn('unknown kind of action'));
  }
}

type Row = (words: string) => Reason;

/** The mode in force: what was chosen, or the strictest allowed one when that is stricter. Null when unknown. */
function strictest(chosen: Mode, max: Mode): Mode | null {
  if (!MODES.includes(chosen) || !MODES.includes(max)) return null;
  return isLooser(chosen, max) ? max : chosen;
}

/** A mode that was lowered is the rule's doing, any other the person's. */
const reasonOfMode =
  (mode: Mode, rules: Rules, context: Circumstances): Row =>
  (words) =>
    mode === context.mode
      ? builtIn(`mode ${mode}: ${words}`)
      : { ...rules.maxMode.from, rule: `${rules.maxMode.from.rule} (${words})` };

function judgedModel({ model, price }: Extract<Action, { readonly is: 'model' }>, rules: Rules): Decision {
  const problem = modelProblem(model, rules) ?? priceProblem(price, rules);
  return problem === null ? allow(builtIn('no rule speaks against this model')) : deny(problem);
}

type ToolAction = Extract<Action, { readonly is: 'tool' }>;
type SpawnAction = Extract<Action, { readonly is: 'spawn' }>;

function judgedTool(action: ToolAction, rules: Rules, context: Circumstances, row: Row): Decision {
  const { capability } = action;
  if (capability === null) return allow(builtIn(`every agent has ${action.tool}`));
  if (!CAPABILITIES.includes(capability)) return deny(builtIn(`${action.tool} has an unknown capability`));
  if (!context.capabilities.includes(capability)) {
    return deny(builtIn(`${action.tool} needs "${capability}", which this agent does not have`));
  }
  if (capability === 'shell') return judgedShell(action, rules, context, row);
  if (capability === 'write') return byPlan('edits', rules, context) ?? byTable(capability, context, row);
  return byTable(capability, context, row);
}

const QUIET: readonly Capability[] = ['read', 'git-read'];

/** The rows of the table that need no further look. A grant of the session stands for the answer. */
function byTable(capability: Capability, context: Circumstances, row: Row): Decision {
  if (context.mode === 'yolo') return allow(row(`${capability} runs`));
  if (context.mode === 'confirm' && QUIET.includes(capability)) return allow(row(`${capability} runs`));
  if (context.granted) return allow(row(`${capability} was allowed for this session`));
  return ask(row(`${capability} asks`));
}

/** A shell of a role that can't write is a read-only box or nothing: then read-only is a fact, not a request. */
function judgedShell(action: ToolAction, rules: Rules, context: Circumstances, row: Row): Decision {
  if (!context.capabilities.includes('write') && context.sandbox !== 'read-only') {
    return deny(builtIn('a shell without "write" needs a read-only sandbox, and there is none'));
  }
  const command = judgeCommand(action.command ?? null, rules.commands ?? null);
  if (command.verdict === 'deny') return deny(command.because);
  return context.sandbox === 'none' ? unboxed(rules, context, row) : boxed(command, action, { rules, context, row });
}

/** No rule and no grant allows a command outside a box: it asks every time, or it is denied. */
function unboxed(rules: Rules, context: Circumstances, row: Row): Decision {
  if (rules.sandboxRequired?.value === true) return deny(rules.sandboxRequired.from);
  if (context.mode === 'yolo') return deny(row('no shell without a sandbox'));
  return askSingly(row('shell asks, UNSANDBOXED'));
}

interface Judging {
  readonly rules: Rules;
  readonly context: Circumstances;
  readonly row: Row;
}

function boxed(command: CommandVerdict, action: ToolAction, { rules, context, row }: Judging): Decision {
  // yolo skips "ask", never "deny": a deny rule that could not be tried on this command counts as a hit.
  if (context.mode === 'yolo' && command.verdict === 'unclear') return deny(command.because);
  if (command.destroys !== undefined) return askSingly(command.destroys);
  if (context.mode === 'yolo') return allow(row('shell runs in the sandbox'));
  const reads = readsOnly(command, action, context);
  return (
    byRule(command, context, row) ??
    (reads?.obstacle === null ? byReading(row) : null) ??
    byPlannedCommand(command, rules, context) ??
    byTable('shell', context, (words) => row(reads ? `${words}: it only reads, but ${reads.obstacle ?? ''}` : words))
  );
}

/** A command that only reads (D39): no question, in a box in which nothing can be written. */
const byReading = (row: Row): Decision => ({ verdict: 'allow', because: row('reads only'), box: 'read-only' });

/** What was found out about the project where no rule speaks of the command and it only reads; else null. */
function readsOnly(
  { verdict }: CommandVerdict,
  { command }: ToolAction,
  { mode, reading }: Circumstances,
): ReadingFacts | null {
  if (verdict !== 'none' || mode !== 'confirm' || reading === undefined || command === undefined) return null;
  return moreThanReading(command, reading.place) === null ? reading : null;
}

/** What a command rule says; null where none speaks. */
function byRule(command: CommandVerdict, context: Circumstances, row: Row): Decision | null {
  const { granted, mode } = context;
  // A deny rule might hit another command of the same program.
  if (command.verdict === 'unclear') return exactly(byTable('shell', context, row));
  if (command.verdict === 'ask') return granted ? allow(command.because) : askExactly(command.because);
  return command.verdict === 'allow' && mode === 'confirm' ? allow(command.because) : null;
}

/** Only a command that is understood whole, and that no rule speaks of. */
const byPlannedCommand = (command: CommandVerdict, rules: Rules, context: Circumstances): Decision | null =>
  command.verdict === 'none' && command.doubt === undefined ? byPlan('commands', rules, context) : null;

/** What the approved plan allows in mode confirm; null where it says nothing, or a rule holds it at `ask`. */
function byPlan(what: Permitted, { permissionsHeld }: Rules, { mode, permissions }: Circumstances): Decision | null {
  if (mode !== 'confirm' || permissions?.[what] !== 'allow' || permissionsHeld?.[what] !== undefined) return null;
  return allow(builtIn(`the approved plan allows ${what}`));
}

function judgedSpawn(action: SpawnAction, rules: Rules, context: Circumstances, row: Row): Decision {
  const against = spawnProblem(action, rules);
  if (against !== null) return deny(against);
  if (action.by === 'person') return allow(builtIn('a person spawns'));
  if (!context.capabilities.includes('spawn')) {
    return deny(builtIn('spawning needs "spawn", which this agent does not have'));
  }
  const { value: how, from } = childRules(rules).mode;
  switch (how) {
    case 'auto':
      return action.reads === true && context.mode === 'confirm'
        ? allow(row('a child that only reads runs'))
        : byTable('spawn', context, row);
    // No grant of the session covers the next one: that is what the rule is for.
    case 'supervised':
      return askSingly({ ...from, rule: `${from.rule}: each spawn asks` });
    case 'manual':
      return deny({ ...from, rule: `${from.rule}: only a person spawns` });
    default:
      return deny({ ...from, rule: `${from.rule}: unknown` });
  }
}

/** The limits, which hold for a person as well. Written so that a depth or a count that is no number is refused. */
export function spawnProblem(
  { depth, agents, siblings = 0 }: Pick<SpawnAction, 'depth' | 'agents' | 'siblings'>,
  rules: Rules,
): Reason | null {
  if (!rules.enabled.value) return rules.enabled.from;
  const { maxNestingDepth: deepest, maxAgentsPerRun: most } = rules;
  if (!(depth <= deepest.value)) {
    return { ...deepest.from, rule: `Max nesting depth (${deepest.value}) exceeded. Cannot create nested agent.` };
  }
  const has = `the run has ${agents === 1 ? '1 agent' : `${agents} agents`} already`;
  if (!(agents < most.value)) return { ...most.from, rule: `${most.from.rule}: ${has}` };
  const { maxPerParent } = childRules(rules);
  if (siblings < maxPerParent.value) return null;
  const open = siblings === 1 ? '1 child of this agent is' : `${siblings} children of this agent are`;
  return { ...maxPerParent.from, rule: `${maxPerParent.from.rule}: ${open} not done` };
}
