/** `mimir report`: what a session found, as Markdown, JSON or a web page, made from the log. */
import { withLostCalls } from '../../events/fold.ts';
import { CWD } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { harmless } from '../../app/process/io.ts';
import { stateOf, openReader, sessionOf } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import { reportHtml, reportJson, reportMarkdown } from '../../app/reports/report-text.ts';
import type { Verb } from '../verb.ts';

const FORMATS = ['md', 'json', 'html'] as const;

export const reportVerb: Verb = {
  usage: 'mimir report [SESSION] [--format md|json|html]',
  summary: 'Prints the report of a session; without an id, of the newest.',
  example: 'mimir report --format html > report.html',
  words: 1,
  flags: { format: { value: 'md|json|html', help: 'Markdown is the default' }, ...CWD },
  run(args, io) {
    const asked = args.get('format') ?? 'md';
    const format = FORMATS.find((one) => one === asked);
    if (format === undefined) throw new Exit(EXIT.wrongUse, `--format ${asked}\n  expected md, json or html`);
    const reader = openReader(projectOf(args, io));
    const { session, state: how } = sessionOf(reader, args.words[0]);
    const folded = stateOf(reader, session);
    const state = how === 'running' ? folded : withLostCalls(folded);
    if (format === 'json') io.json(reportJson(state));
    else io.write(harmless(format === 'md' ? reportMarkdown(state) : reportHtml(state)));
    return Promise.resolve(EXIT.done);
  },
};
