/**
 * Who may do what, whole: each role, each tool, each depth, each mode, with a sandbox and without, with a person and without. The
 * engine and its gate decide, on the real roles and tools; what must come out is derived anew from two tables.
 */
import { toolsFor } from '../../src/domain/agents/tool-facts.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AgentId, depthOf, ROOT } from '../../src/domain/ids.ts';
import type { Mode } from '../../src/domain/reason.ts';
import { scriptedModel } from '../support/scripted.ts';
import { ALIASES } from '../../src/policy/models.ts';
import type { RunState } from '../../src/events/state.ts';
import type { Rules } from '../../src/policy/rules.ts';
import type { ToolPort } from '../../src/ports/tool.ts';
import { openTools } from '../../src/tools/index.ts';
import { loaded } from '../config/some-place.ts';
import { ask, rulesWith } from '../support/children.ts';
import { freshFolder } from '../support/folder.ts';
import { idleRun, say, waits, wish } from '../support/idle.ts';
import { RULES, type TestRun } from '../support/run.ts';

const DEEPEST = 3;

/** Capabilities of roles, and one of somebody's own. A shell where nothing is written is a read-only box. */
const ROLES: Readonly<Record<string, string>> = {
  main: 'read write shell git-read git-write',
  finder: 'read git-read',
  oracle: 'read write shell git-read',
  librarian: 'read',
  refactoring: 'read write shell',
  rush: 'read shell git-read',
  reviewer: 'read git-read',
  security: 'read git-read',
  tester: 'read write shell git-read',
  explore: 'read shell',
  plan: 'read shell',
  code: 'read write shell git-read',
  deploy: 'read shell',
};
/** All but the root of the run. */
const SPAWNED = Object.keys(ROLES).filter((role) => role !== 'main');
const DEPLOY = '---\ndescription: Deploys.\ntools: [Read, Bash]\n---\nYou deploy.\n';

const TOOLS: Readonly<Record<string, string>> = {
  read_file: 'read',
  list_files: 'read',
  search: 'read',
  edit_file: 'write',
  write_file: 'write',
  bash: 'shell',
  git: 'git-read',
  git_commit: 'git-write',
  Task: 'spawn',
  'mimir spawn': 'spawn',
};

/** Human, confirm, yolo. */
const ACTIONS: Readonly<Record<string, readonly [string, string, string]>> = {
  read: ['asks', 'runs', 'runs'],
  'git-read': ['asks', 'runs', 'runs'],
  write: ['asks', 'asks', 'runs'],
  shell: ['asks', 'asks', 'runs'],
  'git-write': ['asks', 'asks', 'runs'],
  spawn: ['asks', 'asks', 'runs'],
};

interface Ground {
  readonly mode: Mode;
  readonly boxed: boolean;
  readonly person: boolean;
}

/** What the tables say. */
function expected(role: string, tool: string, depth: number, ground: Ground): string {
  const can = (ROLES[role] ?? '').split(' ');
  const action = TOOLS[tool] ?? '';
  // It is handed down, as far as there is room below.
  if (action === 'spawn' && depth < DEEPEST) return spawning(tool, ground);
  if (!can.includes(action)) return tool === 'mimir spawn' ? 'denied' : 'not found';
  return action === 'shell' && !ground.boxed ? unsandboxedCommand(can, ground) : inMode(action, ground);
}

/** A child by the shell is an explorer here, which only reads. */
const spawning = (tool: string, ground: Ground): string =>
  tool === 'mimir spawn' && ground.mode === 'confirm' ? 'runs' : inMode('spawn', ground);

const unsandboxedCommand = (can: readonly string[], ground: Ground): string =>
  ground.mode === 'yolo' || !can.includes('write') ? 'denied' : inMode('shell', ground);

function inMode(action: string, { mode, person }: Ground): string {
  const [human, confirm, yolo] = ACTIONS[action] ?? ['', '', ''];
  const said = { human, confirm, yolo }[mode];
  return said === 'asks' && !person ? 'denied' : said;
}

const row = (role: string, depth: number, { mode, boxed, person }: Ground, does: (tool: string) => string): string => {
  const cells = Object.keys(TOOLS).map((tool) => `${tool} ${does(tool)}`);
  return `${role} at ${depth}, ${mode}, ${boxed ? 'boxed' : 'no box'}, ${person ? 'person' : 'nobody'}: ${cells.join(', ')}`;
};

/** The real tools by name, capability and repetition; what they would do is not the question. */
function quietTools(boxed: boolean): ToolPort {
  const real = openTools({ root: freshFolder(), home: '/nowhere/home', stateDir: freshFolder() });
  if (!real.ok) throw new Error(real.fault);
  const tools = real.value.tools.map(({ name, description, capability, repeat }) => ({
    name,
    description,
    capability,
    repeat,
    input: z.strictObject({}),
    label: () => (name === 'bash' ? 'make all' : name),
    run: () => Promise.resolve({ ok: true, text: 'did it' }),
  }));
  return { tools, sandbox: boxed ? { is: 'bubblewrap' } : { is: 'none', because: 'a test' } };
}

const rules: Rules = rulesWith(
  { maxPerParent: { ...RULES.maxAgentsPerRun, value: 1000 } },
  {
    maxNestingDepth: { ...RULES.maxNestingDepth, value: DEEPEST },
    maxAgentsPerRun: { ...RULES.maxAgentsPerRun, value: 1000 },
    maxParallelAgents: { ...RULES.maxParallelAgents, value: 1000 },
  },
);

/** Every role at every depth tries every tool once, and spawns as its shell would; how each call went, a line an agent. */
async function tried(ground: Ground): Promise<readonly string[]> {
  const { mode, boxed, person } = ground;
  const { roles, prompts } = loaded({ files: { '.config/mimir/agents/deploy.md': DEPLOY } });
  const spawns = new Map<AgentId, string>();
  const made: { run: TestRun | null } = { run: null };
  const act = async (run: TestRun, agent: AgentId): Promise<void> => {
    const role = run.view.state().agents.get(agent)?.role ?? '';
    const below = { do: 'spawn', parent: agent, wish: wish('try', { role }) } as const;
    if (agent !== ROOT && depthOf(agent) < DEEPEST) await ask(run, below);
    const asked = await ask(run, { ...below, wish: wish('rest', { role: 'explore' }) }, agent);
    spawns.set(agent, asked.ok ? 'runs' : asked.fault.text.startsWith('Denied') ? 'denied' : asked.fault.text);
  };
  const run = idleRun({
    mode,
    person,
    rules,
    roles,
    prompts,
    toolsOf: toolsFor,
    catalogue: [...ALIASES].map(([alias, id]) => scriptedModel(id, { aliases: [alias] })),
    port: quietTools(boxed),
    script: async ({ agent, turns }) => {
      const [first] = turns;
      if (made.run === null || turns.length > 1 || first?.by !== 'user' || first.text.includes('rest'))
        return { text: 'done' };
      await act(made.run, agent);
      const calls = Object.keys(TOOLS).filter((tool) => tool !== 'mimir spawn');
      return { text: '', calls: calls.map((tool) => ({ tool, input: {} })) };
    },
  });
  made.run = run;
  const answers = yes(run);
  await say(run, 'try');
  await run.until(({ agents }) => (agents.get(ROOT)?.iterations ?? 0) > 0);
  for (const role of SPAWNED) await ask(run, { do: 'spawn', parent: ROOT, wish: wish('try', { role }) });
  // Looked at as it stands: a log of a thousand events is not folded anew at each of them.
  for await (const _ of run.controls.events(0)) {
    const state = run.view.state();
    if (spawns.size === DEEPEST * SPAWNED.length + 1 && waits(state) && allDone(state)) break;
  }
  await run.tell({ do: 'stop run', reason: 'over' });
  await Promise.all([run.result, answers]);
  return linesOf(run, spawns, ground);
}

const allDone = ({ agents }: RunState): boolean =>
  [...agents.values()].every(({ id, outcome }) => id === ROOT || outcome !== null);

/** Somebody who says yes to everything. */
async function yes(run: TestRun): Promise<void> {
  for await (const event of run.controls.events(0)) {
    if (event.type !== 'approval.requested') continue;
    void run.tell({ do: 'answer', approval: event.approval, allow: true, scope: 'once' });
  }
}

function linesOf(run: TestRun, spawns: ReadonlyMap<AgentId, string>, ground: Ground): readonly string[] {
  const events = run.events();
  const asked = new Set(
    events.flatMap((event) => {
      if (event.type !== 'approval.requested') return [];
      if (event.call !== null) return [event.call];
      return event.request.action === 'spawn' ? [`${event.agent} mimir spawn`] : [];
    }),
  );
  const did = new Map<string, string>();
  for (const event of events) {
    if (event.type !== 'tool.finished') continue;
    const [start = ''] = event.output.split(/[ :]/);
    const said = event.ok ? (asked.has(event.call) ? 'asks' : 'runs') : start === 'Tool' ? 'not found' : 'denied';
    did.set(`${event.agent} ${event.tool}`, said);
  }
  for (const [agent, said] of spawns) {
    const key = `${agent} mimir spawn`;
    did.set(key, said === 'runs' && asked.has(key) ? 'asks' : said);
  }
  return [...spawns.keys()].map((agent) => {
    const role = run.view.state().agents.get(agent)?.role ?? '';
    return row(role, depthOf(agent), ground, (tool) => did.get(`${agent} ${tool}`) ?? 'nothing');
  });
}

const GROUNDS: readonly Ground[] = (['human', 'confirm', 'yolo'] as const).flatMap((mode) =>
  [true, false].flatMap((boxed) =>
    // Without anybody there is no mode human: such a run does not start.
    (mode === 'human' ? [true] : [true, false]).map((person) => ({ mode, boxed, person })),
  ),
);

describe('what an agent may do', () => {
  it.each(GROUNDS)(
    'is what the tables say for each role, tool and depth, in mode $mode, box $boxed, person $person (O146, O148, D1, D2, H009, T022)',
    async (ground) => {
      const rows = [['main', 0], ...SPAWNED.flatMap((role) => [1, 2, 3].map((depth) => [role, depth]))];
      const golden = rows.map(([role, depth]) =>
        row(String(role), Number(depth), ground, (tool) => expected(String(role), tool, Number(depth), ground)),
      );
      const lines = await tried(ground);
      expect(lines.toSorted()).toEqual(golden.toSorted());
    },
  );
});
