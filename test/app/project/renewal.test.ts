/** A project that is opened again, because of trust or a new agent, while a run of it begins or works. */
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
