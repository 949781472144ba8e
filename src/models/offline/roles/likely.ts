/** Weighs where a task's words most likely live: what others named, names that fit, definitions, uses, importers. */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { isDefinition, isSource, isTest } from '../languages.ts';
import { nameFits } from '../topic.ts';
import { listed, plural } from '../words.ts';
import type { Term } from '../words.ts';

export interface Named {
  readonly role: string;
  readonly hit: Hit;
}

export interface Likely {
  readonly path: string;
  readonly score: number;
  readonly why: string;
  readonly hit: Hit | null;
}

export interface Users {
  readonly path: string;
  readonly users: number;
}

/** Found by the finder and a name that fits count most, then definitions, then uses, then how much hangs on a file. */
export function weigh(
  named: readonly Named[],
  uses: readonly (readonly Hit[])[],
  words: readonly Term[],
  users: readonly Users[],
): readonly Likely[] {
  const defines = words.length > 0;
  const definitions = (defines ? (uses[0] ?? []) : []).filter(({ text }) => isDefinition(text));
  const lines = uses.slice(defines ? 1 : 0).flat();
  const paths = [
    ...new Set([
      ...named.map(({ hit }) => hit.path),
      ...[...definitions, ...lines].map(({ path }) => path),
      ...users.slice(0, 5).map(({ path }) => path),
    ]),
  ];
  return paths
    .filter((path) => isSource(path) || path.endsWith('/') || named.some(({ hit }) => hit.path === path))
    .map((path): Likely => {
      const by = [...new Set(named.filter(({ hit }) => hit.path === path).map(({ role }) => role))];
      const defined = definitions.filter((hit) => hit.path === path);
      const used = lines.filter((hit) => hit.path === path);
      const quoted = named.flatMap(({ hit }) => (hit.path === path && hit.text !== '' ? [hit] : []));
      const fan = users.find((one) => one.path === path)?.users ?? 0;
      const fits = nameFits(path, words);
      const told = by.reduce((sum, role) => sum + (role === 'finder' ? 6 : 2), Math.min(3, fits) * 7);
      const counted = told + Math.min(5, defined.length) * 4 + Math.min(8, used.length) + Math.log2(1 + fan);
      const score = counted * (isTest(path) ? 0.3 : 1) * (isSource(path) ? 1 : 0.5);
      return {
        path,
        score,
        why: [...(fits > 0 ? ['its name fits'] : []), ...whyLikely(by, defined.length, used.length, fan)].join(', '),
        hit: [...defined, ...quoted, ...used][0] ?? null,
      };
    })
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function whyLikely(by: readonly string[], defined: number, used: number, fan: number): readonly string[] {
  return [
    ...(by.length > 0 ? [`named by ${listed(by)}`] : []),
    ...(defined > 0 ? [plural(defined, 'fitting definition')] : []),
    ...(used > 0 ? [`${plural(used, 'line')} with the words`] : []),
    ...(fan > 0 ? [`imported by ${fan}`] : []),
  ];
}

/** One row of the list. */
export const likelyText = ({ path, why, hit }: Likely, index: number): string =>
  `${index + 1}. ${path}: ${why}${hit === null ? '' : `; ${claim(hit)}`}`;
