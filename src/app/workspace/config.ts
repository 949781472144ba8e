/** Loads the configuration of a project, decides whether its own part is trusted, and reads flags. Faults are an `Exit` (3). */
import { realpathSync } from 'node:fs';
import type { ConfigFault, Flags as ConfigFlags, Differ, Environment, Loaded } from '../../config/index.ts';
import type { ProjectTrust } from '../../config/index.ts';
import { digestOf, durationMs, faultText, giveTrust, loadConfig, rememberManaged } from '../../config/index.ts';
import { trustFiles, trustQuestion, vanished } from '../../config/index.ts';
import { type Budget, withoutAbsent } from '../../domain/budget.ts';
import { type Mode, MODES } from '../../domain/reason.ts';
import { type Permissions, PERMITTED } from '../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { builtIn, type Rules } from '../../policy/index.ts';
import { type Arguments, EXIT, Exit, type Io, packageRoot, readChoice, invalidFlag } from '../process/index.ts';
import { escapeHidden } from '../views/index.ts';
import type { ProjectPlace } from './place.ts';
import { takeSecrets } from './secrets.ts';

/** The environment that the configuration is loaded with. */
export const environmentOf = ({ places }: ProjectPlace, { env }: Io): Io['env'] => ({ ...env, HOME: places.home });

/** The configuration, with the project's own part if it is trusted. Throws an `Exit` (3) that lists every fault. */
export const configOf = (project: ProjectPlace, io: Io, flags: ConfigFlags): Loaded =>
  projectConfigOf(project, io, flags).config;

/** The configuration and the trust in the project. Throws as `configOf`. `look` records nothing. */
export function projectConfigOf(project: ProjectPlace, io: Io, flags: ConfigFlags, how: How = 'record'): ProjectConfig {
  const loaded = checkManaged(project, readConfig(project, environmentOf(project, io), flags, how), how);
  if (loaded.ok) return loaded.value;
  const inOptions = loaded.fault.every(({ file }) => file.startsWith('--'));
  const heading = `the ${inOptions ? 'options have' : 'configuration has'} faults; nothing was run:`;
  const faults = loaded.fault.map((fault) => `  ${escapeHidden(faultText(fault))}`);
  throw new Exit(EXIT.refused, [heading, ...faults].join('\n'));
}

/** Refuses a configuration whose managed policy vanished; otherwise records the present one, unless `how` is `look`. */
function checkManaged({ places }: ProjectPlace, loaded: LoadResult, how: How): LoadResult {
  if (!loaded.ok || how === 'look') return loaded;
  const { managed } = loaded.value.config;
  const gone = vanished(managed, places);
  if (gone.length > 0) return fail(gone);
  rememberManaged(managed, places);
  return loaded;
}

interface RunConfig {
  readonly config: Loaded;
  readonly modeLimit: Rules['maxMode'] | null;
}

/** The configuration for a run. Without a terminal, mode yolo needs a trusted project; throws an `Exit` (3) otherwise. */
export function configForRun(project: ProjectPlace, io: Io, flags: ConfigFlags): RunConfig {
  const { config, trust } = projectConfigOf(project, io, flags);
  const settled = trust.problem === null && (trust.state === 'nothing' || trust.state === 'trusted');
  if (io.terminal || settled) return { config, modeLimit: null };
  const rule = 'no mode yolo without a terminal in an untrusted project';
  if (config.rules.mode !== 'yolo') return { config, modeLimit: { value: 'confirm', from: builtIn(rule) } };
  throw new Exit(
    EXIT.refused,
    `${rule}\n  \`mimir trust\` shows its configuration, \`mimir trust --yes\` trusts it; or use --mode confirm`,
  );
}

type How = 'record' | 'look';
type LoadResult = Result<ProjectConfig, readonly ConfigFault[]>;

export interface ProjectConfig {
  readonly config: Loaded;
  readonly trust: ProjectTrust;
}

/** The configuration including the project's own part if it is trusted as it is now; without trust only its restrictions
 * apply. `record` binds a folder listed under `trust:` to its present content; `look` writes nothing. */
export function readConfig(project: ProjectPlace, env: Environment, flags: ConfigFlags, how: How): LoadResult {
  const load: Load = (trusted) => {
    const loaded = loadConfig({ packageRoot: packageRoot(), projectRoot: project.root, env, flags, trusted });
    if (loaded.ok) takeSecrets(loaded.value.secrets);
    return loaded;
  };
  const known = trustOf(project, []);
  const recorded = known.state === 'trusted' ? loadTrusted(project, load, known.digest) : null;
  return recorded ?? loadUnrecorded(project, load, how);
}

/** The project is not recorded as trusted; the list in the user's configuration may still trust it. */
function loadUnrecorded(project: ProjectPlace, load: Load, how: How): LoadResult {
  const plain = load(false);
  if (!plain.ok) return plain;
  const trust = trustOf(project, plain.value.preferences.trust ?? []);
  const without = (...why: readonly string[]): Result<ProjectConfig, never> =>
    ok({ config: { ...plain.value, notes: [...plain.value.notes, ...trust.notes, ...why] }, trust });
  const bound = trust.unrecorded && how === 'record' ? trustNow(project, trust.digest) : ok(undefined);
  if (!bound.ok) return without(`trust: ${bound.fault}`);
  if (trust.state !== 'trusted') return without(...(trust.problem === null ? [] : [`not trusted: ${trust.problem}`]));
  return loadTrusted(project, load, trust.digest) ?? without('not trusted: its files change right now');
}

type Load = (trusted: boolean) => ReturnType<typeof loadConfig>;

/** Loads the trusted configuration; null if the files changed while they were read. */
function loadTrusted(project: ProjectPlace, load: Load, digest: string): LoadResult | null {
  const full = load(true);
  if (!full.ok) return full;
  const trust = trustOf(project, full.value.preferences.trust ?? []);
  if (trust.state !== 'trusted' || trust.digest !== digest) return null;
  return ok({ config: { ...full.value, notes: [...full.value.notes, ...trust.notes] }, trust });
}

/** The trust in the project and what it would add. `listed`: the folders under `trust` in the user's configuration. */
export const trustOf = (project: ProjectPlace, listed: readonly string[], diff?: Differ): ProjectTrust =>
  trustQuestion(project.root, project.places, { listed, own: isOwn(project), ...(diff === undefined ? {} : { diff }) });

/** Trusts the content with this digest. The configuration has to be loaded again afterwards. */
export const trustNow = (project: ProjectPlace, digest: string): Result<void, string> =>
  giveTrust(project.root, project.places, digest, { own: isOwn(project) });

/** One line about the trust in the project; empty if nothing needs trust. */
export function trustLine({ state, problem }: Pick<ProjectTrust, 'state' | 'problem'>): string {
  if (problem !== null) return `this project cannot be trusted: ${problem}`;
  const words = {
    nothing: '',
    trusted: 'this project is trusted: its roles, instructions and preferences apply',
    new: 'this project is not trusted: only its restrictions apply (`mimir trust` shows the rest)',
    changed:
      'this project has changed since it was trusted: only its restrictions apply (`mimir trust` shows the changes)',
  };
  return words[state];
}

/** In Mimir's own checkout, `.mimir` holds the defaults. */
const isOwn = ({ root }: ProjectPlace): boolean => realpathSync(packageRoot()) === root;

/** Keeps a project trusted when Mimir itself changes `file`: call it before the change and the returned function after
 * it. That trusts the new content, unless another file changed too; false if the project was not trusted before. */
export function preserveTrust(project: ProjectPlace, listed: readonly string[], file: string): () => boolean {
  const { problem, state } = trustOf(project, listed);
  const others = digestOfOthers(file, project);
  const settled = problem === null && others !== null && (state === 'nothing' || state === 'trusted');
  return () =>
    settled && digestOfOthers(file, project) === others && trustNow(project, trustOf(project, listed).digest).ok;
}

function digestOfOthers(file: string, { root }: ProjectPlace): string | null {
  const files = trustFiles(root, false);
  return files.ok ? digestOf(files.value.filter((one) => one.file !== file)) : null;
}

/** The limits of `--max-cost`, `--max-tokens` and `--max-duration`. */
export function budgetFrom(args: Arguments): Budget {
  const duration = args.get('max-duration') ?? '';
  const ms = duration === '' ? undefined : durationMs(duration);
  if (ms === null) throw invalidFlag('max-duration', duration, 'a time such as 90s, 10m or 1h');
  return withoutAbsent({
    maxCost: numberFrom(args, 'max-cost', { whole: false }),
    maxTokens: numberFrom(args, 'max-tokens', { whole: true }),
    maxDuration: ms,
  });
}

function numberFrom(args: Arguments, flag: string, { whole }: { readonly whole: boolean }): number | undefined {
  const text = args.get(flag);
  if (text === undefined) return undefined;
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number) || (whole && !Number.isSafeInteger(number)))
    throw invalidFlag(flag, text, whole ? 'a whole number of 0 or more' : 'an amount such as 2.50');
  return number;
}

export const modeFrom = (args: Arguments): Mode | undefined => readChoice(args, 'mode', MODES);

/** `--allow edits,commands`; undefined without the flag. */
export function allowFrom(args: Arguments): Permissions | undefined {
  const text = args.get('allow');
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const chosen = PERMITTED.filter((what) => names.includes(what));
  const isKnown = names.every((name) => PERMITTED.some((what) => what === name));
  if (!isKnown || chosen.length === 0) throw invalidFlag('allow', text, 'edits, commands, or both: edits,commands');
  return Object.fromEntries(chosen.map((what) => [what, 'allow']));
}

export const roleModelsFrom = (args: Arguments): ReadonlyMap<string, string> =>
  new Map(
    args.all('role-model').map((text): [string, string] => {
      const cut = text.indexOf('=');
      if (cut < 1 || cut === text.length - 1) throw invalidFlag('role-model', text, 'role=model, such as oracle=o3');
      return [text.slice(0, cut), text.slice(cut + 1)];
    }),
  );
