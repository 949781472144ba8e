/**
 * The only way to a commit: content as it lies on disk becomes a tree, that tree is proposed to forced agents and shown to
 * people, and exactly that tree is committed or nothing. No hook, filter, signature or editor runs.
 */
import { z } from 'zod';
import { matchesGlob } from '../../domain/text/glob.ts';
import { fail, ok } from '../../domain/result.ts';
import { writesText } from '../../domain/writes.ts';
import type { TreeId } from '../../ports/tree.ts';
import type { Tool, ToolContext } from '../../ports/tool.ts';
import { draftCommit, type Draft } from './commit-draft.ts';
import { type CommitDesk, unsignedNote, writeCommit } from './commit-write.ts';
import { done, refused } from '../outcome.ts';
import { counted, shownName } from '../shell/output.ts';
import { treeStore } from '../trees/store.ts';

const Input = z.strictObject({
  message: z
    .string()
    .max(20_000)
    .regex(/^\s*[^\s-]/, 'a message begins with a word, not with "-"')
    .refine((message) => !message.includes('\0'), 'a message can not hold a NUL character')
    .describe('A short first line; after an empty line, why.'),
  paths: z
    .array(z.string().min(1).max(4096).regex(/^[^-]/, 'a path does not begin with "-" (write ./-name)'))
    .max(200)
    .default([])
    .describe('Only these files or folders, relative to the project root; everything that changed when left out.'),
});
type Input = z.output<typeof Input>;

/** Files named in a result; more are counted. */
const NAMED = 50;

export interface CommitOptions extends Omit<CommitDesk, 'store'> {
  readonly stateDir: string;
}

export function gitCommitTool(options: CommitOptions): Tool<Input> {
  const desk: CommitDesk = { ...options, store: treeStore(options) };
  /** What a person was shown for a call: an answer holds for that content only. */
  const shown = new WeakMap<Input, TreeId>();
  const draft = (input: Input, { signal }: ToolContext) => draftCommit(desk, { paths: input.paths, signal });
  return {
    name: 'git_commit',
    description:
      'Commits changes of the project on the current branch: all of them, or those in `paths`. Rules and reviews of the organisation are asked before. Hooks are not run, nothing is signed or pushed; .env files, submodules and files that go through a filter are left out.',
    input: Input,
    capability: 'git-write',
    repeat: 'never',
    label: ({ message, paths }) => ['git commit', ...paths, '·', subjectOf(message)].join(' '),

    async preview(input, context) {
      const made = await draft(input, context);
      if (!made.ok) return `nothing will be committed: ${made.fault}`;
      shown.set(input, made.value.tree);
      const note = await unsignedNote(desk, made.value, context.signal);
      return `${wordsOf(input, made.value, note)}\n\n${made.value.patch}`;
    },

    async propose(input, context) {
      const made = await draft(input, context);
      if (!made.ok) return made;
      const { tree, from, files, patch } = made.value;
      const { writes = ['**'] } = context;
      const others = files.filter((file) => !matchesGlob(writes, file));
      if (others.length > 0) return fail(notAmong(others, writes));
      const note = await unsignedNote(desk, made.value, context.signal);
      return ok({ tree, from, files, patch, words: wordsOf(input, made.value, note) });
    },

    async run(input, { signal, tree = shown.get(input) }) {
      const message = input.message.trim();
      const made = await writeCommit(desk, {
        message,
        paths: input.paths,
        signal,
        ...(tree === undefined ? {} : { tree }),
      });
      if (!made.ok) return refused(`nothing was committed: ${made.fault}`);
      const { draft, commit, note } = made.value;
      const head = `committed ${commit.slice(0, 12)} on ${draft.branch}: ${subjectOf(message)}`;
      return done([head, fileLines(draft), note].filter((part) => part !== '').join('\n'));
    },
  };
}

/** The whole message, where it goes, which files it holds, and what else a person should know. */
function wordsOf({ message }: Input, draft: Draft, note: string): string {
  const head = `commit on ${draft.branch}: ${counted(draft.files.length, 'file')}`;
  return [head, '', message.trim(), '', fileLines(draft), ...(note === '' ? [] : [note])].join('\n');
}

const notAmong = (files: readonly string[], writes: readonly string[]): string =>
  `nothing was committed: this task may change ${writesText(writes)} only, and ${files.slice(0, NAMED).map(shownName).join(', ')} would be in it as well; name what is yours in paths`;

const subjectOf = (message: string): string => (message.trim().split('\n')[0] ?? '').slice(0, 100);

function fileLines({ files, leftOut }: Draft): string {
  const named = files.slice(0, NAMED).map((file) => `  ${shownName(file)}`);
  const more = files.length > NAMED ? [`  and ${files.length - NAMED} more`] : [];
  const out = leftOut.slice(0, NAMED).map(({ path, because }) => `left out: ${shownName(path)} (${because})`);
  return [...named, ...more, ...out].join('\n');
}
