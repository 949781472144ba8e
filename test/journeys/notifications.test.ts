/** A webhook of the person hears what happens in a run; a project cannot name one, and an administrator can forbid it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { signatureOf } from '../../src/integrations/notify/notifier.ts';
import { LEDGER } from '../support/journey.ts';
import { holding } from '../support/like.ts';
import { ownModel, planText, runOn } from '../support/on-the-wire.ts';

interface Received {
  readonly body: string;
  readonly signature: string | string[] | undefined;
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function hook(status: number): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push({ body, signature: request.headers['x-mimir-signature'] });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closers.push(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/hook`, received };
}

const RULES = [
  { when: { first: '# Roles' }, answer: { text: planText(['Rename the helper', 'code']) } },
  { answer: { text: 'Done.' } },
];
const Body = z.object({
  notices: z.array(z.object({ is: z.string(), text: z.string(), project: z.string(), session: z.string() })),
});

it('S091: tells the webhook that the run has ended, signed, and nothing of the plan that was approved at once, and says so in the doctor', async () => {
  const { url, received } = await hook(200);
  const config = `notifications: { webhook: { url: "${url}", secretEnv: HOOK_KEY } }\n`;
  const env = { HOOK_KEY: 'a-key-of-the-hook' };
  const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: LEDGER, config, env });
  expect(await runOn(machine, 'Rename the helper', '--yes')).toMatchObject({ code: 0, err: '' });
  const notices = received.flatMap(({ body }) => Body.parse(JSON.parse(body)).notices);
  expect(notices.map(({ is, text }) => `${is}: ${text}`)).toEqual(['ended: the run is done with 1 agent']);
  for (const { body, signature } of received) expect(signature).toBe(`sha256=${signatureOf(body, env.HOOK_KEY)}`);
  const { out } = await machine.mimir('doctor');
  expect(out).toMatch(/webhook +127\.0\.0\.1:\d+ gets all notices/);
});

it('ends the run as always where the webhook cannot be reached, and says so', async () => {
  const config = 'notifications: { webhook: { url: "http://127.0.0.1:1/hook" } }\n';
  const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: LEDGER, config });
  expect(await runOn(machine, 'Rename the helper', '--yes')).toMatchObject({
    code: 0,
    err: 'mimir: the run ended before webhook got 1 notification\n',
  });
});

it('ends the run as always where the webhook refuses, and says that it was not delivered', async () => {
  const { url } = await hook(404);
  const config = `notifications: { webhook: { url: "${url}" } }\n`;
  const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: LEDGER, config });
  expect(await runOn(machine, 'Rename the helper', '--yes')).toMatchObject({
    code: 0,
    err: 'mimir: the webhook notification was not delivered: status 404\n',
  });
});

it('sends nothing where a rule forbids it, and refuses a webhook in the file of a project and one without encryption', async () => {
  const { url, received } = await hook(200);
  const config = `notifications: { webhook: { url: "${url}" } }\nenforcement: { notifications: deny }\n`;
  const { machine } = await ownModel('anthropic', { script: { rules: RULES }, files: LEDGER, config });
  expect((await runOn(machine, 'Rename the helper', '--yes')).code).toBe(0);
  expect(received).toEqual([]);
  expect((await machine.mimir('doctor')).out).toMatch(/webhook +nothing is sent: /);
  const file = path.join(machine.home, 'config/mimir/config.yml');
  writeFileSync(file, 'notifications: { webhook: { url: "http://example.org/hook" } }\n', { mode: 0o600 });
  expect(await machine.mimir('config', 'show')).toMatchObject({
    code: 3,
    err: holding('use an address such as https://ntfy.sh/my-topic'),
  });
  writeFileSync(file, '', { mode: 0o600 });
  mkdirSync(path.join(machine.project, '.mimir'), { recursive: true });
  writeFileSync(path.join(machine.project, '.mimir/config.yml'), `notifications: { webhook: { url: "${url}" } }\n`);
  expect(await machine.mimir('config', 'show')).toMatchObject({ code: 3, err: holding('notifications') });
});
