/**
 * One identity per model: a model is what goes over the wire, whatever a catalogue calls it. An alias, another
 * spelling, a dated release, the family, and an entry of a person's own under any provider have one identity. Pure text: what a
 * server of somebody's own really runs behind a name that nobody knows can't be seen.
 */
import { ALIASES } from './aliases.ts';

/** How a name is compared: trimmed, compatibility forms folded, lower case. */
export const foldName = (name: string): string => name.trim().normalize('NFKC').toLowerCase();

/** Dates and `latest`, as makers and clouds write them behind a name. */
const RELEASE = /[-@](?:\d{6,8}|\d{4}-\d{2}-\d{2}|latest)$/;

/** What a release adds to the name of its family. */
export const isRelease = (family: string, id: string): boolean =>
  id.startsWith(family) && new RegExp(`^${RELEASE.source}`).test(id.slice(family.length));

/** What clouds and routers write around a name and its maker doesn't: their own version, a tag for a way of serving it. */
const AROUND: readonly RegExp[] = [
  /^(?:(?:us|eu|apac|jp|au|ca|us-gov|global)\.)?(?:anthropic|openai|qwen)\./,
  /-v\d+:\d+$/,
  /:(?:latest|free|thinking|beta|nitro|floor|online|extended|exacto)$/,
  /\[\d+[km]\]$/,
  RELEASE,
];

/** The name of a model alone: without those in front who serve it, its release and what is written around it. */
function bareName(name: string): string {
  const folded = foldName(name).replace(/[\p{Cc}\p{Cf}]/gu, '');
  let bare = folded.slice(folded.lastIndexOf('/') + 1);
  for (let before = ''; before !== bare; ) {
    before = bare;
    for (const around of AROUND) bare = bare.replace(around, '');
  }
  return bare.replace(/[._]/g, '-');
}

/** Short names of the catalogue stand for the names that their makers gave. */
const NAMED: ReadonlyMap<string, string> = new Map([...ALIASES].map(([alias, id]) => [bareName(alias), bareName(id)]));

/** The built-in analyst goes over no wire: nothing else is it. */
const BUILT_IN = 'offline/';

/** The identity of a canonical id, or of a family `provider/name@*`: equal texts are one model. */
export function identityOf(id: string): string {
  if (id.startsWith(BUILT_IN)) return id;
  const bare = bareName(id.endsWith('@*') ? id.slice(0, -2) : id);
  return NAMED.get(bare) ?? bare;
}
