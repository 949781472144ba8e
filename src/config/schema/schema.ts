/**
 * The configuration schema: one row per key with its type and bounds, which layers may set it, how values of several layers are merged, and the
 * sentence that documents it. Defaults are in `.mimir/config.yml`. It is strict: a key without a row is unknown, and no value is converted.
 */
import { z } from 'zod';
import { MOST_ITERATIONS } from '../../domain/agents/role.ts';
import { typedLimit } from '../../domain/budget.ts';
import { MODES } from '../../domain/reason.ts';
import { EFFORTS, PROVIDER_KINDS } from '../../domain/models/provider.ts';
import { Permissions } from '../../domain/plan/plan.ts';
import { ANSI_NAMES, type Colour, TOKENS } from '../../domain/theme.ts';

export type Path = readonly (string | number)[];

/** `restriction`: any layer may tighten it. `preference`: the nearest layer's value. `grant`: never set by a project. */
export type Kind = 'restriction' | 'preference' | 'grant' | 'managed only';

/**
 * How values of several layers are merged. `each`: all lists are kept, and a value must be in every one. `highest`: the value of the layer with
 * the most authority. A list: the values from loose to strict; the strictest counts. Restrictions do not depend on the order of layers.
 */
export type Merge = 'first' | 'highest' | 'min' | 'and' | 'or' | 'each' | 'union' | readonly string[];

export interface KeyRule {
  readonly kind: Kind;
  readonly merge: Merge;
}

/** The metadata of a type: the rule of its key, the keys of a section, the value type of a map. */
interface Row {
  readonly rule?: KeyRule;
  readonly keys?: Readonly<Record<string, z.ZodType>>;
  readonly each?: z.ZodType;
}

const ROWS = new WeakMap<z.ZodType, Row>();

/** A row. It inherits the rule of its section, and the description of its type or section, unless given. */
function key<T extends z.ZodType>(type: T, what?: string, rule?: KeyRule): z.ZodOptional<T> {
  const written = (what === undefined ? type : type.describe(what)).optional();
  ROWS.set(written, { ...ROWS.get(type), ...(rule === undefined ? {} : { rule }) });
  return written;
}

const tightest = <T extends z.ZodType>(type: T, merge: Merge, what?: string): z.ZodOptional<T> =>
  key(type, what, { kind: 'restriction', merge });
const preferred = <T extends z.ZodType>(type: T, what?: string): z.ZodOptional<T> =>
  key(type, what, { kind: 'preference', merge: 'first' });
const granted = <T extends z.ZodType>(type: T, what?: string, merge: Merge = 'first'): z.ZodOptional<T> =>
  key(type, what, { kind: 'grant', merge });
const managed = <T extends z.ZodType>(type: T, what: string): z.ZodOptional<T> =>
  key(type, what, { kind: 'managed only', merge: 'first' });

function section<S extends Readonly<Record<string, z.ZodType>>>(keys: S): z.ZodObject<S, z.core.$strict> {
  const type = z.strictObject(keys);
  ROWS.set(type, { keys });
  return type;
}

const name = z.string().min(1).max(200);
const names = z.array(name).max(500);

// The text beside a pattern is the advice in a fault.
const variables = z
  .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'write a name such as JAVA_HOME'))
  .max(500);
/** In the form of `new URL`: a name or an address, optionally with a port. A list of others would silently allow no call at all. */
const host = z
  .string()
  .regex(
    /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i,
    'write the host alone, or host:port: api.anthropic.com',
  );
const childName = name.regex(
  /^(?:\{(?:friendly_name|role|short_id|id)\}|[\p{L}\p{N} ._-])*$/u,
  'write {friendly_name}, {role}, {short_id}, {id} and letters, digits, "-" or "_"',
);
/** The advice for an invalid address. */
export const ADDRESS = 'write an address such as http://127.0.0.1:11434/v1';

function map<T extends z.ZodType>(each: T, key: z.ZodString = name): z.ZodRecord<z.ZodString, T> {
  const type = z.record(key, each);
  ROWS.set(type, { each });
  return type;
}

const TIME = /^\d{1,9}(?:ms|s|m|h|d)$/;
const TIMES = 'write a time such as 500ms, 30s, 10m, 1h or 90d';
const time = z.string().regex(TIME, TIMES);

/** `500ms`, `10s`, `10m`, `1h`, `90d`, or whole milliseconds. */
export const Duration = z
  .union([z.int().min(0).max(1e10), time], TIMES)
  .describe('Milliseconds, or a number with ms, s, m, h or d: 10m');

/** The milliseconds of a written duration; null if it is not one. */
export const durationMs = (written: string | number): number | null =>
  typeof written === 'number' ? written : TIME.test(written) ? typedLimit('maxDuration', written) : null;

const money = {
  maxCost: key(z.number().min(0).max(1e6), 'US dollars; 0 means none may be spent'),
  maxTokens: key(
    z.int().min(0).max(1e12),
    'Input, output and cache writes in full, cache reads at a tenth; 0 means none',
  ),
};
const Limits = section({ ...money, maxDuration: key(Duration) });
/** A day has no time limit. */
const DayLimits = section(money);

const RoleSettings = section({
  enabled: tightest(z.boolean(), 'and', 'false: no plan and no agent may use the role'),
  defaultModel: key(name, 'The model of its agents where a plan names none'),
  fallbackModels: key(names, 'What stands in for it, in this order'),
  tools: tightest(names, 'each', 'Fewer tools than the role has'),
  effort: key(z.enum(EFFORTS), "How much its models think; absent: the provider's own default"),
  iterations: key(z.int().min(1).max(MOST_ITERATIONS), 'Turns of an agent, the closing answer included'),
});

const Orchestration = section({
  enabled: tightest(z.boolean(), 'and', 'false: always one agent'),
  autoDetect: key(z.boolean(), 'Let the planner decide whether to split'),
  promptForApproval: tightest(z.boolean(), 'or', 'Show the plan and wait for a yes'),
  promptForModels: key(z.boolean(), 'Ask for the model of each task'),
  maxNestingDepth: tightest(z.int().min(0).max(8), 'min', 'Levels of agents below the root'),
  maxParallelAgents: tightest(z.int().min(1).max(256), 'min', 'Agents at once'),
  onFailure: key(z.enum(['ask', 'retry', 'skip', 'stop']), 'What becomes of tasks that need one that failed'),
  roles: key(map(RoleSettings)),
});

const Forced = section({
  enabled: z.boolean(),
  model: tightest(name, 'highest'),
  trigger: tightest(z.enum(['always', 'on-write', 'on-commit', 'manual']), 'union'),
  onFailure: tightest(z.enum(['block', 'warn']), ['warn', 'block']),
});
// The only required key of its section.
ROWS.set(Forced.shape.enabled, { rule: { kind: 'restriction', merge: 'or' } });

const Enforcement = section({
  modelsDefault: managed(z.enum(['allow', 'deny']), 'deny: without a list of allowed models, none is'),
  allowedModels: tightest(names, 'each', 'Names, ids, or a family: provider/name@*; absent: any'),
  deniedModels: tightest(names, 'union', 'Stronger than any list of allowed ones'),
  modelFallback: tightest(z.enum(['list', 'deny']), ['list', 'deny'], 'deny: no other model stands in'),
  maxEffort: tightest(z.enum(EFFORTS), EFFORTS.toReversed(), 'The most that models may be told to think'),
  allowedEndpoints: tightest(z.array(host).max(500), 'each', 'Hosts that models may be called on; absent: any'),
  allowedSubAgents: tightest(names, 'each', 'Roles that plans may use; absent: any'),
  forcedSubAgents: tightest(map(Forced), 'first', 'Roles that run whatever a plan says'),
  permissions: tightest(
    section({ edits: key(z.literal('ask')), commands: key(z.literal('ask')) }),
    ['allow', 'ask'],
    'What no plan may allow: each change of a file, each command is asked about',
  ),
});

const dollars = z.number().min(0).max(1e6);
const Price = section({ input: dollars, output: dollars, cacheRead: key(dollars), cacheWrite: key(dollars) });

const wireName = z.string().regex(/^\S{1,200}$/);
const variable = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]{0,99}$/, 'write the name of an environment variable, such as ANTHROPIC_API_KEY');
const HeaderValue = z.union([z.string().max(8000), z.strictObject({ env: variable })], {
  error: 'write a text, or {env: NAME} for the value of a variable',
});

const ProviderSettings = section({
  kind: z.enum(PROVIDER_KINDS).describe('Whose protocol it speaks'),
  apiKeyEnv: key(variable, 'The environment variable that holds the key'),
  baseUrl: key(z.string().regex(/^https?:\/\/\S{1,500}$/, ADDRESS), 'The address of its API'),
  models: key(z.array(wireName).max(500), 'Models as the server names them'),
  protocol: key(z.literal('text'), 'For models without tool calls: agents work by commands in their answers'),
  prices: key(map(Price, wireName), 'US dollars per million tokens'),
  windows: key(map(z.int().min(1000).max(1e8), wireName), 'Context windows in tokens'),
  firstTokenTimeout: key(Duration, 'How long a call may last before the first word of its answer'),
  idleTimeout: key(Duration, 'How long an answer may stop between two words'),
  retryFor: key(Duration, 'How long a failing call is tried again; 0: never'),
  answersAs: key(map(z.array(wireName).max(50), wireName), 'Other names under which a model may answer'),
  headers: key(
    map(HeaderValue, z.string().min(1).max(100)),
    'Headers of each request: a text, or {env: NAME} for a value from the environment',
  ),
});

const Sandbox = section({
  required: tightest(z.boolean(), 'or', 'No shell at all without a sandbox'),
  network: key(
    section({
      allowedDomains: tightest(names, 'each', 'Commands have no network in this version, whatever is listed'),
    }),
  ),
  fs: key(
    section({
      denyRead: tightest(names, 'union', 'Paths that agents and commands may not read'),
      denyWrite: tightest(names, 'union', 'Paths that they may not write'),
      allowRead: granted(names, 'Folders outside of the project that commands may read as well', 'each'),
      allowWrite: tightest(names, 'each', 'The only places that they may write; absent: the whole project'),
    }),
  ),
});

/** A bare number is seconds here, unlike elsewhere, because other programs use seconds. */
const Seconds = z
  .union([z.number().min(0).max(1e7), time], TIMES)
  .describe('Seconds, or a number with ms, s, m, h or d: 600, 10m');

const FOREIGN = 'Read for agents of other programs; without effect on these';

/** Merged by `highest`, because an organisation's value must override the person's. */
const ChildAgents = section({
  mode: tightest(
    z.enum(['auto', 'manual', 'supervised']),
    ['auto', 'supervised', 'manual'],
    'auto: agents spawn within the limits; supervised: each spawn asks; manual: only a person spawns',
  ),
  orphans: key(
    z.enum(['adopt', 'kill', 'keep']),
    'What becomes of a child whose parent ends before it; adopt: the root takes it',
  ),
  messages: tightest(
    z.enum(['run', 'family']),
    ['run', 'family'],
    'Whom an agent may write to: any of its run, or parent, children and siblings',
  ),
  maxPerParent: tightest(z.int().min(1).max(256), 'min', 'Children of one agent that are not done'),
  command: key(z.string().max(500), FOREIGN),
  args: key(names, FOREIGN),
  defaultModel: key(name, 'Of children where nothing else says a model'),
  autoComplete: key(
    section({
      enabled: key(z.boolean(), 'false: no child is ever idle'),
      idleTimeout: key(Seconds, 'Seconds, or 10m: without an event for this long a child is idle; 0: never'),
      detectCompletionPhrases: key(z.boolean(), FOREIGN),
      completionPatterns: key(names, FOREIGN),
    }),
  ),
  cleanup: key(
    section({
      autoKillOnComplete: key(z.boolean(), 'No message resumes a child that is done'),
      autoArchiveTranscript: key(z.boolean(), 'false: nothing is copied into archivePath'),
      // In the project's folder, agents could read and commit other agents' transcripts.
      archivePath: key(
        z
          .string()
          .max(1000)
          .regex(/^(?:\/|~(?:\/|$))/, 'write a folder from / or ~'),
        'A folder that transcripts of children are copied into, from / or ~',
      ),
      closeTmuxSession: key(z.boolean(), FOREIGN),
    }),
  ),
  notifications: key(
    section({
      notifyParentOnComplete: key(z.boolean(), 'A message to the parent when a child is done'),
      notifyParentOnError: key(z.boolean(), 'A message to the parent when a child fails'),
      notifyParentOnIdle: key(z.boolean(), 'A message to the parent when a child is idle'),
    }),
  ),
  progress: key(
    section({
      enableTokenTracking: key(z.boolean(), FOREIGN),
      enableToolTracking: key(z.boolean(), FOREIGN),
      snapshotInterval: key(Seconds, FOREIGN),
    }),
  ),
  workingDir: key(z.enum(['inherit', 'specify']), 'specify: a spawn has to name its folder'),
  inheritEnvironment: granted(variables, 'Variables that commands may see', 'each'),
  naming: key(
    section({ pattern: key(childName), fallback: key(childName) }),
    'Of {friendly_name}, {role}, {short_id}, {id}',
  ),
});

const Interface = section({
  theme: preferred(name, 'A theme by name; auto takes dark or light, whichever fits the background of the terminal'),
  ascii: key(z.boolean(), 'Signs of plain ASCII only'),
  mouse: key(z.boolean(), 'false leaves the mouse to the terminal'),
  links: key(z.boolean(), 'false sends no links (OSC 8) to the terminal'),
  reducedMotion: key(z.boolean(), 'true: nothing moves that only pleases'),
});

const Budgets = section({
  run: key(Limits),
  agent: key(Limits),
  role: key(map(Limits)),
  day: key(DayLimits, 'All runs of one day together'),
  model: key(map(DayLimits), 'One model or family, by the day'),
  atLimit: tightest(z.enum(['finish', 'stop']), ['finish', 'stop'], 'What happens at a limit when nobody answers'),
});

ROWS.set(Permissions, { keys: Permissions.shape });

export const Settings = section({
  agentOrchestration: preferred(Orchestration),
  enforcement: key(Enforcement),
  budgets: tightest(Budgets, 'min'),
  limits: tightest(
    section({
      maxTasksPerPlan: key(z.int().min(1).max(500), 'Tasks of one plan'),
      maxAgentsPerRun: key(z.int().min(1).max(1000), 'Agents of one run, children included'),
    }),
    'min',
  ),
  mode: key(
    section({
      default: preferred(z.enum(MODES), 'How much is asked, unless somebody chooses'),
      max: tightest(z.enum(MODES), MODES.toReversed(), 'The loosest that may be chosen'),
    }),
  ),
  commands: key(
    section({
      allow: granted(names, 'Run without a question', 'union'),
      ask: tightest(names, 'union', 'Always asked'),
      deny: tightest(names, 'union', 'Never run; stronger than the others'),
    }),
  ),
  permissions: granted(Permissions, 'What plans let agents do without asking, unless a person decides otherwise'),
  sandbox: key(Sandbox),
  env: key(section({ passthrough: granted(variables, 'Variables that commands may see', 'each') })),
  childAgents: granted(ChildAgents, undefined, 'highest'),
  providers: granted(
    map(
      ProviderSettings,
      z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'name a provider with lower-case letters, digits, "-" or "_"'),
    ),
  ),
  trust: granted(names, 'Folders; what lies below is trusted at first sight'),
  ui: granted(Interface),
  keys: granted(map(z.string().max(40)), 'Another key for an action, by the name of the action'),
  approvals: key(
    section({ answerWithin: tightest(Duration, 'min', 'A question nobody answers in this time is denied') }),
  ),
  notifications: granted(
    section({
      bell: key(z.boolean(), 'A bell when nobody looks at the terminal'),
      desktop: key(
        z.union([z.boolean(), z.literal('auto')]),
        'A notice of the desktop (OSC 9 or 777) when nobody looks; auto is true',
      ),
    }),
  ),
  audit: granted(
    section({ checkpointEvery: key(z.int().min(1).max(1e6), 'Events between two checkpoints of the log') }),
  ),
  retention: granted(section({ sessions: key(Duration, 'How long sessions are kept') })),
  minVersion: managed(
    z.string().regex(/^\d{1,6}(?:\.\d{1,6}){0,2}$/, 'write a version in quotes, such as "1.0"'),
    'The oldest version of Mimir that may read this policy: "1.0"',
  ),
});
export type Settings = z.infer<typeof Settings>;

/** The JSON schema that `mimir config schema` prints, for editors. */
export const configSchemaJson = (): object => z.toJSONSchema(Settings, { io: 'input' });

/** The types along a path, as far as they are known. */
function typesAt(path: readonly string[]): readonly z.ZodType[] {
  const types: z.ZodType[] = [];
  let at: z.ZodType | undefined = Settings;
  for (const part of path) {
    const { keys = {}, each }: Row = (at && ROWS.get(at)) ?? {};
    at = Object.hasOwn(keys, part) ? keys[part] : each;
    if (at !== undefined) types.push(at);
  }
  return types;
}

/** The rule of a key: its own, or the nearest section's. Unknown keys are grants, the safest kind. */
export const ruleOf = (path: readonly string[]): KeyRule =>
  typesAt(path)
    .map((type) => ROWS.get(type)?.rule)
    .findLast((rule) => rule !== undefined) ?? { kind: 'grant', merge: 'first' };

/** The valid keys at `path`; empty where any name is valid. */
export function knownKeys(path: Path): readonly string[] {
  const type = [Settings, ...typesAt(path.map(String))][path.length];
  return type === undefined ? [] : Object.keys(ROWS.get(type)?.keys ?? {});
}

const snakeCase = (written: string): string => written.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Keys of `childAgents` that other programs have under their own spelling. */
const SHARED = ['mode', 'autoComplete', 'cleanup', 'notifications', 'progress'].flatMap((part) => {
  const below = knownKeys(['childAgents', part]);
  return below.length === 0 ? [part] : below.map((each) => `${part}.${each}`);
});

/** Other programs' spellings, with the keys that they mean. */
export const OTHER_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['claude.command', 'childAgents.command'],
  ['claude.args', 'childAgents.args'],
  ['claude.default_model', 'childAgents.defaultModel'],
  ...SHARED.map((own) => [`child_agents.${snakeCase(own)}`, `childAgents.${own}`] as const),
  ['sessions.default_working_dir_behavior', 'childAgents.workingDir'],
  ['sessions.inherit_environment_vars', 'childAgents.inheritEnvironment'],
  ['sessions.naming.pattern', 'childAgents.naming.pattern'],
  ['sessions.naming.fallback', 'childAgents.naming.fallback'],
]);

const Hex = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'a colour is "#" and six hex digits, such as "#7fca95"');

const Ansi = z.enum([...ANSI_NAMES, 'default']).nullable();

export const FullColour = z.strictObject({ hex: Hex, ansi: Ansi });

const OneColour = z.union([Hex, FullColour], {
  error: `a colour is "#rrggbb" or {hex: "#rrggbb", ansi: NAME}; names are ${[...ANSI_NAMES, 'default', 'null'].join(', ')}`,
});

/** Without a name for 16 colours, the terminal's default is the only colour that is surely readable. */
const ColourValue = OneColour.transform(
  (value): Colour => (typeof value === 'string' ? { hex: value, ansi: 'default' } : value),
);

const RoleValue = z.union([z.enum(TOKENS), ColourValue], {
  error: `a role's colour is a token (${TOKENS.join(', ')}), "#rrggbb" or {hex, ansi}`,
});

export const ThemeFile = z.strictObject({
  name: z.string().min(1),
  mode: z.enum(['dark', 'light']).optional(),
  extends: z.string().nullable().default(null),
  glyphs: z.enum(['unicode', 'ascii']).optional(),
  colours: z
    .union([z.enum(['all', '16', 'none']), z.literal(16)])
    .transform((colours) => (colours === 16 ? '16' : colours))
    .optional(),
  tokens: z.partialRecord(z.enum(TOKENS), ColourValue).default({}),
  roles: z.record(z.string(), RoleValue).default({}),
});
export interface ThemeFile extends z.output<typeof ThemeFile> {}
