/** A server of ntfy on loopback: it keeps what is published, answers subscriptions as streams, and presses buttons as a phone does. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { until } from './until.ts';

const Action = z.object({ action: z.literal('http'), label: z.string(), url: z.string(), body: z.string() });
const Published = z.object({
  topic: z.string(),
  title: z.string(),
  message: z.string(),
  priority: z.number(),
  actions: z.array(Action).max(3).default([]),
});
export type Published = z.infer<typeof Published>;

export interface FakeNtfy {
  readonly url: string;
  /** What phones were shown, in order. */
  readonly published: readonly Published[];
  /** The tokens with which the answers were read, one for each connection. */
  readonly readers: readonly (string | undefined)[];
  /** Waits for a message with these words. */
  message(words: string | RegExp): Promise<Published>;
  press(message: Published, label: string): Promise<void>;
  /** What anybody may do who knows the topic. */
  post(text: string): Promise<void>;
  /** Delivers all that was posted once more, in the opposite order. */
  repeat(): void;
  down(): Promise<void>;
  up(): Promise<void>;
}

export const [QUESTIONS, ANSWERS, TOKEN, READER] = ['mimir-questions', 'mimir-answers', 'tk_write', 'tk_read'] as const;

export async function openNtfyDouble(): Promise<FakeNtfy> {
  const published: Published[] = [];
  const readers: (string | undefined)[] = [];
  const posted: { readonly id: string; readonly text: string }[] = [];
  const streams = new Set<ServerResponse>();
  const lineOf = (event: string, more: object = {}): string =>
    `${JSON.stringify({ id: `e${posted.length}`, time: 1, event, topic: ANSWERS, ...more })}\n`;
  const send = (response: ServerResponse, { id, text }: (typeof posted)[number]): void => {
    const line = lineOf('message', { id, message: text });
    // As a network may cut it.
    response.write(line.slice(0, 9));
    response.write(line.slice(9));
  };
  const subscribe = (request: IncomingMessage, response: ServerResponse): void => {
    const { authorization } = request.headers;
    readers.push(authorization);
    if (authorization !== `Bearer ${READER}`) return void response.writeHead(403).end();
    const since = new URL(request.url ?? '', 'http://x').searchParams.get('since');
    const at = posted.findIndex(({ id }) => id === since);
    response.writeHead(200).write(lineOf('open'));
    response.write(lineOf('keepalive'));
    for (const one of posted.slice(at + 1)) send(response, one);
    streams.add(response);
    response.on('close', () => streams.delete(response));
  };
  const take = (request: IncomingMessage, body: string): number => {
    if (request.url === `/${ANSWERS}`) {
      const one = { id: `m${posted.length}`, text: body };
      posted.push(one);
      for (const stream of streams) send(stream, one);
      return 200;
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return 401;
    published.push(Published.parse(JSON.parse(body)));
    return 200;
  };
  const open = (port: number): Promise<Server> => {
    const server = createServer((request, response) => {
      if (request.method === 'GET') return subscribe(request, response);
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => response.writeHead(take(request, body)).end());
    });
    return new Promise((done) => server.listen(port, '127.0.0.1', () => done(server)));
  };
  let server = await open(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address;
  const url = `http://127.0.0.1:${port}`;
  const post = async (to: string, body: string): Promise<void> => {
    // A connection that the server has closed must not be used again.
    await fetch(to, { method: 'POST', body, headers: { connection: 'close' } });
  };
  const matches = (words: string | RegExp) => (one: Published) =>
    typeof words === 'string' ? one.message.includes(words) : words.test(one.message);
  return {
    url,
    published,
    readers,
    async message(words) {
      await until(() => published.some(matches(words)));
      const found = published.find(matches(words));
      if (found === undefined) throw new Error('no such message');
      return found;
    },
    async press({ actions }, label) {
      const action = actions.find((one) => one.label === label);
      if (action === undefined) throw new Error(`no button ${label}`);
      await post(action.url, action.body);
    },
    post: (text) => post(`${url}/${ANSWERS}`, text),
    repeat() {
      for (const stream of streams) for (const one of posted.toReversed()) send(stream, one);
    },
    async down() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
    async up() {
      server = await open(port);
    },
  };
}
