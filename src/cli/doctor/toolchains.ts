/** What `mimir doctor` says of toolchains in the sandbox, and of the caches that commands of this project keep. */
import { type LookPlace, lookAtCaches, lookAtToolchains, type ToolchainLook } from '../../tools/sandbox/look.ts';
import type { Box } from '../../app/project/sandbox.ts';
import type { Finding } from './policy.ts';

/** Nothing where no sandbox works: commands then see the machine as it is. */
export async function toolchainFindings({ sandbox, paths }: Box, place: LookPlace): Promise<readonly Finding[]> {
  if (sandbox.state.is === 'none') return [];
  const looks = await lookAtToolchains(sandbox, place, paths);
  if (looks.length === 0) return [{ what: 'toolchain', state: 'note', words: 'none found on the PATH' }];
  return looks.map(
    (look): Finding => ({
      what: 'toolchain',
      state: look.version === null ? 'note' : 'ok',
      words: wordsOf(look, place.home),
    }),
  );
}

function wordsOf({ name, version, said, packages, takesPackages }: ToolchainLook, home: string): string {
  if (version === null) return `${name} does not start in the sandbox${said === '' ? '' : `: ${said.slice(0, 200)}`}`;
  const start = `${name} ${version} starts in the sandbox, offline`;
  if (!takesPackages) return start;
  const places = packages.map((place) => (place.startsWith(`${home}/`) ? `~${place.slice(home.length)}` : place));
  return places.length === 0
    ? `${start}; no packages of it on this machine`
    : `${start}, with the packages of ${places.join(', ')}`;
}

export async function cacheFindings(place: LookPlace, clear: boolean): Promise<readonly Finding[]> {
  const { folder, bytes, most, cleared } = await lookAtCaches(place, { clear });
  const size = bytes === null ? 'more than can be counted' : sizeText(bytes);
  if (cleared === false)
    return [
      { what: 'caches', state: 'problem', words: `${folder} could not be emptied whole: remove ${folder}.gone.*` },
    ];
  if (cleared === true) return [{ what: 'caches', state: 'ok', words: `emptied: ${size} removed` }];
  const kept = `${size} of at most ${sizeText(most)} kept for commands of this project`;
  const words = bytes === 0 ? 'nothing kept for commands of this project' : `${kept}, in ${folder}`;
  return [
    { what: 'caches', state: 'ok', words: bytes === 0 ? words : `${words}; mimir doctor --clear-caches empties it` },
  ];
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `12 MiB` */
function sizeText(bytes: number): string {
  const step = bytes === 0 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** step;
  return `${value < 10 && step > 0 ? Number(value.toFixed(1)) : Math.round(value)} ${UNITS[step] ?? 'B'}`;
}
