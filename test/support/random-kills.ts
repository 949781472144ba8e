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
import type { Ran, Running } from './cli.ts';
import { eventsIn, leftBehind } from './cut-spawns.ts';
import { brokenByRun } from './family-machine-promises.ts';
import { brokenBy } from './invariants.ts';
import type { RunSessions, Member, Members } from './shell-family.ts';
import { openFamily } from './shell-family.ts';

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
/** About as many events as there are of a run that nobody kills. */
const EVENTS = 120;

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

/** A letter, written when so much of what is left of a run has happened (of 1000 parts). */
interface Wish {
  readonly at: number;
  readonly to: string;
  readonly text: string;
  readonly how: string;
}

/** One process that carries the run, until it is killed. */
interface Life {
  readonly letters: readonly Wish[];
  readonly at: number;
  /** Milliseconds after that: the moment of a kill is any, not just that of an event. */
  readonly ms: number;
  /** When it is dead. */
  readonly afterwards: readonly Wish[];
}

function livesBy(seed: number): readonly Life[] {
  const random = numbersBy(seed);
  const many = <T>(count: number, one: (n: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, n) => one(n));
  const wish = (n: number): Wish => ({
    at: random(1000),
    to: READERS[random(READERS.length)] ?? ROOT,
    text: `letter ${n} ${random(1_000_000)}`,
    how: random(2) === 0 ? '--sequential' : '--important',
  });
  return many(1 + random(3), () => ({
    letters: many(random(3), wish),
    at: random(1000),
    ms: random(40),
    afterwards: many(random(2), wish),
  }));
}

interface StoredMessage {
  readonly to: string;
  readonly text: string;
  /** A person was told that it is there. */
  readonly accepted: boolean;
}

const eventsOf = ({ home }: RunSessions): readonly MimirEvent[] =>
  existsSync(home.state) ? eventsIn({ stateDir: home.state, project: home.project }) : [];

/** Kills, writes and goes on with a run as the seed says; which promises were broken, and how many kills there were. */
export async function brokenBySeed(
  seed: number,
): Promise<{ readonly broken: readonly string[]; readonly kills: number }> {
  const family = await openFamily(MEMBERS);
  const letters: StoredMessage[] = [];
  const broken: string[] = [];
  let kills = 0;
  for (const life of livesBy(seed)) {
    const { signal } = await lived(family, life, letters);
    kills += signal === null ? 0 : 1;
    broken.push(...(await leftBehind(family.home.root)).map((line) => `left behind: ${line}`));
    for (const wish of life.afterwards) letters.push(await written(family, wish));
    if (isWhole(eventsOf(family), letters)) break;
  }
  for (let more = 0; more < 3 && !isWhole(eventsOf(family), letters); more += 1) {
    const { code, err } = await family.home.run(resumed(eventsOf(family)), { env: family.env });
    if (code !== 0) broken.push(`resume ended with ${code}: ${err}`);
  }
  broken.push(...brokenInTheEnd(family, eventsOf(family), letters));
  return { broken: broken.map((words) => `seed ${seed}: ${words}`), kills };
}

const resumed = (events: readonly MimirEvent[]): readonly string[] => [
  'resume',
  events[0]?.session ?? '',
  '--yes',
  '--json',
];

/** Runs it to a moment of its life, or to its end; whoever writes to it meanwhile has ended as well. */
async function lived(family: RunSessions, life: Life, letters: StoredMessage[]): Promise<Ran> {
  // A resumed run prints first what there was before.
  const before = eventsOf(family);
  const argv = before.length === 0 ? ['run', 'Work as a family', '--yes', '--mode', 'yolo', '--json'] : resumed(before);
  const running = family.home.start(argv, { env: family.env });
  const left = Math.max(EVENTS - before.length, 20);
  const come = (at: number): Promise<boolean> => printed(running, before.length + 1 + Math.floor((at * left) / 1000));
  const writing = life.letters.map(async (wish) => {
    if (await come(wish.at)) letters.push(await written(family, wish));
  });
  if (await come(life.at)) {
    await new Promise((resolve) => void setTimeout(resolve, life.ms));
    running.child.kill('SIGKILL');
  }
  const ran = await running.ended;
  await Promise.all(writing);
  return ran;
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

async function written(family: RunSessions, { to, text, how }: Wish): Promise<StoredMessage> {
  const session = eventsOf(family)[0]?.session ?? '';
  const { code } = await family.home.run(['send', `${session}/${to}`, text, how], { env: family.env });
  return { to, text, accepted: code === 0 };
}

const sentOf = (events: readonly MimirEvent[], { text }: StoredMessage) =>
  events.flatMap((event) => (event.type === 'message.sent' && event.content === text ? [event] : []));

/** Has it come to its end, and read what it was sent? */
function isWhole(events: readonly MimirEvent[], letters: readonly StoredMessage[]): boolean {
  const end = events.at(-1);
  if (end?.type !== 'session.finished' || end.status !== 'completed') return false;
  return letters.every((letter) => !letter.accepted || sentOf(events, letter).length > 0);
}

function brokenInTheEnd(
  { home }: RunSessions,
  events: readonly MimirEvent[],
  letters: readonly StoredMessage[],
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
