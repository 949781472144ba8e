import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentId } from '../../src/domain/ids.ts';
import type { ToolContext, ToolPort } from '../../src/ports/tool.ts';
import type { AgentSockets } from '../../src/ports/control.ts';
import { CHILD_DEFAULTS } from '../../src/policy/rules.ts';
import { AGENT, calling, filed, planOf, RULES, type Setting, testRun } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');
const WORDS = readFileSync('.mimir/prompts/children.md', 'utf8').trim();
const PROMPTS = { common: 'common', plan: 'plan', merge: 'merge', compact: 'compact', instructions: 'conventions' };

/** Doors that say who was let in and out. */
function openAgentSockets(): AgentSockets & { readonly seen: string[] } {
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
    const told = await systemOf({ agentSockets: openAgentSockets() });
    expect(told).toBe(`common\n\nYou are oracle.\n\n${WORDS}\n\nconventions`);
    for (const verb of ['spawn', 'children', 'what', 'progress', 'send', 'kill', 'complete'])
      expect(told).toContain(`\`mimir ${verb}`);
  });

  it('is not a word anywhere else', async () => {
    const manual = { ...CHILD_DEFAULTS.mode, value: 'manual' } as const;
    const others = [
      systemOf({}),
      systemOf({ agentSockets: openAgentSockets() }, 'oracle', false),
      systemOf({ agentSockets: openAgentSockets() }, 'finder'),
      systemOf({
        agentSockets: openAgentSockets(),
        rules: { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 1 } },
      }),
      systemOf({ agentSockets: openAgentSockets(), rules: { ...RULES, children: { mode: manual } } }),
      systemOf({ agentSockets: openAgentSockets(), prompts: PROMPTS }),
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
    const agentSockets = openAgentSockets();
    const seen: [string, string | undefined][] = [];
    const first = testRun({ agentSockets });
    first.stop('its tools are borrowed');
    await first.result;
    const port: ToolPort = {
      sandbox: { is: 'bubblewrap' },
      tools: first.options.tools.tools.map((tool) => ({
        ...tool,
        run: (input: unknown, context: ToolContext) => {
          seen.push([tool.name, context.socket]);
          return tool.run(input, context);
        },
      })),
    };
    const run = testRun({
      plan: planOf(['o1'], ['b']),
      mode: 'yolo',
      agentSockets,
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
    expect(agentSockets.seen.filter((one) => one.endsWith('S1'))).toEqual([
      'open ROOT::S1',
      'open ROOT::S1',
      'close ROOT::S1',
    ]);
  });
});
