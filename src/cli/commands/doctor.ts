/** `mimir doctor`: checks what works here, with advice. Changes nothing except the caches, on request. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type ConfiguredProvider, faultText, type Loaded } from '../../config/index.ts';
import { isLoopback } from '../../domain/models/provider.ts';
import { reasonText } from '../../domain/reason.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { folderOf, openLogReadOnly } from '../../store/index.ts';
import { bubblewrapVersion, checkRoot, openSandbox, toolEnvironment } from '../../tools/index.ts';
import { plural, escapeHidden } from '../../app/views/index.ts';
import { type TriedSandbox, trySandbox, pathsOf } from '../../app/workspace/sandbox.ts';
import { archiveFolder, archiveProblem, listTemplates } from '../../app/project/index.ts';
import { EXIT, Exit, type Io, packageVersion } from '../../app/process/index.ts';
import type { Finding } from '../doctor-findings.ts';
import { cacheFindings, clusterFindings, dayFindings, fine, forcedFindings, chatFindings } from '../doctor-findings.ts';
import { foreignFindings, notificationFindings, note, policyFindings, problem } from '../doctor-findings.ts';
import { rightsFindings, runFindings, screenFindings, toolchainFindings, trustFindings } from '../doctor-findings.ts';
import { environmentOf, KEYS, readConfig, projectOf, type ProjectPlace } from '../../app/workspace/index.ts';
import { portOf } from '../../app/workspace/model-port.ts';
import { command, tell } from '../verb.ts';
import { messageOf } from '../../domain/result.ts';

export const doctorVerb = command('doctor', async (args, io) => {
  const project = projectOf(args, io);
  const here = readConfig(project, environmentOf(project, io), {}, 'look');
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
    notificationFindings(loaded),
    chatFindings(loaded),
    await foreignFindings(project, loaded, box),
    await clusterFindings(loaded),
    terminal(io),
  ].flat();
  const lines = findings.map((finding) => lineOf(finding, io));
  tell(args, io, findings, lines);
  return findings.some((finding) => finding.state === 'problem') ? EXIT.refused : EXIT.done;
});

const MARKS = { ok: '✓', note: '·', problem: '✗' } as const;

function lineOf({ what, state, words }: Finding, { paint }: Io): string {
  const mark = { ok: paint.green(MARKS.ok), note: paint.yellow(MARKS.note), problem: paint.red(MARKS.problem) }[state];
  return `${mark} ${paint.bold(what.padEnd(9))} ${escapeHidden(words)}`;
}

function program(): Finding {
  const { node } = process.versions;
  return (Number(node.split('.')[0]) >= 24 ? fine : problem)(
    'mimir',
    `${packageVersion()} on Node ${node} (24 or later is needed)`,
  );
}

function rootOf({ root, places }: ProjectPlace): Finding {
  const checked = checkRoot(root, { home: places.home, state: places.state, rules: pathsOf(undefined, places) });
  if (!checked.ok) return problem('project', checked.fault);
  const git =
    checked.value.git.is === 'repository' ? 'a git repository' : 'not a git repository: git tools are unavailable';
  return fine('project', `${root}, ${git}`);
}

function configFinding(here: ReturnType<typeof readConfig>): readonly Finding[] {
  if (!here.ok) return here.fault.map((fault) => problem('config', faultText(fault)));
  const { rules, roles, notes } = here.value.config;
  const planned = roles.filter((role) => role.planned).map(({ name }) => name);
  return [
    fine(
      'config',
      `valid; mode ${rules.mode}, ${rules.maxParallelAgents.value} agents at once; rules ${rules.policyHash.slice(0, 12)}`,
    ),
    fine('roles', planned.join(', ')),
    ...notes.map((words) => note('config', words)),
  ];
}

/** The plan templates that can be used here, and the faults of the others. */
function templates(project: ProjectPlace, trusted: boolean): readonly Finding[] {
  const { templates: usable, faults } = listTemplates(project, trusted);
  const broken = faults.map((fault) => note('templates', `left out: ${fault}`));
  return [fine('templates', usable.map(({ name }) => name).join(', ') || 'none'), ...broken];
}

/** Makes no calls: whether a key is valid shows at the first call. */
function providers(config: Loaded | null): readonly Finding[] {
  if (config === null) return [];
  const configured = config.providers.filter((one) => one.configured);
  if (configured.length === 0)
    return [note('models', `${OFFLINE_WORDS} For a model, set ${KEYS}, or configure a provider.`)];
  const usable = configured.some(({ unusable }) => unusable === null);
  const models = portOf(config, new Map(), 'none').models();
  return configured.map((one) => {
    const count = models.filter(({ id }) => id.startsWith(`${one.name}/`)).length;
    const kind = one.unusable === null && count > 0 ? fine : usable && count > 0 ? note : problem;
    return kind('models', providerWords(one, count));
  });
}

const OFFLINE_WORDS = 'the built-in analyst (not a language model): free, and nothing leaves this machine.';

/** Never prints the key, only whether there is one and its source. */
function providerWords({ name, baseUrl, key, keyEnv, unusable }: ConfiguredProvider, models: number): string {
  if (unusable !== null) return `${name} at ${baseUrl} cannot be used: ${unusable}`;
  if (models === 0)
    return `${name} at ${baseUrl} has no models: add their names to your config.yml, for example "providers: { ${name}: { models: [NAME] } }"`;
  const from = key === null ? 'without a key' : `with the key from ${keyEnv}${openly(baseUrl)}`;
  return `${name} at ${baseUrl} ${from}, ${plural(models, 'model')}; not tested: doctor makes no network calls`;
}

/** A warning about a key that is sent unencrypted over the network; empty otherwise. */
const openly = (baseUrl: string): string =>
  baseUrl.startsWith('http:') && !isLoopback(baseUrl) ? ' (unencrypted: others on the network can read it)' : '';

/** The result of the probe with the settings of a run. */
async function sandbox(project: ProjectPlace, config: Loaded | null, tried: TriedSandbox | string): Promise<Finding> {
  if (typeof tried === 'string') return problem('sandbox', tried);
  const { state: box } = tried.sandbox;
  if (box.is !== 'none') {
    const version = await bubblewrapVersion(project.root);
    const name = version === null ? box.is : `${box.is} ${version}`;
    return fine('sandbox', `${name} works: commands have no network and cannot write .git`);
  }
  const required = config?.rules.sandboxRequired;
  if (required?.value === true)
    return problem(
      'sandbox',
      `none (${box.because}), and policy allows no command without one: ${reasonText(required.from)}`,
    );
  return note(
    'sandbox',
    `none (${box.because}): every command needs approval and is marked UNSANDBOXED. An approved command has all your permissions and can control your runs. Roles without "write" have no shell`,
  );
}

async function boxOf(project: ProjectPlace, config: Loaded | null): Promise<TriedSandbox | string> {
  try {
    if (config !== null) return await trySandbox(project, config.rules);
    const place = { root: project.root, home: project.places.home, stateDir: project.places.state };
    const paths = pathsOf(undefined, project.places);
    return { sandbox: await openSandbox({ ...place, paths }), environment: toolEnvironment(project.root), paths };
  } catch (error) {
    if (error instanceof Exit) return error.message.replaceAll('\n  ', '; ');
    throw error;
  }
}

/** Findings about toolchains and the caches of commands. */
async function toolchains(
  project: ProjectPlace,
  box: TriedSandbox | string,
  clear: boolean,
): Promise<readonly Finding[]> {
  const { home, state } = project.places;
  const environment = typeof box === 'string' ? toolEnvironment(project.root) : box.environment;
  const place = { root: project.root, home, stateDir: state, environment };
  const found = typeof box === 'string' ? [] : await toolchainFindings(box, place);
  return [...found, ...(await cacheFindings(place, clear))];
}

function user(): Finding {
  const isRoot = process.getuid?.() === 0;
  return isRoot ? note('user', 'root: mode yolo needs a working sandbox') : fine('user', 'ordinary user');
}

/** If the log cannot be read, nothing is reported about runs. */
async function stateAndRuns(project: ProjectPlace, io: Io): Promise<readonly Finding[]> {
  const folder = folderOf({ stateDir: project.places.state, project: project.root });
  const wrong = problemWith(project.places.state);
  if (wrong !== null) return [problem('state', `${project.places.state}: ${wrong}`)];
  try {
    const sessions = sessionsOf(project);
    const running = sessions.filter((one) => one.state === 'running').length;
    const words = `${folder}: ${plural(sessions.length, 'session')}, ${running} running`;
    return [fine('state', words), ...(await runFindings(project, sessions, io))];
  } catch (error) {
    return [problem('state', messageOf(error))];
  }
}

/** The folder for copies of children's transcripts; empty if none is set. */
function archive({ places }: ProjectPlace, config: Loaded | null): readonly Finding[] {
  const folder = config === null ? null : archiveFolder(config.rules, places.home);
  if (folder === null) return [];
  const wrong = archiveProblem(folder);
  return wrong === null
    ? [fine('archive', `${folder}: transcripts of children are copied there`)]
    : [problem('archive', `${folder}: ${wrong}; transcripts are not copied`)];
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
  // A missing folder must be creatable in the nearest existing parent.
  if (!existsSync(folder)) return folder === dirname(folder) ? null : problemWith(dirname(folder), false);
  if (isOurs && (statSync(folder).mode & 0o077) !== 0) return 'others can read it: run chmod 700 on it';
  try {
    accessSync(folder, constants.W_OK);
    return null;
  } catch {
    return `${folder} is not writable: runs could not be recorded`;
  }
}

function terminal({ terminal: isTerminal, env, width }: Io): Finding {
  if (!isTerminal) return note('terminal', 'none: line mode without questions');
  if (env['TERM'] === 'dumb') return note('terminal', 'TERM=dumb: line mode');
  const colours = env['COLORTERM'] === undefined ? '' : `, ${env['COLORTERM']}`;
  return fine('terminal', `${env['TERM'] ?? 'unset'}, ${width} columns${colours}`);
}
