/** Reads from a repository's configuration, as data, where a branch of the run would go. */
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type GitCall, runGits } from '../git/hardening.ts';
import { isInside } from '../paths/root.ts';
import type { ProgramEnd } from '../process/run-program.ts';

export interface Remote {
  readonly name: string;
  /** As configured, credentials included: never shown or recorded. */
  readonly url: string;
  /** For people: without credentials. */
  readonly address: string;
  /** `github.com` and `owner/name`; null for a folder of this machine. */
  readonly host: string | null;
  readonly project: string | null;
  /** The branch of the remote that the current one follows, otherwise the remote's default; null if neither is known here. */
  readonly base: string | null;
  /** Settings of the person's checkout that carry credentials as plain values. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const KEYS = String.raw`^(remote\..*\.(url|pushurl)|remote\.pushdefault|branch\..*\.(remote|pushremote|merge)|http\..*extraheader)$`;

/** The remote to push to: that of the current branch, the default for pushes, `origin`, or the only one; or why there is none. */
export async function remoteOf(call: GitCall, directory: string): Promise<Result<Remote, string>> {
  const [listed, on, heads] = await runGits(call, directory, [
    ['config', '--null', '--get-regexp', KEYS],
    ['symbolic-ref', '--quiet', '--short', 'HEAD'],
    ['for-each-ref', '--format=%(refname) %(symref)', 'refs/remotes'],
  ]);
  const settings = settingsIn(said(listed));
  const branch = said(on).trim();
  const name = nameIn(settings, branch);
  if (name === null) return fail(NO_REMOTE);
  const url = last(settings, `remote.${name}.pushurl`) ?? last(settings, `remote.${name}.url`) ?? '';
  const { local, ...place } = placeOf(url);
  if (local !== null && isInside(call.root.path, path.resolve(call.root.path, local)))
    return fail(`the remote ${name} is a folder inside the project, whose hooks would run: push to another place`);
  const base = baseIn(settings, { name, branch, heads: said(heads) });
  return ok({ name, url, ...place, base, headers: settings.filter(([key]) => key.startsWith('http.')) });
}

/** Empty if the command failed. */
const said = (end: ProgramEnd | undefined): string => (end?.exit === 0 ? end.stdout : '');

const NO_REMOTE =
  'this project has no remote to push to: `git remote add origin ADDRESS`, or choose one with `git config remote.pushDefault NAME`';

type Settings = readonly (readonly [name: string, value: string])[];

const settingsIn = (listed: string): Settings =>
  listed.split('\0').flatMap((entry) => {
    const end = entry.indexOf('\n');
    return end === -1 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
  });

const last = (settings: Settings, key: string): string | undefined => settings.findLast(([name]) => name === key)?.[1];

function nameIn(settings: Settings, branch: string): string | null {
  const names = new Set(settings.flatMap(([key]) => /^remote\.(.+)\.(?:url|pushurl)$/.exec(key)?.[1] ?? []));
  const wanted = [
    last(settings, `branch.${branch}.pushremote`),
    last(settings, 'remote.pushdefault'),
    last(settings, `branch.${branch}.remote`),
    'origin',
  ];
  const only = names.size === 1 ? [...names] : [];
  return [...wanted, ...only].find((name) => name !== undefined && names.has(name)) ?? null;
}

/** `heads` has a line for each branch of the remotes, with the one that HEAD of a remote stands for. */
function baseIn(
  settings: Settings,
  { name, branch, heads }: { readonly name: string; readonly branch: string; readonly heads: string },
): string | null {
  const below = `refs/remotes/${name}/`;
  const lines = heads.split('\n').map((line) => line.split(' '));
  const follows = last(settings, `branch.${branch}.remote`) === name ? last(settings, `branch.${branch}.merge`) : '';
  const followed = follows?.replace(/^refs\/heads\//, '') ?? '';
  if (followed !== '' && lines.some(([ref]) => ref === `${below}${followed}`)) return followed;
  const head = lines.find(([ref]) => ref === `${below}HEAD`)?.[1] ?? '';
  return head.startsWith(below) ? head.slice(below.length) : null;
}

interface Place {
  readonly address: string;
  readonly host: string | null;
  readonly project: string | null;
  /** A folder of this machine; null for an address. */
  readonly local: string | null;
}

/** Where a remote's URL leads: `https://`, `ssh://`, `git@host:path`, or a folder. */
function placeOf(url: string): Place {
  const scp = parts(/^(?:[\w.+-]+@)?([\w.-]+):(?!\/\/)(.+)$/, url);
  if (scp !== null) return hosted(scp[0], scp[1]);
  const local = parts(/^(file):\/\/(\/.*)$/i, url)?.[1];
  const address = local === undefined ? parts(/^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?([^/@]*)(\/.*)?$/i, url) : null;
  if (address !== null) return hosted(address[0].replace(/:\d+$/, ''), address[1]);
  return { address: url, host: null, project: null, local: local ?? url };
}

/** The first two groups; null if it does not match. */
function parts(pattern: RegExp, text: string): readonly [string, string] | null {
  const found = pattern.exec(text);
  return found === null ? null : [found[1] ?? '', found[2] ?? ''];
}

function hosted(name: string, way: string): Place {
  const host = name.toLowerCase();
  const project = way
    .replace(/^\/+/, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  return { address: `${host}/${project}`, host, project: project === '' ? null : project, local: null };
}
