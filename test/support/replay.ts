/**
 * Sizes of 400 public runs of one model on SWE-bench Verified with a shell as its only tool, figures only, and their replay:
 * the engine with Mimir's default settings, a model that says and uses what was recorded, a tool that prints so much.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { faultText } from '../../src/config/files/read-text.ts';
import { loadConfig, type Loaded } from '../../src/config/settings/load.ts';
import type { Price } from '../../src/domain/models/provider.ts';
import { scriptedModel } from './scripted.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import { AGENT, draftOf, type Script, testRun } from './run.ts';

const count = z.int().min(0);
const Trajectory = z.object({
  /** Characters of the system text and of the task. */
  system: count,
  task: count,
  /** US dollars. */
  cost: z.number(),
  /** Characters of reasoning, command and output; tokens of prompt and completion. */
  steps: z.array(z.tuple([count, count, count, count, count])).min(1),
});
export type Trajectory = z.infer<typeof Trajectory>;

/** All of them, in the order of their source. */
export const trajectories = (): readonly Trajectory[] =>
  z
    .array(Trajectory)
    .parse(JSON.parse(gunzipSync(readFileSync(path.join(import.meta.dirname, 'trajectories.json.gz'))).toString()));

/** What became of a replay. */
export interface Replayed {
  readonly outcome: string | null;
  readonly error: string | null;
  readonly summary: string;
  readonly turns: number;
  readonly steps: number;
  /** US dollars: of the replay, and as recorded. */
  readonly cost: number;
  readonly recorded: number;
}

/** Mimir's own settings, nobody's files beside them. */
export function defaults(): Loaded {
  const home = mkdtempSync(path.join(tmpdir(), 'mimir-replay-'));
  try {
    const project = path.join(home, 'work');
    mkdirSync(project);
    const packageRoot = path.resolve(import.meta.dirname, '../..');
    const read = loadConfig({ packageRoot, projectRoot: project, env: { HOME: home }, flags: {} });
    if (!read.ok) throw new Error(read.fault.map(faultText).join('\n'));
    return read.value;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** What the prompt of a step shares with the one before it is read from the cache. */
function usageOf({ steps }: Trajectory, at: number): { input: number; cacheRead: number; output: number } {
  const [, , , prompt = 0, output = 0] = steps[at] ?? [];
  const cacheRead = Math.min(steps[at - 1]?.[3] ?? 0, prompt);
  return { input: prompt - cacheRead, cacheRead, output };
}

/** Rates in the relation that such models have, so that all that was used costs what was recorded. */
function priceOf(run: Trajectory): Price {
  const units = run.steps.reduce((sum, _, at) => {
    const { input, cacheRead, output } = usageOf(run, at);
    return sum + input + cacheRead / 10 + output * 6;
  }, 0);
  const rate = (run.cost * 1e6) / units;
  return { input: rate, cacheRead: rate / 10, output: rate * 6 };
}

const textOf = (characters: number, begin = ''): string =>
  begin.padEnd(characters, 'x').slice(0, Math.max(characters, begin.length));

/** Prints as much as the step that it is called for. */
const printing = ({ steps }: Trajectory): ToolPort => {
  const bash: Tool = {
    name: 'bash',
    description: 'Runs a command.',
    input: z.strictObject({ command: z.string() }),
    capability: 'shell',
    repeat: 'never',
    label: () => 'bash',
    run: (input) => {
      const { command } = z.object({ command: z.string() }).parse(input);
      const at = Number.parseInt(command, 10);
      return Promise.resolve({ ok: true, text: textOf(steps[at]?.[2] ?? 0, `${at} `) });
    },
  };
  return { tools: [bash], sandbox: { is: 'bubblewrap' } };
};

const S1 = AGENT('ROOT::S1');

/** What the model says at each step, as long as it was. The last step is its answer: what it ran then only said that it is done. */
const scriptOf =
  (run: Trajectory): Script =>
  ({ agent, purpose, toolChoice }, n) => {
    if (agent !== S1 || purpose.is !== 'work') return undefined;
    if (toolChoice === 'none') return { text: 'What there is.' };
    const [reasoning = 0, command = 0] = run.steps[n] ?? [];
    const said = { text: textOf(reasoning, 'x'), usage: usageOf(run, n) };
    if (n >= run.steps.length - 1) return said;
    return { ...said, calls: [{ tool: 'bash', input: { command: textOf(command, `${n} `) } }] };
  };

/** One run from its first step to its end, with default settings. */
export async function replay(run: Trajectory, { rules, roles }: Pick<Loaded, 'rules' | 'roles'>): Promise<Replayed> {
  const task = { id: 'a', description: textOf(Math.min(run.task, 20_000), 'x'), role: 'code', model: 'replay' };
  const model = scriptedModel('scripted/replay', {
    aliases: ['replay'],
    price: priceOf(run),
    window: 1_000_000,
    outputLimit: 65_536,
  });
  const replaying = testRun({
    script: scriptOf(run),
    rules,
    roles: roles.map((role) => ({ ...role, models: ['replay'] })),
    runBudget: rules.runBudget.value,
    catalogue: [model],
    port: printing(run),
    file: { draft: draftOf({ reason: '', tasks: [task] }), from: 'a file' },
    mode: 'yolo',
    person: false,
  });
  await replaying.result;
  const agent = replaying.state().agents.get(S1);
  if (agent === undefined) throw new Error('the run had no agent');
  return {
    outcome: agent.outcome,
    error: agent.error,
    summary: agent.summary,
    turns: agent.iterations,
    steps: run.steps.length,
    cost: agent.cost,
    recorded: run.cost,
  };
}
