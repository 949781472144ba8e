/** Processes of the tests' own: Node on a file of ours, with what it printed. */
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { COMPILED } from './compiled.ts';

export type Child = ChildProcessByStdio<null, Readable, Readable>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

const environment = (): Readonly<NodeJS.ProcessEnv> => ({ ...process.env, NODE_COMPILE_CACHE: COMPILED });

/** Starts `command`; both of its outputs are text. */
export function start(command: string, args: readonly string[], env = environment()): Child {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  return child;
}

/** What it printed, once it has ended. `onOut` gets all of stdout so far at each piece. */
export function ended(child: Child, onOut: (out: string) => void = () => undefined): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let [out, err] = ['', ''];
    child.stdout.on('data', (piece: string) => {
      out += piece;
      onOut(out);
    });
    child.stderr.on('data', (piece: string) => {
      err += piece;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, out, err });
    });
  });
}
