/**
 * A process that makes, changes and merges own trees as the steps in its argument say, in the log of a project: so that a test can kill it at any
 * record (`cut-child.ts`). A step that an earlier process has done, or begun, is carried on. Each line of stdout is the number of a step that begins.
 */
import { writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { AgentId, ROOT, SessionId } from '../../src/domain/ids.ts';
import { openRecorder } from '../../src/engine/gate/index.ts';
import { mergeTree } from '../../src/engine/workspaces/index.ts';
import { openLog } from '../../src/store/index.ts';
import { openSandbox, openTools } from '../../src/tools/index.ts';
import { SESSION, treeOf, TreeOrders } from './tree-steps.ts';
import { created } from './story.ts';
import { fakeWorld } from './world.ts';

const { project, home, stateDir, steps } = z
  .string()
  .transform((text) => TreeOrders.parse(JSON.parse(text)))
  .parse(process.argv[2]);
const session = SessionId.parse(SESSION);
const log = openLog({ stateDir, project });
const claimed = log.claim(session);
if (!claimed.ok) throw new Error(`in use: ${claimed.holder}`);
const recorder = openRecorder(log, session, fakeWorld());
const place = { root: project, home, stateDir };
const tools = openTools({ ...place, sandbox: await openSandbox(place) });
if (!tools.ok) throw new Error(tools.fault);
const { workspaces } = tools.value;
const { signal } = new AbortController();

if (log.read(session).length === 0)
  recorder.record({
    type: 'session.started',
    task: 'histories',
    cwd: project,
    mode: 'confirm',
    policyHash: '',
    version: '0',
    budget: {},
    maxParallel: 4,
    sandbox: 'bubblewrap',
    provider: 'scripted',
    notes: [],
  });
for (const [nth, step] of steps.entries()) {
  writeSync(1, `${nth}\n`);
  const agent = step.agent < 0 ? ROOT : AgentId.parse(`ROOT::S${step.agent + 1}`);
  const tree = treeOf(step.agent);
  const own = recorder.state().agents.get(agent)?.ownTree;
  if (step.is === 'make' && own === undefined) {
    const made = await workspaces.make(tree, signal);
    if (!made.ok) throw new Error(made.fault);
    recorder.record(created(agent), { type: 'tree.made', agent, tree, base: made.value.base });
  }
  if (step.is === 'write') {
    const root = step.agent < 0 ? project : workspaces.folder(tree);
    for (const [name, content] of Object.entries(step.files)) writeFileSync(path.join(root, name), content);
  }
  if (step.is === 'merge' && own !== undefined && !['merged', 'unmerged'].includes(own.stands))
    await mergeTree({ recorder, workspaces, signal, choose: () => Promise.resolve(step.choice) }, agent);
}
recorder.close();
log.release(session);
log.close();
