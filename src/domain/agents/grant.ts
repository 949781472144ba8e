/** What a person allows for a whole session with one answer, and how it is said. Policy still judges each act: a grant only stands for the answer. */

/** `session`: equal questions. `program`: commands that run nothing but these programs. `file`: changes of this file. */
export const GRANT_SCOPES = ['session', 'program', 'file'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];
export type AnswerScope = 'once' | GrantScope;

/** What a question says of what could be granted. */
export interface Grantable {
  readonly action: string;
  /** Equal in questions that one answer may cover. */
  readonly same?: string;
  /** Each program of a command with its sub-command: `[["npm", "test"]]`. */
  readonly programs?: readonly (readonly string[])[];
  /** The file that would be changed. */
  readonly file?: string;
}

/** `npm test …`, `cp … and git add …`; a redirection is `writing files by >`. */
export function programsText(programs: readonly (readonly string[])[]): string {
  const names = programs.map((words) => (words[0] === '>' ? 'writing files by >' : `${words.join(' ')} …`));
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

const KINDS: Readonly<Record<string, string>> = {
  shell: 'exactly this command, whichever agent asks',
  'git-write': 'exactly this change of the repository, whichever agent asks',
  write: 'all file changes of this agent, within its writes',
  read: 'all reading and searching in the project, by all agents',
  'git-read': 'every look at git, by all agents',
  spawn: 'every start of another agent, by all agents',
};

/** Does an answer of this scope cover anything of such a question? In words; null: it is not offered. */
export function coveredWords({ action, same, programs, file }: Grantable, scope: GrantScope): string | null {
  if (same === undefined) return null;
  switch (scope) {
    case 'session':
      return KINDS[action] ?? null;
    case 'program':
      return programs === undefined ? null : `every command that runs only ${programsText(programs)}, in the sandbox`;
    case 'file':
      return file === undefined ? null : `changes of ${file} by this agent`;
    default:
      return null;
  }
}

/** Questions whose title says what is done; that of the others says what it is done to. */
const NAMED: ReadonlySet<string> = new Set(['shell', 'git-write']);

/** The first line of what a question is titled, without who asks: `npm test` of `tester: npm test`. */
export const actOf = (title: string): string => (title.split('\n')[0] ?? '').replace(/^[a-z][a-z0-9-]*: /, '');

/** What was granted, said to who granted it and in the log: `always allowed npm test for this session: exactly this command, …`. */
export function grantedWords(of: Grantable & { readonly title: string }, scope: GrantScope): string {
  const name =
    scope === 'program'
      ? programsText(of.programs ?? [])
      : scope === 'session' && NAMED.has(of.action)
        ? actOf(of.title)
        : '';
  const covers = coveredWords(of, scope) ?? of.title;
  return `always allowed${name === '' ? '' : ` ${name}`} for this session: ${covers}`;
}
