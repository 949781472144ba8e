/**
 * A lead that spawns a worker by its shell, waits for it and looks at it, in a run of the real program that is killed at one point and
 * gone on with. What must hold afterwards is one list of broken promises, whatever the point was.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SessionId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { openLogReadOnly } from '../../src/store/log.ts';
import { brokenByChildren } from './children-promises.ts';
import type { Ran } from './cli.ts';
import { jsonLines } from './cli.ts';
import type { RunSessions, Members } from './shell-family.ts';
import { openFamily } from './shell-family.ts';
import { until } from './until.ts';

const CUT = pathToFileURL(join(import.meta.dirname, 'cut-child.ts')).href;

/** The environment that ends a process at a point of `cut-child.ts`. */
export const cutAt = (where: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${CUT}`,
  MIMIR_TEST_CUT: where,
});

const LEAD = 'ROOT::S1';
export const WORKER = 'ROOT::S1::S1';

const STORY: Members = {
  lead: {
    planned: { maySpawn: true },
    commands: [
      'mimir spawn code "[worker] Work." --name worker --wait 60 && echo acknowledged >> said',
      null,
      'mimir children --json >> looked',
    ],
    answer: 'The lead knows.',
  },
  worker: { commands: ['echo ran >> effects'], answer: 'It is done.' },
};

/** One at a time, so that every run is the same, and the worker waits for its slot. */
const ONE_AT_A_TIME = 'agentOrchestration: { maxParallelAgents: 1 }\n';

interface Story {
  readonly family: RunSessions;
  /** The run, killed at this point; to its end where it never comes there. */
  cut(where: string): Promise<Ran>;
  /** Goes on with it. */
  resumed(): Promise<Ran>;
  events(): readonly MimirEvent[];
  /** Agents that `mimir children` and `mimir status` know of, each with its status. */
  told(): Promise<{ readonly children: readonly (readonly unknown[])[]; readonly status: Ran }>;
}

async function openStory(): Promise<Story> {
  const family = await openFamily(STORY, { config: ONE_AT_A_TIME });
  const { home, env } = family;
  const place = { stateDir: home.state, project: home.project };
  const session = (): SessionId => {
    const log = openLogReadOnly(place);
    try {
      return log.sessions()[0]?.session ?? SessionId.parse('none');
    } finally {
      log.close();
    }
  };
  return {
    family,
    cut: (where) =>
      home.run(['run', 'Work as a family', '--yes', '--mode', 'yolo', '--json'], { env: { ...env, ...cutAt(where) } }),
    resumed: () => home.run(['resume', session(), '--yes', '--json'], { env }),
    events: () => eventsIn(place),
    async told() {
      const [all, status] = await Promise.all([
        home.run(['children', `${session()}/ROOT`, '--recursive', '--status', 'all', '--json']),
        home.run(['status', `${session()}/ROOT`]),
      ]);
      if (all.code !== 0) return { children: [[all.err]], status };
      const [array = ''] = all.out.split('\n');
      const children = jsonLines(array.slice(1, -1).replaceAll('},{', '}\n{'));
      return { children: children.map((one) => [one['agent'], one['status']]), status };
    },
  };
}

/** Events of the one session that there is. */
export function eventsIn(place: { readonly stateDir: string; readonly project: string }): readonly MimirEvent[] {
  const log = openLogReadOnly(place);
  try {
    return log.sessions().flatMap(({ session }) => log.read(session));
  } finally {
    log.close();
  }
}

const linesOf = (file: string): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);

/** Kills the run there, looks, goes on with it, and says which promises were broken; `at` begins each. */
export async function brokenAt(where: string): Promise<{ readonly broken: readonly string[]; readonly came: boolean }> {
  const story = await openStory();
  const { home } = story.family;
  const ran = await story.cut(where);
  const came = ran.signal === 'SIGKILL';
  const broken: string[] = [];
  const promise = (held: boolean, words: string): void => void (held || broken.push(`${where}: ${words}`));

  const left = await leftBehind(home.root);
  promise(left.length === 0, `left behind: ${left.join(', ')}`);
  if (!came) return { broken: [...broken, ...(ran.code === 0 ? [] : [`${where}: ${ran.err}`])], came };

  const before = story.events();
  // Nothing has happened yet, or all has.
  if (before.length === 0 || before.at(-1)?.type === 'session.finished') return { broken, came };
  const acknowledged = linesOf(join(home.project, 'said')) > 0;
  const made = before.some((event) => event.type === 'agent.created' && event.agent === WORKER);
  promise(!acknowledged || made, 'a child was acknowledged that was not recorded');
  broken.push(...(await untold(story, before)).map((words) => `${where}: ${words}`));

  const resumed = await story.resumed();
  promise(resumed.code === 0, `resume ended with ${resumed.code}: ${resumed.err}`);
  broken.push(...brokenByChildren(story.events(), true).map((words) => `${where}: ${words}`));
  broken.push(...brokenInTheEnd(story).map((words) => `${where}: ${words}`));
  const last = processesOf(home.root);
  promise(last.length === 0, `left behind at the end: ${last.join(', ')}`);
  return { broken, came };
}

/** What verbs say of the dead run, against its log. */
async function untold(story: Story, before: readonly MimirEvent[]): Promise<readonly string[]> {
  const agents = before.flatMap((event) =>
    event.type === 'agent.created' && event.parent !== null ? [event.agent] : [],
  );
  const ends = new Map(
    before.flatMap((event) => (event.type === 'agent.finished' ? [[event.agent, event.outcome]] : [])),
  );
  const truth = agents.map((agent) => [agent, ends.get(agent) ?? 'abandoned']);
  const { children, status } = await story.told();
  const same = JSON.stringify(children) === JSON.stringify(truth);
  return [
    ...(same ? [] : [`children said ${JSON.stringify(children)}, and it is ${JSON.stringify(truth)}`]),
    ...(status.code === 0 ? [] : [`status ended with ${status.code}: ${status.err}`]),
  ];
}

/** After the end: who was made ended once, what was told was told once, what was done was done once. */
function brokenInTheEnd(story: Story): readonly string[] {
  const { family } = story;
  const events = story.events();
  const made = events.filter((event) => event.type === 'agent.created' && event.agent === WORKER).length;
  const ended = events.filter((event) => event.type === 'agent.finished' && event.agent === WORKER).length;
  // A command that was cut off may have come to its effect or not; it is never begun again.
  const isCutOff = (agent: string): boolean =>
    events.some((event) => event.type === 'tool.finished' && event.agent === agent && !event.ok);
  const effects = linesOf(join(family.home.project, 'effects'));
  const last = family.asked.findLast(({ first }) => first.startsWith('[lead]'))?.raw ?? '';
  const heard = last.split('Child code-worker completed').length - 1;
  // It looks when it is told behind its second turn; what it reads is told on the socket of a process that took over a dead one's.
  const looks = events.filter((event) => event.type === 'tool.started' && event.label.startsWith('mimir children'));
  const looked = linesOf(join(family.home.project, 'looked'));
  const held: readonly (readonly [boolean, string])[] = [
    [made <= 1, `${made} children were made`],
    [ended === made, `of ${made} children ${ended} ended`],
    [effects === made || (effects < made && isCutOff(WORKER)), `${effects} effects of ${made} children`],
    [heard === made, `the lead heard ${heard} times of ${made} children`],
    [looked === looks.length || isCutOff(LEAD), `the lead looked ${looks.length} times and saw ${looked}`],
  ];
  return held.flatMap(([is, words]) => (is ? [] : [words]));
}

/**
 * What a killed process has left running, once what ends with it had its time to. A sandbox whose outer process was killed while it was
 * set up waits for ever and has run nothing; it is for the next process of Mimir to end.
 */
export async function leftBehind(folder: string): Promise<readonly string[]> {
  const left = (): readonly string[] => processesOf(folder).filter((line) => !isSettingUp(line.split(' ')[0] ?? ''));
  await until(() => left().length === 0).catch(() => undefined);
  return left();
}

const isSettingUp = (pid: string): boolean =>
  read(() => readFileSync(`/proc/${pid}/comm`, 'utf8')) === 'bwrap\n' &&
  read(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) === '';

/** Processes that have to do with a folder: by their words, or by where they are. */
export function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const words = read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
      const place = read(() => readlinkSync(`/proc/${pid}/cwd`));
      return words.includes(folder) || place.startsWith(folder) ? [`${pid} ${words.slice(0, 200)}`] : [];
    });
}

function read(how: () => string): string {
  try {
    return how();
  } catch {
    return '';
  }
}
