/** A project that is open for runs: opened again while one begins or works, and closed with what its runs could not deliver. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { onTestFinished, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import { openProject } from '../../../src/app/project/open-project.ts';
import { LocalProjectService } from '../../../src/app/project/service.ts';
import { readArguments } from '../../../src/app/process/flags.ts';
import { openIo } from '../../../src/app/process/io.ts';
import { projectOf } from '../../../src/app/workspace/place.ts';
import { openReader } from '../../../src/app/workspace/sessions.ts';
import { runVerb } from '../../../src/cli/commands/run.ts';
import { openHome, SMALL } from '../../support/cli.ts';

it('loses no run: what has begun keeps its log until its end', async () => {
  const home = openHome(SMALL);
  onTestFinished(() => home.remove());
  const io = { ...openIo(home.env), where: () => home.project };
  const args = readArguments(['x'], runVerb.flags, runVerb.words);
  const service = new LocalProjectService(args, io, await openProject(args, io, projectOf(args, io)), 'none');
  const session = SessionId.parse('run-1');
  const begun = service.begin({ session, task: 'Find add', plan: null, approval: 'flag' });
  const renewed = await Promise.all([service.reload(), service.reload()]);
  expect(renewed).toEqual([
    { ok: true, value: { text: '' } },
    { ok: true, value: { text: '' } },
  ]);
  await begun;
  expect(await service.reload()).toEqual({ ok: true, value: { text: '' } });
  expect(await service.current()?.result).toMatchObject({ success: true });
  await service.close();
  const reader = openReader(projectOf(args, io));
  expect([...reader.each(session, 0)].at(-1)).toMatchObject({ type: 'session.finished', status: 'completed' });
});

it('tells when it is closed what its runs could not deliver', async () => {
  const home = openHome(SMALL);
  onTestFinished(() => home.remove());
  mkdirSync(home.config, { recursive: true });
  const server = createServer((_, response) => response.writeHead(404).end());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}/topic`;
  writeFileSync(join(home.config, 'config.yml'), `notifications: { webhook: { url: "${url}" } }\n`, { mode: 0o600 });
  const told: string[] = [];
  const io = { ...openIo(home.env), where: () => home.project, complain: (line: string) => void told.push(line) };
  const args = readArguments(['x'], runVerb.flags, runVerb.words);
  const service = new LocalProjectService(args, io, await openProject(args, io, projectOf(args, io)), 'none');
  await service.begin({ session: SessionId.parse('run-1'), task: 'Find add', plan: null, approval: 'flag' });
  await service.current()?.result;
  await service.close();
  expect(told).toEqual(['mimir: the webhook notification was not delivered: status 404']);
});
