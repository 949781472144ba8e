/** Parses one role file, Markdown with front matter or JSON. A role is data: a name, a prompt and a set of tools; unknown tools are dropped with a
 * note. roles.ts decides where files are searched and which may replace others. */
import { z } from 'zod';
import { defaultIterations, MOST_ITERATIONS, type Role } from '../../domain/agents/role.ts';
import { RoleName } from '../../domain/ids.ts';
import { EFFORTS } from '../../domain/models/provider.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { bytesIn, suggestion } from '../../domain/text/text.ts';
import { resolveModel } from '../../policy/index.ts';
import { type ConfigFault, faultText, fileFault } from '../files/read-text.ts';
import { issueFaults } from '../files/layer.ts';
import { faultAt, plainOf, readTree, type Tree } from '../files/tree.ts';
import { Duration, durationMs } from '../schema/schema.ts';
import { capabilitiesOf, isToolName, TOOL_NAMES } from '../schema/tool-names.ts';
import { keyOf, PREPARED, type ReadRole } from '../files/parse-cache.ts';

const ToolNames = z.union([z.array(z.string().max(100)).max(50), z.string().max(1000)]);

/** Not strict: other programs' files have keys of their own, which are ignored with a note. */
const Front = z.object({
  name: z.string().max(100).optional(),
  description: z.string().trim().min(1).max(1000),
  tools: ToolNames.optional(),
  models: z.array(z.string().min(1).max(200)).max(20).default([]),
  /** Another program's key for one model (`also`). */
  model: z.string().max(200).optional(),
  iterations: z.int().min(1).max(MOST_ITERATIONS).optional(),
  /** A key of earlier versions, ignored with a note. */
  minTokens: z.unknown().optional(),
  maxDuration: Duration.optional(),
  effort: z.enum(EFFORTS).optional(),
  prefers: z.enum(['fast', 'usual', 'deep']).optional(),
  writes: z.boolean().default(false),
  planned: z.boolean().default(true),
  protocol: z.literal('text').optional(),
  tree: z.literal('own').optional(),
  /** Of other programs' files too, whose further values mean nothing here; `worktree` is `tree: own`. */
  isolation: z.string().max(100).optional(),
  prompt: z.string().max(60_000).optional(),
});
const FRONT_KEYS = Object.keys(Front.shape).filter((key) => key !== 'model' && key !== 'minTokens');

export interface RoleText {
  readonly file: string;
  /** The file's name without its extension. */
  readonly stem: string;
  readonly kind: 'md' | 'json';
  readonly text: string;
  /** The origin that the role shows: `built-in`, or the file. */
  readonly source: string;
  /** Of the user or an organisation: it may commit by naming that tool. */
  readonly commits?: true;
  /** Of a project: what is elsewhere dropped with a note is refused, and tools must be named one by one. */
  readonly strict?: true;
  /** Permitted keys of another program: `model` counts if it names a model, the others have no meaning. */
  readonly also?: readonly string[];
}

/** The role that a file describes, or its faults. */
export function readRole(given: RoleText): Result<ReadRole, readonly ConfigFault[]> {
  const before = PREPARED.roles.get(keyOf(given.file, given.source, given.text));
  return before === undefined ? parseRole(given) : ok(before);
}

/** As `readRole`, without the cache. The result is plain JSON that depends on the file's name, source and text only. */
export function parseRole(given: RoleText): Result<ReadRole, readonly ConfigFault[]> {
  const parts = given.kind === 'json' ? { front: given.text, body: '' } : frontMatter(given.text);
  if (parts === null)
    return fail([fileFault(given.file, 'has no front matter', 'start the file with "---", the keys, and "---"')]);
  const tree = readTree(parts.front, given.file);
  if (!tree.ok) return fail([tree.fault]);
  const front = Front.safeParse(plainOf(tree.value));
  if (!front.success)
    return fail(front.error.issues.flatMap((issue) => issueFaults(given.file, tree.value, issue, suggested)));
  return roleOf(given, front.data, parts.body, tree.value);
}

const suggested = (_: unknown, key: string): string => suggestion(key, FRONT_KEYS);

function roleOf(
  given: RoleText,
  front: z.infer<typeof Front>,
  body: string,
  tree: Tree,
): Result<ReadRole, readonly ConfigFault[]> {
  const at: FaultAt = (key, problem, remedy) => faultAt(given.file, tree, [key], problem, remedy);
  const written = front.name ?? given.stem;
  const name = RoleName.safeParse(written);
  if (!name.success)
    return fail([
      at(
        'name',
        `"${written}" is not a valid role name`,
        'use up to 40 letters, digits, "_" or "-", starting with a letter',
      ),
    ]);
  const prompt = (front.prompt ?? body).trim();
  if (prompt === '')
    return fail([fileFault(given.file, 'has no prompt', 'write the instructions of the role below the front matter')]);
  const listed = toolsOf(front.tools);
  const keys = keysOf(tree);
  const findings = findingsIn(given, front, listed, keys, at);
  const refused = given.strict === true ? [...findings, ...tooMuch(given, prompt, listed, at)] : [];
  if (refused.length > 0) return fail(refused);
  const role = roleFrom(given, front, { name: name.data, prompt, listed });
  // Agents of the text protocol work by commands alone.
  if (role.protocol === 'text' && !role.capabilities.includes('shell')) {
    const problem = 'protocol: text needs a shell, which this role does not have';
    return fail([at('protocol', problem, 'add bash_execution to its tools, or remove protocol')]);
  }
  const remedy = 'remove it; budgets.role sets the limits for agents of this role';
  const gone = keys.includes(GONE) ? [at(GONE, `${GONE} no longer has an effect`, remedy)] : [];
  return ok({ role, notes: [...findings, ...gone].map(faultText) });
}

interface Sound extends Pick<Role, 'name' | 'prompt'> {
  readonly listed: readonly string[];
}

function roleFrom(given: RoleText, front: z.infer<typeof Front>, { name, prompt, listed }: Sound): Role {
  const tools = listed.filter(isToolName);
  const standing = { writes: front.writes, root: name === 'main', commits: given.commits === true };
  const capabilities = front.tools === undefined ? (['read'] as const) : capabilitiesOf(tools, standing);
  return {
    name,
    description: front.description,
    prompt,
    tools: front.tools === undefined ? ['file_search'] : tools,
    capabilities,
    models: modelsOf(given, front),
    iterations: front.iterations ?? defaultIterations(name, capabilities),
    ...budgetOf(front.maxDuration),
    ...defined({ effort: front.effort, prefers: front.prefers, protocol: front.protocol }),
    ...defined({ tree: front.isolation === WORKTREE ? 'own' : front.tree }),
    planned: front.planned,
    source: given.source,
  };
}

/** The only isolation there is: a tree of its own for each task. */
const WORKTREE = 'worktree';

const keysOf = (tree: Tree): readonly string[] => (tree.is === 'map' ? tree.entries.map(({ key }) => key) : []);

/** A key of earlier versions: files may still have it, so it is only noted. */
const GONE = 'minTokens';

function modelsOf({ also = [] }: RoleText, { model, models }: z.infer<typeof Front>): readonly string[] {
  const counts = model !== undefined && also.includes('model') && resolveModel(model, []) !== null;
  return models.length === 0 && counts ? [model] : models;
}

function budgetOf(written: string | number | undefined): Pick<Role, 'budget'> {
  const maxDuration = written === undefined ? null : durationMs(written);
  return maxDuration === null ? {} : { budget: { maxDuration } };
}

/** Some other programs write the list as one text: `Read, Grep`. */
const toolsOf = (written: string | readonly string[] | undefined): readonly string[] =>
  (typeof written === 'string' ? written.split(',') : (written ?? []))
    .map((name) => name.trim())
    .filter((name) => name !== '');

type FaultAt = (key: string, problem: string, remedy: string) => ConfigFault;

function findingsIn(
  given: RoleText,
  front: z.infer<typeof Front>,
  listed: readonly string[],
  keys: readonly string[],
  at: FaultAt,
): readonly ConfigFault[] {
  const known = [...FRONT_KEYS, GONE, ...(given.also ?? [])];
  const foreign = keys.filter((key) => !known.includes(key));
  const unknownTools = listed.filter((name) => !isToolName(name));
  return [
    ...(front.tools === undefined
      ? [at('tools', 'lists no tools, so this role can only read', 'add "tools:" to give it more')]
      : []),
    ...unknownTools.map((name) => at('tools', `unknown tool "${name}" is ignored`, suggestion(name, TOOL_NAMES))),
    ...(front.isolation === undefined || front.isolation === WORKTREE
      ? []
      : [at('isolation', `isolation: ${front.isolation} is ignored`, `the only isolation is ${WORKTREE}`)]),
    ...foreign.map((key) => at(key, `unknown key ${key} is ignored`, suggested(null, key))),
  ];
}

/** The limit of a project's prompt, which is sent before every task of the role. */
const MAX_STRICT_PROMPT = 16_000;

function tooMuch({ file }: RoleText, prompt: string, listed: readonly string[], at: FaultAt): readonly ConfigFault[] {
  const long =
    bytesIn(prompt) <= MAX_STRICT_PROMPT
      ? []
      : [fileFault(file, `has a prompt of more than ${MAX_STRICT_PROMPT} bytes`, 'shorten it')];
  if (!listed.includes('*')) return long;
  return [...long, at('tools', 'a role of a project cannot use "*" for its tools', 'list them one by one')];
}

/** The front matter between the first two `---`, with its line numbers preserved, and the text below it. */
function frontMatter(text: string): { readonly front: string; readonly body: string } | null {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---' || end === -1) return null;
  return { front: ['', ...lines.slice(1, end)].join('\n'), body: lines.slice(end + 1).join('\n') };
}
