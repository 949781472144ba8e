/** A project with a home and a sandbox of its own for a while, as commands of agents get them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolEnvironment } from '../../../src/tools/process/environment.ts';
import { openSandbox } from '../../../src/tools/index.ts';
import type { Sandbox } from '../../../src/tools/index.ts';

export interface BoxedPlace {
  readonly project: string;
  readonly home: string;
  readonly stateDir: string;
  readonly sandbox: Sandbox;
  readonly environment: Readonly<Record<string, string>>;
}

/** Gives `use` a fresh place, and takes it away afterwards. Throws where no sandbox works: then there is nothing to measure. */
export async function inPlace<T>(use: (place: BoxedPlace) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-bench-')));
  const [project, home, stateDir] = ['project', 'home', 'state'].map((name) => join(folder, name));
  if (project === undefined || home === undefined || stateDir === undefined) throw new Error('three names are given');
  for (const each of [project, home, stateDir]) mkdirSync(each);
  try {
    const environment = toolEnvironment(project);
    const sandbox = await openSandbox({ root: project, home, stateDir, environment });
    if (sandbox.state.is === 'none') throw new Error(`no sandbox: ${sandbox.state.because}`);
    return await use({ project, home, stateDir, sandbox, environment });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
