import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentId } from '../../src/domain/ids.ts';
import type { ToolContext, ToolPort } from '../../src/ports/tool.ts';
import type { Doors } from '../../src/ports/agent-sockets.ts';
import { CHILD_DEFAULTS } from '../../src/policy/children.ts';
import { AGENT, calling, filed, planOf, RULES, testRun } from '../support/run.ts';
import type { Setting } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
const WORDS = readFileSync('.mimir/prompts/children.md', 'utf8').trim();
const PROMPTS = { common: 'common', plan: 'plan', merge: 'merge', compact: 'compact', instructions: 'conventions' };

/** Doors that say who was let in and out. */
function openDoors(): Doors & { readonly seen: string[] } {
  const seen: string[] = [];
  return {
    seen,
    open: (agent: AgentId) => {
      seen.push(`open ${agent}`);
      return Promise.resolve(`/run/doors/${agent}`);
    },
    close: (agent: AgentId) => void seen.push(`close ${agent}`),
  };
}

/** What the one agent of a plan is instructed with. */
async function systemOf(setting: Setting, role = 'oracle', maySpawn = true): Promise<string> {
  let system = '';
  const run = testRun({
    ...filed({ reason: '', tasks: [{ id: 't', description: 'do t', role, maySpawn }] }),
    mode: 'yolo',
    prompts: { ...PROMPTS, children: WORDS },
    record: (request) => {
      if (request.agent === S1) system = request.system;
    },
    ...setting,
  });
  await run.result;
  return system;
}

describe('what an agent is told of children by its shell', () => {
  it('stands behind its role where it may spawn, has a shell, and a door is there (S093, S133)', async () => {
    const told = await systemOf({ doors: openDoors() });
    expect(told).toBe(`common\n\nYou are oracle.\n\n${WORDS}\n\nconventions`);
    for (const verb of ['spawn', 'children', 'what', 'progress', 'send', 'kill', 'complete'])
      expect(told).toContain(`\`mimir ${verb}`);
  });

  it('is not a word anywhere else', async () => {
    const manual = { ...CHILD_DEFAULTS.mode, value: 'manual' } as const;
    const others = [
      systemOf({}),
      systemOf({ doors: openDoors() }, 'oracle', false),
      systemOf({ doors: openDoors() }, 'finder'),
      systemOf({ doors: openDoors(), rules: { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 1 } } }),
      systemOf({ doors: openDoors(), rules: { ...RULES, children: { mode: manual } } }),
      systemOf({ doors: openDoors(), prompts: PROMPTS }),
    ];
    for (const told of await Promise.all(others)) expect(told).not.toContain('mimir');
  });

  it('is short: it is paid for at each turn', () => {
    // Four characters a token, as estimates go everywhere here.
    expect(WORDS.length / 4).toBeLessThan(290);
  });
});

describe('the door of an agent', () => {
  it('is opened with its first command, is told to commands alone, and closes when it has ended (H022, S139)', async () => {
    const doors = openDoors();
    const seen: [string, string | undefined][] = [];
    const first = testRun({ doors });
    first.stop('its tools are borrowed');
    await first.result;
    const port: ToolPort = {
      sandbox: { is: 'bubblewrap' },
      tools: first.options.tools.tools.map((tool) => ({
        ...tool,
        run: (input: unknown, context: ToolContext) => {
          seen.push([tool.name, context.door]);
          return tool.run(input, context);
        },
      })),
    };
    const run = testRun({
      plan: planOf(['o1'], ['b']),
      mode: 'yolo',
      doors,
      port,
      script: ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === S1) return n === 0 ? calling('read a') : n < 3 ? calling(`bash ls ${n}`) : undefined;
        return undefined;
      },
    });
    expect((await run.result).success).toBe(true);
    expect(seen).toEqual([
      ['read', undefined],
      ['bash', '/run/doors/ROOT::S1'],
      ['bash', '/run/doors/ROOT::S1'],
    ]);
    expect(doors.seen.filter((one) => one.endsWith('S1'))).toEqual([
      'open ROOT::S1',
      'open ROOT::S1',
      'close ROOT::S1',
    ]);
  });
});
