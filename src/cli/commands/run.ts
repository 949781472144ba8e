/** `mimir run`: a run without the full screen, for plain terminals (line mode), scripts and CI. */
import * as host from '../../app/project/index.ts';
import * as cli from '../../app/process/index.ts';
import { projectOf } from '../../app/workspace/index.ts';
import { planFlags, planNamed } from '../plan-file.ts';
import { command } from '../verb.ts';
import type { RunOptions, RunResult } from '../../engine/run/index.ts';
import type { RunState } from '../../events/index.ts';

export const runVerb = command('run', (args, io) => {
  if (args.has('idle')) return runTask(args, io, args.words[0] ?? IDLE_TASK, null);
  if (args.has('direct') && args.has('plan'))
    throw cli.wrongUse('--direct and --plan cannot be combined\n  remove one of them');
  if (args.get('plan') !== undefined) return runPlan(args, io, args.get('plan') ?? '');
  if (args.has('set')) throw cli.wrongUse('--set needs a plan\n  name it with --plan');
  return runTask(args, io, taskOf(args, null), null);
});

function taskOf(args: cli.Arguments, ofPlan: string | null): string {
  const [said = ''] = args.words;
  const task = said.trim() === '' ? ofPlan : said;
  if (task === null) throw cli.wrongUse('missing argument: task\n  mimir run "<task>"');
  return task;
}

async function runTask(args: cli.Arguments, io: cli.Io, task: string, plan: RunOptions['plan']): Promise<number> {
  const project = projectOf(args, io);
  // Loaded only if a person can answer: a hosted run has to start quickly.
  if (io.terminal) await (await import('./trust.ts')).askTrust(project, args, io);
  if (args.has('detach') && args.has('open-pr'))
    throw cli.wrongUse('--open-pr and --detach cannot be combined\n  `mimir pr` opens it after the run');
  if (args.has('detach')) {
    const { detach } = await import('../../app/project/hosting.ts');
    const planned = args.get('plan') === undefined ? [] : planFlags(args, io);
    return detach(['run', ...planned], args, project, io, [task]);
  }
  const hosted = args.get('hosted');
  const opened = await host.openProject(args, host.asHosted(args, io), project);
  const direct = args.has('direct') ? { direct: true } : {};
  if (hosted === undefined) {
    const what = { session: cli.newSession(), task, plan, ...direct };
    return args.has('open-pr') ? thenRequest(opened, args, io, what) : carry(opened, args, io, what);
  }
  const idle = args.has('idle') ? { idle: true as const } : {};
  return host.runHosted(opened, args, io, { session: host.sessionFrom(hosted), task, plan, ...idle, ...direct });
}

/** Runs `what`, then opens its pull request; refused before the run where there can be none. */
async function thenRequest(opened: host.OpenProject, args: cli.Arguments, io: cli.Io, what: Carried): Promise<number> {
  const { openPublishing } = await import('../../app/publish/index.ts');
  const why = await openPublishing({ ...opened, env: io.env }).whyNot(new AbortController().signal);
  if (why !== null) {
    opened.close();
    throw cli.wrongUse(`--open-pr: ${cli.sanitise(why)}`);
  }
  const code = await carry(opened, args, io, what);
  if (code === cli.EXIT.done) return (await import('./pr.ts')).openRequest(args, io, () => what.session, null);
  io.complain(`mimir: no pull request: the run did not complete\n  \`mimir pr ${what.session}\` opens one anyway`);
  return code;
}

async function runPlan(args: cli.Arguments, io: cli.Io, name: string): Promise<number> {
  const { draft, from, task } = await planNamed(args, io, name);
  return runTask(args, io, taskOf(args, task), { draft, from });
}

/** The task shown in lists for a run that was started by `mimir spawn`. */
const IDLE_TASK = 'Waiting for messages';

type Carried = Omit<host.RunStart, 'approval'>;

/** Runs or resumes `what` to its end in lines or JSON; returns the exit code. `resumes`: it started earlier. */
export async function carry(
  opened: host.OpenProject,
  args: cli.Arguments,
  io: cli.Io,
  what: Carried,
  resumes = false,
): Promise<number> {
  const json = args.has('json');
  const person = io.terminal && !json;
  const { followRun, openLines } = await import('../../ui/lines/follow.ts');
  host.refuseUnattendedHuman(opened, person);
  const approval = host.approvalOf(opened.config, args, person);
  if (person) return openLines(args, io, opened, { only: { ...what, approval }, resumes });
  const resumed = resumes ? cli.world.now() : undefined;
  const run = await opened.start({ ...what, approval, person, pace: 'none' });
  const watch = cli.watchSignals((signal) => run.stop(cli.SIGNAL_WORDS[signal]));
  // Without its output nobody would see what the run does.
  io.lost.addEventListener('abort', () => run.stop('its output was cut off'), { once: true });
  try {
    await followRun(run, io, opened, json, resumed);
    const result = await run.result;
    const complaints = [...(await run.undelivered), ...(json ? failureLines(result, run.view.state()) : [])];
    for (const line of complaints) io.complain(`mimir: ${cli.sanitise(line)}`);
    if (approval === 'nobody' && result.status === 'rejected')
      io.complain(`mimir: no terminal to ask for approval\n  ${host.nobodyText(opened.config)}`);
    // The output was closed: the run ends as after Ctrl-C.
    return host.endCode(result, io.lost.aborted ? 'SIGINT' : watch.received(), what.session, io);
  } finally {
    watch.end();
    opened.close();
  }
}

/** Why a run failed, for a person who reads only what is not JSON. Its own error is told in any case. */
function failureLines({ status, error: own }: RunResult, { agents, session }: RunState): readonly string[] {
  if (status !== 'failed' || own !== null) return [];
  const failed = [...agents.values()].filter(({ outcome, error }) => outcome !== 'completed' && error !== null);
  const some = failed.slice(0, 3).map(({ name, error }) => `${name}: ${error}`);
  return [...some, `the run did not complete; \`mimir report ${session}\` tells why`];
}
