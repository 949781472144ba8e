/** A run without a plan to test with: what is said to ROOT, and what it answers. */
import type { SpawnRequest } from '../../src/domain/agents/agent.ts';
import { ROOT } from '../../src/domain/ids.ts';
import type { RunState } from '../../src/events/state.ts';
import type { ScriptedReply } from './scripted.ts';
import { type Setting, type TestRun, testRun } from './run.ts';

export const idleRun = (setting: Setting = {}): TestRun =>
  testRun({
    mode: 'yolo',
    idle: true,
    script: ({ agent, turns }) => ({ text: `${agent} answers ${turns.length}` }),
    ...setting,
  });

export const waits = ({ agents }: RunState): boolean =>
  agents.get(ROOT)?.status === 'waiting' && agents.get(ROOT)?.reason === 'idle';
export const say = (run: TestRun, text: string): Promise<string> =>
  run.tell({ do: 'message', to: ROOT, text, delivery: 'important' });
/** Resolves when ROOT has said this and waits again. */
export const answered = (run: TestRun, text: string): Promise<RunState> =>
  run.until(
    (state) =>
      waits(state) && (state.agents.get(ROOT)?.blocks.some((one) => one.is === 'said' && one.text === text) ?? false),
  );

export const wish = (prompt: string, more: Partial<SpawnRequest> = {}): SpawnRequest => ({
  prompt,
  role: 'finder',
  model: null,
  name: null,
  wait: null,
  workingDir: null,
  ...more,
});

export const task = (prompt: string): ScriptedReply => ({
  text: '',
  calls: [{ tool: 'Task', input: { description: prompt, prompt, subagent_type: 'explore' } }],
});
