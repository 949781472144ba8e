/** Programs of a person's host on a PATH of their own: a `gh` and a `glab` that keep requests in a file, and a `git` that may kill who runs it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, git } from './repos.ts';

export interface Host {
  /** The PATH with the programs first. */
  readonly path: string;
  /** A bare repository: the remote. */
  readonly remote: string;
  /** The arguments of each call of `gh` or `glab`, one line each. */
  calls(): readonly string[];
  /** The body of the request that was opened. */
  body(): string;
  /** The next program that comes to this moment kills the process that started it: `before push`, `after create`. */
  killAt(moment: string): void;
  /** Files of a branch of the remote; null if it is not there. */
  filesOf(branch: string): readonly string[] | null;
  branches(): readonly string[];
}

const GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** Kills the starting process at the moment that stands in the file `kill`, once. */
const moment = (folder: string): string =>
  `at() { [ -e '${folder}/kill' ] && read -r at < '${folder}/kill' && [ "$at" = "$1" ] || return 0
rm '${folder}/kill'; kill -9 $PPID; exit 1; }`;

const gitScript = (folder: string): string => `#!/bin/sh
${moment(folder)}
verb=
for arg in "$@"; do case "$arg" in commit-tree|update-ref|push) verb=$arg; break;; esac; done
at "before $verb"
${GIT} "$@"
code=$?
at "after $verb"
exit $code
`;

const hostScript = (folder: string, name: 'gh' | 'glab'): string => `#!/bin/sh
${moment(folder)}
at "before $2"
echo "${name} $*" >> '${folder}/calls'
case "$2" in
  list) cat '${folder}/requests' 2>/dev/null || echo '[]' ;;
  create)
    ${name === 'gh' ? `cat > '${folder}/body'` : `while [ $# -gt 0 ]; do [ "$1" = --description ] && printf '%s' "$2" > '${folder}/body'; shift; done; set -- mr create`}
    echo '[{"${name === 'gh' ? 'url' : 'web_url'}":"https://host.example/team/ledger/7"}]' > '${folder}/requests'
    echo 'https://host.example/team/ledger/7' ;;
esac
at "after $2"
`;

/** `programs`: which of the two are there. */
export function makeHost(...programs: readonly ('gh' | 'glab')[]): Host {
  const folder = freshFolder();
  const bin = join(folder, 'bin');
  execFileSync('mkdir', [bin]);
  const put = (name: string, text: string): void => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  put('git', gitScript(folder));
  for (const name of programs) put(name, hostScript(folder, name));
  const remote = join(folder, 'remote.git');
  git(folder, 'init', '--quiet', '--bare', '--initial-branch=main', remote);
  const read = (name: string): string =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';
  const branches = (): readonly string[] =>
    git(remote, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')
      .split('\n')
      .filter((line) => line !== '');
  return {
    path: `${bin}:${process.env['PATH'] ?? ''}`,
    remote,
    calls: () =>
      read('calls')
        .split('\n')
        .filter((line) => line !== ''),
    body: () => read('body'),
    killAt: (when) => writeFileSync(join(folder, 'kill'), `${when}\n`),
    filesOf: (branch) =>
      branches().includes(branch)
        ? git(remote, 'ls-tree', '-r', '--name-only', branch)
            .split('\n')
            .filter((line) => line !== '')
        : null,
    branches,
  };
}
