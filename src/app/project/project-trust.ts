/**
 * Whether what the project says of itself counts, decided in one place for all verbs: only what the person trusts, exactly as
 * it is now. Without that its restrictions hold, and nothing else.
 */
import { realpathSync } from 'node:fs';
import type { ConfigFault } from '../../config/files/fault.ts';
import type { Flags as ConfigFlags } from '../../config/files/flags.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { loadConfig } from '../../config/settings/load.ts';
import type { Environment } from '../../config/files/paths.ts';
import type { Differ } from '../../config/trust/record.ts';
import type { ProjectTrust } from '../../config/trust/record.ts';
import { giveTrust, trustQuestion } from '../../config/trust/record.ts';
import { type Result, ok } from '../../domain/result.ts';
import { packageRoot } from '../process/package-root.ts';
import type { ProjectPlace } from './project-place.ts';
import { takeSecrets } from './secrets.ts';

export type { ProjectPlace } from './project-place.ts';

export interface Here {
  readonly config: Loaded;
  readonly trust: ProjectTrust;
}

/**
 * The configuration with what trust brings. `record` binds a directory that `trust:` names to its content when it is first
 * seen; `look` writes nothing.
 */
export function loadHere(
  project: ProjectPlace,
  env: Environment,
  flags: ConfigFlags,
  how: 'record' | 'look',
): Result<Here, readonly ConfigFault[]> {
  const load: Load = (trusted) => {
    const loaded = loadConfig({ packageRoot: packageRoot(), projectRoot: project.root, env, flags, trusted });
    if (loaded.ok) takeSecrets(loaded.value.secrets);
    return loaded;
  };
  const known = trustHere(project, []);
  const recorded = known.state === 'trusted' ? loadTrusted(project, load, known.digest) : null;
  return recorded ?? loadUnrecorded(project, load, how);
}

/** Trusted at most by the person's list, which is known only when the configuration is read. */
function loadUnrecorded(project: ProjectPlace, load: Load, how: 'record' | 'look'): ReturnType<typeof loadHere> {
  const plain = load(false);
  if (!plain.ok) return plain;
  const trust = trustHere(project, plain.value.preferences.trust ?? []);
  const without = (...why: readonly string[]): Result<Here, never> =>
    ok({ config: { ...plain.value, notes: [...plain.value.notes, ...trust.notes, ...why] }, trust });
  const bound = trust.unrecorded && how === 'record' ? trustNow(project, trust.digest) : ok(undefined);
  if (!bound.ok) return without(`trust: ${bound.fault}`);
  if (trust.state !== 'trusted') return without(...(trust.problem === null ? [] : [`not trusted: ${trust.problem}`]));
  return loadTrusted(project, load, trust.digest) ?? without('not trusted: its files change right now');
}

type Load = (trusted: boolean) => ReturnType<typeof loadConfig>;

/** What was read must be what was looked at, equal before and after; null when it isn't. */
function loadTrusted(project: ProjectPlace, load: Load, digest: string): Result<Here, readonly ConfigFault[]> | null {
  const full = load(true);
  if (!full.ok) return full;
  const trust = trustHere(project, full.value.preferences.trust ?? []);
  if (trust.state !== 'trusted' || trust.digest !== digest) return null;
  return ok({ config: { ...full.value, notes: [...full.value.notes, ...trust.notes] }, trust });
}

/** What the project would bring, and whether it is trusted. `listed` is what the person's configuration says under `trust`. */
export const trustHere = (project: ProjectPlace, listed: readonly string[], diff?: Differ): ProjectTrust =>
  trustQuestion(project.root, project.places, { listed, own: isOwn(project), ...(diff === undefined ? {} : { diff }) });

/** Trusts what was shown under this digest. After it, the configuration has to be loaded anew. */
export function trustNow(project: ProjectPlace, digest: string): Result<void, string> {
  return giveTrust(project.root, project.places, digest, { own: isOwn(project) });
}

/** Whether what the project says of itself counts, in a line; empty when it says nothing that needs trust. */
export function trustLine({ state, problem }: Pick<ProjectTrust, 'state' | 'problem'>): string {
  if (problem !== null) return `what this project says of itself can't be trusted: ${problem}`;
  const words = {
    nothing: '',
    trusted: 'this project is trusted as it is now: its roles, instructions and preferences count',
    new: 'this project is not trusted: only its restrictions count (`mimir trust` shows the rest)',
    changed:
      'this project has changed since it was trusted: only its restrictions count (`mimir trust` shows the changes)',
  };
  return words[state];
}

/** In Mimir's own checkout `.mimir` holds the defaults. */
const isOwn = ({ root }: ProjectPlace): boolean => realpathSync(packageRoot()) === root;
