/** What tests of OpenAI's wires share: a provider set up for a server on this machine, requests, and a server that says what it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Effort, withEffort } from '../../src/domain/models/provider.ts';
import { AgentId, CallId, ModelId, RoleName } from '../../src/domain/ids.ts';
import type { ProviderSetup } from '../../src/domain/models/provider.ts';
import type { Json, Turn } from '../../src/domain/turn.ts';
import { type Fields, isFields, parsed } from '../../src/models/http/json.ts';
import { openaiCaller } from '../../src/models/openai/adapter.ts';
import type { ModelRequest, ToolSpec } from '../../src/ports/model.ts';
import { fakeWorld } from '../support/world.ts';

export const NEVER = new AbortController().signal;
export const ignore = (): void => undefined;

export const setupFor = (url: string, change: Partial<ProviderSetup> = {}): ProviderSetup => ({
  name: 'openai',
  kind: 'openai',
  baseUrl: `${url}/v1`,
  key: 'test-key',
  keyEnv: 'OPENAI_API_KEY',
  models: [],
  firstEventMs: 30_000,
  idleMs: 8000,
  unusable: null,
  ...change,
});

export const LOCAL = { name: 'local', kind: 'openai-compatible', keyEnv: null } as const;

export const READ: ToolSpec = {
  name: 'read_file',
  description: 'Reads a file.',
  schema: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
};

export interface Change {
  readonly model?: string;
  readonly turns?: readonly Turn[];
  readonly tools?: readonly ToolSpec[];
  readonly format?: Json | null;
  readonly call?: string;
  readonly maxOutputTokens?: number;
  readonly effort?: Effort;
}

/** A call of the agent ROOT::S1 with a system prompt, one tool and one user turn, changed. */
export const requestFor = (change: Change = {}): ModelRequest => ({
  model: ModelId.parse(change.model ?? 'openai/o3'),
  agent: AgentId.parse('ROOT::S1'),
  call: CallId.parse(change.call ?? 'call-1'),
  purpose: { is: 'work', task: 'find the parser', role: RoleName.parse('finder'), findings: [] },
  system: 'You find things.',
  tools: change.tools ?? [READ],
  turns: change.turns ?? [{ by: 'user', text: 'find the parser' }],
  maxOutputTokens: change.maxOutputTokens ?? 4096,
  ...withEffort(change.effort),
  format: change.format ?? null,
});

export interface Heard {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Fields;
}

/** Answers the nth request, from 0; what it throws away it leaves open. */
export type Answering = (response: ServerResponse, heard: Heard, nth: number) => void;

/** A server on a free port that answers by `answer` and keeps what it heard. */
export async function openServer(answer: Answering) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => {
      const body = parsed(Buffer.concat(pieces).toString());
      const one = { path: request.url ?? '', headers: request.headers, body: isFields(body) ? body : {} };
      heard.push(one);
      answer(response, one, heard.length - 1);
    });
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    heard,
    /** How many were opened. */
    connections: () => connections,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** Sends `chunks` as events, text as it is, and `[DONE]` unless it isn't wanted. */
export function stream(response: ServerResponse, chunks: readonly (object | string)[], done = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`);
  response.end(done ? 'data: [DONE]\n\n' : '');
}

export const refuse = (response: ServerResponse, status: number, body: object | string): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' })
    .end(text);
};

/** A chunk of Chat Completions. */
export const chunk = (delta: object, finish: string | null = null, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'qwen3',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});

export const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
export const COUNTED = { input: 12, output: 5, cacheRead: 0, cacheWrite: 0 };

/** One call of a compatible server that streams `chunks`. */
export async function answered(
  chunks: readonly (object | string)[],
  change: Change & { readonly done?: boolean } = {},
) {
  const server = await openServer((response) => stream(response, chunks, change.done ?? true));
  const deltas: string[] = [];
  try {
    const caller = openaiCaller(setupFor(server.url, LOCAL), fakeWorld());
    const reply = await caller.call(requestFor({ model: 'local/qwen3', ...change }), NEVER, ({ is, text }) =>
      deltas.push(`${is}: ${text}`),
    );
    return { reply, deltas, heard: server.heard };
  } finally {
    await server.close();
  }
}
