/**
 * A managed policy for the real program: a folder of a test's own mounted at /etc/mimir, by bubblewrap. The program has no
 * back door for it, so what is shown holds for the shipped one. The rest of the machine is as it is.
 */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  lstatSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { needs } from './needs.ts';
import { isRoot, PUBLISHED } from './cli.ts';
import type { Home, How } from './cli.ts';

needs('bubblewrap');

/** 65534 is also how a file of a user who is not in this namespace looks. */
const NOBODY = 65534;

export interface ManagedFile {
  readonly text: string;
  readonly mode?: number;
  /** User id; only root can give a file away. */
  readonly owner?: number;
}

/**
 * `ordinary`: user nobody, the folder is root's (needs root). `root`: root as it is (needs root). `mapped`: an ordinary
 * user who is 0 in a namespace of their own, so that their own folder looks like root's.
 */
export type RunAs = 'ordinary' | 'root' | 'mapped';
const USUAL: RunAs = isRoot ? 'ordinary' : 'mapped';

export interface Managed {
  /** Below /etc/mimir: `policy.yml`, `policy.d/10-models.yml`. Files are 0644 and folders 0755 unless they say otherwise. */
  readonly files: Readonly<Record<string, string | ManagedFile>>;
  /** /etc/mimir itself. */
  readonly folder?: { readonly mode?: number; readonly owner?: number };
  readonly as?: RunAs;
}

export interface ManagedHome extends How {
  readonly program: readonly string[];
  /** What is mounted: changes in it are seen at once. */
  readonly folder: string;
}

/** How to start the program there: `home.run(args, managed(home, { files: { 'policy.yml': '…' } }))`. */
export function managed(
  home: Pick<Home, 'root' | 'ordinary'>,
  { files, folder = {}, as = USUAL }: Managed,
): ManagedHome {
  if (!isRoot && as !== 'mapped') throw new Error(`"${as}" needs root, and these tests run as an ordinary user`);
  const usual = as === 'mapped' && isRoot ? NOBODY : undefined;
  const etc = mkdtempSync(join(home.root, 'etc-'));
  own(etc, { mode: 0o755, owner: usual, ...folder });
  for (const [name, given] of Object.entries(files)) {
    const { text, ...rights } = typeof given === 'string' ? { text: given } : given;
    const path = join(etc, name);
    if (mkdirSync(dirname(path), { recursive: true }) !== undefined) own(dirname(path), { mode: 0o755, owner: usual });
    writeFileSync(path, text);
    own(path, { mode: 0o644, owner: usual, ...rights });
  }
  return { program: [...seeing(home, etc, as), ...PUBLISHED], folder: etc };
}

/** The start of a command line: the rest of it finds `etc` at /etc/mimir. */
export function seeing(home: Pick<Home, 'ordinary'>, etc: string, as: RunAs = USUAL): readonly string[] {
  const box = ['bwrap', '--die-with-parent', ...mounts(), '--bind', etc, '/etc/mimir'];
  if (as === 'mapped') return [...home.ordinary, ...box, '--unshare-user', '--uid', '0', '--gid', '0', '--'];
  return [...box, '--cap-add', 'ALL', '--', ...(as === 'ordinary' ? home.ordinary : [])];
}

/** What programs look up in /etc; the rest of it is left out. */
const ETC = 'passwd group nsswitch.conf hosts resolv.conf ld.so.cache ld.so.conf alternatives ssl localtime'.split(' ');

/** Each entry of `/` for itself: then `/` and `/etc` are new folders, and belong to the root of the namespace. */
function mounts(): readonly string[] {
  const top = readdirSync('/').flatMap((name) => {
    const path = join('/', name);
    if (name === 'etc') return [];
    return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--dev-bind', path, path];
  });
  const etc = ETC.flatMap((name) => ['--ro-bind-try', join('/etc', name), join('/etc', name)]);
  return [...top, '--perms', '0755', '--dir', '/etc', ...etc];
}

interface Rights {
  readonly mode: number;
  readonly owner: number | undefined;
}

function own(path: string, { mode, owner }: Rights): void {
  chmodSync(path, mode);
  if (owner !== undefined && owner !== process.getuid?.()) chownSync(path, owner, owner);
}
