/** Decides what may happen to an action; one pure, total function. Anything unexpected, even an exception, is a denial. Paths, budgets and
 * mandatory reviews are decided elsewhere, and no mode loosens them. */
import { CAPABILITIES, type Capability } from '../domain/agents/role.ts';
import { isLooser, type Mode, MODES, type Reason } from '../domain/reason.ts';
import type { AllPermissions, ModelOption, Permitted } from '../domain/plan/plan.ts';
import type { ModelId } from '../domain/ids.ts';
import { alwaysAsked, builtIn, childRules, type Decision, Permit, priceProblem, type Rules } from './rules.ts';
import { moreThanReading, type ReadingPlace } from './commands/reading/reading.ts';
import { type CommandVerdict, judgeCommand } from './commands/judge.ts';
import { modelProblem } from './models.ts';

export type Action =
  /** A tool call. `command` is the whole text for a shell; a null capability is a tool of the agent's own. */
  | {
      readonly is: 'tool';
      readonly tool: string;
      readonly capability: Capability | null;
      readonly command?: string;
    }
  /** A child outside of the plan. `depth` is the child's (ROOT has 0), `agents` the number in the run, `siblings` its parent's unfinished
   * children; absent: not counted. `by`: absent when an agent asks. */
  | {
      readonly is: 'spawn';
      readonly depth: number;
      readonly agents: number;
      readonly siblings?: number;
      readonly by?: 'person';
      /** The child has no capability to change anything. */
      readonly reads?: boolean;
    }
  | { readonly is: 'turn' }
  /** Commands of Mimir that send the run's changes to a remote, as the person would type them. */
  | { readonly is: 'publish'; readonly commands: readonly string[] }
  /** One model call: its canonical id, and its price where known. */
  | { readonly is: 'model'; readonly model: ModelId; readonly price: ModelOption['price'] };

/** Facts about the project for a command that only reads. */
export interface ReadingFacts {
  readonly place: ReadingPlace;
  /** Why it asks nevertheless; null without such a reason. */
  readonly obstacle: string | null;
}

export interface Circumstances {
  readonly mode: Mode;
  /** Whether a person can be asked. */
  readonly interactive: boolean;
  /** The sandbox in which this command would run. */
  readonly sandbox: 'none' | 'read-only' | 'read-write';
  readonly capabilities: readonly Capability[];
  /** What the approved plan lets the agent do without asking; absent: nothing. */
  readonly permissions?: AllPermissions;
  /** Facts for a command that only reads and may therefore run without a question. Absent: it asks like others. */
  readonly reading?: ReadingFacts | undefined;
  /** The person has just allowed this very action: it is allowed where it would ask, and still denied where denied. */
  readonly answered?: boolean;
  /** The agent and the action's digest: if allowed, a permit is issued for exactly this. Absent: nothing will be done. */
  readonly binds?: { readonly agent: string; readonly action: string };
}

/** Decides about `action`. Never throws; where nobody can be asked, asking becomes a denial. */
export function decide(action: Action, rules: Rules, context: Circumstances): Decision {
  try {
    return permitted(settled(judged(action, rules, context), context), rules, context);
  } catch (error) {
    return deny(builtIn(`the decision failed: ${error instanceof Error ? error.message : 'unknown error'}`));
  }
}

const allow = (because: Reason): Decision => ({ verdict: 'allow', because });
const ask = (because: Reason): Decision => ({ verdict: 'ask', because });
const askExactly = (because: Reason): Decision => ({ verdict: 'ask', because, exactly: true });
const exactly = (decision: Decision): Decision =>
  decision.verdict === 'ask' ? { ...decision, exactly: true } : decision;
const askSingly = (because: Reason, facts: { readonly destroys?: string } = {}): Decision => ({
  verdict: 'ask',
  because,
  singly: true,
  ...facts,
});
const deny = (because: Reason): Decision => ({ verdict: 'deny', because });

/** Applies an answer, or denies the question where nobody can be asked. */
function settled(decision: Decision, context: Circumstances): Decision {
  if (decision.verdict !== 'ask') return decision;
  if (context.answered === true) return allow(decision.because);
  if (context.interactive) return decision;
  const because = { ...decision.because, rule: `${decision.because.rule}, and nobody can be asked here` };
  return { verdict: 'deny', because, unanswered: true };
}

function permitted(decision: Decision, { policyHash }: Rules, { binds }: Circumstances): Decision {
  if (decision.verdict !== 'allow' || binds === undefined) return decision;
  return { ...decision, permit: Permit.mint({ ...binds, policyHash, sandbox: decision.sandbox }) };
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
      return mode === 'human' ? ask(row('each turn needs approval')) : allow(row('turns are allowed'));
    case 'publish':
      return judgedPublish(action, rules);
    case 'model':
      return judgedModel(action, rules);
    default:
      return deny(builtIn('unknown kind of action'));
  }
}

type Row = (words: string) => Reason;

/** The mode in force: the chosen one, or the strictest allowed one if that is stricter. Null when unknown. */
function strictest(chosen: Mode, max: Mode): Mode | null {
  if (!MODES.includes(chosen) || !MODES.includes(max)) return null;
  return isLooser(chosen, max) ? max : chosen;
}

/** A lowered mode is due to the rule, any other to the person. */
const reasonOfMode =
  (mode: Mode, rules: Rules, context: Circumstances): Row =>
  (words) =>
    mode === context.mode
      ? builtIn(`mode ${mode}: ${words}`)
      : { ...rules.maxMode.from, rule: `${rules.maxMode.from.rule} (${words})` };

function judgedModel({ model, price }: Extract<Action, { readonly is: 'model' }>, rules: Rules): Decision {
  const problem = modelProblem(model, rules) ?? priceProblem(price, rules);
  return problem === null ? allow(builtIn('no rule denies this model')) : deny(problem);
}

/** What leaves this machine asks in every mode, unless rules allow each of its commands. */
function judgedPublish({ commands }: Extract<Action, { readonly is: 'publish' }>, rules: Rules): Decision {
  const verdicts = commands.map((command) => judgeCommand(command, rules.commands ?? null));
  const denied = verdicts.find(({ verdict }) => verdict === 'deny' || verdict === 'unclear');
  if (denied !== undefined && denied.verdict !== 'none') return deny(denied.because);
  const asked = verdicts.find(({ verdict }) => verdict === 'ask');
  if (asked !== undefined && asked.verdict !== 'none') return askSingly(asked.because);
  const allowed = verdicts.flatMap((one) => (one.verdict === 'allow' ? [one.because] : []));
  const [because] = allowed;
  return because !== undefined && allowed.length === commands.length
    ? allow(because)
    : askSingly(builtIn('what leaves this machine needs approval'));
}

type ToolAction = Extract<Action, { readonly is: 'tool' }>;
type SpawnAction = Extract<Action, { readonly is: 'spawn' }>;

function judgedTool(action: ToolAction, rules: Rules, context: Circumstances, row: Row): Decision {
  const { capability } = action;
  if (capability === null) return allow(builtIn(`every agent has ${action.tool}`));
  if (!CAPABILITIES.includes(capability)) return deny(builtIn(`${action.tool} has an unknown capability`));
  if (!context.capabilities.includes(capability))
    return deny(builtIn(`${action.tool} needs "${capability}", which this agent does not have`));
  if (capability === 'shell') return judgedShell(action, rules, context, row);
  if (capability === 'write') return byPlan('edits', rules, context) ?? byTable(capability, context, row);
  return byTable(capability, context, row);
}

const QUIET: readonly Capability[] = ['read', 'git-read'];

/** Decisions that need no further check. */
function byTable(capability: Capability, context: Circumstances, row: Row): Decision {
  if (context.mode === 'yolo') return allow(row(`${capability} is allowed`));
  if (context.mode === 'confirm' && QUIET.includes(capability)) return allow(row(`${capability} is allowed`));
  return ask(row(`${capability} needs approval`));
}

/** Without `write`, a shell runs in a read-only sandbox or not at all, so the command needs no analysis. */
function judgedShell(action: ToolAction, rules: Rules, context: Circumstances, row: Row): Decision {
  if (!context.capabilities.includes('write') && context.sandbox !== 'read-only')
    return deny(builtIn('a shell without "write" needs a read-only sandbox, and there is none'));
  const command = judgeCommand(action.command ?? null, rules.commands ?? null);
  if (command.verdict === 'deny') return deny(command.because);
  return context.sandbox === 'none'
    ? unsandboxedCommand(rules, context, row)
    : boxed(command, action, rules, context, row);
}

/** No rule and no grant allows a command outside of a sandbox: it always asks, or is denied. */
function unsandboxedCommand(rules: Rules, context: Circumstances, row: Row): Decision {
  if (rules.sandboxRequired?.value === true) return deny(rules.sandboxRequired.from);
  if (context.mode === 'yolo') return deny(row('no shell without a sandbox'));
  return askSingly(row('shell needs approval, UNSANDBOXED'));
}

function boxed(command: CommandVerdict, action: ToolAction, rules: Rules, context: Circumstances, row: Row): Decision {
  // yolo skips "ask", never "deny": a deny rule that could not be evaluated counts as a match.
  if (context.mode === 'yolo' && command.verdict === 'unclear') return deny(command.because);
  const { destroys } = command;
  if (destroys !== undefined) return askSingly(alwaysAsked(destroys), { destroys });
  if (context.mode === 'yolo') return allow(row('shell is allowed in the sandbox'));
  const reads = readsOnly(command, action, context);
  return (
    byRule(command, context, row) ??
    (reads?.obstacle === null ? byReading(row) : null) ??
    byPlannedCommand(command, rules, context) ??
    byTable('shell', context, (words) => row(reads ? `${words}: it only reads, but ${reads.obstacle ?? ''}` : words))
  );
}

/** A command that only reads runs without a question, in a sandbox that cannot write. */
const byReading = (row: Row): Decision => ({ verdict: 'allow', because: row('reads only'), sandbox: 'read-only' });

/** The facts about the project where no rule matches and the command only reads; otherwise null. */
function readsOnly(
  { verdict }: CommandVerdict,
  { command }: ToolAction,
  { mode, reading }: Circumstances,
): ReadingFacts | null {
  if (verdict !== 'none' || mode !== 'confirm' || reading === undefined || command === undefined) return null;
  return moreThanReading(command, reading.place) === null ? reading : null;
}

function byRule(command: CommandVerdict, context: Circumstances, row: Row): Decision | null {
  // A deny rule might match another command of the same program.
  if (command.verdict === 'unclear') return exactly(byTable('shell', context, row));
  if (command.verdict === 'ask') return askExactly(command.because);
  return command.verdict === 'allow' && context.mode === 'confirm' ? allow(command.because) : null;
}

/** Only a command that is understood completely and that no rule matches. */
const byPlannedCommand = (command: CommandVerdict, rules: Rules, context: Circumstances): Decision | null =>
  command.verdict === 'none' && command.doubt === undefined ? byPlan('commands', rules, context) : null;

/** What the approved plan allows in mode confirm; null where it allows nothing, or a rule keeps it at `ask`. */
function byPlan(what: Permitted, { permissionsHeld }: Rules, { mode, permissions }: Circumstances): Decision | null {
  if (mode !== 'confirm' || permissions?.[what] !== 'allow' || permissionsHeld?.[what] !== undefined) return null;
  return allow(builtIn(`the approved plan allows ${what}`));
}

function judgedSpawn(action: SpawnAction, rules: Rules, context: Circumstances, row: Row): Decision {
  const against = spawnProblem(action, rules);
  if (against !== null) return deny(against);
  if (action.by === 'person') return allow(builtIn('a person spawns'));
  if (!context.capabilities.includes('spawn'))
    return deny(builtIn('spawning needs "spawn", which this agent does not have'));
  const { value: how, from } = childRules(rules).mode;
  switch (how) {
    case 'auto':
      return action.reads === true && context.mode === 'confirm'
        ? allow(row('a child that only reads is allowed'))
        : byTable('spawn', context, row);
    // No grant of the session covers the next one, which is the purpose of the rule.
    case 'supervised':
      return askSingly({ ...from, rule: `${from.rule}: each spawn needs approval` });
    case 'manual':
      return deny({ ...from, rule: `${from.rule}: only a person may spawn` });
    default:
      return deny({ ...from, rule: `${from.rule}: unknown` });
  }
}

/** The limits, which apply to a person too. Written so that NaN as a depth or count is refused. */
export function spawnProblem(
  { depth, agents, siblings = 0 }: Pick<SpawnAction, 'depth' | 'agents' | 'siblings'>,
  rules: Rules,
): Reason | null {
  if (!rules.enabled.value) return rules.enabled.from;
  const { maxNestingDepth: deepest, maxAgentsPerRun: most } = rules;
  if (!(depth <= deepest.value))
    return { ...deepest.from, rule: `Max nesting depth (${deepest.value}) exceeded. Cannot create nested agent.` };
  const has = `the run already has ${agents === 1 ? '1 agent' : `${agents} agents`}`;
  if (!(agents < most.value)) return { ...most.from, rule: `${most.from.rule}: ${has}` };
  const { maxPerParent } = childRules(rules);
  if (siblings < maxPerParent.value) return null;
  const open = siblings === 1 ? '1 child of this agent is' : `${siblings} children of this agent are`;
  return { ...maxPerParent.from, rule: `${maxPerParent.from.rule}: ${open} not done` };
}
