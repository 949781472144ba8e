/**
 * Many spawns at once: by the verb where nothing runs yet, and by clients of a run in a process of its own, of which some are killed.
 * A few dozen; two hundred with MIMIR_TEST_MANY_SPAWNS=1.
 */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentId } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import type { Ended } from '../support/child.ts';
import { ended, start } from '../support/child.ts';
import { brokenByChildren } from '../support/children-promises.ts';
import type { Home } from '../support/cli.ts';
import { jsonLines } from '../support/cli.ts';
import { eventsIn, processesOf } from '../support/cut-spawns.ts';
import type { RunSessions } from '../support/shell-family.ts';
import { openFamily } from '../support/shell-family.ts';
import { until } from '../support/until.ts';

const ROOM = 'childAgents: { maxPerParent: 256 }\nlimits: { maxAgentsPerRun: 256 }\n';
const MANY = process.env['MIMIR_TEST_MANY_SPAWNS'] === '1';
const PROCESSES = MANY ? 20 : 8;
/** Children of each client; the last two are killed. */
const OF_CLIENTS = MANY ? [60, 60, 40, 40] : [20, 20, 20, 20];
const CLIENT = join(import.meta.dirname, '../support/spawner-child.ts');

/** A family whose run, if it has one by then, is stopped behind the test. */
async function family(): Promise<RunSessions> {
  const opened = await openFamily({}, { config: ROOM });
  onTestFinished(async () => {
    await opened.home.run(['kill', 'ROOT']);
    await until(() => processesOf(opened.home.root).length === 0);
  });
  return opened;
}

const eventsOf = ({ state, project }: Home): readonly MimirEvent[] => eventsIn({ stateDir: state, project });

/** Agent and task of each child, in the order in which they were made. */
const childrenOf = (home: Home): readonly (readonly [AgentId, string])[] =>
  eventsOf(home).flatMap((event) =>
    event.type === 'agent.created' && event.parent === 'ROOT' ? [[event.agent, event.task] as const] : [],
  );

const endsOf = (home: Home): number =>
  eventsOf(home).filter((event) => event.type === 'agent.finished' && event.agent !== 'ROOT').length;

describe('children that are spawned at once', () => {
  it('by many processes of `mimir spawn` where nothing runs are all in one run, which the first one starts (D33, S158)', async () => {
    const { home, env } = await family();
    const all = await Promise.all(
      Array.from({ length: PROCESSES }, (_, n) => home.run(['spawn', 'finder', `look ${n}`, '--json'], { env })),
    );
    expect(all.filter(({ code }) => code !== 0)).toEqual([]);
    const { out } = await home.run(['sessions']);
    expect(out.trim().split('\n')).toEqual([expect.stringContaining('running')]);
    const children = childrenOf(home);
    const wanted = Array.from({ length: PROCESSES }, (_, n) => `look ${n}`);
    expect(new Set(children.map(([, task]) => task))).toEqual(new Set(wanted));
    expect(children.length).toBe(PROCESSES);
    expect(new Set(all.map((one) => jsonLines(one.out)[0]?.['agent']))).toEqual(new Set(children.map(([id]) => id)));
  });

  it('by four clients, two of them killed in the midst of it, are none lost, and each ends and is told once (S156, S158)', async () => {
    const { home, env } = await family();
    home.start(['run', '--hosted', 'many-children', '--idle'], { env });
    await until(() => eventsOf(home).some(({ type }) => type === 'agent.status'));
    const clients = await Promise.all(
      OF_CLIENTS.map(async (count, client) => {
        const words = [CLIENT, home.state, home.project, 'many-children', `client ${client}`, String(count)];
        const child = start(process.execPath, words, home.env);
        return ended(child, (out) => {
          if (client >= 2 && out.split('\n').length > 5) child.kill('SIGKILL');
        });
      }),
    );
    expect(clients.map(({ signal, err }) => [signal, err])).toEqual([
      [null, ''],
      [null, ''],
      ['SIGKILL', ''],
      ['SIGKILL', ''],
    ]);
    const promised = clients.flatMap(linesOf);
    const made = childrenOf(home);
    const known = new Set(made.map(([agent, task]) => `${agent} ${task}`));
    expect(promised.filter((line) => !known.has(line))).toEqual([]);
    expect(new Set(made.map(([, task]) => task)).size).toBe(made.length);
    expect(promised.length).toBeGreaterThan(MANY ? 130 : 50);
    await until(() => endsOf(home) === childrenOf(home).length);
    expect(brokenByChildren(eventsOf(home), false)).toEqual([]);
    const { out } = await home.run(['children', 'many-children/ROOT', '--status', 'all', '--json']);
    expect(jsonLines(out.trim().slice(1, -1).replaceAll('},{', '}\n{')).map((one) => one['status'])).toEqual(
      childrenOf(home).map(() => 'completed'),
    );
  });
});

/** What a client was promised, without a line that its death cut off. */
const linesOf = ({ out }: Ended): readonly string[] => out.split('\n').slice(0, -1);
