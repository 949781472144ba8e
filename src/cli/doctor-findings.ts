/** The findings of `mimir doctor` about policy, trust, mandatory reviews, daily budgets, permissions, runs, the screen, toolchains and caches. */
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { patiently, placeOf, reachRun } from '../app/client/index.ts';
import { type Io, world } from '../app/process/index.ts';
import { chosenTheme, namesOfThemes } from '../app/project/index.ts';
import { foreignAgents } from '../app/workspace/foreign.ts';
import { type ProjectPlace, storeOf, trustLine } from '../app/workspace/index.ts';
import { portOf } from '../app/workspace/model-port.ts';
import type { TriedSandbox } from '../app/workspace/sandbox.ts';
import type { ForeignSetup, Loaded, ProjectTrust } from '../config/index.ts';
import { faultText, MANAGED_ROOT, nestedFolders, passedOver, vanished } from '../config/index.ts';
import { formatCost, formatLimit } from '../domain/budget.ts';
import type { SessionId } from '../domain/ids.ts';
import { placeText, reasonText } from '../domain/reason.ts';
import { fail } from '../domain/result.ts';
import { nearest } from '../domain/text/text.ts';
import { chooseModel, type ReviewRule, modelsOfRole, roleNamed, wordsOf } from '../policy/index.ts';
import { resolvedIn } from '../policy/explain/explain.ts';
import { ControlFault } from '../ports/control.ts';
import type { DayLedger } from '../ports/daily-budget.ts';
import { LogFault, type SessionSummary } from '../ports/log.ts';
import { knownPaths } from '../remote/index.ts';
import { databaseOf, folderOf, openDayLedger } from '../store/index.ts';
import { foreignVersion, lookAtCaches, lookAtToolchains, type LookPlace, toolEnvironment } from '../tools/index.ts';
import type { ToolchainState } from '../tools/index.ts';

export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly words: string;
}

const findingOf =
  (state: Finding['state']) =>
  (what: string, words: string): Finding => ({ what, state, words });
export const [fine, note, problem] = [findingOf('ok'), findingOf('note'), findingOf('problem')] as const;

/** Faults in managed files are configuration faults; this reports what applies. */
export function policyFindings(config: Loaded | null): readonly Finding[] {
  if (config === null) return [];
  const gone = vanished(config.managed, config.places);
  const files = config.managed.map(({ shown }) => `${shown} (${rightsOf(shown)})`);
  const words = files.length === 0 ? 'no managed policy' : `managed by ${files.join(', ')}`;
  const resolved = new Set(resolvedIn(config.rules).map(({ written, id }) => `${written} is ${id}`));
  return [
    ...gone.map((fault) => problem('policy', `${faultText(fault)}; no run can start`)),
    ...(gone.length > 0 && files.length === 0 ? [] : [fine('policy', words)]),
    ...passedOver(MANAGED_ROOT).map((file) =>
      note('policy', `${file} is ignored: only policy.yml and names ending in .yml are read`),
    ),
    ...namespaceFindings(),
    ...(resolved.size === 0 ? [] : [fine('policy', [...resolved].join(', '))]),
  ];
}

function rightsOf(file: string): string {
  const { uid, mode } = statSync(file);
  return `owner ${uid === 0 ? 'root' : uid}, mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
}

/** The uid map of a process outside any user namespace. */
const WHOLE_MAP = /^\s*0\s+0\s+4294967295\s*$/;

function namespaceFindings(): readonly Finding[] {
  try {
    if (WHOLE_MAP.test(readFileSync('/proc/self/uid_map', 'utf8'))) return [];
  } catch {
    return [];
  }
  const words =
    'this process is in a user namespace: that /etc/mimir seems to belong to root proves nothing about the host';
  return [note('policy', words)];
}

export function trustFindings({ root }: ProjectPlace, trust: ProjectTrust): readonly Finding[] {
  const line = trustLine(trust);
  const quiet = trust.problem === null && (trust.state === 'nothing' || trust.state === 'trusted');
  const nested = nestedFolders(root).map((name) => `${name} is ignored: only the file at the project root is used`);
  return [
    (quiet ? fine : note)('trust', line === '' ? 'nothing in this project needs trust' : line),
    ...nested.map((words) => note('trust', words)),
  ];
}

/** A mandatory review that cannot run blocks changes, so it is reported early. */
export const forcedFindings = (config: Loaded | null): readonly Finding[] =>
  (config?.rules.forcedAgents ?? []).map((forced) => {
    const why = config === null ? null : problemOfForced(forced, config);
    const { name, triggers, onFailure, from } = forced;
    const place = from.file === null ? from.layer : `${from.layer}, ${placeText(from)}`;
    const rule = `${name} runs ${triggers.join(' and ')} (${place})`;
    if (why === null) return fine('forced', rule);
    return onFailure === 'block'
      ? problem('forced', `${rule}, but cannot run: ${why}; the changes it guards stay blocked`)
      : note('forced', `${rule}, but cannot run: ${why}; this is only reported`);
  });

function problemOfForced({ name, model }: ReviewRule, config: Loaded): string | null {
  const role = roleNamed(name, config.roles);
  if (role === null) return 'there is no such role';
  if (role.protocol === 'text') return 'its role has no tool calls (protocol: text), but a verdict needs one';
  const offlineOnly = !config.providers.some((provider) => provider.configured);
  const models = portOf(config, new Map(), 'none').models();
  const { rules } = config;
  const words = wordsOf(role);
  const fallbacks = modelsOfRole(role, { rules, models, offlineOnly });
  const wish = { asked: model, role: name, fallbacks, rules, models, offlineOnly, words };
  const chosen = chooseModel(wish);
  if (!chosen.ok) return chosen.fault.text;
  if (model === null || chosen.value.reason === null) return null;
  return `its model ${model} cannot be used here (${chosen.value.reason.rule}), and a pinned model has no fallback`;
}

/** Where notices of runs go, and what is missing for that. */
export function notificationFindings(config: Loaded | null): readonly Finding[] {
  const { webhook, ntfy } = config?.preferences.notifications ?? {};
  const answers = config === null ? [] : answerFindings(config);
  const told = Object.entries({ webhook, ntfy }).flatMap(([is, said]): readonly Finding[] => {
    if (config === null || said?.url === undefined) return [];
    const { url, secretEnv, events } = said;
    const denied = config.rules.notifications;
    if (denied?.value === 'deny') return [note(is, `nothing is sent: ${reasonText(denied.from)}`)];
    const isMissing = secretEnv !== undefined && !config.secrets.some(({ name }) => name === secretEnv);
    if (isMissing) return [problem(is, `${secretEnv} is not set: notices are sent without it`)];
    return [fine(is, `${new URL(url).host} gets ${events === undefined ? 'all notices' : events.join(', ')}`)];
  });
  return [...told, ...answers];
}

/** Whether buttons of ntfy answer questions. */
function answerFindings({ preferences, rules: { remoteAnswers }, secrets }: Loaded): readonly Finding[] {
  const { secretEnv, answers } = preferences.notifications?.ntfy ?? {};
  if (answers === undefined) return [];
  if (remoteAnswers?.value === 'deny') return [note('ntfy', `no answers are taken: ${reasonText(remoteAnswers.from)}`)];
  const isSet = (variable?: string): boolean => secrets.some(({ name }) => name === variable);
  const isWhole = answers.topic !== undefined && isSet(secretEnv) && isSet(answers.secretEnv);
  return [isWhole ? fine('ntfy', `buttons answer questions by ${answers.topic}`) : problem('ntfy', NO_ANSWERS)];
}

const NO_ANSWERS = 'no answers are taken: both topics need a token, set in secretEnv and answers.secretEnv';

/** The chats that hear of runs, and what they may. */
export function chatFindings(config: Loaded | null): readonly Finding[] {
  const { botTokenEnv, chats = [] } = config?.preferences.notifications?.telegram ?? {};
  return config === null || botTokenEnv === undefined ? [] : chatFinding(config, botTokenEnv, chats);
}

function chatFinding(
  { rules: { notifications, remoteAnswers }, secrets }: Loaded,
  botTokenEnv: string,
  chats: readonly { readonly id?: number | undefined; readonly may?: string | undefined }[],
): readonly Finding[] {
  if (notifications?.value === 'deny') return [note('telegram', `nothing is sent: ${reasonText(notifications.from)}`)];
  if (!secrets.some(({ name }) => name === botTokenEnv)) return [problem('telegram', `${botTokenEnv} is not set`)];
  const all = chats.map(({ id, may = 'look' }) => `${id} may ${may}`).join(', ');
  const held = remoteAnswers?.value === 'deny' ? `; all may only look: ${reasonText(remoteAnswers.from)}` : '';
  return [fine('telegram', `${all}${held}`)];
}

/** Agents of other programs: whether each is there and works, its version, who pays, and what it reaches. */
export async function foreignFindings(project: ProjectPlace, config: Loaded | null, box: TriedSandbox | string) {
  const agents = config === null ? [] : foreignAgents(config);
  if (config === null || agents.length === 0) return [];
  const { askForeign } = await import('../app/project/foreign-agents.ts');
  const ask = async ({ setup, option }: (typeof agents)[number]): Promise<Finding> => {
    const { name, by, command, hosts } = setup;
    if (!option.usable.yes) return problem(name, option.usable.because);
    const [program = ''] = command;
    const of = `${payerOf(config, setup)}; reaches ${hosts.join(', ') || 'no host'}`;
    if (by === 'terminal') {
      const version = (await foreignVersion(toolEnvironment(project.root), program)) ?? 'version not told';
      return fine(name, `${program} (${version}), in a terminal (tmux); ${of}`);
    }
    const asked = typeof box === 'string' ? fail(box) : await askForeign(project, config, box, setup);
    if (!asked.ok) return problem(name, `${program} cannot be used: ${asked.fault}`);
    return fine(name, `${program} ${asked.value}; ${of}`);
  };
  return Promise.all(agents.map(ask));
}

/** Its login folders, and the variables with keys that it gets. */
function payerOf({ places, secrets }: Loaded, { home, env }: ForeignSetup): string {
  const logins = home.filter((part) => existsSync(join(places.home, part))).map((part) => `~/${part}`);
  const keys = env.filter((key) => /KEY|TOKEN/.test(key) && secrets.some(({ name }) => name === key));
  const payers = [...(logins.length === 0 ? [] : [`its login in ${logins.join(' and ')}`]), ...keys];
  return payers.length === 0 ? 'no login folder was found' : `${payers.join(' or ')} pays`;
}

/** Only where a cluster is configured. */
export async function clusterFindings(config: Loaded | null): Promise<readonly Finding[]> {
  if (config?.preferences.cluster === undefined) return [];
  const { lookAtCluster } = await import('../app/cluster/index.ts');
  const { ok, words } = await lookAtCluster(config);
  return [(ok ? fine : problem)('cluster', words)];
}

/** Only if a rule limits days. Never creates a ledger. */
export function dayFindings({ places }: ProjectPlace, config: Loaded | null): readonly Finding[] {
  const rules = config?.rules;
  if (rules === undefined || (rules.dayBudget ?? rules.modelBudgets?.[0]) === undefined) return [];
  const most = rules.dayBudget?.value.maxCost;
  const limit = most === undefined ? '' : ` of ${formatLimit(most)}`;
  try {
    const { cost, tokens } = todayIn(places.state);
    return [fine('today', `${formatCost(cost)}${limit} and ${tokens} tokens used, by all runs`)];
  } catch (error) {
    if (error instanceof LogFault) return [problem('today', error.message)];
    throw error;
  }
}

function todayIn(stateDir: string): ReturnType<DayLedger['today']> {
  // A missing ledger is rebuilt from the logs, if there are any.
  if (!['days.db', 'projects'].some((name) => existsSync(join(stateDir, name)))) return { tokens: 0, cost: 0 };
  const ledger = openDayLedger(stateDir, () => world.now());
  try {
    return ledger.today();
  } finally {
    ledger.close();
  }
}

/** Folders and files of the state directory that other users could open; the directory itself is checked elsewhere. */
export function rightsFindings(project: ProjectPlace): readonly Finding[] {
  const own = ['projects', 'trust', 'days.db'].map((name) => join(project.places.state, name));
  const place = storeOf(project);
  return [...own, folderOf(place), databaseOf(place)].flatMap((path): readonly Finding[] => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (found.isSymbolicLink()) return [problem('state', `${path} is a symbolic link: remove it`)];
    if ((found.mode & 0o077) === 0) return [];
    const right = found.isDirectory() ? '700' : '600';
    return [problem('state', `${path}: others can open it: run chmod ${right} on it`)];
  });
}

/** One finding for each active run, or a single one if there is none. */
export async function runFindings(
  project: ProjectPlace,
  sessions: readonly SessionSummary[],
  io: Io,
): Promise<readonly Finding[]> {
  const living = sessions.filter(({ state }) => state === 'running');
  if (living.length === 0) return [fine('runs', 'no active run')];
  return Promise.all(living.map(({ session }) => reachedAt(project, session, io)));
}

async function reachedAt(project: ProjectPlace, session: SessionId, io: Io): Promise<Finding> {
  try {
    const reached = await patiently(io, session, reachRun(project, session));
    if (reached === null)
      return note(
        'runs',
        `${session} runs in a process that cannot be reached: end that process, then use mimir resume`,
      );
    reached.close();
    const [path = 'its socket'] = knownPaths(placeOf(project, session));
    return fine('runs', `${session} is active and listens at ${path} (this user only)`);
  } catch (error) {
    if (error instanceof ControlFault) return note('runs', error.message.replaceAll(/\n */g, '; '));
    throw error;
  }
}

/** A problem for each invalid preference, with its file and line. */
export async function screenFindings(
  project: ProjectPlace,
  { preferences: { ui, keys = {} }, values }: Loaded,
  trusted: boolean,
): Promise<readonly Finding[]> {
  const { ownKeyFaults } = await import('../ui/tui/shell/app-keys.ts');
  const at = (section: string): string => {
    const value = [...values].find(([path]) => path === section || path.startsWith(`${section}.`))?.[1];
    return value === undefined ? '' : `${reasonText(value.from)}: `;
  };
  const faults = ownKeyFaults(keys).map((fault) => `${at('keys')}${fault}`);
  const theme = ui?.theme ?? 'auto';
  const chosen = theme === 'auto' ? null : chosenTheme(project, trusted, theme);
  if (chosen?.ok === false) {
    const near = nearest(theme, namesOfThemes(project, trusted));
    faults.unshift(`${at('ui.theme')}${chosen.fault}${near === null ? '' : `; did you mean ${near}?`}`);
  }
  return faults.map((words) => problem('screen', words));
}

/** Empty without a sandbox: commands then use the machine directly. */
export async function toolchainFindings(
  { sandbox, paths }: TriedSandbox,
  place: LookPlace,
): Promise<readonly Finding[]> {
  if (sandbox.state.is === 'none') return [];
  const looks = await lookAtToolchains(sandbox, place, paths);
  if (looks.length === 0) return [note('toolchain', 'none found on the PATH')];
  return looks.map((look) => (look.version === null ? note : fine)('toolchain', toolchainWords(look, place.home)));
}

function toolchainWords({ name, version, said, packages, takesPackages }: ToolchainState, home: string): string {
  if (version === null) return `${name} does not start in the sandbox${said === '' ? '' : `: ${said.slice(0, 200)}`}`;
  const start = `${name} ${version} starts in the sandbox, offline`;
  if (!takesPackages) return start;
  const places = packages.map((place) => (place.startsWith(`${home}/`) ? `~${place.slice(home.length)}` : place));
  return places.length === 0
    ? `${start}; no packages on this machine`
    : `${start}, with the packages of ${places.join(', ')}`;
}

export async function cacheFindings(place: LookPlace, clear: boolean): Promise<readonly Finding[]> {
  const { folder, bytes, most, cleared } = await lookAtCaches(place, { clear });
  const size = bytes === null ? 'too many to count' : sizeText(bytes);
  if (cleared === false)
    return [problem('caches', `${folder} could not be emptied completely: remove ${folder}.gone.*`)];
  if (cleared === true) return [fine('caches', `emptied: ${size} removed`)];
  if (bytes === 0) return [fine('caches', 'no caches for this project')];
  const kept = `${size} of at most ${sizeText(most)} for commands of this project`;
  return [fine('caches', `${kept}, in ${folder}; mimir doctor --clear-caches empties it`)];
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `12 MiB` */
function sizeText(bytes: number): string {
  const step = bytes === 0 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** step;
  return `${value < 10 && step > 0 ? Number(value.toFixed(1)) : Math.round(value)} ${UNITS[step] ?? 'B'}`;
}
