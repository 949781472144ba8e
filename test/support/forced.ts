/**
 * Runs whose rules make agents judge what others do: what each says and writes is the test's. The project is in memory unless a
 * test names the root of a real one: of that each look starts processes of git.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Trigger } from '../../src/domain/agents/agent.ts';
import { RoleName } from '../../src/domain/ids.ts';
import { ok } from '../../src/domain/result.ts';
import type { Role } from '../../src/domain/agents/role.ts';
import type { ReviewGate } from '../../src/events/event.ts';
import type { ScriptedReply } from './scripted.ts';
import type { ReviewRule } from '../../src/policy/rules.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import type { TreePort } from '../../src/ports/tree.ts';
import { giveVerdictTool } from '../../src/tools/tools.ts';
import { checkRoot, openTrees } from '../../src/tools/index.ts';
import { freshFolder } from './repos.ts';
import { planOf, ROLES, RULES, type Setting, type TestRun, testRun } from './run.ts';
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

export const forcing = (triggers: readonly Trigger[], more: Partial<ReviewRule> = {}): ReviewRule => ({
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

type Act = (file: string, content: string) => void;

/** The ways to write, each by its own act, and the tool for verdicts. */
function toolsBy(acts: Readonly<Record<(typeof WAYS)[keyof typeof WAYS], Act>>): ToolPort {
  const writer = (name: string, act: Act): Tool => ({
    name,
    description: name,
    input: put,
    capability: 'write',
    repeat: 'never',
    label: (input) => `${name} ${put.parse(input).file}`,
    run(input) {
      const { file, content } = put.parse(input);
      act(file, content);
      return Promise.resolve({ ok: true, text: 'written' });
    },
  });
  const verdicts: Tool = {
    ...giveVerdictTool,
    label: (input) => giveVerdictTool.label(giveVerdictTool.input.parse(input)),
    run: (input, context) => giveVerdictTool.run(giveVerdictTool.input.parse(input), context),
  };
  return {
    tools: [...Object.entries(acts).map(([name, act]) => writer(name, act)), verdicts],
    sandbox: { is: 'none', because: 'a test' },
  };
}

const inRoot = (root: string): ToolPort =>
  toolsBy({
    put: (file, content) => writeFileSync(path.join(root, file), content),
    sh: (file, content) => {
      execFileSync('/bin/sh', ['-c', 'printf %s "$2" > "$1"', 'sh', path.join(root, file), content]);
    },
    apply: (file, content) => {
      const input = `--- /dev/null\n+++ b/${file}\n@@ -0,0 +1 @@\n+${content}\n`;
      execFileSync('git', ['-C', root, 'apply', '-'], { input });
    },
  });

/** A project in memory: each tree is what all files held, and named so. */
export interface MemoryProject {
  readonly trees: TreePort;
  write(file: string, content: string): void;
}

export function memoryProject(): MemoryProject {
  let files: Readonly<Record<string, string>> = {};
  const filesOf = (tree: string): Readonly<Record<string, string>> =>
    z.record(z.string(), z.string()).parse(JSON.parse(tree));
  const lines = (sign: string, content: string | undefined): readonly string[] =>
    content === undefined ? [] : [`${sign}${content}`];
  return {
    write(file, content) {
      const all = { ...files, [file]: content };
      files = Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    },
    trees: {
      now: () => Promise.resolve(ok(JSON.stringify(files))),
      changes(from, to) {
        const [before, after] = [filesOf(from), filesOf(to)];
        const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
        const changed = names.filter((file) => before[file] !== after[file]);
        const patch = changed.flatMap((file) => [file, ...lines('-', before[file]), ...lines('+', after[file])]);
        return Promise.resolve(ok({ files: changed, patch: patch.join('\n') }));
      },
    },
  };
}

export interface ForcedSetting extends Setting {
  readonly forced?: readonly ReviewRule[];
  /** Of a real repository; `stateDir`: where its trees are kept, the same for a run and its resumption. */
  readonly root?: string;
  readonly stateDir?: string;
  /** The same for a run and its resumption. */
  readonly project?: MemoryProject;
}

/** Tasks whose ids begin with `o` write, others read; nobody is there to be asked unless the setting says so. */
export function forcedRun({
  forced = [forcing(['on-write'])],
  root,
  stateDir,
  project = memoryProject(),
  ...setting
}: ForcedSetting): TestRun {
  const act: Act = (file, content) => project.write(file, content);
  const place =
    root === undefined
      ? { trees: project.trees, port: toolsBy({ put: act, sh: act, apply: act }) }
      : { trees: treesOf(root, stateDir ?? freshFolder()), port: inRoot(root) };
  return testRun({
    plan: planOf(['o1'], ['b', 'o1']),
    mode: 'yolo',
    person: false,
    ...place,
    roles: [...ROLES, SECURITY],
    toolsOf: (capabilities) => (capabilities.includes('write') ? Object.values(WAYS) : []),
    ...setting,
    rules: { ...RULES, ...setting.rules, forcedAgents: forced },
  });
}

function treesOf(root: string, stateDir: string): TreePort {
  const place = checkRoot(root, { home: freshFolder(), state: freshFolder() });
  if (!place.ok) throw new Error(place.fault);
  return openTrees({ root: place.value, stateDir });
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
  run.state().gates.map(({ agent, trigger, open, why }: ReviewGate) => [agent, trigger, open, why]);
