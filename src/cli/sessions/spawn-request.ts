/** What `mimir spawn` was asked for, from its words and flags. Wrong words are exit 2. */
import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { SpawnWish } from '../../domain/agents/spawn.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';

/** As asked for; the folder is still as it was written. Checked by hand: the schema would be most of what an agent's verb loads. */
export function wishFrom(args: Arguments): SpawnWish {
  const { role, prompt } = saidIn(args.words);
  const wish: SpawnWish = {
    prompt,
    role,
    model: args.get('model') ?? null,
    name: nameOf(args.get('name'), role),
    wait: waitOf(args.get('wait')),
    workingDir: args.get('working-dir') ?? null,
  };
  for (const [is, fault] of CHECKS) if (!is(wish)) throw new Exit(EXIT.wrongUse, fault);
  return wish;
}

/** Nothing said, or 1 to `most` characters. */
const fits = (text: string | null, most: number): boolean => text === null || (text.length > 0 && text.length <= most);

/** As the schema has it (domain/agents/spawn.ts). */
const CHECKS: readonly (readonly [is: (wish: SpawnWish) => boolean, fault: string])[] = [
  [
    ({ prompt }) => fits(prompt, 50_000),
    'the prompt is longer than 50000 characters\n  put the details into a file of the project and name it',
  ],
  [
    ({ role }) => fits(role, 100),
    'ROLE is empty or too long\n  expected the name of a role, such as finder or general-purpose; or leave it out',
  ],
  [
    ({ model }) => fits(model, 200),
    '--model is empty or too long\n  expected opus, sonnet, haiku or the name of a model',
  ],
  [
    ({ name }) => name === null || /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u.test(name),
    '--name takes up to 60 letters, digits, blanks, ".", "_" or "-", a letter or digit first (the role before it counts)',
  ],
  [
    ({ workingDir }) => fits(workingDir, 4096),
    '--working-dir is empty or too long\n  expected a folder of the project',
  ],
];

/** One word is the prompt, of two the first is the role. */
function saidIn(words: readonly string[]): { readonly role: string | null; readonly prompt: string } {
  const [first = '', second] = words;
  const prompt = second ?? first;
  if (prompt.trim() !== '') return { role: second === undefined ? null : first, prompt };
  throw new Exit(EXIT.wrongUse, 'a prompt is missing\n  mimir spawn [ROLE] "As engineer, implement …"');
}

/** With a role before the prompt a session is named after both: `engineer-task1`. */
const nameOf = (name: string | undefined, role: string | null): string | null => {
  if (name === undefined) return null;
  return role === null || name === '' ? name : `${role.toLowerCase()}-${name}`;
};

function waitOf(said: string | undefined): number | null {
  if (said === undefined) return null;
  const seconds = /^\d+(\.\d+)?$/.test(said) ? Number(said) : Number.NaN;
  if (seconds <= 86_400) return seconds;
  throw new Exit(EXIT.wrongUse, `--wait ${said}\n  expected seconds, 0 to 86400`);
}

/** The wish with its folder relative to `root`, the project's; exit 2 when it lies elsewhere. */
export function withFolder(wish: SpawnWish, root: string, io: Pick<Io, 'where'>): SpawnWish {
  if (wish.workingDir === null) return wish;
  const folder = relative(root, resolve(io.where(), wish.workingDir));
  if (folder === '..' || folder.startsWith('../')) {
    throw new Exit(
      EXIT.wrongUse,
      `--working-dir ${wish.workingDir} is outside of the project ${root}\n  expected a folder in it`,
    );
  }
  return { ...wish, workingDir: folder === '' ? '.' : folder };
}

/** Exit 2 where the folder that was asked for is none of the project at `root` now. */
export function requireFolder(wish: SpawnWish, root: string, io: Pick<Io, 'where'>): void {
  const { workingDir } = withFolder(wish, root, io);
  if (workingDir === null || statSync(resolve(root, workingDir), { throwIfNoEntry: false })?.isDirectory() === true)
    return;
  throw new Exit(
    EXIT.wrongUse,
    `--working-dir ${wish.workingDir ?? ''}: there is no such folder in the project ${root}\n  expected a folder in it`,
  );
}
