/**
 * Trust of a project: what it would bring, whether exactly that was trusted, and what changed since. Bound
 * to the folder and to the content of all that configures Mimir there; nothing is inherited from a folder above.
 */
import { realpathSync } from 'node:fs';
import type { TrustQuestion } from '../../ports/project-service.ts';
import { type Result, fail } from '../../domain/result.ts';
import type { Places } from '../files/paths.ts';
import { isTooWide, trustOf } from './trust.ts';
import { bringsOf } from './preview.ts';
import { type Differ, changesSince } from './diff.ts';
import { type TrustFile, digestOf, trustFiles } from './files.ts';
import { type TrustRecord, folderNow, readRecord, removeRecord, writeRecord } from './store.ts';

export interface TrustLook {
  /** `trust:` of the person's own configuration: such a directory needs no first question. */
  readonly listed: readonly string[];
  /** The project is Mimir's own checkout: its `.mimir` holds the defaults, and needs no trust. */
  readonly own?: boolean;
  /** Makes the diff; without it, changed files are only named. */
  readonly diff?: Differ;
}

export interface ProjectTrust extends TrustQuestion {
  /** Why nothing here can be trusted at all; null when it can. The state is `nothing` then. */
  readonly problem: string | null;
  /** Trusted by `trust:` and not recorded yet: `giveTrust` binds it to what is there now. */
  readonly unrecorded: boolean;
  /** What is odd about the list or the record, a line each. */
  readonly notes: readonly string[];
}

type Where = Pick<Places, 'home' | 'state'>;

/** Looks only. Anything that can't be read or believed is not trusted, and said. */
export function trustQuestion(projectRoot: string, places: Where, look: TrustLook): ProjectTrust {
  const root = realpathSync(projectRoot);
  const list = trustOf(root, look.listed, places.home);
  const files = trustFiles(root, look.own ?? false);
  if (!files.ok) return refused(files.fault, list.notes);
  const brings = bringsOf(files.value);
  if (isTooWide(root, places.home)) return refused(brings.length === 0 ? null : tooWide(root), list.notes);
  const record = readRecord(root, places);
  const seen = { files: files.value, brings, notes: list.notes };
  if (!record.ok) return unbelieved({ ...seen, notes: [...list.notes, record.fault] });
  const changes = changesOf(root, record.value, files.value, look);
  return compared(seen, { recorded: record.value !== null, listed: list.trusted, changes });
}

interface Seen {
  readonly files: readonly TrustFile[];
  readonly brings: readonly string[];
  readonly notes: readonly string[];
}

interface Known {
  readonly recorded: boolean;
  readonly listed: boolean;
  /** Since it was recorded. */
  readonly changes: readonly string[];
}

function compared({ files, brings, notes }: Seen, { recorded, listed, changes }: Known): ProjectTrust {
  const known = changes.length > 0 ? 'changed' : 'trusted';
  const state = recorded || listed ? known : 'new';
  return {
    state: brings.length === 0 ? 'nothing' : state,
    digest: digestOf(files),
    brings,
    diff: changes.join('\n'),
    problem: null,
    unrecorded: !recorded && listed,
    notes,
  };
}

/**
 * Trusts the project as it was shown. Fails, in words, when it has changed since, when it is too wide (home and above), or
 * when the record can't be written.
 */
export function giveTrust(
  projectRoot: string,
  places: Where,
  digest: string,
  { own = false }: Pick<TrustLook, 'own'> = {},
): Result<void, string> {
  const root = realpathSync(projectRoot);
  if (isTooWide(root, places.home)) return fail(tooWide(root));
  const files = trustFiles(root, own);
  if (!files.ok) return files;
  if (digestOf(files.value) !== digest) return fail('it has changed since it was shown: look again');
  const kept = files.value.map(({ file, digest: one, text }) => ({ file, digest: one, text }));
  return writeRecord({ version: 1, ...folderNow(root), digest, files: kept }, places);
}

/** Takes trust back; false when none was given. */
export const takeTrust = (projectRoot: string, places: Where): Result<boolean, string> =>
  removeRecord(realpathSync(projectRoot), places);

const tooWide = (root: string): string => `${root} is never trusted: it is home, or above it`;

const refused = (problem: string | null, notes: readonly string[]): ProjectTrust => ({
  state: 'nothing',
  digest: '',
  brings: [],
  diff: '',
  problem,
  unrecorded: false,
  notes,
});

/** A record that can't be believed is none; neither must it make a listed folder look seen for the first time. */
const unbelieved = ({ files, brings, notes }: Seen): ProjectTrust => ({
  ...refused(null, notes),
  state: brings.length === 0 ? 'nothing' : 'new',
  digest: digestOf(files),
  brings,
});

const REPLACED = '# the folder itself is another one than the one that was trusted';

/** Empty: what is there is what was trusted, or nothing was. */
function changesOf(
  root: string,
  record: TrustRecord | null,
  files: readonly TrustFile[],
  { diff }: TrustLook,
): readonly string[] {
  if (record === null) return [];
  const now = folderNow(root);
  const isSame = now.device === record.device && now.inode === record.inode;
  return [...(isSame ? [] : [REPLACED]), ...changesSince(record, files, diff ?? null)];
}
