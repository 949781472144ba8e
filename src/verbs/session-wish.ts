/** What `mimir spawn` was asked for, from its words and flags (CONTRACT S022 to S030). Wrong words are exit 2. */
import { relative, resolve } from 'node:path';
import { SpawnWish } from '../domain/spawn.ts';
import { EXIT, Exit } from './exit.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';

/** As asked for; the folder is still as it was written. */
export function wishFrom(args: Arguments): SpawnWish {
  const { role, prompt } = saidIn(args.words);
  const wish = SpawnWish.safeParse({
    prompt,
    role,
    model: args.get('model') ?? null,
    name: nameOf(args.get('name'), role),
    wait: waitOf(args.get('wait')),
    workingDir: args.get('working-dir') ?? null,
  });
  if (wish.success) return wish.data;
  const [issue] = wish.error.issues;
  throw new Exit(EXIT.wrongUse, FAULTS[String(issue?.path[0])] ?? `this can't be spawned: ${issue?.message ?? ''}`);
}

/** One word is the prompt, of two the first is the role (CONTRACT D13). */
function saidIn(words: readonly string[]): { readonly role: string | null; readonly prompt: string } {
  const [first = '', second] = words;
  const prompt = second ?? first;
  if (prompt.trim() !== '') return { role: second === undefined ? null : first, prompt };
  throw new Exit(EXIT.wrongUse, 'a prompt is missing\n  mimir spawn [ROLE] "As engineer, implement …"');
}

const FAULTS: Readonly<Record<string, string>> = {
  prompt: 'the prompt is longer than 50000 characters\n  put the details into a file of the project and name it',
  role: 'ROLE is empty or too long\n  `mimir agents list` names the roles, or leave it out',
  model: '--model is empty or too long\n  `mimir models` lists them',
  name: '--name takes up to 60 letters, digits, blanks, ".", "_" or "-", a letter or digit first (the role before it counts)',
  wait: '--wait takes seconds from 0 to 86400',
  workingDir: '--working-dir is empty\n  expected a folder of the project',
};

/** With a role before the prompt a session is named after both: `engineer-task1` (CONTRACT S030). */
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
