/**
 * One role file -> a role: Markdown with front matter, or JSON. A role is data: a name, words and a
 * set of tools; unknown tools are dropped and told. Where files are looked for, and who may replace whom, is roles.ts's.
 */
import { z } from 'zod';
import { defaultIterations, MOST_ITERATIONS, type Role } from '../../domain/agents/role.ts';
import { RoleName } from '../../domain/ids.ts';
import { EFFORTS, withEffort } from '../../domain/models/effort.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { bytesIn } from '../../domain/text/text.ts';
import { resolveModel } from '../../policy/models.ts';
import { type ConfigFault, faultText } from '../files/fault.ts';
import { valueAt, wordsFor } from '../files/issues.ts';
import { placeOf, plainOf } from '../files/tree-walk.ts';
import { readTree, type Tree } from '../files/tree.ts';
import { Duration, durationMs } from '../schema/schema.ts';
import { capabilitiesOf, isToolName, TOOL_NAMES } from '../schema/tool-names.ts';
import { keyOf, PREPARED, type ReadRole } from '../files/parse-cache.ts';

const ToolNames = z.union([z.array(z.string().max(100)).max(50), z.string().max(1000)]);

/** Not strict: files of other programs have keys of their own, which are told and left alone. */
const Front = z.object({
  name: z.string().max(100).optional(),
  description: z.string().trim().min(1).max(1000),
  tools: ToolNames.optional(),
  models: z.array(z.string().min(1).max(200)).max(20).default([]),
  /** Another program's word for one (`also`). */
  model: z.string().max(200).optional(),
  iterations: z.int().min(1).max(MOST_ITERATIONS).optional(),
  /** Of earlier versions: without effect, and told so. */
  minTokens: z.unknown().optional(),
  maxDuration: Duration.optional(),
  effort: z.enum(EFFORTS).optional(),
  prefers: z.enum(['fast', 'usual', 'deep']).optional(),
  writes: z.boolean().default(false),
  planned: z.boolean().default(true),
  protocol: z.literal('text').optional(),
  prompt: z.string().max(60_000).optional(),
});
const FRONT_KEYS = Object.keys(Front.shape).filter((key) => key !== 'model' && key !== 'minTokens');

export interface RoleText {
  /** As people would name it. */
  readonly file: string;
  /** The file's name without its extension. */
  readonly stem: string;
  readonly kind: 'md' | 'json';
  readonly text: string;
  /** Where the role says it came from: `built-in`, or the file. */
  readonly source: string;
  /** The user's or an organisation's: it may have commits by naming them. */
  readonly commits?: true;
  /** A project's: what elsewhere is told and left out is refused, and tools are named one by one. */
  readonly strict?: true;
  /** Keys of another program that may stand there: `model` counts where it names a model, the others mean nothing here. */
  readonly also?: readonly string[];
}

/** The role that a file describes, or what is wrong with it. */
export function readRole(given: RoleText): Result<ReadRole, readonly ConfigFault[]> {
  const before = PREPARED.roles.get(keyOf(given.file, given.source, given.text));
  return before === undefined ? parseRole(given) : ok(before);
}

/** The same, whatever was prepared: plain JSON, decided by the file's name, its source and its text. */
export function parseRole(given: RoleText): Result<ReadRole, readonly ConfigFault[]> {
  const parts = given.kind === 'json' ? { front: given.text, body: '' } : frontMatter(given.text);
  if (parts === null) return fail([faultAt(given, 'has no front matter', 'begin with "---", the keys, and "---"')]);
  const tree = readTree(parts.front, given.file);
  if (!tree.ok) return fail([tree.fault]);
  const plain = plainOf(tree.value);
  const front = Front.safeParse(plain);
  if (!front.success) {
    return fail(
      front.error.issues.map((issue) => {
        const path = issue.path.filter((part) => typeof part !== 'symbol');
        return { file: given.file, ...placeOf(tree.value, path), ...wordsFor(issue, valueAt(plain, path)) };
      }),
    );
  }
  return roleOf(given, front.data, parts.body, tree.value);
}

function roleOf(
  given: RoleText,
  front: z.infer<typeof Front>,
  body: string,
  tree: Tree,
): Result<ReadRole, readonly ConfigFault[]> {
  const name = RoleName.safeParse(front.name ?? given.stem);
  if (!name.success) {
    const problem = `"${front.name ?? given.stem}" can't be the name of a role`;
    return fail([
      {
        ...faultAt(given, problem, 'use up to 40 letters, digits, "_" or "-", a letter first'),
        ...placeOf(tree, ['name']),
      },
    ]);
  }
  const prompt = (front.prompt ?? body).trim();
  if (prompt === '')
    return fail([faultAt(given, 'has no prompt', 'write below the front matter what the role is to do')]);
  const listed = toolsOf(front.tools);
  const findings = findingsIn(given, front, listed, tree);
  const refused = given.strict === true ? [...findings, ...tooMuch(given, prompt, listed, tree)] : [];
  if (refused.length > 0) return fail(refused);
  const role = roleFrom(given, front, { name: name.data, prompt, listed });
  const mute = role.protocol === 'text' && !role.capabilities.includes('shell');
  const told = [...findings, ...withoutEffect(given, tree)];
  return mute ? fail([shellFault(given, tree)]) : ok({ role, notes: told.map(faultText) });
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
    ...withEffort(front.effort),
    ...(front.prefers === undefined ? {} : { prefers: front.prefers }),
    planned: front.planned,
    ...(front.protocol === undefined ? {} : { protocol: front.protocol }),
    source: given.source,
  };
}

/** A key of earlier versions: older files still have it, so it is told and never refused. */
const GONE = 'minTokens';

function withoutEffect(given: RoleText, tree: Tree): readonly ConfigFault[] {
  if (tree.is !== 'map' || !tree.entries.some(({ key }) => key === GONE)) return [];
  const remedy = 'take it out; budgets.role says what an agent of this role may use';
  return [{ ...faultAt(given, `${GONE} has no effect any more`, remedy), ...placeOf(tree, [GONE]) }];
}

/** Its agents work by commands alone. */
const shellFault = (given: RoleText, tree: Tree): ConfigFault => ({
  ...faultAt(
    given,
    'protocol: text needs a shell, which this role does not have',
    'add bash_execution to its tools, or take protocol out',
  ),
  ...placeOf(tree, ['protocol']),
});

function modelsOf({ also = [] }: RoleText, { model, models }: z.infer<typeof Front>): readonly string[] {
  const counts = model !== undefined && also.includes('model') && resolveModel(model, []) !== null;
  return models.length === 0 && counts ? [model] : models;
}

/** The time that an agent of this role has, where its file says so. */
function budgetOf(written: string | number | undefined): Pick<Role, 'budget'> {
  const maxDuration = written === undefined ? null : durationMs(written);
  return maxDuration === null ? {} : { budget: { maxDuration } };
}

/** `Read, Grep` in one text is how some other programs write it. */
const toolsOf = (written: string | readonly string[] | undefined): readonly string[] =>
  (typeof written === 'string' ? written.split(',') : (written ?? []))
    .map((name) => name.trim())
    .filter((name) => name !== '');

function findingsIn(
  given: RoleText,
  front: z.infer<typeof Front>,
  listed: readonly string[],
  tree: Tree,
): readonly ConfigFault[] {
  const at = (key: string, problem: string, remedy: string): ConfigFault => ({
    file: given.file,
    ...placeOf(tree, [key]),
    problem,
    remedy,
  });
  const known = [...FRONT_KEYS, GONE, ...(given.also ?? [])];
  const foreign = tree.is === 'map' ? tree.entries.map(({ key }) => key).filter((key) => !known.includes(key)) : [];
  const unknownTools = listed.filter((name) => !isToolName(name));
  return [
    ...(front.tools === undefined
      ? [at('tools', 'names no tools, so this role may only read', 'add "tools:" for more')]
      : []),
    ...unknownTools.map((name) => at('tools', `unknown tool "${name}" is left out`, suggestion(name, TOOL_NAMES))),
    ...foreign.map((key) => at(key, `unknown key ${key} is ignored`, suggestion(key, FRONT_KEYS))),
  ];
}

/** A stranger's words go to a model before every task of the role: no more than a page or four of them. */
const MAX_STRICT_PROMPT = 16_000;

function tooMuch(given: RoleText, prompt: string, listed: readonly string[], tree: Tree): readonly ConfigFault[] {
  const long =
    bytesIn(prompt) <= MAX_STRICT_PROMPT
      ? []
      : [faultAt(given, `has a prompt of more than ${MAX_STRICT_PROMPT} bytes`, 'shorten it')];
  if (!listed.includes('*')) return long;
  const problem = 'a role of a project can\'t have "*" for its tools';
  return [...long, { ...faultAt(given, problem, 'name them one by one'), ...placeOf(tree, ['tools']) }];
}

const faultAt = (given: RoleText, problem: string, remedy: string): ConfigFault => ({
  file: given.file,
  line: null,
  column: null,
  problem,
  remedy,
});

/** The lines between the first two `---`, kept on their own line numbers, and the text below them. */
function frontMatter(text: string): { readonly front: string; readonly body: string } | null {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---' || end === -1) return null;
  return { front: ['', ...lines.slice(1, end)].join('\n'), body: lines.slice(end + 1).join('\n') };
}
