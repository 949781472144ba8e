/** A caller on the provider double, and requests for it, for tests of Anthropic's adapter. */
import { ModelId } from '../../src/domain/ids.ts';
import type { ProviderSetup } from '../../src/domain/models/provider.ts';
import type { Result } from '../../src/domain/result.ts';
import type { ModelReply } from '../../src/domain/turn.ts';
import { anthropicCaller } from '../../src/models/anthropic/adapter.ts';
import type { Delta, ModelFault, ModelRequest } from '../../src/ports/model.ts';
import type { World } from '../../src/ports/world.ts';
import { world as realWorld } from '../../src/app/process/index.ts';
import type { Answer, Script, WireFault } from '../support/double/script.ts';
import { type Double, KEY, openDouble } from '../support/double/double.ts';
import { workRequest } from './request.ts';

export const LIVE = new AbortController().signal;
export const SONNET = ModelId.parse('anthropic/claude-sonnet-4-6');

export const setupFor = (baseUrl: string, change: Partial<ProviderSetup> = {}): ProviderSetup => ({
  name: 'anthropic',
  kind: 'anthropic',
  baseUrl,
  key: KEY,
  keyEnv: 'ANTHROPIC_API_KEY',
  models: [],
  firstEventMs: 30_000,
  idleMs: 30_000,
  unusable: null,
  ...change,
});

export const ask = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  ...workRequest(),
  model: SONNET,
  system: 'You find things.',
  tools: [READ],
  ...change,
});

export const READ = {
  name: 'read_file',
  description: 'Reads a file.',
  schema: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
} as const;

export interface Called {
  readonly result: Result<ModelReply, ModelFault>;
  readonly deltas: readonly Delta[];
}

export interface Line {
  readonly double: Double;
  readonly call: (request?: Partial<ModelRequest>, signal?: AbortSignal, heard?: () => void) => Promise<Called>;
  readonly count: (request?: Partial<ModelRequest>) => Promise<number | null>;
}

/** The double open for as long as `work` takes, with a caller on it. */
export async function onDouble<T>(
  script: Script | Parameters<typeof openDouble>[0],
  work: (line: Line) => Promise<T>,
  { setup = {}, world = realWorld }: { readonly setup?: Partial<ProviderSetup>; readonly world?: World } = {},
): Promise<T> {
  const double = await openDouble(script);
  const caller = anthropicCaller(setupFor(double.url, setup), world);
  try {
    return await work({
      double,
      async call(request = {}, signal = LIVE, heard = () => undefined) {
        const deltas: Delta[] = [];
        const result = await caller.call(ask(request), signal, (delta) => {
          deltas.push(delta);
          heard();
        });
        return { result, deltas };
      },
      count: async (request = {}) => (await caller.count?.(ask(request), LIVE)) ?? null,
    });
  } finally {
    await double.close();
  }
}

/** One call that is answered so. */
export const answered = (
  answer: Answer,
  request: Partial<ModelRequest> = {},
  setup: Partial<ProviderSetup> = {},
): Promise<Called> => onDouble({ rules: [{ answer }] }, (line) => line.call(request), { setup });

/** The fault of one call that goes wrong so. */
export async function faultOf(
  fault: WireFault,
  answer: Answer = { text: 'All is well.' },
  setup: Partial<ProviderSetup> = {},
): Promise<ModelFault> {
  const { result } = await answered({ ...answer, fault }, {}, setup);
  if (result.ok) throw new Error(`a reply came: ${result.value.text}`);
  return result.fault;
}
