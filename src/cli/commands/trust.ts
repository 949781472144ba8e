/** `mimir trust`: shows what a project wants to add besides restrictions, and what changed since it was trusted; the person
 * trusts exactly that. Trust applies to the content: config/trust/record.ts. */
import { type Arguments, EXIT, Exit, sanitise, type Io } from '../../app/process/index.ts';
import { nestedFolders, type ProjectTrust, takeTrust } from '../../config/index.ts';
import { unifiedDiff } from '../../tools/index.ts';
import { escapeHidden, isOpen, TRUST_WORDS } from '../../app/views/index.ts';
import type { ProjectPlace } from '../../app/workspace/index.ts';
import { environmentOf, projectConfigOf, readConfig, projectOf, trustOf, trustNow } from '../../app/workspace/index.ts';
import { startClean } from '../../app/workspace/secrets.ts';
import { command, tell } from '../verb.ts';

export const trustVerb = command('trust', async (args, io) => {
  const project = projectOf(placeOf(args), io);
  return args.has('revoke') ? revoked(project, args, io) : settle(shownIn(project, io), args, io);
});

/** Asks a person at a terminal, before anything is planned, if the question is open. The run continues after any answer. */
export async function askTrust(project: ProjectPlace, args: Arguments, io: Io): Promise<void> {
  if (!io.terminal || args.has('json') || args.has('yes')) return;
  const { config, trust } = projectConfigOf(project, io, {}, 'look');
  if (trust.unrecorded || !isOpen(trust)) return;
  await startClean(project, config.rules);
  io.say(io.paint.bold(`${escapeHidden(project.root)} ${STATES[trust.state]}.`));
  await settle(shownIn(project, io), args, io);
}

const STATES: Readonly<Record<ProjectTrust['state'], string>> = {
  new: 'is not trusted yet',
  changed: 'has changed since you trusted it',
  nothing: '',
  trusted: '',
};

function shownIn(project: ProjectPlace, io: Io): Shown {
  const { config } = projectConfigOf(project, io, {}, 'look');
  const trust = trustOf(project, config.preferences.trust ?? [], unifiedDiff);
  return { project, trust, nested: nestedFolders(project.root) };
}

interface Shown {
  readonly project: ProjectPlace;
  readonly trust: ProjectTrust;
  readonly nested: readonly string[];
}

/** Shows it and asks. With --json nobody is asked: prints one object; the exit code says whether it is trusted. */
async function settle(shown: Shown, args: Arguments, io: Io): Promise<number> {
  const { trust } = shown;
  const json = args.has('json');
  if (!json) for (const line of linesOf(shown, io)) io.say(line);
  if (trust.problem !== null) {
    if (json) io.json(jsonOf(shown, false));
    return EXIT.refused;
  }
  const yes = isSettled(trust) || args.has('yes') || (!json && (await asked(io)));
  if (yes) record(shown);
  tell(args, io, jsonOf(shown, yes), answerLines(trust, yes));
  return yes ? EXIT.done : EXIT.notApproved;
}

/** Stores the trust unless it is already stored. */
function record({ project, trust }: Shown): void {
  if (isSettled(trust) && !trust.unrecorded) return;
  const given = trustNow(project, trust.digest);
  if (!given.ok) throw new Exit(EXIT.refused, `${project.root} is not trusted: ${given.fault}`);
}

/** `mimir trust DIR` and `mimir trust --cwd DIR` are the same. */
function placeOf(args: Arguments): Arguments {
  const [named] = args.words;
  return named === undefined ? args : { ...args, get: (flag) => (flag === 'cwd' ? named : args.get(flag)) };
}

const isSettled = ({ state }: ProjectTrust): boolean => state === 'nothing' || state === 'trusted';

function revoked(project: ProjectPlace, args: Arguments, io: Io): number {
  const taken = takeTrust(project.root, project.places);
  if (!taken.ok) throw new Exit(EXIT.refused, taken.fault);
  // A configuration with a fault must not keep anybody from taking trust back.
  const here = readConfig(project, environmentOf(project, io), {}, 'look');
  const listed = here.ok && here.value.trust.unrecorded;
  const line = `${sanitise(project.root)} ${taken.value ? 'is no longer trusted' : 'was not trusted'}.`;
  tell(args, io, { project: project.root, revoked: taken.value, listed }, [line]);
  if (listed)
    io.complain('mimir: your configuration lists it under `trust:`; remove it there, or the next run trusts it');
  return EXIT.done;
}

/** Only the letter: Enter, and anything else, is a no. Without a terminal nobody is asked. */
const asked = async (io: Io): Promise<boolean> =>
  io.terminal && (await io.ask('Trust this? y yes, anything else no: ', 'fresh'))?.trim() === 'y';

function linesOf({ project, trust, nested }: Shown, { paint }: Io): readonly string[] {
  const head = paint.bold(escapeHidden(project.root));
  const told = [
    ...trust.notes,
    ...nested.map((name) => `${name} is ignored: only the file at the project root is used`),
  ];
  const notes = told.map((note) => paint.yellow(`  ${escapeHidden(note)}`));
  if (trust.problem !== null) return [`${head} cannot be trusted: ${escapeHidden(trust.problem)}`, ...notes];
  if (trust.state === 'nothing') return [`Nothing in ${head} needs trust.`, ...notes];
  const brings = trust.brings.map((line) => `  ${escapeHidden(line)}`);
  const diff = trust.diff === '' ? [] : ['', TRUST_WORDS.changed, ...trust.diff.split('\n').map(escapeHidden)];
  return [`${head} brings:`, ...brings, ...notes, ...diff];
}

/** Empty if nothing needs trust, which was already said. */
function answerLines({ state, unrecorded }: ProjectTrust, yes: boolean): readonly string[] {
  if (!yes) return ['Not trusted: only its restrictions apply. In a script: mimir trust --yes'];
  if (state === 'nothing') return [];
  if (state === 'trusted') return [unrecorded ? 'Trusted by your configuration.' : 'Already trusted.'];
  return ['Trusted. You will be asked again when any of these files change.'];
}

const jsonOf = ({ project, trust, nested }: Shown, trusted: boolean): object => ({
  project: project.root,
  state: trust.state,
  trusted: trusted && trust.state !== 'nothing',
  digest: trust.digest,
  brings: trust.brings,
  diff: trust.diff,
  problem: trust.problem,
  nested,
  notes: trust.notes,
});
