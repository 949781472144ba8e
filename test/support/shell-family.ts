/**
 * A run of the real program whose agents say shell commands or other calls, one a turn, and end with an answer: who they are stands in
 * their task as `[name]`. What each command printed is kept, as the model read it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Home, Ran } from './cli.ts';
import { openHome, PUBLISHED } from './cli.ts';
import type { Asked } from './double/asked.ts';
import { KEY, openDouble } from './double/double.ts';
import type { Answer } from './double/script.ts';

export interface Member {
  /** Of the shell, or a call of any tool. Null: it answers, and goes on with the next when a message comes. */
  readonly commands: readonly (string | { readonly tool: string; readonly input: unknown } | null)[];
  /** The answer after them, and after each message that comes later. */
  readonly answer: string;
  /** Planned, and may it spawn; the others are spawned by commands. */
  readonly planned?: { readonly maySpawn: boolean; readonly role?: string; readonly writes?: readonly string[] };
}

export type Members = Readonly<Record<string, Member>>;

export interface RunSessions {
  readonly home: Home;
  /** What Mimir is told of its provider. */
  readonly env: Readonly<Record<string, string>>;
  /** Every request that came to it. */
  readonly asked: readonly Asked[];
  /** What its commands printed, in order, without the line that says how each ended. */
  printed(name: string): readonly string[];
  /** Everything that the user's side said to it last, a text a turn. */
  heard(name: string): readonly string[];
  run(...flags: readonly string[]): Promise<Ran>;
}

/** Opens a home and a model for it. `ordinary`: Mimir runs as an ordinary user. `config`: the person's. */
export async function openFamily(members: Members, { ordinary = false, config = '' } = {}): Promise<RunSessions> {
  const home = openHome({ 'a.txt': 'one\n' });
  onTestFinished(() => home.remove());
  writeFileSync(join(home.config, 'config.yml'), config);
  const heard = new Map<string, string[]>();
  const double = await openDouble((asked) => answerOf(asked, members, heard));
  onTestFinished(() => double.close());
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: double.url };
  const program = [...(ordinary ? home.ordinary : []), ...PUBLISHED];
  const heardBy = (name: string): readonly string[] => heard.get(name) ?? [];
  return {
    home,
    env,
    asked: double.asked,
    heard: heardBy,
    printed: (name) => heardBy(name).flatMap((text) => (/^exit code \d+ after/.test(text) ? [textOf(text)] : [])),
    run: (...flags) =>
      home.run(['run', 'Work as a family', '--yes', '--mode', 'yolo', '--json', ...flags], { env, program }),
  };
}

const textOf = (result: string): string => result.split('\n').slice(1).join('\n').replace('--- stderr ---\n', '');

function answerOf(asked: Asked, members: Members, heard: Map<string, string[]>): Answer {
  if (asked.system.startsWith('You plan a task')) return { text: planOf(members) };
  const name = /^\[(\w+)\]/.exec(asked.first)?.[1] ?? '';
  const member = members[name];
  if (member === undefined) return { text: 'The family has worked.' };
  if (asked.turn > 1) heard.set(name, [...(heard.get(name) ?? []), asked.last]);
  const command = member.commands[asked.turn - 1];
  return command === undefined || command === null
    ? { text: member.answer }
    : { calls: [typeof command === 'string' ? { tool: 'bash', input: { command } } : command] };
}

const planOf = (members: Members): string =>
  JSON.stringify({
    reason: 'A family.',
    tasks: Object.entries(members).flatMap(([name, { planned }]) =>
      planned === undefined
        ? []
        : [
            {
              id: name,
              description: `[${name}] Say your commands.`,
              recommendedRole: planned.role ?? 'oracle',
              recommendedModel: null,
              estimatedTokens: 8000,
              dependencies: [],
              writes: planned.writes ?? [],
              maySpawn: planned.maySpawn,
            },
          ],
    ),
  });
