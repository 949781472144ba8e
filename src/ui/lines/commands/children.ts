/** Commands on children in lines: spawn one, say whose they are and where they stand, and what one of them does right now. */
import { agentTime } from '../../../app/views/run-time.ts';
import { isBelow, ROOT, type AgentId } from '../../../domain/ids.ts';
import { type Result, fail, ok } from '../../../domain/result.ts';
import { SpawnWish } from '../../../domain/agents/spawn.ts';
import { activityOf, isFinal, tokensOfAgent } from '../../../events/queries.ts';
import type { AgentState, Block, RunState } from '../../../events/state.ts';
import { inOrder, whoSpawned } from '../../../app/views/agents/agent-lines.ts';
import { formatDuration, formatTokens } from '../../../app/views/text/format.ts';
import { isolationWords } from '../../../app/views/agents/isolation.ts';
import { toLabel } from '../../../app/views/text/sanitise.ts';
import { firstLine, firstSaid, numbered, standing } from '../words/agents.ts';
import { type LineCommand, type LineDesk, type Place, sayLong } from '../command.ts';
import { agentFor } from './look.ts';

const RUN: readonly Place[] = ['run'];
const BEGUN: readonly Place[] = ['run', 'result'];

export const CHILD_COMMANDS: readonly LineCommand[] = [
  {
    name: 'spawn',
    short: [],
    arguments: '[under N] [ROLE] "TEXT" [name NAME] [model MODEL] [wait SECONDS]',
    help: 'Spawns a child of main, or of agent N, that works on its own; with wait its parent is woken when it has ended, or was idle so long.',
    where: RUN,
    actions: ['run.spawn', 'run.spawnBelow'],
    run: spawn,
  },
  {
    name: 'children',
    short: [],
    arguments: '[N]',
    help: 'Lists the children of main, or of agent N, and all below them: where each stands, and who spawned it.',
    where: BEGUN,
    actions: [],
    run: sayChildren,
  },
  {
    name: 'what',
    short: [],
    arguments: 'N [deep]',
    help: 'Says what agent N does right now and when it did something last; deep adds its last tools, tokens and time.',
    where: BEGUN,
    actions: [],
    run: sayWhat,
  },
];

async function spawn(typed: string, desk: LineDesk): Promise<void> {
  const { under, rest } = underIn(typed);
  const parent = agentFor(desk, under);
  if (parent === null) return;
  const read = wishIn(rest);
  if (!read.ok) return desk.refuse(read.fault);
  const prompt = await promptOf(read.value, desk);
  if (prompt === '') return desk.say('Nothing spawned.');
  const wish = SpawnWish.safeParse({ ...read.value, prompt });
  if (!wish.success) return desk.refuse(wish.error.issues[0]?.message ?? 'that can’t be spawned');
  await desk.submit({ do: 'spawn', parent: parent.id, wish: wish.data });
}

async function promptOf({ prompt }: SpawnWish, desk: LineDesk): Promise<string> {
  return prompt === '' ? ((await desk.ask(PROMPT)) ?? '').trim() : prompt;
}

const PROMPT = 'What is it to do? (Enter spawns nothing): ';

function underIn(typed: string): { readonly under: string; readonly rest: string } {
  const [, under, rest = ''] = /^under\s+(\S+)\s*([^]*)$/.exec(typed.trim()) ?? [];
  return under === undefined ? { under: ROOT, rest: typed.trim() } : { under, rest };
}

/** Without quotes all of it is the prompt; with them the word before is the role, and what is behind says more. */
function wishIn(typed: string): Result<SpawnWish, string> {
  const [, role = null, prompt = typed, behind = ''] = /^(?:([^\s"]+)\s+)?"([^"]*)"\s*([^]*)$/.exec(typed) ?? [];
  const more = moreIn(behind);
  if (!more.ok) return more;
  const { name, model, wait } = more.value;
  if (wait !== null && !/^\d+$/.test(wait)) return fail(`"${wait}" is no number of seconds`);
  const seconds = wait === null ? null : Number(wait);
  return ok({ prompt: prompt.trim(), role, model, name: nameOf(name, role), wait: seconds, workingDir: null });
}

/** As `mimir spawn ROLE --name` calls it. */
const nameOf = (name: string | null, role: string | null): string | null =>
  name === null || role === null ? name : `${role.toLowerCase()}-${name}`;

type More = Readonly<Record<'name' | 'model' | 'wait', string | null>>;

/** `name cache wait 600`, with or without the signs of a flag. */
function moreIn(typed: string): Result<More, string> {
  const left = typed.replaceAll(/(?:--)?\b(?:name|model|wait)\s+(?:"[^"]*"|\S+)/g, '').trim();
  if (left !== '') return fail(`"${left}" says nothing behind the prompt: name NAME, model MODEL, wait SECONDS`);
  return ok({ name: valueIn(typed, 'name'), model: valueIn(typed, 'model'), wait: valueIn(typed, 'wait') });
}

const valueIn = (typed: string, key: string): string | null =>
  new RegExp(`\\b${key}\\s+("[^"]*"|\\S+)`).exec(typed)?.[1]?.replaceAll('"', '') ?? null;

function sayChildren(typed: string, desk: LineDesk): void {
  const { state } = desk;
  const top = typed.trim() === '' ? state.agents.get(ROOT) : agentFor(desk, typed.trim());
  if (top === null) return;
  const below = top === undefined ? [] : inOrder(state).filter(({ id }) => isBelow(id, top.id));
  if (top === undefined || below.length === 0) return desk.say(`${top?.name ?? 'main'} has no children.`);
  const depth = (id: AgentId): number => id.split('::').length - top.id.split('::').length - 1;
  sayLong(
    desk,
    below.map((child) => `${'  '.repeat(depth(child.id))}${childLine(child, state, desk.now())}`),
  );
}

/** `2.1 explore-evictions, running, 2m 30s, spawned by engineer-cache: In progress`. */
function childLine(child: AgentState, state: RunState, now: number): string {
  const parts = [
    `${numbered(child)} (${child.id})`,
    standing(state, child, now),
    ...(child.firstRunAt === null ? [] : [formatDuration(agentTime(child, state, now))]),
    ...(child.spawned === null ? [] : [`spawned by ${whoSpawned(child.spawned, state)}`]),
    ...adopted(child, state),
  ];
  return `${parts.join(', ')}: ${comeTo(child)}`;
}

/** What it has come to; of one that has not begun, what it is to do. */
function comeTo(child: AgentState): string {
  if (child.outcome === null && child.status !== 'pending') return 'In progress';
  return firstSaid(child.summary) || firstLine(child.task);
}

/** Who hears of it where that is not its parent. */
function adopted({ owner, parent, outcome }: AgentState, { agents }: RunState): readonly string[] {
  if (owner === parent || outcome !== null) return [];
  return [owner === null ? 'nobody is told of it' : `adopted by ${agents.get(owner)?.name ?? owner}`];
}

function sayWhat(typed: string, desk: LineDesk): void {
  const [which = '', how = ''] = typed.trim().split(/\s+/);
  if (how !== '' && how !== 'deep' && how !== '--deep')
    return desk.refuse(`"${how}" says nothing here: deep, or nothing`);
  const agent = agentFor(desk, which);
  if (agent === null) return;
  const now = desk.now();
  const current = isFinal(agent) ? firstSaid(agent.summary) : toLabel(activityOf(agent));
  desk.say(
    `${numbered(agent)} (${agent.id}) ${standing(desk.state, agent, now)}${current === '' ? '' : `: ${current}`}`,
    `Last activity ${formatDuration(Math.max(0, now - agent.lastAt))} ago`,
    ...(how === '' ? [] : deepLines(agent, desk.state, now)),
  );
}

const RECENT = 5;

/** Recent tools with their targets, tokens, elapsed time. */
function deepLines(agent: AgentState, state: RunState, now: number): readonly string[] {
  const tools = agent.blocks.filter((block) => block.is === 'tool').slice(-RECENT);
  const isolation = isolationWords(agent, state);
  return [
    `Recent tools:${tools.length === 0 ? ' none' : ''}`,
    ...tools.map((block) => `- ${toLabel(block.label)} (${toolWord(block)})`),
    `Tokens used: about ${formatTokens(tokensOfAgent(agent))}`,
    `Elapsed: ${formatDuration(agentTime(agent, state, now))}`,
    ...(isolation === null ? [] : [`Isolation: ${isolation}`]),
  ];
}

const toolWord = ({ ok }: Extract<Block, { readonly is: 'tool' }>): string =>
  ok === null ? 'runs' : ok ? 'done' : 'failed';
