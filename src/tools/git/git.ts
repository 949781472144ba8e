/** The `git` tool: reads a repository with a fixed list of sub-commands and options, never with options from the model. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../../domain/result.ts';
import { escaped } from '../../domain/lists.ts';
import type { Tool } from '../../ports/tool.ts';
import { denied, gitOf, hiddenBelow, insideName, type Root } from '../paths/root.ts';
import type { Environment } from '../process/environment.ts';
import { capLines, done, LINE_COLUMNS, refused } from '../process/output.ts';
import type { ProgramEnd } from '../process/run-program.ts';
import { notRun, type Sandbox } from '../sandbox/sandbox.ts';
import { runGit } from './hardening.ts';

/** A ref must not look like an option: git options can write files or run programs. */
const Ref = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^-\p{Cc}\s][^\p{Cc}]*$/u, 'a ref cannot start with "-" or contain control characters');
/** A path that git cannot take for an option. */
export const PathName = z.string().min(1).max(4096).regex(/^[^-]/, 'a path cannot start with "-" (use ./-name)');

const Input = z.strictObject({
  subcommand: z.enum(['status', 'diff', 'log', 'show', 'blame', 'ls-files', 'branch', 'tag', 'rev-parse', 'shortlog']),
  refs: z
    .array(Ref)
    .max(8)
    .default([])
    .describe('Commits, branches, ranges: `HEAD~2`, `main..topic`, `HEAD:src/a.ts`.'),
  paths: z.array(PathName).max(100).default([]).describe('Only these files or folders, relative to the project root.'),
  staged: z.boolean().default(false).describe('diff: staged instead of unstaged changes.'),
  stat: z.boolean().default(false).describe('diff, log, show: only which files changed and how much.'),
  patch: z.boolean().default(false).describe('log: with the changes of each commit.'),
  limit: z.number().int().min(1).max(500).default(30).describe('log: how many commits.'),
});
type Input = z.output<typeof Input>;

export const gitTool = (root: Root, environment: Environment, sandbox: Sandbox): Tool<Input> => ({
  name: 'git',
  description:
    'Reads the git repository: status, diff, log, show, blame, ls-files, branch, tag, rev-parse, shortlog. It never changes, fetches or runs anything. Give commits in `refs` and files in `paths`.',
  input: Input,
  capability: 'git-read',
  repeat: 'safe',
  label: ({ subcommand, refs, paths }) => ['git', subcommand, ...refs, ...paths].join(' '),

  async run(input, { signal }) {
    // Checked at each call, because a command may have created or swapped the repository meanwhile.
    const state = gitOf(root.path);
    if (state.is === 'none') return refused(`git is not available: ${state.because}`);
    const all = denied(root, '', 'read');
    if (all !== null) return refused(all);
    const args = argsFor(root, input);
    if (!args.ok) return refused(args.fault);
    const end = await runGit({ root, environment, signal, sandbox }, state.directory, args.value);
    return gitOutput(root, end, input);
  },
});

function argsFor(root: Root, input: Input): Result<readonly string[], string> {
  const paths: string[] = [];
  for (const given of input.paths) {
    const name = pathspec(root, given);
    if (!name.ok) return name;
    paths.push(name.value);
  }
  const secret = input.refs.map((ref) => secretIn(root, ref)).find((refusal) => refusal !== null);
  if (secret !== undefined) return fail(secret);
  const shape = shapeFault(input);
  if (shape !== null) return fail(shape);
  const switches = SWITCHES[input.subcommand](input);
  // Some sub-commands take no `--`; refs and paths cannot begin with "-" anyway.
  const separator = paths.length > 0 || TAKES_PATHS.has(input.subcommand) ? ['--'] : [];
  return ok([input.subcommand, ...switches, ...input.refs.map(commitsOnly), ...separator, ...paths]);
}

/** Submodules are ignored: git would run inside them under their own configuration. */
const DIFF = [
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=all',
  '--submodule=short',
  '--no-color',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];
const change = ({ stat }: Input): readonly string[] => (stat ? [...DIFF, '--stat=120'] : DIFF);

const SWITCHES: Readonly<Record<Input['subcommand'], (input: Input) => readonly string[]>> = {
  status: () => ['--short', '--branch', '--ignore-submodules=all', '--untracked-files=normal'],
  diff: (input) => [...change(input), ...(input.staged ? ['--cached'] : [])],
  log: (input) => [
    ...change(input),
    '--no-show-signature',
    '--date=iso-strict',
    '--decorate=short',
    `--max-count=${input.limit}`,
    ...(input.patch ? ['--patch', '--format=medium'] : ['--format=%h %ad %an%d%n    %s']),
  ],
  show: (input) => [...change(input), '--no-show-signature', '--format=medium', '--date=iso-strict'],
  blame: () => ['--no-textconv', '--date=short'],
  'ls-files': () => ['--cached', '--others', '--exclude-standard'],
  branch: () => ['--list', '--all', '--verbose', '--no-color', '--sort=-committerdate'],
  tag: () => ['--list', '--sort=-creatordate'],
  'rev-parse': () => ['--verify'],
  shortlog: () => ['--summary', '--numbered', '--no-merges'],
};
const TAKES_PATHS = new Set<Input['subcommand']>(['status', 'diff', 'log', 'show', 'blame', 'ls-files', 'shortlog']);
const TAKES_REFS = new Set<Input['subcommand']>(['diff', 'log', 'show', 'blame', 'rev-parse', 'shortlog']);

/** Explains an invalid combination of arguments more clearly than git does. */
function shapeFault({ subcommand, refs, paths }: Input): string | null {
  if (refs.length > 0 && !TAKES_REFS.has(subcommand)) return `git ${subcommand} takes no refs here`;
  if (paths.length > 0 && !TAKES_PATHS.has(subcommand)) return `git ${subcommand} takes no paths`;
  if (subcommand === 'blame' && paths.length !== 1) return 'git blame takes one path';
  return subcommand === 'rev-parse' && refs.length !== 1 ? 'git rev-parse takes one ref' : null;
}

/** A path for git: inside the project, readable by policy, and not a bare repository. */
function pathspec(root: Root, given: string): Result<string, string> {
  const name = insideName(root.path, given, { folder: true });
  if (!name.ok) return name;
  const refusal = denied(root, name.value, 'read');
  if (refusal !== null) return fail(refusal);
  if (name.value !== '' && looksBare(path.join(root.path, name.value)))
    return fail(`${given}: a separate git repository inside the project; git does not run there`);
  return ok(name.value === '' ? '.' : name.value);
}

function looksBare(folder: string): boolean {
  const has = (name: string): boolean => statSync(path.join(folder, name), { throwIfNoEntry: false }) !== undefined;
  try {
    return ['HEAD', 'objects', 'refs'].every(has);
  } catch {
    return false;
  }
}

/** Refuses a ref that names a protected file (`HEAD:.env`). Any colon may be the one before the path: `HEAD^{/a:b}:.env`. */
function secretIn(root: Root, ref: string): string | null {
  if (/\^\{(?:blob|object|tag)?\}/.test(ref)) return `${ref}: name a file as commit:path`;
  const pieces = ref.split(':');
  const files = pieces.slice(1).map((_, index) => path.posix.normalize(pieces.slice(index + 1).join(':')));
  return files.map((file) => denied(root, file, 'read')).find((refusal) => refusal !== null) ?? null;
}

/** Matches refs that denote commits in any case, contain a path, or name the kind of object themselves. */
const NAMES_COMMITS = /^$|:|\^\{|\^[!@]$|\^-\d*$/;

/** Limits ids and tags to commits: the id of a blob could be that of a protected file, and no path would show it. */
function commitsOnly(ref: string): string {
  const parts = ref.split(/(\.{2,3})/);
  return parts.map((part, at) => (at % 2 === 1 || NAMES_COMMITS.test(part) ? part : `${part}^{commit}`)).join('');
}

function gitOutput(root: Root, end: ProgramEnd, { subcommand }: Input): ReturnType<typeof done> {
  if (end.is === 'stopped') return refused('stopped');
  if (end.is === 'not boxed') return refused(notRun(end));
  if (end.is === 'time limit') return refused(`git ${subcommand} took too long; narrow it with paths or a limit`);
  if (end.exit !== 0) return refused(end.stderr.trim() || `git ${subcommand} failed (${end.exit ?? end.endedBy})`);
  const text = capLines(withoutSecrets(root, end.stdout).trimEnd(), LINE_COLUMNS);
  return done(text === '' ? `git ${subcommand}: nothing` : text);
}

// What git tells of files that agents may not read: such sections of a patch keep their head line only.

const ENV_FILE = /(?:^|[/ "])\.env/i;

/** A diff of a committed `.env` file would show it, and so would one of a file that policy hides. */
export function withoutSecrets(root: Root, text: string): string {
  const hidden = hiddenBelow(root, root.path).map(inHead);
  let secret = false;
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const head = /^diff --(?:git|cc|combined) (.+)$/.exec(line)?.[1];
    // The next commit of a log also ends a section.
    if (head !== undefined || /^commit [0-9a-f]{40}/.test(line)) secret = false;
    if (!secret) kept.push(line);
    if (head === undefined) continue;
    const isEnv = ENV_FILE.test(head);
    secret = isEnv || hidden.some((name) => name.test(head));
    if (secret) kept.push(isEnv ? '(content of a .env file: not shown)' : '(content hidden by policy: not shown)');
  }
  return kept.join('\n');
}

/** A name, or one below it, in the first line of a section: `a/name b/name`, quoted where it holds odd characters. */
function inHead(name: string): RegExp {
  const written = name.replaceAll(/["\\]/g, String.raw`\\$&`);
  const exact = [name, written].map(escaped).join('|');
  return new RegExp(String.raw`(?:^|[ "])(?:[a-z]/)?(?:${exact})(?:[/ "]|$)`);
}
