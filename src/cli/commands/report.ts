/** `mimir report`: the report of a session as Markdown, JSON or a web page, made from its log. */
import { withLostCalls } from '../../events/index.ts';
import { sanitise, readChoice } from '../../app/process/index.ts';
import { openReader, projectOf, sessionOf, stateOf } from '../../app/workspace/index.ts';
import { reportHtml, reportJson, reportMarkdown } from '../../app/reports/index.ts';
import { command } from '../verb.ts';

const FORMATS = ['md', 'json', 'html'] as const;

export const reportVerb = command('report', (args, io) => {
  const format = readChoice(args, 'format', FORMATS) ?? 'md';
  const reader = openReader(projectOf(args, io));
  const { session, state: how } = sessionOf(reader, args.words[0]);
  const folded = stateOf(reader, session);
  const state = how === 'running' ? folded : withLostCalls(folded);
  if (format === 'json') io.json(reportJson(state));
  else io.write(sanitise(format === 'md' ? reportMarkdown(state) : reportHtml(state)));
});
