/** Runs in a real repository whose rules make agents judge what others do: what each says and writes is the test's. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Trigger } from '../../src/domain/forced.ts';
import { RoleName } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/role.ts';
import type { ForcedGate } from '../../src/events/ruling.ts';
import type { ScriptedReply } from '../../src/models/scripted.ts';
import type { ForcedRule } from '../../src/policy/rules.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import { giveVerdictTool } from '../../src/tools/desk-tools.ts';
import { checkRoot, openTrees } from '../../src/tools/index.ts';
import { freshFolder, makeRepository } from './repos.ts';
import type { Setting, TestRun } from './run.ts';
import { planOf, ROLES, RULES, testRun } from './run.ts';
import { needs } from './needs.ts';

needs('git');

const [FIRST] = ROLES;
if (FIRST === undefined) throw new Error('the test has no roles');

export const SECURITY: Role = {
  ...FIRST,
  name: RoleName.parse('security'),
  description: 'security of the test',
  prompt: 'You judge.',
  capabilities: ['read'],
  planned: false,
};

export const forcing = (triggers: readonly Trigger[], more: Partial<ForcedRule> = {}): ForcedRule => ({
  name: 'security',
  model: null,
  triggers,
  onFailure: 'block',
  from: { rule: 'enforcement.forcedSubAgents.security', layer: 'managed', file: '/etc/mimir/policy.yml', line: 3 },
  ...more,
});

/** A reply that calls for a verdict. */
export const verdict = (pass: boolean, ...findings: readonly string[]): ScriptedReply => ({
  text: '',
  calls: [
    { tool: 'give_verdict', input: { pass, summary: pass ? 'nothing found' : 'not safe', findings: [...findings] } },
  ],
});

const WAYS = { write: 'put', shell: 'sh', patch: 'apply' } as const;

/** Writes a file: by a tool for files, by a shell's redirection, or by `git apply`. */
export const writing = (file: string, content: string, by: keyof typeof WAYS = 'write'): ScriptedReply => ({
  text: '',
  calls: [{ tool: WAYS[by], input: { file, content } }],
});

const put = z.strictObject({ file: z.string(), content: z.string() });

function tools(root: string): ToolPort {
  const writer = (name: string, act: (file: string, content: string) => void): Tool => ({
    name,
    description: name,
    input: put,
    capability: 'write',
    repeat: 'never',
    label: (input) => `${name} ${put.parse(input).file}`,
    run(input) {
      const { file, content } = put.parse(input);
      act(path.join(root, file), content);
      return Promise.resolve({ ok: true, text: 'written' });
    },
  });
  const verdicts: Tool = {
    ...giveVerdictTool,
    label: (input) => giveVerdictTool.label(giveVerdictTool.input.parse(input)),
    run: (input, context) => giveVerdictTool.run(giveVerdictTool.input.parse(input), context),
  };
  return {
    tools: [
      writer('put', (file, content) => writeFileSync(file, content)),
      writer('sh', (file, content) => {
        execFileSync('/bin/sh', ['-c', 'printf %s "$2" > "$1"', 'sh', file, content]);
      }),
      writer('apply', (file, content) => {
        const name = path.basename(file);
        const input = `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${content}\n`;
        execFileSync('git', ['-C', root, 'apply', '-'], { input });
      }),
      verdicts,
    ],
    sandbox: { is: 'none', because: 'a test' },
  };
}

export interface ForcedSetting extends Setting {
  readonly forced?: readonly ForcedRule[];
  readonly root?: string;
  /** Where trees are kept: the same for a run and its resumption. */
  readonly stateDir?: string;
}

/** Tasks whose ids begin with `o` write, others read; nobody is there to be asked unless the setting says so. */
export function forcedRun({
  forced = [forcing(['on-write'])],
  root = makeRepository(),
  stateDir = freshFolder(),
  ...setting
}: ForcedSetting): TestRun {
  const place = checkRoot(root, { home: freshFolder(), state: freshFolder() });
  if (!place.ok) throw new Error(place.fault);
  return testRun({
    plan: planOf(['o1'], ['b', 'o1']),
    mode: 'yolo',
    person: false,
    trees: openTrees({ root: place.value, stateDir }),
    roles: [...ROLES, SECURITY],
    toolsOf: (capabilities) => (capabilities.includes('write') ? Object.values(WAYS) : []),
    port: tools(root),
    ...setting,
    rules: { ...RULES, ...setting.rules, forcedAgents: forced },
  });
}

/** Agents that are forced, in order. */
export const reviewers = (run: TestRun): readonly string[] =>
  [...run.state().agents.values()].filter(({ forced }) => forced !== null).map(({ id }) => id);

/** What became of each agent of the plan, by its task. */
export const ends = (run: TestRun): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    [...run.state().agents.values()].flatMap(({ taskId, outcome }) => (taskId === null ? [] : [[taskId, outcome]])),
  );

/** Gates as they stand: whose, which trigger, whether open, why. */
export const gatesOf = (run: TestRun): unknown =>
  run.state().gates.map(({ agent, trigger, open, why }: ForcedGate) => [agent, trigger, open, why]);
