/** Reads a git repository by structured calls: a fixed list of sub-commands and switches, never options of the model's own. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Tool } from '../../ports/tool.ts';
import { type Environment, programOn } from '../process/environment.ts';
import { denied } from '../paths/path-policy.ts';
import { withoutSecrets } from './secrets.ts';
import { runGit } from './hardening.ts';
import { capLines, done, LINE_COLUMNS, refused } from '../process/output.ts';
import { insideName } from '../paths/path-rules.ts';
import { gitOf, type Root } from '../paths/root.ts';
import type { ProgramEnd } from '../process/run-program.ts';
import { notRun, type Sandbox } from '../sandbox/run.ts';

/** A value that could be taken for an option writes files or runs programs (case D09). */
const Ref = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^-\p{Cc}\s][^\p{Cc}]*$/u, 'a ref does not begin with "-" and holds no control character');
/** A path as an argument of git: never taken for an option. */
export const PathName = z.string().min(1).max(4096).regex(/^[^-]/, 'a path does not begin with "-" (write ./-name)');

const Input = z.strictObject({
  subcommand: z.enum(['status', 'diff', 'log', 'show', 'blame', 'ls-files', 'branch', 'tag', 'rev-parse', 'shortlog']),
  refs: z
    .array(Ref)
    .max(8)
    .default([])
    .describe('Commits, branches, ranges: `HEAD~2`, `main..topic`, `HEAD:src/a.ts`.'),
  paths: z.array(PathName).max(100).default([]).describe('Only these files or folders, relative to the project root.'),
  staged: z.boolean().default(false).describe('diff: what is staged instead of what is not.'),
  stat: z.boolean().default(false).describe('diff, log, show: only which files changed and how much.'),
  patch: z.boolean().default(false).describe('log: with the changes of each commit.'),
  limit: z.number().int().min(1).max(500).default(30).describe('log: how many commits.'),
});
type Input = z.output<typeof Input>;

export const gitTool = (root: Root, environment: Environment, sandbox: Sandbox): Tool<Input> => ({
  name: 'git',
  description:
    'Reads the git repository: status, diff, log, show, blame, ls-files, branch, tag, rev-parse, shortlog. Nothing is ever changed, fetched or run. Give commits in `refs` and files in `paths`.',
  input: Input,
  capability: 'git-read',
  repeat: 'safe',
  label: ({ subcommand, refs, paths }) => ['git', subcommand, ...refs, ...paths].join(' '),

  async run(input, { signal }) {
    // Looked at again each time: a command may have made, or swapped, it meanwhile.
    const state = gitOf(root.path);
    if (state.is === 'none') return refused(`no git here: ${state.because}`);
    const git = programOn(environment, 'git');
    if (git === null) return refused('there is no git on the PATH');
    const all = denied(root, '', 'read');
    if (all !== null) return refused(all);
    const args = argsFor(root, input);
    if (!args.ok) return refused(args.fault);
    const end = await runGit({ root, git, environment, signal, sandbox }, state.directory, args.value);
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
  // Some of these take no `--`; what they are given can't begin with "-" in any case.
  const separator = paths.length > 0 || TAKES_PATHS.has(input.subcommand) ? ['--'] : [];
  return ok([input.subcommand, ...switches, ...input.refs.map(commitsById), ...separator, ...paths]);
}

/** Nothing of a submodule is looked at: git would run inside it, under its own configuration. */
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

/** What does not go together, said before git says it less clearly. */
function shapeFault({ subcommand, refs, paths }: Input): string | null {
  if (refs.length > 0 && !TAKES_REFS.has(subcommand)) return `git ${subcommand} takes no refs here`;
  if (paths.length > 0 && !TAKES_PATHS.has(subcommand)) return `git ${subcommand} takes no paths`;
  if (subcommand === 'blame' && paths.length !== 1) return 'git blame takes one path';
  if (subcommand === 'rev-parse' && refs.length !== 1) return 'git rev-parse takes one ref';
  return null;
}

/** A path for git: inside, not secret, and no repository of its own (case D12). */
function pathspec(root: Root, given: string): Result<string, string> {
  const name = insideName(root.path, given, { folder: true });
  if (!name.ok) return name;
  const refusal = denied(root, name.value, 'read');
  if (refusal !== null) return fail(refusal);
  if (name.value !== '' && looksBare(path.join(root.path, name.value))) {
    return fail(`${given}: a git repository of its own inside the project; git is not run there`);
  }
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

/** `HEAD:.env` names a file as well. Any colon may be the one before the path: `HEAD^{/a:b}:.env`. */
function secretIn(root: Root, ref: string): string | null {
  if (/\^\{(?:blob|object)?\}/.test(ref)) return `${ref}: name a file as commit:path`;
  const pieces = ref.split(':');
  const files = pieces.slice(1).map((_, index) => path.posix.normalize(pieces.slice(index + 1).join(':')));
  return files.map((file) => denied(root, file, 'read')).find((refusal) => refusal !== null) ?? null;
}

/** An id may be that of any file's content, and no name would say which: by their ids only commits are shown. */
function commitsById(ref: string): string {
  const parts = ref.split(/(\.{2,3})/);
  return parts.map((part) => (/^[0-9a-f]{4,64}$/i.test(part) ? `${part}^{commit}` : part)).join('');
}

function gitOutput(root: Root, end: ProgramEnd, { subcommand }: Input): ReturnType<typeof done> {
  if (end.is === 'stopped') return refused('stopped');
  if (end.is === 'not boxed') return refused(notRun(end));
  if (end.is === 'time limit') return refused(`git ${subcommand} took too long; narrow it with paths or a limit`);
  if (end.exit !== 0) return refused(end.stderr.trim() || `git ${subcommand} failed (${end.exit ?? end.endedBy})`);
  const text = capLines(withoutSecrets(root, end.stdout).trimEnd(), LINE_COLUMNS);
  return done(text === '' ? `git ${subcommand}: nothing` : text);
}
