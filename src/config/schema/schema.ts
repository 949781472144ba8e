/** The configuration schema: one row per key with its type and bounds, which layers may set it, how values of several layers are merged, and the
 * sentence that documents it. Defaults are in `.mimir/config.yml`. It is strict: a key without a row is unknown, and no value is converted. */
import { z } from 'zod';
import { MOST_ITERATIONS } from '../../domain/agents/role.ts';
import { typedLimit } from '../../domain/budget.ts';
import { MODES } from '../../domain/reason.ts';
import { EFFORTS, PROVIDER_KINDS } from '../../domain/models/provider.ts';
import { Permissions } from '../../domain/plan/plan.ts';
import { ANSI_NAMES, type Colour, TOKENS } from '../../domain/theme.ts';
import type { KeyRule, Row } from './rows.ts';
import { childName, granted, host, key, managed, map, name, names, preferred, ROWS, section } from './rows.ts';
import { tightest, variables } from './rows.ts';

export type Path = readonly (string | number)[];

/** The advice for an invalid address. */
const HOOK_ADDRESS = 'use an address such as https://ntfy.sh/my-topic; http only on this machine';
/** What notices of a run may be about. */
const NOTICE_KINDS = ['plan', 'asks', 'failed', 'budget', 'ended'] as const;
export const ADDRESS = 'use an address such as http://127.0.0.1:11434/v1';
const TIME = /^\d{1,9}(?:ms|s|m|h|d)$/;
const TIMES = 'use a duration such as 500ms, 30s, 10m, 1h or 90d';
const time = z.string().regex(TIME, TIMES);

/** `500ms`, `10s`, `10m`, `1h`, `90d`, or whole milliseconds. */
export const Duration = z
  .union([z.int().min(0).max(1e10), time], TIMES)
  .describe('Duration in milliseconds, or with a unit (ms, s, m, h or d) such as 10m');

/** The milliseconds of a written duration; null if it is not one. */
export const durationMs = (written: string | number): number | null =>
  typeof written === 'number' ? written : TIME.test(written) ? typedLimit('maxDuration', written) : null;

const money = {
  maxCost: key(z.number().min(0).max(1e6), 'Maximum cost in US dollars; 0 allows none'),
  maxTokens: key(
    z.int().min(0).max(1e12),
    'Maximum tokens: input, output and cache writes in full, cache reads at one tenth; 0 allows none',
  ),
};
const Limits = section({ ...money, maxDuration: key(Duration, 'Running time; an agent’s includes its children’s') });
const DayLimits = section(money);

const RoleSettings = section({
  enabled: tightest(z.boolean(), 'and', 'If false, plans and agents cannot use the role'),
  defaultModel: key(name, 'Model of its agents if the plan names none'),
  fallbackModels: key(names, 'Models to use if the default model is unavailable, in this order'),
  tools: tightest(names, 'each', 'Limits the tools of the role to these'),
  effort: key(z.enum(EFFORTS), "Reasoning effort of its models; default: the provider's own"),
  iterations: key(z.int().min(1).max(MOST_ITERATIONS), 'Maximum turns of an agent, including its final answer'),
});

const Orchestration = section({
  enabled: tightest(z.boolean(), 'and', 'If false, one agent does the whole task'),
  autoDetect: key(z.boolean(), 'Let the planner decide whether to split the task'),
  promptForApproval: tightest(z.boolean(), 'or', 'Show the plan and wait for approval'),
  promptForModels: key(z.boolean(), 'Ask for the model of each task'),
  maxNestingDepth: tightest(z.int().min(0).max(8), 'min', 'Maximum levels of agents below the root'),
  maxParallelAgents: tightest(z.int().min(1).max(256), 'min', 'Maximum agents that run at once'),
  onFailure: key(z.enum(['ask', 'retry', 'skip', 'stop']), 'What happens to tasks that depend on a failed task'),
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

const [ALLOWED, ALLOWING] = [z.enum(['allow', 'deny']), ['allow', 'deny']];
const [STARTS, STARTING] = [z.enum(['allow', 'ask', 'deny']), ['allow', 'ask', 'deny']];

const Enforcement = section({
  modelsDefault: managed(z.enum(['allow', 'deny']), 'deny: no model is allowed unless allowedModels is set'),
  allowedModels: tightest(names, 'each', 'Allowed models: names, ids, or a family as provider/name@*; default: any'),
  deniedModels: tightest(names, 'union', 'Models that are never allowed; overrides allowedModels'),
  modelFallback: tightest(z.enum(['list', 'deny']), ['list', 'deny'], 'deny: no fallback to another model'),
  notifications: tightest(ALLOWED, ALLOWING, 'deny: nothing about runs is sent to a webhook, ntfy or a chat'),
  remoteAnswers: tightest(ALLOWED, ALLOWING, 'deny: chats may only look, and answer and stop nothing'),
  foreignAgents: tightest(
    STARTS,
    STARTING,
    'deny: no agents of other programs; ask (default): their start needs approval',
  ),
  maxEffort: tightest(z.enum(EFFORTS), EFFORTS.toReversed(), 'Highest reasoning effort that may be used'),
  allowedEndpoints: tightest(z.array(host).max(500), 'each', 'Hosts that model calls may go to; default: any'),
  allowedSubAgents: tightest(names, 'each', 'Roles that plans may use; default: any'),
  forcedSubAgents: tightest(map(Forced), 'first', 'Mandatory reviews: roles that run whatever a plan says'),
  permissions: tightest(
    section({ edits: key(z.literal('ask')), commands: key(z.literal('ask')) }),
    ['allow', 'ask'],
    'ask: no plan may allow these actions without asking',
  ),
});

const agentName = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'use lower-case letters, digits, "-" or "_"');
const command = z.array(z.string().min(1).max(1000)).min(1).max(50);
const inHome = z.string().regex(/^\.?[\w-][\w./-]{0,199}$/, 'use a path in your home, such as .claude');

/** Of another program. What is left out is known for claude, codex and gemini. */
const ForeignAgent = section({
  acp: key(command, 'Program and arguments; it speaks the Agent Client Protocol on standard input and output'),
  tmux: key(command, 'Program and arguments; it works in a terminal of tmux, where prompts are typed'),
  continues: key(command, 'With tmux: first arguments with which it continues its last conversation in its folder'),
  transcript: key(inHome, 'With tmux: folder of your home in which it writes transcripts (.jsonl)'),
  hosts: key(z.array(host).max(50), 'Hosts of its provider; it reaches no others'),
  home: key(z.array(inHome).max(20), 'Files and folders of your home with its login, which it may write'),
  env: key(variables, 'Environment variables that it gets, such as one with a key'),
  mode: key(name, 'Its own mode in which it asks for permission'),
});

const dollars = z.number().min(0).max(1e6);
const Price = section({ input: dollars, output: dollars, cacheRead: key(dollars), cacheWrite: key(dollars) });
const wireName = z.string().regex(/^\S{1,200}$/);
const variable = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]{0,99}$/, 'use the name of an environment variable, such as ANTHROPIC_API_KEY');
const HeaderValue = z.union([z.string().max(8000), z.strictObject({ env: variable })], {
  error: 'use text, or {env: NAME} for the value of a variable',
});

const ProviderSettings = section({
  kind: z.enum(PROVIDER_KINDS).describe('API protocol of the provider'),
  apiKeyEnv: key(variable, 'Environment variable that contains the API key'),
  baseUrl: key(z.string().regex(/^https?:\/\/\S{1,500}$/, ADDRESS), 'Address of its API'),
  models: key(z.array(wireName).max(500), 'Models, by the names that the server uses'),
  protocol: key(z.literal('text'), 'text: for models without tool calls; agents write commands in their answers'),
  prices: key(map(Price, wireName), 'US dollars per million tokens'),
  windows: key(map(z.int().min(1000).max(1e8), wireName), 'Context window in tokens'),
  firstTokenTimeout: key(Duration, 'Maximum time until the first token of an answer'),
  idleTimeout: key(Duration, 'Maximum pause between two tokens of an answer'),
  retryFor: key(Duration, 'How long a failing call is retried; 0: never'),
  answersAs: key(map(z.array(wireName).max(50), wireName), 'Other names that the model may report in its answers'),
  headers: key(
    map(HeaderValue, z.string().min(1).max(100)),
    'Header of each request: text, or {env: NAME} for the value of an environment variable',
  ),
});

const [ANY, LOCAL] = [/https:\/\/[^\s/]+/.source, /http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?/.source];
const PLACE = new RegExp(`^(?:${ANY}|${LOCAL})/\\S*$`);
const SERVER = new RegExp(`^(?:${ANY}|${LOCAL})$`);

/** Where notices of runs are sent. */
const notificationTarget = (secret: string) => ({
  url: key(z.string().max(500).regex(PLACE, HOOK_ADDRESS), 'Address that requests are sent to; of ntfy with the topic'),
  events: key(z.array(z.enum(NOTICE_KINDS)).max(5), 'What is sent: plan, asks, failed, budget, ended; default: all'),
  secretEnv: key(variable, secret),
});
const NTFY_TOKEN = 'Environment variable with an access token of the ntfy server';
const NtfyAnswers = section({
  topic: key(z.string().regex(/^[-\w]{1,64}$/, "use a topic's name"), 'Topic on the same server that buttons post to'),
  secretEnv: key(variable, 'Environment variable with an access token that reads it'),
});

const POOL = 'The pool whose workers carry out the agents of a run; "default" if absent';
const PEOPLE =
  'Keys of people, from `mimir cluster key`: workers here carry out only their runs; absent: those of whoever reaches the database';

const TelegramChat = section({
  id: key(z.int(), 'Its number, as the bot sees it'),
  may: key(
    z.enum(['look', 'answer', 'control']),
    'look (default); answer: questions too; control: also messages and stop',
  ),
});
const Telegram = section({
  botTokenEnv: key(variable, 'Environment variable with the token of your bot'),
  chats: key(z.array(TelegramChat).max(50), 'Chats that it hears and tells; others are not answered'),
  server: key(z.string().max(500).regex(SERVER, HOOK_ADDRESS), 'Address of the Bot API, of a server of your own'),
});

const Sandbox = section({
  required: tightest(z.boolean(), 'or', 'If true, no command runs without a sandbox'),
  network: key(
    section({
      allowedDomains: tightest(names, 'each', 'No effect in this version: commands have no network'),
    }),
  ),
  fs: key(
    section({
      denyRead: tightest(names, 'union', 'Paths that agents and commands may not read'),
      denyWrite: tightest(names, 'union', 'Paths that agents and commands may not write'),
      allowRead: granted(names, 'Folders outside the project that commands may read', 'each'),
      allowWrite: tightest(
        names,
        'each',
        'The only paths that agents and commands may write; default: the whole project',
      ),
    }),
  ),
});

/** A bare number is seconds here, unlike elsewhere, because other programs use seconds. */
const Seconds = z
  .union([z.number().min(0).max(1e7), time], TIMES)
  .describe('Duration in seconds, or with a unit (ms, s, m, h or d) such as 10m');

/** Merged by `highest`, because an organisation's value must override the person's. */
const ChildAgents = section({
  mode: tightest(
    z.enum(['auto', 'manual', 'supervised']),
    ['auto', 'supervised', 'manual'],
    'auto: agents spawn within the limits; supervised: each spawn needs approval; manual: only a person may spawn',
  ),
  orphans: key(
    z.enum(['adopt', 'kill', 'keep']),
    'What happens to a child whose parent ends first; adopt: the root becomes its parent',
  ),
  messages: tightest(
    z.enum(['run', 'family']),
    ['run', 'family'],
    'Which agents an agent may message; family: only parent, children and siblings',
  ),
  maxPerParent: tightest(z.int().min(1).max(256), 'min', 'Maximum unfinished children of one agent'),
  command: key(z.string().max(500), 'Program that works as an agent in a terminal of tmux, by its own name'),
  args: key(names, 'Arguments of command'),
  defaultModel: key(name, 'Model of children if nothing else sets one'),
  autoComplete: key(
    section({
      enabled: key(z.boolean(), 'If false, no child is ever idle'),
      idleTimeout: key(
        Seconds,
        'Seconds, or a time such as 10m, without an event after which a child is idle; 0: never',
      ),
      detectCompletionPhrases: key(z.boolean(), 'In tmux: if false, no phrase ends a turn'),
      completionPatterns: key(names, 'In tmux: what an agent says when it is done'),
    }),
  ),
  cleanup: key(
    section({
      autoKillOnComplete: key(z.boolean(), 'If true, messages do not resume a finished child'),
      autoArchiveTranscript: key(z.boolean(), 'If false, nothing is copied to archivePath'),
      // In the project's folder, agents could read and commit other agents' transcripts.
      archivePath: key(
        z
          .string()
          .max(1000)
          .regex(/^(?:\/|~(?:\/|$))/, 'use a folder that starts with / or ~'),
        'Folder for copies of the transcripts of children; starts with / or ~',
      ),
      closeTmuxSession: key(z.boolean(), 'If true, the terminal of an agent is closed with it'),
    }),
  ),
  notifications: key(
    section({
      notifyParentOnComplete: key(z.boolean(), 'Send the parent a message when a child finishes'),
      notifyParentOnError: key(z.boolean(), 'Send the parent a message when a child fails'),
      notifyParentOnIdle: key(z.boolean(), 'Send the parent a message when a child is idle'),
    }),
  ),
  progress: key(
    section({
      enableTokenTracking: key(z.boolean(), 'In tmux: if false, tokens are not read from transcripts'),
      enableToolTracking: key(z.boolean(), 'In tmux: if false, what an agent does is not recorded'),
      snapshotInterval: key(Seconds, 'In tmux: time between two records of a terminal without a transcript'),
    }),
  ),
  workingDir: key(z.enum(['inherit', 'specify']), 'specify: a spawn must name its folder'),
  inheritEnvironment: granted(variables, 'Environment variables that commands may see', 'each'),
  naming: key(
    section({ pattern: key(childName), fallback: key(childName) }),
    'Name of a child, from {friendly_name}, {role}, {short_id} and {id}',
  ),
});

const Interface = section({
  theme: preferred(name, 'Name of a theme; auto selects dark or light to match the background of the terminal'),
  ascii: key(z.boolean(), 'If true, only ASCII characters are drawn'),
  mouse: key(z.boolean(), 'If false, the terminal handles the mouse'),
  links: key(z.boolean(), 'If false, no links (OSC 8) are sent to the terminal'),
  reducedMotion: key(z.boolean(), 'If true, decorative animation is off'),
});

const Budgets = section({
  run: key(Limits),
  agent: key(Limits),
  role: key(map(Limits)),
  day: key(DayLimits, 'Limits for all runs of one day together'),
  model: key(map(DayLimits), 'Daily limits of one model or family'),
  atLimit: tightest(z.enum(['finish', 'stop']), ['finish', 'stop'], 'What happens at a limit if nobody answers'),
});

ROWS.set(Permissions, { keys: Permissions.shape });

export const Settings = section({
  agentOrchestration: preferred(Orchestration),
  enforcement: key(Enforcement),
  budgets: tightest(Budgets, 'min'),
  limits: tightest(
    section({
      maxTasksPerPlan: key(z.int().min(1).max(500), 'Maximum tasks of a plan'),
      maxAgentsPerRun: key(z.int().min(1).max(1000), 'Maximum agents of a run, including children'),
      maxChecksPerTask: key(z.int().min(0).max(100), 'Maximum checks of a task; 0 allows none'),
      maxCheckTime: key(Duration, 'Maximum time of one check'),
    }),
    'min',
  ),
  mode: key(
    section({
      default: preferred(z.enum(MODES), 'Mode of a run if no other is chosen'),
      max: tightest(z.enum(MODES), MODES.toReversed(), 'Least strict mode that may be chosen'),
    }),
  ),
  commands: key(
    section({
      allow: granted(names, 'Commands that run without asking', 'union'),
      ask: tightest(names, 'union', 'Commands that are always asked about'),
      deny: tightest(names, 'union', 'Commands that never run; overrides the other lists'),
    }),
  ),
  permissions: granted(Permissions, 'Permissions that a plan starts with; allow: without asking'),
  sandbox: key(Sandbox),
  env: key(section({ passthrough: granted(variables, 'Environment variables that commands may see', 'each') })),
  childAgents: granted(ChildAgents, undefined, 'highest'),
  agents: granted(map(ForeignAgent, agentName)),
  providers: granted(
    map(
      ProviderSettings,
      z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'name a provider with lower-case letters, digits, "-" or "_"'),
    ),
  ),
  trust: granted(names, 'Folders; every project below them is trusted without asking'),
  ui: granted(Interface),
  keys: granted(map(z.string().max(40)), 'Key for an action, by the name of the action'),
  approvals: key(
    section({ answerWithin: tightest(Duration, 'min', 'Time after which an unanswered question is denied') }),
  ),
  notifications: granted(
    section({
      bell: key(z.boolean(), 'Ring the bell when the terminal is not in focus'),
      desktop: key(
        z.union([z.boolean(), z.literal('auto')]),
        'Show a desktop notification (OSC 9 or 777) when the terminal is not in focus; auto means true',
      ),
      webhook: key(section(notificationTarget('Environment variable with the key that signs each request'))),
      ntfy: key(section({ ...notificationTarget(NTFY_TOKEN), answers: key(NtfyAnswers) })),
      telegram: key(Telegram),
      quietHours: key(
        z
          .string()
          .regex(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/, 'use two times such as "22:00-07:00"'),
        'Local time in which webhook and ntfy get nothing',
      ),
    }),
  ),
  audit: granted(
    section({ checkpointEvery: key(z.int().min(1).max(1e6), 'Number of events between two checkpoints of the log') }),
  ),
  trees: granted(
    section({
      own: key(names, 'Roles whose tasks work in trees of their own unless the plan says otherwise'),
      setup: key(
        z.string().trim().min(1).max(4000),
        'Command that prepares each tree of an agent of its own, such as "npm ci"; asked about like a command of the agent',
      ),
    }),
  ),
  cluster: granted(
    section({
      databaseEnv: key(
        variable,
        'Environment variable with the address of the PostgreSQL database that runs and workers share',
      ),
      pool: key(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'use lower-case letters, digits, "-" or "_"'), POOL),
      people: key(names, PEOPLE),
    }),
  ),
  retention: granted(section({ sessions: key(Duration, 'No effect in this version: no session is deleted') })),
  minVersion: managed(
    z.string().regex(/^\d{1,6}(?:\.\d{1,6}){0,2}$/, 'use a version in quotes, such as "1.0"'),
    'Oldest version of Mimir that may use this policy, such as "1.0"',
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

const Hex = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'a colour must be "#" and six hex digits, such as "#7fca95"');
const Ansi = z.enum([...ANSI_NAMES, 'default']).nullable();
export const FullColour = z.strictObject({ hex: Hex, ansi: Ansi });

const OneColour = z.union([Hex, FullColour], {
  error: `a colour must be "#rrggbb" or {hex: "#rrggbb", ansi: NAME}; names are ${[...ANSI_NAMES, 'default', 'null'].join(', ')}`,
});

/** Without a name for 16 colours, the terminal's default is the only colour that is surely readable. */
const ColourValue = OneColour.transform(
  (value): Colour => (typeof value === 'string' ? { hex: value, ansi: 'default' } : value),
);

const RoleValue = z.union([z.enum(TOKENS), ColourValue], {
  error: `the colour of a role must be a token (${TOKENS.join(', ')}), "#rrggbb" or {hex, ansi}`,
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
