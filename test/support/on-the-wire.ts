/** A machine whose one model is a person's own, `local/coder`, played by a double; and what stands in the events of its runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { jsonLines } from './cli.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import type { Script } from './double/script.ts';
import type { Ended, Machine } from './journey.ts';
import { makeMachine } from './journey.ts';
import type { Files } from './repos.ts';

const doubles: Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.close())));

export type OwnWire = 'anthropic' | 'openai' | 'openai-compatible';

interface Own {
  readonly script: Script;
  readonly files: Files;
  /** Of the model, in tokens; as Mimir takes it when nothing is said. */
  readonly window?: number;
  /** `text`: the model has no tool calls. */
  readonly protocol?: 'text';
  /** More of the person's configuration, in YAML. */
  readonly config?: string;
  /** More of the person's environment. */
  readonly env?: Machine['env'];
}

/** The machine and the double at the other end of its wire. */
export async function ownModel(
  wire: OwnWire,
  { script, files, window, protocol, config = '', env = {} }: Own,
): Promise<{ readonly machine: Machine; readonly double: Double }> {
  const double = await openDouble(script);
  doubles.push(double);
  const machine = makeMachine(files, { LOCAL_KEY: 'test-key', ...env });
  const folder = join(machine.home, 'config/mimir');
  mkdirSync(folder, { recursive: true });
  const baseUrl = wire === 'anthropic' ? double.url : `${double.url}/v1`;
  const windows = window === undefined ? '' : `, windows: { coder: ${window} }`;
  const spoken = protocol === undefined ? '' : `, protocol: ${protocol}`;
  const own = `providers:\n  local: { kind: ${wire}, baseUrl: "${baseUrl}", apiKeyEnv: LOCAL_KEY, models: [coder]${windows}${spoken} }\n`;
  writeFileSync(join(folder, 'config.yml'), `${own}${config}`, { mode: 0o600 });
  return { machine, double };
}

export type Event = Readonly<Record<string, unknown>>;

/** `mimir run` without a terminal, with its events. */
export async function runOn(
  machine: Machine,
  task: string,
  ...flags: readonly string[]
): Promise<Ended & { readonly events: readonly Event[] }> {
  const ended = await machine.mimir('run', task, '--yes', '--json', ...flags);
  return { ...ended, events: jsonLines(ended.out) };
}

export const of = (events: readonly Event[], type: string): readonly Event[] =>
  events.filter((event) => event['type'] === type);

/** The plan of these tasks as a model answers it: `[description, role, ids of the tasks it needs]`. */
export const planText = (...tasks: readonly (readonly [string, string, ...string[]])[]): string =>
  JSON.stringify({
    reason: 'It is little.',
    tasks: tasks.map(([description, recommendedRole, ...dependencies], index) => ({
      id: `task-${index + 1}`,
      description,
      recommendedRole,
      recommendedModel: null,
      estimatedTokens: 8000,
      dependencies,
    })),
  });
