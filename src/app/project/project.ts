/** The configuration of the project that a verb works on. Faults of its rules end the verb with words (3). */
import { faultText } from '../../config/files/fault.ts';
import type { Flags as ConfigFlags } from '../../config/files/flags.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { rememberManaged, vanished } from '../../config/settings/seen.ts';
import { fail } from '../../domain/result.ts';
import { visible } from '../views/text/sanitise.ts';
import type { Rules } from '../../policy/rules.ts';
import { builtIn } from '../../policy/rules.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Io } from '../process/io.ts';
import type { ProjectPlace } from './project-place.ts';
import type { Here } from './project-trust.ts';
import { loadHere } from './project-trust.ts';

export type { ProjectPlace } from './project-place.ts';
export { projectOf } from './project-place.ts';

/** The environment in which the configuration is looked for. */
export const environmentOf = ({ places }: ProjectPlace, { env }: Io): Io['env'] => ({ ...env, HOME: places.home });

/** The configuration of the project, with what it says of itself where the person trusts it; exit 3 with every fault. */
export const configOf = (project: ProjectPlace, io: Io, flags: ConfigFlags): Loaded =>
  hereOf(project, io, flags).config;

/** The same, and what is known of trust in the project. */
export function hereOf(project: ProjectPlace, io: Io, flags: ConfigFlags, how: 'record' | 'look' = 'record'): Here {
  const loaded = keptBy(project, loadHere(project, environmentOf(project, io), flags, how), how);
  if (loaded.ok) return loaded.value;
  throw new Exit(
    EXIT.refused,
    `the configuration can't be used, so nothing ran:\n${loaded.fault.map((fault) => `  ${visible(faultText(fault))}`).join('\n')}`,
  );
}

/** A managed policy that vanished is refused; who only looks around leaves no record of the one that is there. */
function keptBy(
  { places }: ProjectPlace,
  loaded: ReturnType<typeof loadHere>,
  how: 'record' | 'look',
): ReturnType<typeof loadHere> {
  if (!loaded.ok || how === 'look') return loaded;
  const { managed } = loaded.value.config;
  const gone = vanished(managed, places);
  if (gone.length > 0) return fail(gone);
  rememberManaged(managed, places);
  return loaded;
}

interface ForRun {
  readonly config: Loaded;
  /** The loosest mode beside that of the rules. */
  readonly most: Rules['maxMode'] | null;
}

/** For a run: where nobody can be asked, mode yolo needs a project that the person trusts as it is now. Exit 3 otherwise. */
export function configForRun(project: ProjectPlace, io: Io, flags: ConfigFlags): ForRun {
  const { config, trust } = hereOf(project, io, flags);
  const settled = trust.problem === null && (trust.state === 'nothing' || trust.state === 'trusted');
  if (io.terminal || settled) return { config, most: null };
  const rule = 'no mode yolo without a terminal in a project that is not trusted as it is now';
  if (config.rules.mode !== 'yolo') return { config, most: { value: 'confirm', from: builtIn(rule) } };
  throw new Exit(
    EXIT.refused,
    `${rule}\n  \`mimir trust\` shows what it says of itself, \`mimir trust --yes\` trusts that; or use --mode confirm`,
  );
}
