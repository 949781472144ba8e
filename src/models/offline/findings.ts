/** What the analyst reads out of the answers of others: the places they named, and their first words. */
import type { Finding } from '../../domain/agent.ts';
import type { Hit } from './claims.ts';
import { unsigned } from './signature.ts';

const CLAIM = /`([^`\n]+):(\d+)`(?: `([^`\n]*)`)?/g;

/** Every place that a text names, in its order, with the quoted words where there are some. */
export const claimsIn = (text: string): readonly Hit[] =>
  [...text.matchAll(CLAIM)].map(([, path = '', line, words]) => ({ path, line: Number(line), text: words ?? '' }));

/** Paths that findings name, each once, those named first ahead. */
export const pathsIn = (findings: readonly Finding[]): readonly string[] => [
  ...new Set(findings.flatMap(({ summary }) => claimsIn(summary).map(({ path }) => path))),
];

/** The first sentence or line of an answer that says something: no heading, no list. */
export function firstWords(summary: string): string {
  const line = unsigned(summary)
    .split('\n')
    .find((each) => /^[\p{L}\p{N}`"]/u.test(each.trim()) && !/^\d+\. /.test(each.trim()));
  return line?.trim() ?? '';
}
