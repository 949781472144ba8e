/**
 * What policy has to know of the project before a command that only reads runs without a question, and what such a command gets
 * in its environment so that git starts nothing that a repository names.
 */
import path from 'node:path';
import type { ReadingLook } from '../../ports/tool.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type Environment, programOn } from './environment.ts';
import { hiddenBelow } from '../paths/path-policy.ts';
import { harmlessGit } from '../git/hardening.ts';
import { gitOf, type Root } from '../paths/root.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { ATTRIBUTES, keepAttributes } from '../sandbox/reading.ts';
import { TOO_LARGE } from '../sandbox/walk.ts';

interface Ground {
  readonly root: Root;
  readonly environment: Environment;
  readonly sandbox: Sandbox;
}

/** What the tool git asks for by its switches: nothing of a submodule is looked at, and no content of a `.env` file is shown. */
const SETTINGS = [
  ['diff.ignoreSubmodules', 'all'],
  ['core.attributesFile', ATTRIBUTES],
] as const;

/** May git be among the programs, however its name is quoted? */
const mayRunGit = (command: string): boolean =>
  /\bgit\b|\$'/.test(`${command}\n${command.replaceAll(/\\\n|[\\'"]/g, '')}`);

/** `folder`: where the command starts, relative to the root. */
export function readingLook(ground: Ground, command: string, folder = '.'): ReadingLook {
  const { path: root } = ground.root;
  return { place: { root, folder: path.resolve(root, folder) }, obstacle: () => obstacleOf(ground, command) };
}

async function obstacleOf({ root, sandbox }: Ground, command: string): Promise<string | null> {
  const { whole, repositories } = await sandbox.walk();
  if (!whole) return TOO_LARGE;
  if (!mayRunGit(command)) return null;
  const state = gitOf(root.path);
  if (state.is === 'none') return state.because;
  // A commit has what a rule hides in the folder.
  const [hidden] = hiddenBelow(root, root.path);
  if (hidden !== undefined) return `a rule hides ${hidden}, which git would show from its commits`;
  const [inner] = repositories;
  // git would obey its configuration, in its folder as well as from above, where it is a submodule.
  return inner === undefined ? null : `${path.relative(root.path, inner)} is a git repository of its own`;
}

/** Of the variables that commands may see, those that say nothing of the person's: what is passed by name is for commands that ask. */
const PLAIN = /^(?:HOME|LANG|LC_[A-Z]+|TZ|PATH|TERM)$/;

/** The environment of a command that only reads, or why it can't be made. */
export async function readingEnvironment(
  { root, environment, sandbox, stateDir }: Ground & { readonly stateDir: string },
  command: string,
  signal: AbortSignal,
): Promise<Result<Environment, string>> {
  const state = mayRunGit(command) ? gitOf(root.path) : null;
  const git = programOn(environment, 'git');
  const plain = Object.fromEntries(Object.entries(environment).filter(([name]) => PLAIN.test(name)));
  if (state === null || git === null) return ok(plain);
  if (state.is === 'none') return fail(state.because);
  try {
    keepAttributes(stateDir);
  } catch (error) {
    return fail(`the state directory ${stateDir} can't be used for it: ${String(error)}`);
  }
  const found = await harmlessGit({ root, git, environment: plain, signal, sandbox }, state.directory, SETTINGS);
  return found.ok ? found : fail(`git could not be made harmless: ${found.fault.stderr.trim()}`);
}
