/** What a run with planted faults prints. */
import { dirname } from 'node:path';
import type { Judged, Verdict } from './judge.ts';
import type { Case } from './sample.ts';

const lineOf = ({ file, line, change: [now, becomes] }: Case): string => `${file}:${line}  ${now}  →  ${becomes}`;

/** One fault and how it was judged. */
export const judgedLine = (judged: Judged): string => `${judged.verdict.padEnd(9)}  ${lineOf(judged)}`;

/** Figures by folder as a Markdown table, and those that no test noticed or that a test never came to an end with. */
export function reportOf(judged: readonly Judged[], equivalent: readonly Case[]): string {
  const folders = [...new Set([...judged, ...equivalent].map(({ file }) => dirname(file)))];
  const rows = folders.map((folder) => {
    const inside = ({ file }: Case): boolean => dirname(file) === folder;
    return rowOf(folder, judged.filter(inside), equivalent.filter(inside));
  });
  const table = [HEAD, HEAD.map(() => '---'), ...rows, rowOf('all', judged, equivalent)];
  const missed = judged.filter(({ verdict }) => verdict !== 'killed').map(judgedLine);
  return `${[...table.map((cells) => `| ${cells.join(' | ')} |`), '', ...missed].join('\n')}\n`;
}

const HEAD = ['', 'killed', 'timed out', 'survived', 'equivalent', 'noticed'];

/** Of those that change something. */
function rowOf(name: string, judged: readonly Judged[], equivalent: readonly Case[]): readonly string[] {
  const count = (is: Verdict): number => judged.filter(({ verdict }) => verdict === is).length;
  const noticed = judged.length === 0 ? '' : `${((1 - count('survived') / judged.length) * 100).toFixed(0)} %`;
  return [name, ...[count('killed'), count('timed out'), count('survived'), equivalent.length].map(String), noticed];
}
