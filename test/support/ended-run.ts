/** The log of a run that has ended, written without running it: what its agents changed on disk is told as their tools tell it. */
import { join } from 'node:path';
import { placesOf } from '../../src/config/index.ts';
import type { CommandChanges } from '../../src/domain/changes/changes.ts';
import { AgentId, CallId, ModelId, RoleName, ROOT, SessionId, TaskId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/index.ts';
import type { Log } from '../../src/ports/log.ts';
import type { ProjectPlace } from '../../src/app/workspace/index.ts';
import { openLog } from '../../src/store/index.ts';

export const ENDED = SessionId.parse('ended1');

/** The project's place on a machine with this home. */
export const placeOn = (home: string, project: string): ProjectPlace => ({
  root: project,
  places: placesOf({ HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: join(home, 'config') }, home),
});

export const logOf = ({ root, places }: ProjectPlace): Log => openLog({ stateDir: places.state, project: root });

export interface WrittenFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly made?: boolean;
}

interface Ran {
  readonly task: string;
  readonly summary: string;
  /** What `code` wrote with file tools. */
  readonly wrote: readonly WrittenFile[];
  /** What its commands changed. */
  readonly commands?: CommandChanges['files'];
}

/** Writes the whole run into the log of the project. */
export function endedRun(place: ProjectPlace, { task, summary, wrote, commands = [] }: Ran): void {
  const code = AgentId.parse('ROOT::S1');
  const created = { tools: [], budget: {}, dependsOn: [], iterations: 20 };
  const model = { asked: 'coder', used: ModelId.parse('local/coder'), because: null };
  const metrics = { startTime: '', endTime: '', duration: 1000, tokensUsed: 10, cost: 0, iterations: 1, toolCalls: 1 };
  const calls = wrote.flatMap(({ path, added, removed, made = false }, at): readonly EventBody[] => {
    const call = { agent: code, call: CallId.parse(`c${at}`), tool: 'write_file' };
    const output = `${path}: +${added} -${removed} lines, digest now abc\n--- ${made ? '/dev/null' : `a/${path}`}\n+++ b/${path}\n`;
    return [
      { type: 'tool.started', ...call, label: `write_file ${path}`, input: { path }, repeat: 'never' },
      { type: 'tool.finished', ...call, ok: true, output, ms: 1 },
    ];
  });
  const ran = { agent: code, call: CallId.parse('command'), tool: 'bash' };
  const bodies: readonly EventBody[] = [
    {
      type: 'session.started',
      task,
      cwd: place.root,
      mode: 'confirm',
      policyHash: 'p1',
      version: '0.1.0',
      budget: { maxCost: 2 },
      maxParallel: 4,
      sandbox: 'bubblewrap',
      provider: 'local',
      notes: [],
    },
    {
      type: 'agent.created',
      agent: ROOT,
      parent: null,
      role: RoleName.parse('main'),
      name: 'main',
      task,
      taskId: null,
      model,
      ...created,
    },
    { type: 'plan.approved', digest: 'd', by: 'person' },
    {
      type: 'agent.created',
      agent: code,
      parent: ROOT,
      role: RoleName.parse('code'),
      name: 'code',
      task,
      taskId: TaskId.parse('task-1'),
      model,
      ...created,
    },
    ...calls,
    { type: 'tool.started', ...ran, label: 'make', input: {}, repeat: 'never' },
    { type: 'tool.finished', ...ran, ok: true, output: '', ms: 1, changed: { files: commands, more: 0, also: [] } },
    { type: 'agent.finished', agent: code, status: 'completed', outcome: 'completed', summary, error: null, metrics },
    {
      type: 'session.finished',
      status: 'completed',
      summary,
      totals: { cost: 0, tokens: 10, agents: 1, duration: 1000 },
    },
  ];
  const log = logOf(place);
  log.append(ENDED, '2026-11-24T12:00:00.000Z', bodies);
  log.close();
}
