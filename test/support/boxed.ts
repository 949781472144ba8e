/** Small tools for runs whose commands would be boxed: they write down what they did, and commands can have inputs. */
import { z } from 'zod';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';

export interface BoxedTools {
  readonly acts: string[];
  /** What files say that a command reads, by name: digests of the moment. */
  readonly files?: Readonly<Record<string, string>>;
  /** What a write waits for. */
  readonly wait?: () => Promise<void>;
  readonly commit?: Pick<Tool, 'propose'>;
}

/** `read`, `write` and `bash`, and `commit` where it is given. */
export function boxedTools({ acts, files = {}, wait, commit }: BoxedTools): ToolPort {
  const Text = z.strictObject({ text: z.string() });
  const Command = z.strictObject({ command: z.string() });
  const simple = (name: string, capability: 'read' | 'write' | 'git-write'): Tool => ({
    name,
    description: name,
    input: Text,
    capability,
    repeat: capability === 'read' ? 'safe' : 'never',
    label: (input) => `${name} ${Text.parse(input).text}`,
    run: async (input, { tree }) => {
      await wait?.();
      acts.push(`${name} ${Text.parse(input).text}${tree === undefined ? '' : ` as ${tree}`}`);
      return { ok: true, text: `${name} did it` };
    },
  });
  const bash: Tool = {
    name: 'bash',
    description: 'bash',
    input: Command,
    capability: 'shell',
    repeat: 'never',
    label: (input) => Command.parse(input).command,
    inputs: () => Promise.resolve(Object.entries(files).map(([path, digest]) => ({ path, digest }))),
    run: (input, { sandbox }) => {
      acts.push(`bash ${Command.parse(input).command} (${sandbox})`);
      return Promise.resolve({ ok: true, text: 'bash did it' });
    },
  };
  const tools = [simple('read', 'read'), simple('write', 'write'), bash];
  const all = commit === undefined ? tools : [...tools, { ...simple('commit', 'git-write'), ...commit }];
  return { tools: all, sandbox: { is: 'bubblewrap' } };
}
