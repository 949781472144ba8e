/** Runs of agents that work by words: replies as texts with one command each, a real bash in a folder of its own. */
import { z } from 'zod';
import { RoleName } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/agents/role.ts';
import type { ScriptedReply } from './scripted.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import { openTools } from '../../src/tools/index.ts';
import { type Files, freshFolder, makeFolder } from './repos.ts';
import { filed, ROLES, RULES, type Script, type Setting, type TestRun, testRun } from './run.ts';

/** A reply as such a model writes it: a sentence, and a block with the command. */
export const runs = (command: string, words = 'Next step.'): ScriptedReply => ({
  text: `${words}\n\n\`\`\`\`bash\n${command}\n\`\`\`\``,
});

/** A command that hands over `text`, or has a child made for it, as the words of the protocol show it. */
const hands = (marker: string, text: string): ScriptedReply => runs(`echo ${marker}; cat <<'END'\n${text}\nEND`);
export const ends = (text: string): ScriptedReply => hands('MIMIR_FINAL_OUTPUT', text);
export const spawns = (task: string, name?: string): ScriptedReply =>
  hands(`MIMIR_SPAWN_CHILD${name === undefined ? '' : `::'${name}'`}`, task);

/** Real tools on a folder. Commands run in no box, and are judged as if there were one: yolo lets them run. */
function toolsIn(folder: string): ToolPort {
  const port = openTools({ root: folder, home: '/nowhere/home', stateDir: freshFolder() });
  if (!port.ok) throw new Error(port.fault);
  const tools = port.value.tools.map(
    (tool): Tool =>
      tool.name === 'bash'
        ? { ...tool, run: (input, context) => tool.run(input, { ...context, sandbox: 'none' }) }
        : tool,
  );
  return { tools, sandbox: { is: 'bubblewrap' } };
}

/** A shell that only looks like one, for runs that are begun a hundred times: it prints what the words of the protocol print. */
export function quickShell(acts: string[] = []): ToolPort {
  const { tools, sandbox } = toolsIn(freshFolder());
  const run: Tool['run'] = (input) => {
    const { command } = Command.parse(input);
    acts.push(command);
    const [, marker = 'ran it', text = ''] = /^echo (\S+); cat <<'END'\n([\s\S]*)\nEND$/.exec(command) ?? [];
    return Promise.resolve({ ok: true, text: `exit code 0 after 0.1 s\n${marker}\n${text}`.trimEnd() });
  };
  return { tools: tools.map((tool): Tool => (tool.name === 'bash' ? { ...tool, run } : tool)), sandbox };
}
const Command = z.object({ command: z.string() });

const named = (name: string, part: Partial<Role>): Role => {
  const [main] = ROLES;
  if (main === undefined) throw new Error('there are no roles');
  return { ...main, name: RoleName.parse(name), description: name, prompt: `You are ${name}.`, planned: true, ...part };
};

/** `coder` works by words, `code` has tools: what a child is by itself. */
export const WORD_ROLES: readonly Role[] = [
  ...ROLES,
  named('coder', { capabilities: ['read', 'write', 'shell'], protocol: 'text' }),
  named('code', { capabilities: ['read', 'write', 'shell'], planned: false }),
  named('mute', { capabilities: ['read'], protocol: 'text' }),
];

/** One agent of `role` that may have children, three levels deep. */
export const wordPlan = (role = 'coder', maySpawn = true): unknown => ({
  reason: '',
  tasks: [{ id: 't', description: 'do t', role, maySpawn }],
});

export interface WordSetting extends Setting {
  readonly files?: Files;
  readonly folder?: string;
}

/** In yolo mode, on a folder with these files. */
export function wordRun({ files = {}, folder = makeFolder(files), ...setting }: WordSetting): TestRun {
  return testRun({
    ...filed(setting.plan ?? wordPlan()),
    mode: 'yolo',
    roles: WORD_ROLES,
    rules: { ...RULES, maxNestingDepth: { ...RULES.maxNestingDepth, value: 3 } },
    port: toolsIn(folder),
    ...setting,
  });
}

/** What each agent says, one reply a turn of its own; it counts the model's turns, so that a resumed agent goes on. */
export const saying =
  (replies: Readonly<Record<string, readonly ScriptedReply[]>>): Script =>
  ({ agent, purpose, turns }) =>
    purpose.is === 'work' ? replies[agent]?.[turns.filter(({ by }) => by === 'model').length] : undefined;

/** Of an agent: the results of its calls, in the order they ended, their duration left out. */
export const resultsOf = (run: TestRun, agent: string): readonly string[] =>
  run
    .events()
    .flatMap((event) =>
      event.type === 'tool.finished' && event.agent === agent
        ? [event.output.replace(/after [0-9.]+ s/, 'after T')]
        : [],
    );

export const outcomes = (run: TestRun): readonly string[] =>
  [...run.state().agents.values()].map(({ id, outcome }) => `${id} ${outcome}`);
