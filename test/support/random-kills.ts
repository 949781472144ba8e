/**
 * A run of the real program with children of every kind, killed with `kill -9` at moments that a seed chooses, written to by a person
 * at others, and gone on with until it is whole. What must hold afterwards is one list of broken promises.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { isFinal } from '../../src/events/queries.ts';
import { brokenByChildren } from './children-promises.ts';
import type { Running } from './cli.ts';
import { eventsIn, processesOf } from './cut-spawns.ts';
import { brokenByRun } from './family-machine-promises.ts';
import { brokenBy } from './invariants.ts';
import type { Family, Member, Members } from './shell-family.ts';
import { openFamily } from './shell-family.ts';
import { until } from './until.ts';

const spawning = (name: string, flags = ''): string =>
  `mimir spawn code "[${name}] Work." --name ${name} ${flags} && echo ${name} >> said`;
const working = (name: string): Member => ({
  commands: [`echo ${name} >> effects`, 'ls'],
  answer: `What ${name} was to do is done.`,
});
const ofTask = { description: 'help', prompt: '[helper] Work.', subagent_type: 'code' };

const LEADS: Members = {
  one: {
    planned: { maySpawn: true },
    commands: [spawning('first', '--wait 3600'), spawning('second', '--wait 3600'), { tool: 'Task', input: ofTask }],
    answer: 'One knows.',
  },
  two: { planned: { maySpawn: true }, commands: [spawning('third'), 'echo two >> effects'], answer: 'Two knows.' },
};
const WORKERS = ['first', 'second', 'third', 'helper'];
const MEMBERS: Members = { ...LEADS, ...Object.fromEntries(WORKERS.map((name) => [name, working(name)])) };
/** Whom a person writes to. */
const READERS = ['ROOT::S1', 'ROOT::S2', 'ROOT::S1::S1', 'ROOT::S2::S1'];
const SESSION = 'random-kills';
/** About as many lines as a run prints that nobody kills. */
const LINES = 110;

/** Numbers from 0 to below `most`, the same for the same seed. */
function numbersBy(seed: number): (most: number) => number {
  let state = seed >>> 0;
  return (most) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

interface Letter {
  readonly to: string;
  readonly text: string;
  /** A person was told that it is there. */
  readonly accepted: boolean;
}

/** Kills, writes and goes on with a run as the seed says; which promises were broken. */
export async function brokenBySeed(seed: number): Promise<readonly string[]> {
  const family = await openFamily(MEMBERS);
  const random = numbersBy(seed);
  const letters: Letter[] = [];
  const broken: string[] = [];
  const events = (): readonly MimirEvent[] => eventsIn({ stateDir: family.home.state, project: family.home.project });
  const flags = ['--yes', '--mode', 'yolo', '--json'];
  let argv: readonly string[] = ['run', 'Work as a family', ...flags, '--hosted', SESSION];
  for (let life = 0, lives = 1 + random(3); life < lives; life += 1) {
    await lived(family, argv, random, letters);
    await until(() => processesOf(family.home.root).length === 0).catch(() => undefined);
    broken.push(...processesOf(family.home.root).map((line) => `left behind by life ${life}: ${line}`));
    if (random(2) === 0) letters.push(await letterOf(family, random, letters.length));
    argv = ['resume', SESSION, '--yes', '--json'];
  }
  for (let more = 0; more < 3 && !isWhole(events(), letters); more += 1) {
    const { code, err } = await family.home.run(argv, { env: family.env });
    if (code !== 0) broken.push(`resume ended with ${code}: ${err}`);
  }
  broken.push(...brokenInTheEnd(family, events(), letters));
  return broken.map((words) => `seed ${seed}: ${words}`);
}

/** Runs it to a moment of its life, or to its end; letters are sent on the way, and those that write them have ended. */
async function lived(
  family: Family,
  argv: readonly string[],
  random: (most: number) => number,
  letters: Letter[],
): Promise<void> {
  // A resumed run prints first what there was before.
  const before =
    argv[0] === 'resume' ? eventsIn({ stateDir: family.home.state, project: family.home.project }).length : 0;
  const running = family.home.start(argv, { env: family.env });
  const writing = Array.from({ length: random(3) }, async () => {
    const at = before + 1 + random(LINES);
    if (await printed(running, at)) letters.push(await letterOf(family, random, letters.length));
  });
  if (await printed(running, before + 1 + random(LINES))) {
    // The moment of a kill is any, not just that of a line.
    await new Promise((resolve) => void setTimeout(resolve, random(40)));
    running.child.kill('SIGKILL');
  }
  await running.ended;
  await Promise.all(writing);
}

/** Resolves when it has printed so many lines; false: it ended before. */
function printed(running: Running, lines: number): Promise<boolean> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (running.out().split('\n').length > lines) resolve(true);
    };
    running.child.stdout.on('data', look);
    look();
    void running.ended.then(() => resolve(false));
  });
}

async function letterOf({ home, env }: Family, random: (most: number) => number, number: number): Promise<Letter> {
  const to = READERS[random(READERS.length)] ?? ROOT;
  const text = `letter ${number} ${random(1_000_000)}`;
  const how = random(2) === 0 ? '--sequential' : '--important';
  const { code } = await home.run(['send', `${SESSION}/${to}`, text, how], { env });
  return { to, text, accepted: code === 0 };
}

const sentOf = (events: readonly MimirEvent[], { text }: Letter) =>
  events.flatMap((event) => (event.type === 'message.sent' && event.content === text ? [event] : []));

/** Has it come to its end, and read what it was sent? */
function isWhole(events: readonly MimirEvent[], letters: readonly Letter[]): boolean {
  const end = events.at(-1);
  if (end?.type !== 'session.finished' || end.status !== 'completed') return false;
  return letters.every((letter) => !letter.accepted || sentOf(events, letter).length > 0);
}

function brokenInTheEnd(
  { home }: Family,
  events: readonly MimirEvent[],
  letters: readonly Letter[],
): readonly string[] {
  const linesOf = (file: string): readonly string[] =>
    existsSync(join(home.project, file)) ? readFileSync(join(home.project, file), 'utf8').split('\n') : [];
  const count = (lines: readonly string[], name: string): number => lines.filter((line) => line === name).length;
  const [said, effects] = [linesOf('said'), linesOf('effects')];
  const named = (name: string): readonly MimirEvent[] =>
    events.filter((event) => event.type === 'agent.created' && event.task.startsWith(`[${name}]`));
  const state = foldAll(events);
  const cut = events.some((event) => event.type === 'tool.finished' && !event.ok);
  return [
    ...(isWhole(events, letters) ? [] : ['it does not come to its end']),
    ...brokenByChildren(events, true),
    ...brokenByRun(events),
    ...brokenBy(events),
    ...[...state.agents.values()].flatMap((one) => (isFinal(one) ? [] : [`${one.id} has no end`])),
    ...WORKERS.flatMap((name) => {
      const made = named(name).length;
      const [told, done] = [count(said, name), count(effects, name)];
      const problems: readonly (readonly [boolean, string])[] = [
        [made > 1, `${made} children ${name} were made`],
        [told > made, `${name} was acknowledged ${told} times and made ${made} times`],
        [done > made, `${name} did ${done} times what it is to do once`],
        [
          !cut && (made !== 1 || done !== 1),
          `${name} was made ${made} times, did it ${done} times, and nothing was cut off`,
        ],
      ];
      return problems.flatMap(([is, words]) => (is ? [words] : []));
    }),
    ...letters.flatMap((letter) => {
      const sent = sentOf(events, letter);
      const read = sent.filter(({ seq }) => state.messages.find((one) => one.seq === seq)?.delivered === true).length;
      if (sent.length > 1) return [`${letter.text} for ${letter.to} was handed over ${sent.length} times`];
      return letter.accepted && read !== 1
        ? [`${letter.text} for ${letter.to} was lost: sent ${sent.length}, read ${read}`]
        : [];
    }),
    ...paidTwice(events),
  ];
}

/** A call of a model ends once, so that nothing is paid for twice. */
function paidTwice(events: readonly MimirEvent[]): readonly string[] {
  const ended = new Set<string>();
  return events.flatMap((event) => {
    if (event.type !== 'model.finished' && event.type !== 'model.failed') return [];
    const again = ended.has(event.call);
    ended.add(event.call);
    return again ? [`${event.seq}: the call ${event.call} was paid for twice`] : [];
  });
}
