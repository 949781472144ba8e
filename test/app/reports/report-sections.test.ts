/** What a report says beside the answer: the same as the result screen. */
import { describe, expect, it } from 'vitest';
import { foldAll } from '../../../src/events/fold.ts';
import { EMPTY } from '../../../src/events/state.ts';
import { comparedTasks, unfinishedWork, touchedFiles } from '../../../src/app/views/run-summary.ts';
import { sectionsJson, sectionsOf } from '../../../src/app/reports/report.ts';
import { reportMarkdown, reportText } from '../../../src/app/reports/report.ts';
import { finished, midRun } from '../../support/recorded-run.ts';

const state = foldAll(finished().events);

describe('the parts of a report', () => {
  it('set what was used beside what was estimated, by task and total', () => {
    const rows = sectionsOf(state)
      .split('\n')
      .filter((line) => line.startsWith('| finder') || line.startsWith('| total'));
    expect(rows).toEqual([
      '| finder | 6.2k of 10k | 62% | $0.0031 of $0.05 | 21s of 30s |',
      '| total | 80k of 40k | 200% | $0.24 of $0.20 | 4m 54s of 2m 0s |',
    ]);
  });

  it('name what is still open', () => {
    expect(sectionsOf(state)).toContain('- #2 librarian: failed, provider refused the request (400)');
  });

  it('are in the page and in the numbers as well', () => {
    expect(reportMarkdown(state)).toContain('### Estimated and actual');
    expect(reportText(state, 'html', String)).toContain('<h3>Estimated and actual</h3>');
    expect(sectionsJson(state)).toMatchObject({ files: touchedFiles(state), open: unfinishedWork(state) });
    expect(comparedTasks(state)).toHaveLength(4);
  });

  it('are left out where nothing ran, and count what ran so far where the run goes on', () => {
    expect(sectionsOf(EMPTY)).toBe('');
    expect(sectionsOf(foldAll(midRun().events))).toContain('### By model');
  });
});
