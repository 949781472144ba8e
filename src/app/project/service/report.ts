/** The report of a session as a file: in the project, where people look for it; where that can't be written, in the state folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownPath } from '../../../config/files/paths.ts';
import type { SessionId } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import { fail, ok } from '../../../domain/result.ts';
import type { RunState } from '../../../events/state.ts';
import type { Receipt, Refusal } from '../../../ports/controls.ts';
import type { ReportFormat } from '../../../ports/project-service.ts';
import { fileWords } from '../../process/file-errors.ts';
import { escaped, harmless } from '../../process/io.ts';
import type { ProjectPlace } from '../project-trust.ts';
import { reportHtml, reportJson, reportMarkdown } from '../../reports/report-text.ts';

/** Writes a new file, never over another; the receipt names it. */
export function keepReport(
  { root, places }: ProjectPlace,
  session: SessionId,
  state: RunState,
  format: ReportFormat,
): Result<Receipt, Refusal> {
  const text = textOf(state, format);
  const name = `mimir-report-${session.replaceAll(/[^\w-]/g, '').slice(0, 12)}`;
  const here = written(root, name, format, text);
  if (here.ok) return ok({ text: `wrote ${here.value} into the project` });
  const reports = join(places.state, 'reports');
  const there = inFolder(reports, () => written(reports, name, format, text));
  if (!there.ok) return fail({ text: `the report can't be written: ${here.fault}` });
  return ok({ text: `wrote ${shownPath(join(reports, there.value), places.home)} (in the project: ${here.fault})` });
}

/** What `mimir report --format` prints. */
export function textOf(state: RunState, format: ReportFormat): string {
  if (format === 'json') return `${escaped(JSON.stringify(reportJson(state), null, 2))}\n`;
  return harmless(format === 'md' ? reportMarkdown(state) : reportHtml(state));
}

const MOST_OF_ONE = 999;

/** Makes the folder where it isn't there yet. */
function inFolder(folder: string, write: () => Result<string, string>): Result<string, string> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return write();
  } catch (error) {
    return fail(fileWords(error));
  }
}

/** The name that was free. */
function written(folder: string, name: string, ending: string, text: string): Result<string, string> {
  for (let number = 1; number <= MOST_OF_ONE; number++) {
    const file = `${name}${number === 1 ? '' : `-${number}`}.${ending}`;
    try {
      // Made new: neither a file of theirs nor what a link leads to is written over.
      writeFileSync(join(folder, file), text, { flag: 'wx' });
      return ok(file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return fail(fileWords(error));
    }
  }
  return fail(`there are ${MOST_OF_ONE} reports of it already`);
}
