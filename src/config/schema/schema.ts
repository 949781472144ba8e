/**
 * The configuration as people write it: names, types and bounds of every key. Strict: what is
 * not named here is unknown. Nothing is converted, a "2" is no 2. Which layer may say what is keys.ts's to know.
 */
import { z } from 'zod';
import { MOST_ITERATIONS } from '../../domain/agents/role.ts';
import { MODES } from '../../domain/mode.ts';
import { EFFORTS } from '../../domain/models/effort.ts';
import { Permissions } from '../../domain/plan/plan.ts';
import { ANSI_NAMES, type Colour, TOKENS } from '../../domain/theme.ts';

/** `500ms`, `10s`, `10m`, `1h`, `90d`, or whole milliseconds. */
export const Duration = z
  .union([z.int().min(0).max(1e10), z.string().regex(/^\d{1,9}(?:ms|s|m|h|d)$/)])
  .describe('Milliseconds, or a number with ms, s, m, h or d: 10m');

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** Milliseconds of a duration as written, or null for text that is none. */
export function durationMs(written: string | number): number | null {
  if (typeof written === 'number') return written;
  const [, count = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(written) ?? [];
  const factor = UNITS.get(unit);
  return factor === undefined ? null : Number(count) * factor;
}

const name = z.string().min(1).max(200);
const names = z.array(name).max(500);
const Limits = z.strictObject({
  maxCost: z.number().min(0).max(1e6).describe('US dollars; 0 means none may be spent').optional(),
  maxTokens: z
    .int()
    .min(0)
    .max(1e12)
    .describe('Input, output and cache writes in full, cache reads at a tenth; 0 means none')
    .optional(),
  maxDuration: Duration.optional(),
});
/** Of all runs of a day, which has no length of its own to limit. */
const DayLimits = Limits.omit({ maxDuration: true });

const RoleSettings = z.strictObject({
  enabled: z.boolean().optional(),
  defaultModel: name.optional(),
  fallbackModels: names.optional(),
  tools: names.optional(),
  effort: z.enum(EFFORTS).describe("How much its models think; absent: the provider's own default").optional(),
  iterations: z.int().min(1).max(MOST_ITERATIONS).describe('Turns of an agent, the closing answer included').optional(),
});

const Orchestration = z.strictObject({
  enabled: z.boolean().describe('false: always one agent').optional(),
  autoDetect: z.boolean().describe('Let the planner decide whether to split').optional(),
  promptForApproval: z.boolean().describe('Show the plan and wait for a yes').optional(),
  promptForModels: z.boolean().describe('Ask for the model of each task').optional(),
  maxNestingDepth: z.int().min(0).max(8).describe('Levels of agents below the root').optional(),
  maxParallelAgents: z.int().min(1).max(256).describe('Agents at once').optional(),
  onFailure: z.enum(['ask', 'retry', 'skip', 'stop']).optional(),
  roles: z.record(name, RoleSettings).optional(),
});

const Forced = z.strictObject({
  enabled: z.boolean(),
  model: name.optional(),
  trigger: z.enum(['always', 'on-write', 'on-commit', 'manual']).optional(),
  onFailure: z.enum(['block', 'warn']).optional(),
});

const Enforcement = z.strictObject({
  modelsDefault: z.enum(['allow', 'deny']).describe('deny: without a list of allowed models, none is').optional(),
  allowedModels: names.describe('Names, ids, or a family: provider/name@*; absent: any').optional(),
  deniedModels: names.describe('Stronger than any list of allowed ones').optional(),
  modelFallback: z.enum(['list', 'deny']).describe('deny: no other model stands in').optional(),
  maxEffort: z.enum(EFFORTS).describe('The most that models may be told to think').optional(),
  allowedEndpoints: names.describe('Hosts that models may be called on; absent: any').optional(),
  allowedSubAgents: names.describe('Roles that plans may use; absent: any').optional(),
  forcedSubAgents: z.record(name, Forced).describe('Roles that run whatever a plan says').optional(),
  permissions: z
    .strictObject({ edits: z.literal('ask').optional(), commands: z.literal('ask').optional() })
    .describe('What no plan may allow: each change of a file, each command is asked about')
    .optional(),
});

const Price = z.strictObject({
  input: z.number().min(0).max(1e6),
  output: z.number().min(0).max(1e6),
  cacheRead: z.number().min(0).max(1e6).optional(),
  cacheWrite: z.number().min(0).max(1e6).optional(),
});

/** As it goes on the wire. */
const wireName = z.string().regex(/^\S{1,200}$/);

const variable = z.string().regex(/^[A-Z_][A-Z0-9_]{0,99}$/);
const HeaderValue = z.union([z.string().max(8000), z.strictObject({ env: variable })]);

const ProviderSettings = z.strictObject({
  kind: z.enum(['anthropic', 'openai', 'openai-compatible']),
  apiKeyEnv: variable.optional(),
  baseUrl: z
    .string()
    .regex(/^https?:\/\/\S{1,500}$/)
    .optional(),
  models: z.array(wireName).max(500).optional(),
  protocol: z
    .literal('text')
    .describe('For models without tool calls: agents work by commands in their answers')
    .optional(),
  prices: z.record(wireName, Price).describe('US dollars per million tokens').optional(),
  windows: z.record(wireName, z.int().min(1000).max(1e8)).describe('Context windows in tokens').optional(),
  firstTokenTimeout: Duration.describe('How long a call may last before the first word of its answer').optional(),
  idleTimeout: Duration.describe('How long an answer may stop between two words').optional(),
  retryFor: Duration.describe('How long a failing call is tried again; 0: never').optional(),
  answersAs: z
    .record(wireName, z.array(wireName).max(50))
    .describe('Other names under which a model may answer')
    .optional(),
  headers: z
    .record(z.string().min(1).max(100), HeaderValue)
    .describe('Headers of each request: a text, or {env: NAME} for a value from the environment')
    .optional(),
});

const Sandbox = z.strictObject({
  required: z.boolean().describe('No shell at all without a sandbox').optional(),
  network: z.strictObject({ allowedDomains: names.optional() }).optional(),
  fs: z
    .strictObject({
      denyRead: names.describe('Paths that agents and commands may not read').optional(),
      denyWrite: names.describe('Paths that they may not write').optional(),
      allowRead: names.describe('Folders outside of the project that commands may read as well').optional(),
      allowWrite: names.describe('The only places that they may write; absent: the whole project').optional(),
    })
    .optional(),
});

/** Unlike elsewhere, a bare number is seconds: so other programs write it. */
const Seconds = z
  .union([z.number().min(0).max(1e7), z.string().regex(/^\d{1,9}(?:ms|s|m|h|d)$/)])
  .describe('Seconds, or a number with ms, s, m, h or d: 600, 10m');

const ChildAgents = z.strictObject({
  mode: z
    .enum(['auto', 'manual', 'supervised'])
    .describe('auto: agents spawn within the limits; supervised: each spawn asks; manual: only a person spawns')
    .optional(),
  orphans: z
    .enum(['adopt', 'kill', 'keep'])
    .describe('What becomes of a child whose parent ends before it; adopt: the root takes it')
    .optional(),
  messages: z
    .enum(['run', 'family'])
    .describe('Whom an agent may write to: any of its run, or parent, children and siblings')
    .optional(),
  maxPerParent: z.int().min(1).max(256).describe('Children of one agent that are not done').optional(),
  command: z.string().max(500).optional(),
  args: names.optional(),
  defaultModel: name.describe('Of children where nothing else says a model').optional(),
  autoComplete: z
    .strictObject({
      enabled: z.boolean().optional(),
      idleTimeout: Seconds.describe(
        'Seconds, or 10m: without an event for this long a child is idle; 0: never',
      ).optional(),
      detectCompletionPhrases: z.boolean().optional(),
      completionPatterns: names.optional(),
    })
    .optional(),
  cleanup: z
    .strictObject({
      autoKillOnComplete: z.boolean().describe('No message resumes a child that is done').optional(),
      autoArchiveTranscript: z.boolean().optional(),
      archivePath: z
        .string()
        .max(1000)
        .describe('A folder that transcripts of children are copied into, from / or ~')
        .optional(),
      closeTmuxSession: z.boolean().optional(),
    })
    .optional(),
  notifications: z
    .strictObject({
      notifyParentOnComplete: z.boolean().optional(),
      notifyParentOnError: z.boolean().optional(),
      notifyParentOnIdle: z.boolean().optional(),
    })
    .optional(),
  progress: z
    .strictObject({
      enableTokenTracking: z.boolean().optional(),
      enableToolTracking: z.boolean().optional(),
      snapshotInterval: Seconds.optional(),
    })
    .optional(),
  workingDir: z.enum(['inherit', 'specify']).optional(),
  inheritEnvironment: names.describe('Variables that commands may see').optional(),
  naming: z
    .strictObject({ pattern: name.optional(), fallback: name.optional() })
    .describe('Of {friendly_name}, {role}, {short_id}, {id}')
    .optional(),
});

const Interface = z.strictObject({
  theme: name
    .describe('A theme by name; auto takes dark or light, whichever fits the background of the terminal')
    .optional(),
  ascii: z.boolean().describe('Signs of plain ASCII only').optional(),
  mouse: z.boolean().describe('false leaves the mouse to the terminal').optional(),
  links: z.boolean().describe('false sends no links (OSC 8) to the terminal').optional(),
  reducedMotion: z.boolean().describe('true: nothing moves that only pleases').optional(),
});

export const Settings = z.strictObject({
  agentOrchestration: Orchestration.optional(),
  enforcement: Enforcement.optional(),
  budgets: z
    .strictObject({
      run: Limits.optional(),
      agent: Limits.optional(),
      role: z.record(name, Limits).optional(),
      day: DayLimits.describe('All runs of one day together').optional(),
      model: z.record(name, DayLimits).describe('One model or family, by the day').optional(),
      atLimit: z.enum(['finish', 'stop']).describe('What happens at a limit when nobody answers').optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      maxTasksPerPlan: z.int().min(1).max(500).optional(),
      maxAgentsPerRun: z.int().min(1).max(1000).optional(),
    })
    .optional(),
  mode: z
    .strictObject({
      default: z.enum(MODES).describe('How much is asked, unless somebody chooses').optional(),
      max: z.enum(MODES).describe('The loosest that may be chosen').optional(),
    })
    .optional(),
  commands: z
    .strictObject({
      allow: names.describe('Run without a question').optional(),
      ask: names.describe('Always asked').optional(),
      deny: names.describe('Never run; stronger than the others').optional(),
    })
    .optional(),
  permissions: Permissions.describe(
    'What plans let agents do without asking, unless a person decides otherwise',
  ).optional(),
  sandbox: Sandbox.optional(),
  env: z.strictObject({ passthrough: names.describe('Variables that commands may see').optional() }).optional(),
  childAgents: ChildAgents.optional(),
  providers: z.record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/), ProviderSettings).optional(),
  trust: names.describe('Folders; what lies below is trusted at first sight').optional(),
  ui: Interface.optional(),
  keys: z.record(name, z.string().max(40)).optional(),
  approvals: z
    .strictObject({ answerWithin: Duration.describe('A question nobody answers in this time is denied').optional() })
    .optional(),
  notifications: z
    .strictObject({
      bell: z.boolean().describe('A bell when nobody looks at the terminal').optional(),
      desktop: z
        .union([z.boolean(), z.literal('auto')])
        .describe('A notice of the desktop (OSC 9 or 777) when nobody looks; auto is true')
        .optional(),
    })
    .optional(),
  audit: z.strictObject({ checkpointEvery: z.int().min(1).max(1e6).optional() }).optional(),
  retention: z.strictObject({ sessions: Duration.optional() }).optional(),
  minVersion: z
    .string()
    .regex(/^\d{1,6}(?:\.\d{1,6}){0,2}$/)
    .describe('The oldest version of Mimir that may read this policy: "1.0"')
    .optional(),
});
export type Settings = z.infer<typeof Settings>;

/** The JSON schema that `mimir config schema` prints, for editors. */
export const configSchemaJson = (): object => z.toJSONSchema(Settings, { io: 'input' });

const Hex = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'a colour is "#" and six hex digits, such as "#7fca95"');

const Ansi = z.enum([...ANSI_NAMES, 'default']).nullable();

export const FullColour = z.strictObject({ hex: Hex, ansi: Ansi });

const OneColour = z.union([Hex, FullColour], {
  error: `a colour is "#rrggbb" or {hex: "#rrggbb", ansi: NAME}; names are ${[...ANSI_NAMES, 'default', 'null'].join(', ')}`,
});

/** Without a name for 16 colours, the terminal's own is the only one that surely can be read. */
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
