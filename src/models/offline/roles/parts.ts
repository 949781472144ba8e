/** Pieces that the answers of all roles are made of. */
import { faultOf } from '../looking.ts';
import type { Seen } from '../step.ts';

/** A heading with its lines; nothing when there are none. */
export const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines];

/** What could not be looked at, if anything: said once each. */
export function faults(seen: readonly (Seen | undefined)[]): readonly string[] {
  const said = [...new Set(seen.flatMap((each) => faultOf(each) ?? []))];
  return section(
    'Could not be looked at',
    said.slice(0, 6).map((text) => `- ${text}`),
  );
}

/** The first letter large. */
export const upper = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
