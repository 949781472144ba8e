/**
 * A real run in this process, of scripted models, on the disk of a project: its log, sockets and doors are those of the program, so
 * that verbs ask its real engine. Its planned agent leads, and waits until the test lets go of it.
 */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentId } from '../../src/domain/ids.ts';
import { RoleName, SessionId } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/agents/role.ts';
import { openTools } from '../../src/tools/index.ts';
import { openLog } from '../../src/store/log.ts';
import { prepareServing } from '../../src/app/project/begin-run.ts';
import type { Verb } from '../../src/cli/verb.ts';
import { acting, gate, LEADER, LED } from './children.ts';
import type { Home } from './cli.ts';
import { openHome } from './cli.ts';
import { writeFiles } from './repos.ts';
import { AGENT, ROLES, RULES } from './run.ts';
import type { Setting, TestRun } from './run.ts';
import type { How, Said } from './session-stage.ts';
import { saidBy } from './session-stage.ts';

export interface EngineStage {
  readonly home: Home;
  readonly run: TestRun;
  /** Runs the verb in this process. */
  ask(verb: Verb, argv: readonly string[], how?: How): Promise<Said>;
  /** Where `agent` asks. */
  door(agent: AgentId): Promise<string>;
  /** Ends the run, with all that works in it. */
  ends(): Promise<void>;
}

const RUN = SessionId.parse('k7f3a2');
const role = (name: string, capabilities: Role['capabilities']): Role => ({
  ...LEADER,
  name: RoleName.parse(name),
  capabilities,
});
/** As the program has them: one that implements, one that only reads and one that may have such children. */
const ENGINE_ROLES: readonly Role[] = [
  ...ROLES,
  LEADER,
  role('code', ['read', 'write', 'shell', 'spawn']),
  role('scout', ['read', 'spawn']),
];

/** A run whose planned agent is at work; `plan` where it is another than the leader. */
export async function openEngine({ rules = RULES, plan = LED, ...setting }: Setting = {}): Promise<EngineStage> {
  const home = openHome();
  writeFiles(home.project, { 'packages/x/a.txt': 'one\n' });
  const log = openLog({ stateDir: home.state, project: home.project });
  const port = openTools({ root: home.project, home: join(home.root, 'home'), stateDir: home.state });
  if (!port.ok) throw new Error(port.fault);
  const places = {
    home: join(home.root, 'home'),
    config: home.config,
    state: home.state,
    runtime: join(home.state, 'run'),
  };
  const serving = prepareServing({ root: home.project, places }, RUN, rules);
  log.claim(RUN);
  const go = gate();
  const run = acting(
    { 'ROOT::S1': [() => go.promise.then(() => undefined)] },
    {
      rules,
      plan,
      roles: ENGINE_ROLES,
      log,
      session: RUN,
      cwd: home.project,
      port: port.value,
      ...serving.parts,
      ...setting,
    },
  );
  const ends = async (): Promise<void> => {
    go.resolve();
    await run.controls.submit({ do: 'stop run', reason: 'the test is over' });
    await run.result;
  };
  onTestFinished(async () => {
    await ends();
    await serving.close();
    log.close();
    home.remove();
  });
  expectServed(await serving.serve(run, Promise.resolve()));
  await run.until(({ agents }) => (agents.get(AGENT('ROOT::S1'))?.iterations ?? 0) > 0);
  return {
    home,
    run,
    ask: (verb, argv, how) => saidBy(verb, argv, home, how),
    ends,
    door: async (agent) => {
      const door = await serving.parts.agentSockets.open(agent);
      if (door === null) throw new Error('there is no door');
      return door;
    },
  };
}

function expectServed(fault: string | null): void {
  if (fault !== null) throw new Error(fault);
}
