/**
 * `mimir trust`: shows what a project would bring beside its restrictions, and what changed since it was trusted; the person
 * says yes to exactly that. Trust is bound to the content: config/trust/record.ts.
 */
import { nestedFolders } from '../../config/trust/nested.ts';
import type { ProjectTrust } from '../../config/trust/record.ts';
import { takeTrust } from '../../config/trust/record.ts';
import { unifiedDiff } from '../../tools/files/diff.ts';
import { visible } from '../../app/views/text/sanitise.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import type { ProjectPlace } from '../../app/project/project-trust.ts';
import { loadHere, trustHere, trustNow } from '../../app/project/project-trust.ts';
import { environmentOf, hereOf, projectOf } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';

export const trustVerb: Verb = {
  usage: 'mimir trust [DIR] [--yes] [--revoke] [--json]',
  summary:
    'Shows what a project would bring beside its restrictions, and asks whether it is trusted. Ends with 4 when nobody says yes.',
  example: [
    'mimir trust                  # look, then y',
    '  mimir trust ~/src/app --yes  # in a script: trusts what is there now; a later change asks again',
    '  mimir trust --revoke',
  ].join('\n'),
  words: 1,
  flags: {
    yes: { value: '', help: 'trust it without a question' },
    revoke: { value: '', help: 'trust it no more' },
    ...JSON_FLAG,
    ...CWD,
  },
  async run(args, io) {
    const project = projectOf(placeOf(args), io);
    if (args.has('revoke')) return revoked(project, args, io);
    const { config } = hereOf(project, io, {}, 'look');
    const trust = trustHere(project, config.preferences.trust ?? [], unifiedDiff);
    const shown: Shown = { project, trust, nested: nestedFolders(project.root) };
    return args.has('json') ? toScript(shown, args.has('yes'), io) : toPerson(shown, args.has('yes'), io);
  },
};

interface Shown {
  readonly project: ProjectPlace;
  readonly trust: ProjectTrust;
  readonly nested: readonly string[];
}

async function toPerson(shown: Shown, beforehand: boolean, io: Io): Promise<number> {
  for (const line of linesOf(shown, io)) io.say(line);
  const { trust } = shown;
  if (trust.problem !== null) return EXIT.refused;
  const yes = isSettled(trust) || beforehand || (io.terminal && (await asked()));
  if (yes) record(shown);
  io.say(wordsOf(trust, yes));
  return yes ? EXIT.done : EXIT.notApproved;
}

/** Nobody is asked: one object, and the code says whether it is trusted now. */
function toScript(shown: Shown, beforehand: boolean, io: Io): number {
  const { trust } = shown;
  const yes = trust.problem === null && (isSettled(trust) || beforehand);
  if (yes) record(shown);
  io.json(jsonOf(shown, yes));
  if (trust.problem !== null) return EXIT.refused;
  return yes ? EXIT.done : EXIT.notApproved;
}

/** Where a yes has to be written down. */
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

/** Nothing to say yes to, or said already. */
const isSettled = ({ state }: ProjectTrust): boolean => state === 'nothing' || state === 'trusted';

function revoked(project: ProjectPlace, args: Arguments, io: Io): number {
  const taken = takeTrust(project.root, project.places);
  if (!taken.ok) throw new Exit(EXIT.refused, taken.fault);
  // A configuration with a fault must not keep anybody from taking trust back.
  const here = loadHere(project, environmentOf(project, io), {}, 'look');
  const listed = here.ok && here.value.trust.unrecorded;
  if (args.has('json')) io.json({ project: project.root, revoked: taken.value, listed });
  else io.say(`${harmless(project.root)} ${taken.value ? 'is not trusted any more' : 'was not trusted'}.`);
  if (listed)
    io.complain('mimir: your configuration names it under `trust:`: take it out there, or the next run trusts it');
  return EXIT.done;
}

/** Only the letter: Enter, and anything else, is a no. */
async function asked(): Promise<boolean> {
  const { openAsker } = await import('../../app/process/asker.ts');
  const asker = openAsker();
  const typed = await asker.ask('Trust this, as shown? y yes, anything else no: ');
  asker.close();
  return typed?.trim() === 'y';
}

function linesOf({ project, trust, nested }: Shown, { paint }: Io): readonly string[] {
  const head = paint.bold(visible(project.root));
  const told = [...trust.notes, ...nested.map((name) => `${name} counts for nothing: only the one at the root does`)];
  const notes = told.map((note) => paint.yellow(`  ${visible(note)}`));
  if (trust.problem !== null) return [`${head} can't be trusted: ${visible(trust.problem)}`, ...notes];
  if (trust.state === 'nothing') return [`${head} says nothing that needs trust; restrictions hold without.`, ...notes];
  const brings = trust.brings.map((line) => `  ${visible(line)}`);
  const diff = trust.diff === '' ? [] : ['', 'Changed since it was trusted:', ...trust.diff.split('\n').map(visible)];
  return [`${head} brings:`, ...brings, ...notes, ...diff];
}

function wordsOf({ state, unrecorded }: ProjectTrust, yes: boolean): string {
  if (!yes) return 'Not trusted: only its restrictions count. In a script: mimir trust --yes';
  if (state === 'nothing') return 'Nothing to do.';
  if (state === 'trusted')
    return unrecorded ? 'Trusted by your configuration, as it is now.' : 'Trusted already, as it is now.';
  return 'Trusted, as it is now. When any of it changes, you are asked again.';
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
