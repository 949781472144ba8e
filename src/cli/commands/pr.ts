/** `mimir pr`: opens a pull request with the changes of an ended run; shows it in full and asks first. */
import * as cli from '../../app/process/index.ts';
import { type AllowedBy, openPublishing } from '../../app/publish/index.ts';
import { configOf, openProjectLog, projectOf, sessionOf } from '../../app/workspace/index.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { RequestPreview } from '../../ports/project-service.ts';
import { command } from '../verb.ts';

export const prVerb = command('pr', (args, io) => {
  const named = args.get('session') ?? args.words[0];
  return openRequest(args, io, (log) => sessionOf(log, named).session, args.has('yes') ? 'flag' : null);
});

type ProjectLog = ReturnType<typeof openProjectLog>;

/** Opens the request of an ended run; the exit code. `by` null: a person at the terminal answers, or a rule has to allow it. */
export async function openRequest(
  args: cli.Arguments,
  io: cli.Io,
  sessionIn: (log: ProjectLog) => SessionId,
  by: AllowedBy | null,
): Promise<number> {
  const project = projectOf(args, io);
  const config = configOf(project, io, {});
  const log = openProjectLog(project, config);
  const stop = new AbortController();
  const watch = cli.watchSignals((signal) => stop.abort(cli.SIGNAL_WORDS[signal]));
  try {
    const session = sessionIn(log);
    const publishing = openPublishing({ project, config, log, env: io.env });
    const shown = await publishing.preview(session, stop.signal);
    if (!shown.ok) throw cli.wrongUse(`no pull request: ${cli.sanitise(shown.fault)}`);
    tellPreview(shown.value, session, args, io);
    if (args.has('preview') || shown.value.isComplete) return cli.EXIT.done;
    const { verdict, digest } = shown.value;
    const allowed = verdict === 'deny' ? 'rule' : (by ?? (await answerTo(shown.value, session, args, io)));
    const heard = args.has('json') ? { heard: (event: unknown) => io.json(event) } : {};
    const sent = await publishing.send({ session, digest, by: allowed, ...heard }, stop.signal);
    if (!sent.ok) return notSent(sent.fault, shown.value, session, io, watch.received());
    if (!args.has('json')) io.say(openText(sent.value));
    return cli.EXIT.done;
  } finally {
    watch.end();
    log.close();
  }
}

/** Prints why; the exit code. */
function notSent(
  why: string,
  { verdict }: RequestPreview,
  session: SessionId,
  io: cli.Io,
  signal: cli.EndSignal | null,
): number {
  io.complain(`mimir: ${cli.sanitise(why)}`);
  if (verdict === 'deny') return cli.EXIT.refused;
  io.complain(`  \`mimir pr ${session}\` continues it`);
  return signal === null ? cli.EXIT.agentFailed : cli.signalCode(signal);
}

function tellPreview(shown: RequestPreview, session: SessionId, args: cli.Arguments, io: cli.Io): void {
  const { lines, ...facts } = shown;
  const isOnlyTold = args.has('preview') || shown.isComplete;
  if (args.has('json')) {
    if (isOnlyTold) io.json({ session, ...facts });
  } else if (shown.isComplete && !args.has('preview')) io.say(openText(shown));
  else for (const line of lines) io.say(cli.sanitise(line));
}

const openText = ({ kind, url }: Pick<RequestPreview, 'kind' | 'url'>): string =>
  `${kind} is open: ${cli.sanitise(url ?? '')}`;

/** Throws an `Exit` (4) without a yes. */
async function answerTo(
  shown: RequestPreview,
  session: SessionId,
  args: cli.Arguments,
  io: cli.Io,
): Promise<AllowedBy> {
  if (shown.verdict === 'allow') return 'rule';
  const again = `\`mimir pr ${session}\``;
  if (!io.terminal || args.has('json'))
    throw new cli.Exit(
      cli.EXIT.notApproved,
      `nothing was sent: ${cli.sanitise(shown.because)}, and nobody can be asked here\n  ${again} asks in a terminal; with --yes it is approved in advance`,
    );
  const answer = await io.ask(`Push this branch and open it? y yes, anything else no: `, 'fresh');
  if (cli.IS_YES.test(answer?.trim() ?? '')) return 'person';
  throw new cli.Exit(cli.EXIT.notApproved, `nothing was sent\n  ${again} shows it again`);
}
