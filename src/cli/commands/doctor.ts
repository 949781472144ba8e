/** `mimir doctor`: what works here and what doesn't, with what to do about it. Looks only; changes nothing but the caches of commands, where it is asked to. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { faultText } from '../../config/files/fault.ts';
import type { Loaded } from '../../config/settings/load.ts';
import type { ConfiguredProvider } from '../../config/providers/providers.ts';
import { isLoopback } from '../../domain/models/provider.ts';
import { reasonText } from '../../domain/reason.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { openLogReadOnly } from '../../store/log.ts';
import { folderOf } from '../../store/log-path.ts';
import { checkRoot, openSandbox, toolEnvironment } from '../../tools/tools.ts';
import { bubblewrapVersion } from '../../tools/sandbox/places.ts';
import { counted } from '../../app/views/text/format.ts';
import { visible } from '../../app/views/text/sanitise.ts';
import { type Box, openBox, pathsOf } from '../../app/project/sandbox.ts';
import { archiveFolder, archiveProblem } from '../../app/project/service/child-archive.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Io } from '../../app/process/io.ts';
import type { Finding } from '../doctor/policy.ts';
import { dayFindings, forcedFindings, policyFindings, rightsFindings, trustFindings } from '../doctor/policy.ts';
import { runFindings } from '../doctor/runs.ts';
import { screenFindings } from '../doctor/screen.ts';
import { cacheFindings, toolchainFindings } from '../doctor/toolchains.ts';
import { templatesHere } from '../../app/project/service/templates.ts';
import { packageVersion } from '../../app/process/package-root.ts';
import type { ProjectPlace } from '../../app/project/project-trust.ts';
import { loadHere } from '../../app/project/project-trust.ts';
import { environmentOf, projectOf } from '../../app/project/project.ts';
import { portOf } from '../../app/project/model-port.ts';
import { KEYS } from '../../app/project/providers.ts';
import type { Verb } from '../verb.ts';

export const doctorVerb: Verb = {
  usage: 'mimir doctor [--clear-caches] [--json]',
  summary: 'Says what works here and what does not, and what to do about it.',
  example: 'mimir doctor',
  words: 0,
  flags: {
    'clear-caches': {
      value: '',
      help: 'empties the caches of packages and builds that commands of this project keep',
    },
    ...JSON_FLAG,
    ...CWD,
  },
  async run(args, io) {
    const project = projectOf(args, io);
    const here = loadHere(project, environmentOf(project, io), {}, 'look');
    const loaded = here.ok ? here.value.config : null;
    const box = await boxOf(project, loaded);
    const findings = [
      program(),
      rootOf(project),
      configFinding(here),
      policyFindings(loaded),
      here.ok ? trustFindings(project, here.value.trust) : [],
      here.ok ? templates(project, here.value.trust.state === 'trusted') : [],
      providers(loaded),
      forcedFindings(loaded),
      here.ok ? await screenFindings(project, here.value.config, here.value.trust.state === 'trusted') : [],
      await sandbox(project, loaded, box),
      ...(await toolchains(project, box, args.has('clear-caches'))),
      user(),
      ...(await stateAndRuns(project, io)),
      archive(project, loaded),
      rightsFindings(project),
      dayFindings(project, loaded),
      terminal(io),
    ].flat();
    if (args.has('json')) io.json(findings);
    else for (const finding of findings) io.say(lineOf(finding, io));
    return findings.some((finding) => finding.state === 'problem') ? EXIT.refused : EXIT.done;
  },
};

const MARKS = { ok: '✓', note: '·', problem: '✗' } as const;

function lineOf({ what, state, words }: Finding, { paint }: Io): string {
  const mark = { ok: paint.green(MARKS.ok), note: paint.yellow(MARKS.note), problem: paint.red(MARKS.problem) }[state];
  return `${mark} ${paint.bold(what.padEnd(9))} ${visible(words)}`;
}

const program = (): Finding => ({
  what: 'mimir',
  state: Number(process.versions.node.split('.')[0]) >= 24 ? 'ok' : 'problem',
  words: `${packageVersion()} on Node ${process.versions.node} (24 or later is needed)`,
});

function rootOf({ root, places }: ProjectPlace): Finding {
  const checked = checkRoot(root, { home: places.home, state: places.state, rules: pathsOf(undefined, places) });
  if (!checked.ok) return { what: 'project', state: 'problem', words: checked.fault };
  const git =
    checked.value.git.is === 'repository' ? 'a git repository' : 'not a git repository: git tools will say so';
  return { what: 'project', state: 'ok', words: `${root}, ${git}` };
}

function configFinding(here: ReturnType<typeof loadHere>): readonly Finding[] {
  if (!here.ok) return here.fault.map((fault) => ({ what: 'config', state: 'problem', words: faultText(fault) }));
  const { rules, roles, notes } = here.value.config;
  const planned = roles.filter((role) => role.planned).map(({ name }) => name);
  return [
    {
      what: 'config',
      state: 'ok',
      words: `valid; mode ${rules.mode}, ${rules.maxParallelAgents.value} agents at once; rules ${rules.policyHash.slice(0, 12)}`,
    },
    { what: 'roles', state: 'ok', words: planned.join(', ') },
    ...notes.map((words): Finding => ({ what: 'config', state: 'note', words })),
  ];
}

/** Plans that can be begun here by name; what is wrong with others, with the place. */
function templates(project: ProjectPlace, trusted: boolean): readonly Finding[] {
  const { templates: usable, faults } = templatesHere(project, trusted);
  const broken = faults.map((fault): Finding => ({ what: 'templates', state: 'note', words: `left out: ${fault}` }));
  return [{ what: 'templates', state: 'ok', words: usable.map(({ name }) => name).join(', ') || 'none' }, ...broken];
}

/** Nobody is called: whether a key is right shows at the first call. */
function providers(config: Loaded | null): readonly Finding[] {
  if (config === null) return [];
  const configured = config.providers.filter((one) => one.configured);
  if (configured.length === 0) {
    return [{ what: 'models', state: 'note', words: `${OFFLINE_WORDS} For one, set ${KEYS}, or name a provider.` }];
  }
  const usable = configured.some(({ unusable }) => unusable === null);
  const models = portOf(config, new Map(), 'none').models();
  return configured.map((one) => {
    const count = models.filter(({ id }) => id.startsWith(`${one.name}/`)).length;
    const state = one.unusable === null && count > 0 ? 'ok' : usable && count > 0 ? 'note' : 'problem';
    return { what: 'models', state, words: providerWords(one, count) };
  });
}

const OFFLINE_WORDS = 'the built-in offline analyst: no language model, nothing leaves this machine, no cost.';

/** Never the key: only whether there is one, and where it comes from. */
function providerWords({ name, baseUrl, key, keyEnv, unusable }: ConfiguredProvider, models: number): string {
  if (unusable !== null) return `${name} at ${baseUrl} can't be used: ${unusable}`;
  if (models === 0)
    return `${name} at ${baseUrl} has no models: write their names into your config.yml, as in "providers: { ${name}: { models: [NAME] } }"`;
  const from = key === null ? 'without a key' : `with the key from ${keyEnv}${openly(baseUrl)}`;
  return `${name} at ${baseUrl} ${from}, ${counted(models, 'model')}; not asked: doctor calls nobody`;
}

/** A key that goes over the network in the open, as an aside; empty where it doesn't. */
const openly = (baseUrl: string): string =>
  baseUrl.startsWith('http:') && !isLoopback(baseUrl) ? ' (unencrypted: whoever is on the way can read it)' : '';

/** Tried out with what a run would use. */
async function sandbox(project: ProjectPlace, config: Loaded | null, tried: Box | string): Promise<Finding> {
  if (typeof tried === 'string') return { what: 'sandbox', state: 'problem', words: tried };
  const { state: box } = tried.sandbox;
  if (box.is !== 'none') {
    const version = await bubblewrapVersion(project.root);
    return {
      what: 'sandbox',
      state: 'ok',
      words: `${box.is}${version === null ? '' : ` ${version}`} works: commands have no network and can't write .git`,
    };
  }
  const required = config?.rules.sandboxRequired;
  if (required?.value === true) {
    const words = `none (${box.because}), and no command runs without: ${reasonText(required.from)}`;
    return { what: 'sandbox', state: 'problem', words };
  }
  return {
    what: 'sandbox',
    state: 'note',
    words: `none (${box.because}): every command asks and is marked UNSANDBOXED; one that is allowed has all your rights, and can tell your runs to do things as you; roles without "write" have no shell`,
  };
}

/** Words where the rules themselves leave no sandbox. */
async function boxOf(project: ProjectPlace, config: Loaded | null): Promise<Box | string> {
  try {
    if (config !== null) return await openBox(project, config.rules);
    const place = { root: project.root, home: project.places.home, stateDir: project.places.state };
    const paths = pathsOf(undefined, project.places);
    return { sandbox: await openSandbox({ ...place, paths }), environment: toolEnvironment(project.root), paths };
  } catch (error) {
    if (error instanceof Exit) return error.message.replaceAll('\n  ', '; ');
    throw error;
  }
}

/** Of toolchains, and of what commands keep of their caches. */
async function toolchains(project: ProjectPlace, box: Box | string, clear: boolean): Promise<readonly Finding[]> {
  const { home, state } = project.places;
  const environment = typeof box === 'string' ? toolEnvironment(project.root) : box.environment;
  const place = { root: project.root, home, stateDir: state, environment };
  const found = typeof box === 'string' ? [] : await toolchainFindings(box, place);
  return [...found, ...(await cacheFindings(place, clear))];
}

function user(): Finding {
  const isRoot = process.getuid?.() === 0;
  return isRoot
    ? { what: 'user', state: 'note', words: 'root: mode yolo only where a sandbox works' }
    : { what: 'user', state: 'ok', words: 'an ordinary user' };
}

/** Where nothing can be read of the log, nothing is known of runs. */
async function stateAndRuns(project: ProjectPlace, io: Io): Promise<readonly Finding[]> {
  const folder = folderOf({ stateDir: project.places.state, project: project.root });
  const problem = problemWith(project.places.state);
  if (problem !== null) return [{ what: 'state', state: 'problem', words: `${project.places.state}: ${problem}` }];
  try {
    const sessions = sessionsOf(project);
    const running = sessions.filter((one) => one.state === 'running').length;
    const words = `${folder}: ${counted(sessions.length, 'session')}, ${running} running`;
    return [{ what: 'state', state: 'ok', words }, ...(await runFindings(project, sessions, io))];
  } catch (error) {
    return [{ what: 'state', state: 'problem', words: error instanceof Error ? error.message : String(error) }];
  }
}

/** Where transcripts of child sessions are copied to; nothing where no folder is named. */
function archive({ places }: ProjectPlace, config: Loaded | null): readonly Finding[] {
  const folder = config === null ? null : archiveFolder(config.rules, places.home);
  if (folder === null) return [];
  const problem = archiveProblem(folder);
  const words = problem === null ? 'transcripts of children are copied there' : `${problem}; nothing is copied there`;
  return [{ what: 'archive', state: problem === null ? 'ok' : 'problem', words: `${folder}: ${words}` }];
}

function sessionsOf({ root, places }: ProjectPlace): readonly SessionSummary[] {
  const reader = openLogReadOnly({ stateDir: places.state, project: root });
  try {
    return reader.sessions();
  } finally {
    reader.close();
  }
}

function problemWith(folder: string, isOurs = true): string | null {
  // Where there is none yet, it has to be made in the nearest folder that there is.
  if (!existsSync(folder)) return folder === dirname(folder) ? null : problemWith(dirname(folder), false);
  if (isOurs && (statSync(folder).mode & 0o077) !== 0) return `others may read it: chmod 700 it`;
  try {
    accessSync(folder, constants.W_OK);
    return null;
  } catch {
    return `${folder} is not writable: runs could not be recorded`;
  }
}

function terminal({ terminal: isTerminal, env, width }: Io): Finding {
  if (!isTerminal) return { what: 'terminal', state: 'note', words: 'none: line mode, and nobody can be asked' };
  if (env['TERM'] === 'dumb') return { what: 'terminal', state: 'note', words: 'TERM=dumb: line mode' };
  return {
    what: 'terminal',
    state: 'ok',
    words: `${env['TERM'] ?? 'unset'}, ${width} columns${env['COLORTERM'] === undefined ? '' : `, ${env['COLORTERM']}`}`,
  };
}
