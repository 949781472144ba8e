/** `mimir report`: the report of a session as Markdown, JSON or a web page, made from its log. */
import { openRedactor } from '../../domain/text/redact.ts';
import { withLostCalls } from '../../events/index.ts';
import { readChoice } from '../../app/process/index.ts';
import { authorsIn, checksNow, environmentOf, openReader, projectOf, readConfig } from '../../app/workspace/index.ts';
import { sessionOf, stateOf } from '../../app/workspace/index.ts';
import { withAuthors } from '../../app/views/index.ts';
import { reportText } from '../../app/reports/index.ts';
import { command } from '../verb.ts';

const FORMATS = ['md', 'json', 'html'] as const;

export const reportVerb = command('report', async (args, io) => {
  const format = readChoice(args, 'format', FORMATS) ?? 'md';
  const project = projectOf(args, io);
  const reader = openReader(project);
  const { session, state: how } = sessionOf(reader, args.words[0]);
  const stored = stateOf(reader, session);
  const loaded = readConfig(project, environmentOf(project, io), {}, 'look');
  const folded = loaded.ok ? await checksNow(project, loaded.value.config.rules.box, stored) : stored;
  const authors = loaded.ok ? await authorsIn(project, loaded.value.config.rules.box, reader, session) : null;
  const state = withAuthors(how === 'running' ? folded : withLostCalls(folded), authors);
  const { clean } = openRedactor(loaded.ok ? loaded.value.config.secrets.map(({ value }) => value) : []);
  io.write(reportText(state, format, clean));
});
