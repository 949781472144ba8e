/** Finds and opens a pull request with `gh`, or a merge request with `glab`, as the person who is signed in there. */
import { z } from 'zod';
import { listed } from '../../domain/lists.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { PrTarget } from '../../domain/pull-request.ts';
import { type Environment, programOn } from '../process/environment.ts';
import type { Remote } from './remote.ts';

export interface Forge {
  readonly program: PrTarget['program'];
  /** Its absolute path. */
  readonly file: string;
}

/** The program for the remote's host, or why there is none. */
export function forgeFor({ host }: Pick<Remote, 'host'>, environment: Environment): Result<Forge, string> {
  const isOf = (other: string): boolean => host?.includes(other) === true;
  const fits: readonly PrTarget['program'][] = [
    ...(isOf('gitlab') ? [] : ['gh' as const]),
    ...(isOf('github') ? [] : ['glab' as const]),
  ];
  for (const program of fits) {
    const file = programOn(environment, program);
    if (file !== null) return ok({ program, file });
  }
  const wanted = fits.map((name) => `\`${name}\` (${name === 'gh' ? 'GitHub' : 'GitLab'})`);
  return fail(
    `a pull request needs ${listed(wanted, 'or')} on the PATH: install it and sign in with \`${fits[0] ?? 'gh'} auth login\``,
  );
}

type Wanted = Pick<PrTarget, 'branch' | 'base'>;

/** Names the repository for either program; empty where it finds it by itself. */
function repository({ program }: Forge, { host, project }: Pick<Remote, 'host' | 'project'>): readonly string[] {
  if (host === null || project === null) return [];
  return ['--repo', program === 'gh' ? `${host}/${project}` : `https://${host}/${project}`];
}

/** The arguments that list the requests of the branch, ended ones too. */
export function listing(forge: Forge, remote: Remote, branch: string): readonly string[] {
  const of = repository(forge, remote);
  return forge.program === 'gh'
    ? ['pr', 'list', ...of, '--head', branch, '--state', 'all', '--json', 'url', '--limit', '1']
    : ['mr', 'list', ...of, '--source-branch', branch, '--all', '--output', 'json'];
}

/** The arguments that open the request. `gh` reads the body from its input. */
export function creating(
  forge: Forge,
  remote: Remote,
  { branch, base }: Wanted,
  { title, body }: { readonly title: string; readonly body: string },
): { readonly args: readonly string[]; readonly input: string } {
  const of = repository(forge, remote);
  if (forge.program === 'gh') {
    const into = base === null ? [] : ['--base', base];
    return {
      args: ['pr', 'create', ...of, '--head', branch, ...into, '--title', title, '--body-file', '-'],
      input: body,
    };
  }
  const into = base === null ? [] : ['--target-branch', base];
  const texts = ['--title', title, '--description', body, '--yes'];
  return { args: ['mr', 'create', ...of, '--source-branch', branch, ...into, ...texts], input: '' };
}

const Listed = z.array(z.looseObject({ url: z.string().exactOptional(), web_url: z.string().exactOptional() }));

/** The address of the first listed request; null if there is none. */
export function listedUrl(output: string): Result<string | null, string> {
  try {
    // glab prints nothing, or a sentence, where there are none.
    if (!output.trim().startsWith('[')) return ok(null);
    const [first] = Listed.parse(JSON.parse(output));
    return ok(first === undefined ? null : (first.url ?? first.web_url ?? ''));
  } catch {
    return fail('its list of requests cannot be read');
  }
}

/** The address in the program's output; empty if it printed none. */
export const urlIn = (output: string): string => /https?:\/\/[^\s"'<>\p{Cc}]+/u.exec(output)?.[0] ?? '';
