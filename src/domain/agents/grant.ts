/** What a person can allow for a whole session, and the texts about it. A grant replaces the person's answer; policy still decides each action. */
import { listed } from '../lists.ts';

/** `session`: equal questions. `program`: commands that run only these programs. `file`: changes of this file. */
export const GRANT_SCOPES = ['session', 'program', 'file'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];
export type AnswerScope = 'once' | GrantScope;

/** The parts of a question that can be granted. */
export interface Grantable {
  readonly action: string;
  /** Equal for questions that one answer may cover. */
  readonly same?: string;
  /** Each program of a command with its sub-command: `[["npm", "test"]]`. */
  readonly programs?: readonly (readonly string[])[];
  readonly file?: string;
}

/** `npm test …`, `cp … and git add …`; a redirection is `writing files with >`. */
export const programsText = (programs: readonly (readonly string[])[]): string =>
  listed(programs.map((words) => (words[0] === '>' ? 'writing files with >' : `${words.join(' ')} …`)));

/** `run only npm test …`, `run only cat … and write files with >`, `only write files with >`. */
function actsText(programs: readonly (readonly string[])[]): string {
  const run = programs.filter(([first]) => first !== '>');
  if (run.length === 0) return 'only write files with >';
  return `run only ${programsText(run)}${run.length === programs.length ? '' : ' and write files with >'}`;
}

const KINDS: Readonly<Record<string, string>> = {
  shell: 'exactly this command, any agent',
  'git-write': 'exactly this repository change, any agent',
  write: 'all file changes of this agent, within its writes',
  read: 'reading and searching in the project, all agents',
  'git-read': 'git queries, all agents',
  spawn: 'starting agents, all agents',
};

/** What an answer with this scope would cover; null: it is not offered. */
export function coveredWords({ action, same, programs, file }: Grantable, scope: GrantScope): string | null {
  if (same === undefined) return null;
  switch (scope) {
    case 'session':
      return KINDS[action] ?? null;
    case 'program':
      return programs === undefined ? null : `commands that ${actsText(programs)}, in the sandbox`;
    case 'file':
      return file === undefined ? null : `changes of ${file} by this agent`;
    default:
      return null;
  }
}

/** Actions whose title is the action itself; other titles name its object. */
const NAMED: ReadonlySet<string> = new Set(['shell', 'git-write']);

/** The first line of a title without the asking role: `npm test` of `tester: npm test`. */
export const actOf = (title: string): string => (title.split('\n')[0] ?? '').replace(/^[a-z][a-z0-9-]*: /, '');

/** What was granted, for the receipt and the log: `always allowed npm test for this session: exactly this command, …`. */
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
