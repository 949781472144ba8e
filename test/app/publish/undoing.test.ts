/** What `mimir undo` says where the run that goes on does not take it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { undoVerb } from '../../../src/cli/commands/undo.ts';
import { ControlFault } from '../../../src/ports/control.ts';
import { fail, ok } from '../../../src/domain/result.ts';
import { ENGINEER, at, made, NOW, RUN, started } from '../../support/family-story.ts';
import { openStage } from '../../support/session-stage.ts';
import { ROOT } from '../../../src/domain/ids.ts';
import { working, write } from '../../tools/changes/acts.ts';

it.each([
  [
    'refuses it',
    () => fail({ text: 'the run has ended' }),
    { code: 2, err: 'undone, but not recorded: the run has ended' },
  ],
  [
    'cannot be reached',
    () => {
      throw new ControlFault('the process has ended');
    },
    { code: 2, err: 'undone, but not recorded: submit failed: the process has ended' },
  ],
  ['records it', () => ok({ text: '' }), { code: 0, err: '' }],
])('an undo names what is in no log where the run %s', async (_, answer, expected) => {
  const stage = openStage(NOW);
  const { project, state } = stage.home;
  writeFileSync(join(project, 'a.txt'), 'one\n');
  const worked = working(project, state);
  await write(worked, ENGINEER, 'a.txt', '1\n');
  stage.write(RUN, [
    at(0, started()),
    at(0, made(ROOT, 'main', 'Change it')),
    at(1, made(ENGINEER, 'code', 'Change it')),
    ...worked.events.map(({ v: _v, seq: _seq, time: _time, session: _session, ...body }) => at(2, body)),
  ]);
  await stage.carry(RUN, answer);
  expect(await stage.ask(undoVerb, ['code', '--yes'])).toMatchObject(expected);
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n');
});
