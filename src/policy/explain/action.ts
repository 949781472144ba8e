/** Explains why a tool call or a shell command runs, asks or is denied, by `decide`, the gate's own function. */
import { isLooser, MODES, type Reason } from '../../domain/reason.ts';
import { sandboxFor, type Capability } from '../../domain/agents/role.ts';
import { ASK_ALL, type Permitted } from '../../domain/plan/plan.ts';
import { moreThanReading } from '../commands/reading/reading.ts';
import { judgeCommand } from '../commands/judge.ts';
import { type Action, type Circumstances, decide } from '../decide.ts';
import type { Change, Explanation, Outcome, TookPart } from './explain.ts';
import { changeRule, ranked, ruleChange, takeOut, whatHelps } from './explain.ts';
import { isWritten } from '../models.ts';
import { type CommandRule, type CommandRules, type Rules, alwaysAsked, builtIn } from '../rules.ts';

interface Case {
  readonly rules: Rules;
  readonly context: Circumstances;
}

/** `subject` is the name for people; `context` as the gate would have it. */
export function explainAction(subject: string, action: Action, rules: Rules, context: Circumstances): Explanation {
  const { verdict, because } = decide(action, rules, context);
  const judge = (given: Case): Outcome => decide(action, given.rules, given.context).verdict;
  return {
    subject,
    decision: verdict,
    because,
    rules: ranked(because, partsOf(action, rules, context), verdict),
    change: whatHelps({ rules, context }, changesFor(action, rules, context), judge),
    resolved: [],
    used: null,
  };
}

const capabilityOf = (action: Action): Capability | null =>
  action.is === 'tool' ? action.capability : action.is === 'spawn' ? 'spawn' : null;
const commandOf = (action: Action): string | null => (action.is === 'tool' ? (action.command ?? null) : null);
type Part = Omit<TookPart, 'decides'>;
const NO_RULES: CommandRules = { allow: [], ask: [], deny: [] };
const LISTS = ['deny', 'ask', 'allow'] as const;

function partsOf(action: Action, rules: Rules, context: Circumstances): readonly Part[] {
  const { mode, sandbox } = context;
  const lowered: Part[] = isLooser(mode, rules.maxMode.value) ? [{ reason: rules.maxMode.from, says: 'ask' }] : [];
  const capability = capabilityOf(action);
  const kept = heldParts(capability, rules);
  if (capability !== 'shell') return [...kept, ...lowered];
  const required = rules.sandboxRequired;
  const boxed: Part[] = required?.value === true && sandbox === 'none' ? [{ reason: required.from, says: 'deny' }] : [];
  const hits = hitsOf(commandOf(action), rules);
  const more = hits.length === 0 ? moreParts(commandOf(action), context) : [];
  return [...hits, ...more, ...boxed, ...kept, ...lowered];
}

/** Why a command without a matching rule is not one that only reads, which mode confirm would run. */
function moreParts(command: string | null, { mode, reading }: Circumstances): readonly Part[] {
  if (command === null || mode !== 'confirm' || reading === undefined) return [];
  const why = moreThanReading(command, reading.place);
  return why === null ? [] : [{ reason: builtIn(`it may do more than read: ${why}`), says: 'ask' }];
}

/** The rule that prevents a plan from allowing it. */
function heldParts(capability: Capability | null, { permissionsHeld: held = {} }: Rules): readonly Part[] {
  const reason = capability === 'write' ? held.edits : capability === 'shell' ? held.commands : undefined;
  return reason === undefined ? [] : [{ reason, says: 'ask' }];
}

/** Each rule evaluated alone: its verdict on this command, including overruled ones. */
function hitsOf(command: string | null, rules: Rules): readonly Part[] {
  const { destroys } = judgeCommand(command, null);
  const hits = LISTS.flatMap((list) =>
    (rules.commands?.[list] ?? []).flatMap((rule): readonly Part[] => {
      const said = judgeCommand(command, { ...NO_RULES, [list]: [rule] });
      return said.verdict === 'none' ? [] : [{ reason: said.because, says: said.verdict }];
    }),
  );
  return [...hits, ...(destroys === undefined ? [] : [{ reason: alwaysAsked(destroys), says: 'ask' } as const])];
}

function changesFor(action: Action, rules: Rules, context: Circumstances): readonly Change<Case>[] {
  const capability = capabilityOf(action);
  const shell = capability === 'shell';
  const alone = change('start it in a terminal, where a person can be asked', { interactive: true });
  return [
    ...(shell ? ruleChanges(rules) : []),
    ...(action.is === 'spawn' ? spawnChanges(rules) : []),
    ...capabilityChange(capability, context),
    ...(shell ? shellChanges(commandOf(action) ?? '', rules, context) : []),
    ...(shell ? permissionChanges('commands', rules, context) : []),
    ...(capability === 'write' ? permissionChanges('edits', rules, context) : []),
    ...modeChanges(rules, context),
    ...(context.interactive ? [] : [alone]),
  ];
}

const change = (words: string, context: Partial<Circumstances>): Change<Case> => ({
  words,
  apply: (given) => ({ ...given, context: { ...given.context, ...context } }),
});

/** Another value where a file sets this one; nothing for a built-in default. */
const unwritten = (
  from: Reason | undefined,
  to: string,
  alter: (rules: Rules) => Partial<Rules>,
): readonly Change<Case>[] => (from !== undefined && isWritten(from) ? [ruleChange(changeRule(from, to), alter)] : []);

const ruleChanges = ({ commands = NO_RULES, sandboxRequired: required }: Rules): readonly Change<Case>[] => [
  ...(['deny', 'ask'] as const).flatMap((list) => commands[list].map((rule) => withoutRule(list, rule))),
  ...(required?.value === true
    ? unwritten(required.from, 'sandbox.required: false', () => ({ sandboxRequired: { ...required, value: false } }))
    : []),
];

const spawnChanges = ({ enabled, maxNestingDepth, maxAgentsPerRun, children = {} }: Rules): readonly Change<Case>[] => [
  ...unwritten(children.mode?.from, CHILDREN_FREE, ({ children }) => ({
    children: { ...children, mode: { value: 'auto', from: builtIn(CHILDREN_FREE) } },
  })),
  ...unwritten(enabled.from, 'agentOrchestration.enabled: true', () => ({ enabled: { ...enabled, value: true } })),
  raised(maxNestingDepth.from, 'agentOrchestration.maxNestingDepth', () => ({
    maxNestingDepth: { ...maxNestingDepth, value: DEEPEST },
  })),
  raised(maxAgentsPerRun.from, 'limits.maxAgentsPerRun', () => ({
    maxAgentsPerRun: { ...maxAgentsPerRun, value: MOST },
  })),
  raised(children.maxPerParent?.from ?? null, 'childAgents.maxPerParent', ({ children }) => ({
    children: { ...children, maxPerParent: { value: MOST, from: builtIn('childAgents.maxPerParent') } },
  })),
];
const CHILDREN_FREE = 'childAgents.mode: auto';
/** The highest values that the keys accept. */
const DEEPEST = 8;
const MOST = 1000;

/** A limit where it is written; an unwritten one can be raised by anyone. */
const raised = (from: Reason | null, key: string, alter: (rules: Rules) => Partial<Rules>): Change<Case> =>
  ruleChange(
    from !== null && isWritten(from) ? changeRule(from, `a higher ${key}`) : `set a higher ${key} in your own config`,
    alter,
  );

const withoutRule = (list: 'deny' | 'ask', rule: CommandRule): Change<Case> =>
  ruleChange(takeOut(rule.words.join(' '), rule.from), ({ commands = NO_RULES }) => ({
    commands: { ...commands, [list]: commands[list].filter((each) => each !== rule) },
  }));

function capabilityChange(capability: Capability | null, context: Circumstances): readonly Change<Case>[] {
  if (capability === null || context.capabilities.includes(capability)) return [];
  const capabilities = [...context.capabilities, capability];
  const sandbox = context.sandbox === 'none' ? 'none' : sandboxFor(capabilities);
  return [change(`an agent whose role has "${capability}"`, { capabilities, sandbox })];
}

function shellChanges(
  command: string,
  rules: Rules,
  { sandbox, capabilities }: Circumstances,
): readonly Change<Case>[] {
  const boxed =
    sandbox === 'none'
      ? [change('a working sandbox (`mimir doctor` shows why there is none)', { sandbox: sandboxFor(capabilities) })]
      : [];
  const words = command.split(' ').filter((word) => word !== '');
  const rule: CommandRule = { words, from: builtIn('commands.allow') };
  const commands = rules.commands ?? NO_RULES;
  if (words.length === 0 || commands.allow.some((each) => each.words.join(' ') === words.join(' '))) return boxed;
  return [
    ...boxed,
    ruleChange(`allow it in your own config: commands.allow: ["${words.join(' ')}"]`, ({ commands = NO_RULES }) => ({
      commands: { ...commands, allow: [...commands.allow, rule] },
    })),
  ];
}

/** What a person may decide with the plan, and the rule that prevents it. */
function permissionChanges(
  what: Permitted,
  rules: Rules,
  { permissions = ASK_ALL }: Circumstances,
): readonly Change<Case>[] {
  const held = rules.permissionsHeld?.[what];
  const allowed = { permissions: { ...permissions, [what]: 'allow' as const } };
  if (held === undefined)
    return [change(`allow ${what} with the plan: P there, --allow ${what}, or permissions.${what}: allow`, allowed)];
  const { [what]: _, ...others } = rules.permissionsHeld ?? {};
  return [
    {
      words: `${takeOut(what, held)}, and allow ${what} with the plan`,
      apply: (given) => ({
        rules: { ...given.rules, permissionsHeld: others },
        context: { ...given.context, ...allowed },
      }),
    },
  ];
}

function modeChanges({ maxMode }: Rules, { mode }: Circumstances): readonly Change<Case>[] {
  const looser = MODES.filter((each) => isLooser(each, mode) && !isLooser(each, maxMode.value));
  const chosen = looser.map((each) => change(`mode ${each}, which policy allows here`, { mode: each }));
  if (maxMode.value === 'yolo' || !isWritten(maxMode.from)) return chosen;
  const raised = MODES.filter((each) => isLooser(each, maxMode.value)).map(
    (each): Change<Case> => ({
      words: `${changeRule(maxMode.from, `mode.max: ${each}`)}, and choose it`,
      apply: ({ rules, context }) => ({
        rules: { ...rules, maxMode: { ...maxMode, value: each } },
        context: { ...context, mode: each },
      }),
    }),
  );
  return [...chosen, ...raised];
}
