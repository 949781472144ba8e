/** Faults of the file system in words: without the codes and calls that programs speak in. */

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a file stands where a directory is expected',
  EEXIST: 'a file stands where a directory is expected',
  EISDIR: 'it is a directory',
  ELOOP: 'it is a link to itself',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
};

/** Why a file could not be read or written. */
export function fileWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return WORDS[code] ?? error.message;
}
