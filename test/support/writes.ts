/** The real tools with the real sandbox on a project of their own, used as an agent would that may change only some files. */
import { execFileSync } from 'node:child_process';
import { afterAll } from 'vitest';
import { ROOT } from '../../src/domain/ids.ts';
import type { ToolOutput } from '../../src/ports/tool.ts';
import { openSandbox, openTools, toolEnvironment } from '../../src/tools/index.ts';
import { USERS, openPlace } from './boxes.ts';
import { needs } from './needs.ts';
import type { Files } from './repos.ts';
import { commitAll, git } from './repos.ts';

needs('bubblewrap');

export interface Held {
  readonly project: string;
  readonly state: string;
  /** Uses one tool as a task with these globs; null: the whole project. */
  readonly use: (writes: readonly string[] | null, tool: string, input: unknown) => Promise<ToolOutput>;
  readonly bash: (writes: readonly string[] | null, command: string) => Promise<ToolOutput>;
}

/** `repository`: with everything in one commit. */
export async function heldProject(files: Files, { repository = true } = {}): Promise<Held> {
  const { project, home, state } = openPlace(USERS[0] ?? 'ordinary', files);
  afterAll(() => void execFileSync('chmod', ['-R', 'u+rwX', project]));
  if (repository) {
    git(project, 'init', '--quiet', '--initial-branch=main');
    commitAll(project, 'Begin');
  }
  const place = { root: project, home, stateDir: state, environment: toolEnvironment(project) };
  const sandbox = await openSandbox(place);
  if (sandbox.state.is === 'none') throw new Error(sandbox.state.because);
  const port = openTools({ ...place, sandbox });
  if (!port.ok) throw new Error(port.fault);
  const use: Held['use'] = (writes, name, input) => {
    const tool = port.value.tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.run(tool.input.parse(input), {
      agent: ROOT,
      signal: new AbortController().signal,
      sandbox: 'read-write',
      toolHost: NO_DESK,
      ...(writes === null ? {} : { writes }),
      onOutput: () => undefined,
    });
  };
  return { project, state, use, bash: (writes, command) => use(writes, 'bash', { command }) };
}

const NO_DESK = {
  setTodos: () => NOBODY,
  sendMessage: () => NOBODY,
  spawn: () => Promise.resolve(NOBODY),
  askUser: () => Promise.resolve(NOBODY),
  giveVerdict: () => NOBODY,
  readFinding: () => NOBODY,
};
const NOBODY = { ok: false, text: 'nobody is there' };
