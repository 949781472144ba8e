/** `mimir events`: prints the log of a session or the lifecycle of one agent, as lines or JSON; `--follow` waits until the end. */
import { agentSocketOf, seenOrExit, withSessionClient } from '../../app/client/index.ts';
import type { SharedLogs } from '../../app/cluster/index.ts';
import { type Arguments, EXIT, sanitise, type Io, exitOnFault, world } from '../../app/process/index.ts';
import { formatCost, formatTokens } from '../../app/views/index.ts';
import type { AgentId } from '../../domain/ids.ts';
import { type ByType, forType, logLine, type MimirEvent, sessionEvent } from '../../events/index.ts';
import type { Seen } from '../../ports/control.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { targetOf, usualSeen } from '../sessions/target.ts';
import { command, tell } from '../verb.ts';
import { firstLine } from '../../domain/text/text.ts';

/** How often a log that another process writes is read, in milliseconds. */
const LOOK_MS = 250;

export const eventsVerb = command('events', (args, io) => events(args, io));

async function events(args: Arguments, io: Io): Promise<number> {
  const [word] = args.words;
  if (args.has('cluster')) return eventsElsewhere(word, args, io);
  if (agentSocketOf(io) === null) {
    // A whole session is printed while it is read, since a long log must not be held in memory.
    if (await printedLog(word, args, io)) return EXIT.done;
  }
  return withSessionClient(args, io, async (client) => {
    if (word === undefined) await follow(await usualSeen(client), null, args, io);
    else {
      const { seen, record } = await targetOf(client, word);
      await follow(seen, record.agent, args, io);
    }
    return EXIT.done;
  });
}

/** Prints what the database of the cluster has of a run's log, or of all. */
async function eventsElsewhere(word: string | undefined, args: Arguments, io: Io): Promise<number> {
  const { configOf, projectOf, sharedSession } = await import('../../app/workspace/index.ts');
  const { openLogs } = await import('../../app/cluster/index.ts');
  const project = projectOf(args, io);
  const logs = await openLogs(
    { project, config: configOf(project, io, {}) },
    word === undefined ? null : sharedSession(word),
  );
  try {
    for (let isLast = false; !isLast; ) {
      isLast = !args.has('follow') || io.lost.aborted || (await logs.isOver());
      await printNew(logs, args, io);
      if (!isLast) await world.sleep(LOOK_MS, io.lost);
    }
    return EXIT.done;
  } finally {
    await logs.close();
  }
}

async function printNew({ next }: SharedLogs, args: Arguments, io: Io): Promise<void> {
  for (let some = await next(); some.length > 0; some = await next())
    for (const event of some) {
      sayEvent(event, args, io);
      await io.taken();
    }
}

/** Prints the log of the session whose id begins with `word` (default: the newest); false if there is none. The log is loaded here only, because an
 * agent's command cannot reach it. */
async function printedLog(word: string | undefined, args: Arguments, io: Io): Promise<boolean> {
  const { eventsOf, openReader, projectOf, sessionOf } = await import('../../app/workspace/index.ts');
  const reader = openReader(projectOf(args, io));
  const sessions = (): readonly SessionSummary[] => exitOnFault(() => reader.sessions());
  const all = sessions();
  if (word !== undefined && all.length > 0 && !all.some(({ session }) => session.startsWith(word))) return false;
  const { session } = sessionOf(reader, word);
  await followed(args, io, {
    isOver: async () => !sessions().some((one) => one.session === session && one.state === 'running'),
    each: async (after) => eventsOf(reader, session, after),
    print: (event) => sayEvent(event, args, io),
  });
  return true;
}

/** Prints the lifecycle of one agent until its end, or everything that the calling agent may see until its run ends. */
const follow = (seen: Seen, agent: AgentId | null, args: Arguments, io: Io): Promise<void> =>
  followed(args, io, {
    isOver: () => isOver(seen, agent),
    each: async (after) => seenOrExit(await seen.events(agent, after)),
    print: (event) => print(event, agent, args, io),
  });

interface Source {
  readonly isOver: () => Promise<boolean>;
  readonly each: (after: number) => Promise<Iterable<MimirEvent>>;
  readonly print: (event: MimirEvent) => void;
}

/** Prints the present events; with `--follow` also new ones, until the end. */
async function followed(args: Arguments, io: Io, source: Source): Promise<void> {
  for (let after = 0; ; ) {
    // Checked before reading, so that the last events are still printed.
    const goesOn = args.has('follow') && !io.lost.aborted && !(await source.isOver());
    for (const event of await source.each(after)) {
      source.print(event);
      await io.taken();
      after = event.seq;
    }
    if (!goesOn) return;
    await world.sleep(LOOK_MS, io.lost);
  }
}

async function isOver(seen: Seen, agent: AgentId | null): Promise<boolean> {
  const { state, sessions } = await seen.again();
  return state !== 'running' || sessions.some((one) => one.agent === agent && one.is_complete);
}

function print(event: MimirEvent, agent: AgentId | null, args: Arguments, io: Io): void {
  const told = agent === null ? null : sessionEvent(event, agent);
  if (agent === null) sayEvent(event, args, io);
  else if (told !== null)
    tell(args, io, told, [
      `${told.timestamp}  ${told.event_type.padEnd(10)}  ${sanitise(told.message).replaceAll('\n', ' ')}`,
    ]);
}

// One event per line, for a person or as JSON. Events that only change an agent card have texts here, so that no line is blank.

/** The widths of the longest usual type, `approval.requested`, and of the id of a grandchild. */
const [TYPE, WHO] = [18, 10];

function sayEvent(event: MimirEvent, args: Arguments, io: Io): void {
  if (args.has('json')) {
    io.json(event);
    return;
  }
  const who = 'agent' in event && event.agent !== null ? event.agent : '';
  const words = logLine(event, 0)?.text ?? forType(CARDS, event.type)?.(event) ?? '';
  const line = `${String(event.seq).padStart(5)}  ${event.time}  ${event.type.padEnd(TYPE)}  ${who.padEnd(WHO)}  `;
  io.say(`${line}${sanitise(words).replaceAll('\n', ' ')}`.trimEnd());
}

const CARDS: ByType<[], [], string> = {
  'agent.created': ({ task }) => task,
  'agent.status': ({ status, reason }) => (reason === '' ? status : `${status}: ${reason}`),
  'agent.told': ({ text }) => `told: ${firstLine(text)}`,
  'agent.environment': () => 'its environment block was gathered',
  'agent.message': ({ text }) => firstLine(text),
  'agent.todos': ({ todos }) => {
    const done = todos.filter(({ status }) => status === 'completed').length;
    return `${done} of ${todos.length} done`;
  },
  'model.started': ({ model, purpose }) => `asks ${model} (${purpose})`,
  'model.finished': ({ model, usage, cost, ms }) => {
    const read = usage.input + usage.cacheRead + usage.cacheWrite;
    return `${model} answered: ${formatTokens(read)} in, ${formatTokens(usage.output)} out, ${formatCost(cost)}, ${took(ms)}`;
  },
  'tool.finished': ({ tool, ms }) => `${tool}: done, ${took(ms)}`,
  'policy.decided': ({ decision, subject, rule }) => `${decision}: ${subject}: ${rule}`,
};

const took = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
