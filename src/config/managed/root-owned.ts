/**
 * Could anybody but root have put this here? Every part of a path is looked at, from `/` on and along every link: one that
 * somebody else owns or may write could be swapped for another.
 */
import { type Stats, lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { ConfigFault } from '../files/fault.ts';
import { codeOf } from '../files/read-text.ts';

/** Owner that a user namespace shows for everybody whom it doesn't know. */
const OVERFLOW = 65_534;
const MAX_LINKS = 40;

/** What makes `file` (absolute) unfit as an administrator's word, or null. `kind`: what has to be at its end. */
export function ownerFault(file: string, kind: 'file' | 'directory'): ConfigFault | null {
  const wrong = ({ problem, remedy }: Words): ConfigFault => ({ file, line: null, column: null, problem, remedy });
  let rest = partsOf(file);
  let here = '/';
  let links = 0;
  const top = unfit('/', lstatSync('/'));
  if (top !== null) return wrong(top);
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = path.join(here, part);
    const found = statusOf(next);
    if (!found.ok) return wrong(found.words);
    const problem = unfit(next, found.status);
    if (problem !== null) return wrong(problem);
    if (!found.status.isSymbolicLink()) {
      here = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return wrong({ problem: 'is a chain of links without an end', remedy: REMEDY_PLAIN });
    const target = readlinkSync(next);
    rest = [...partsOf(target), ...rest];
    if (path.isAbsolute(target)) here = '/';
  }
  return kindFault(here, kind, wrong);
}

interface Words {
  readonly problem: string;
  readonly remedy: string;
}

const REMEDY_PLAIN = 'put a plain file there, or remove it';
/** `..` stays a part: behind a link it leads elsewhere than the text says. */
const partsOf = (file: string): string[] => file.split('/').filter((part) => part !== '' && part !== '.');

type Found = { readonly ok: true; readonly status: Stats } | { readonly ok: false; readonly words: Words };

function statusOf(part: string): Found {
  try {
    return { ok: true, status: lstatSync(part) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT')
      return { ok: false, words: { problem: `leads nowhere: there is no ${part}`, remedy: REMEDY_PLAIN } };
    if (code === 'EACCES') {
      const remedy = `let everybody read it: chmod a+rx ${path.dirname(part)}`;
      return { ok: false, words: { problem: `can't be read: no permission for ${part}`, remedy } };
    }
    return { ok: false, words: { problem: `can't be read (${code} at ${part})`, remedy: 'check the file' } };
  }
}

/** Modes of links mean nothing; who owns one decides where it leads. */
function unfit(part: string, { uid, mode }: Stats): Words | null {
  if (uid === OVERFLOW) {
    return {
      problem: `${part} belongs to user ${OVERFLOW}, which in a user namespace stands for everybody unknown: whether it is root's can't be told`,
      remedy: 'start Mimir outside of that container or namespace, or map root into it',
    };
  }
  if (uid !== 0)
    return { problem: `${part} belongs to user ${uid}, not to root`, remedy: `run: chown root:root ${part}` };
  if ((mode & 0o170000) === 0o120000 || (mode & 0o022) === 0) return null;
  const who = (mode & 0o002) === 0 ? 'its group' : 'anybody';
  return { problem: `${part} may be written by ${who} (mode ${octal(mode)})`, remedy: `run: chmod go-w ${part}` };
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

function kindFault(real: string, kind: 'file' | 'directory', wrong: (words: Words) => ConfigFault): ConfigFault | null {
  const status = lstatSync(real);
  if (kind === 'file' && !status.isFile()) return wrong({ problem: 'is not a regular file', remedy: REMEDY_PLAIN });
  if (kind === 'directory' && !status.isDirectory()) {
    return wrong({ problem: 'is not a directory', remedy: 'make a directory of it, or remove it' });
  }
  return null;
}
