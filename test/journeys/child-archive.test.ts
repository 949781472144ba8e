/** Transcripts of children in the folder of the person's configuration, by the program itself. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Machine } from '../support/journey.ts';
import { makeMachine } from '../support/journey.ts';

/** A machine whose person wants transcripts, as `cleanup` says, in the folder that is given back. */
function machineWith(cleanup: (folder: string) => string): { readonly machine: Machine; readonly folder: string } {
  const machine = makeMachine();
  const folder = join(machine.home, 'transcripts');
  mkdirSync(join(machine.home, 'config/mimir'), { recursive: true });
  const text = `childAgents:\n  cleanup: ${cleanup(folder)}\n`;
  writeFileSync(join(machine.home, 'config/mimir/config.yml'), text, { mode: 0o600 });
  return { machine, folder };
}

/** Spawns a child, waits for its end, and ends the run that was started for it. */
async function afterAChild(machine: Machine): Promise<void> {
  const { out, code } = await machine.mimir(
    'spawn',
    'finder',
    'Find where balanceOf is defined',
    '--name',
    'look',
    '--json',
  );
  expect(code).toBe(0);
  const [spawned] = jsonLines(out);
  for (;;) {
    const [progress] = jsonLines((await machine.mimir('progress', 'finder-look', '--json')).out);
    if (progress?.['is_complete'] === true) break;
  }
  expect((await machine.mimir('kill', String(spawned?.['run']))).code).toBe(0);
  while ((await machine.mimir('sessions', '--json')).out.includes('"running"'));
}

describe.concurrent('transcripts of children', () => {
  it('S104: are kept where a folder is named, by default', async () => {
    const { machine, folder } = machineWith((path) => `{ archivePath: ${path} }`);
    await afterAChild(machine);
    const [file = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(readFileSync(join(folder, file), 'utf8')).toContain('Find where balanceOf is defined');
  });

  it('S104: are not kept where that is switched off', async () => {
    const { machine, folder } = machineWith((path) => `{ archivePath: ${path}, autoArchiveTranscript: false }`);
    await afterAChild(machine);
    expect(existsSync(folder)).toBe(false);
  });
});
