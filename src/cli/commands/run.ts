/** `mimir run`: a run without a screen, for people in a plain terminal (line mode), scripts and CI. */
import type { RunOptions } from '../../engine/run/run-options.ts';
import { approvalOf, nobodyWords } from '../../app/hosting/approval.ts';
import { COLOR } from '../../app/process/flags/color.ts';
import { ALLOW, CWD, JSON_FLAG, LIMITS, MODELS } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { exitCodeOf } from '../../app/process/exit-codes.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import { asHosted, carryHosted, DETACH, HOSTED, sessionFrom } from '../../app/hosting/hosted.ts';
import { type Io, harmless } from '../../app/process/io.ts';
import type { Start, Workshop } from '../../app/project/open-project.ts';
import { projectOf } from '../../app/project/project-place.ts';
import { newSession } from '../../app/client/connect.ts';
import { settled } from '../../app/process/exit-to-result.ts';
import { watchSignals } from '../../app/process/signals.ts';
import type { Verb } from '../verb.ts';
import { world } from '../../app/process/world.ts';

export const runVerb: Verb = {
  usage: 'mimir run "<task>" [options]  |  mimir run --plan NAME [--set name=value]…',
  summary: 'Plans, asks for approval and runs the agents, without a screen.',
  example: 'mimir run "Review the error handling in src" --yes --json > run.jsonl',
  words: 1,
  flags: {
    plan: { value: 'FILE|NAME', help: 'take the plan from a file (YAML or JSON), or a template, instead of a planner' },
    set: { value: 'name=value', help: 'fill an argument of the template; may be repeated', many: true },
    ...ALLOW,
    yes: { value: '', help: 'approve the plan beforehand, and nothing else' },
    direct: { value: '', help: 'ask main directly: one task without a planner, approved by this flag' },
    ...JSON_FLAG,
    ...LIMITS,
    ...MODELS,
    ...CWD,
    ...COLOR,
    plain: { value: '', help: 'lines, which is what this verb always says' },
    ...DETACH,
    ...HOSTED,
    idle: { value: '', help: 'no plan: main waits for what it is told', hidden: true },
  },
  run(args, io) {
    if (args.has('idle')) return runTask(args, io, args.words[0] ?? IDLE_TASK, null);
    if (args.has('direct') && args.has('plan'))
      throw new Exit(EXIT.wrongUse, '--direct asks main without a plan, --plan names one\n  leave one of them out');
    if (args.get('plan') !== undefined) return runPlan(args, io, args.get('plan') ?? '');
    if (args.has('set')) throw new Exit(EXIT.wrongUse, '--set fills arguments of a plan\n  name it with --plan');
    return runTask(args, io, taskOf(args, null), null);
  },
};

/** A task in words, or what the plan says it is about. */
function taskOf(args: Arguments, ofPlan: string | null): string {
  const [said = ''] = args.words;
  const task = said.trim() === '' ? ofPlan : said;
  if (task === null) throw new Exit(EXIT.wrongUse, 'a task is missing\n  mimir run "what should be done"');
  return task;
}

async function runTask(args: Arguments, io: Io, task: string, plan: RunOptions['plan']): Promise<number> {
  const project = projectOf(args, io);
  // Asked only where somebody can answer, and loaded only then: a run in a process of its own is to begin at once.
  if (io.terminal) await (await import('../../ui/lines/words/trust.ts')).askTrust(project, args, io);
  if (args.has('detach')) {
    const { detach } = await import('../../app/hosting/hosting.ts');
    const planned = args.get('plan') === undefined ? [] : (await import('../plans/run-plan.ts')).planFlags(args, io);
    return detach(['run', ...planned], args, project, io, [task]);
  }
  const hosted = args.get('hosted');
  const { openWorkshop } = await import('../../app/project/open-project.ts');
  const workshop = await openWorkshop(args, asHosted(args, io), project);
  const direct = args.has('direct') ? { direct: true } : {};
  if (hosted === undefined) return carry(workshop, args, io, { session: newSession(), task, plan, ...direct });
  const idle = args.has('idle') ? { idle: true as const } : {};
  return carryHosted(workshop, args, io, { session: sessionFrom(hosted), task, plan, ...idle, ...direct });
}

async function runPlan(args: Arguments, io: Io, name: string): Promise<number> {
  const { planNamed } = await import('../plans/run-plan.ts');
  const { draft, from, task } = await planNamed(args, io, name);
  return runTask(args, io, taskOf(args, task), { draft, from });
}

/** Of a run that is made for children that a person spawns: what lists of sessions say of it. */
const IDLE_TASK = 'Waits for what it is told';

type Carried = Pick<Start, 'session' | 'task' | 'plan' | 'direct' | 'followUp'>;

/** Runs or resumes `what` to its end in lines or JSON; returns the exit code. `resumes`: it had begun before. */
export async function carry(
  workshop: Workshop,
  args: Arguments,
  io: Io,
  what: Carried,
  resumes = false,
): Promise<number> {
  const json = args.has('json');
  const person = io.terminal && !json;
  const [{ followRun }, { refuseHumanAlone }] = await Promise.all([
    import('../../ui/lines/follow.ts'),
    import('../../app/project/open-project.ts'),
  ]);
  refuseHumanAlone(workshop, person);
  const approval = approvalOf(workshop.config, args, person);
  const joined = resumes ? { joined: { resumed: world.now() } } : {};
  const run = await workshop.start({ ...what, approval, person, pace: 'none' });
  const watch = watchSignals((signal) => run.stop(signal));
  // Nobody would see what a run does whose output is cut off.
  io.lost.addEventListener('abort', () => run.stop('its output was cut off'), { once: true });
  try {
    const models = workshop.config.rules.promptForModels.value;
    const folder = workshop.project.places.state;
    const goesOn = await followRun(run, io, {
      json,
      person,
      approves: approval === 'person',
      models,
      folder,
      ...joined,
      detach: async (session) => {
        await run.result;
        return settled(async () =>
          (await import('../../app/hosting/hosting.ts')).goOnElsewhere(session, args, workshop.project, io),
        );
      },
    });
    if (goesOn) return EXIT.done;
    const result = await run.result;
    if (result.error !== null) io.complain(`mimir: ${harmless(result.error)}`);
    if (approval === 'nobody' && result.status === 'rejected')
      io.complain(`mimir: there is no terminal to ask for approval\n  ${nobodyWords(workshop.config)}`);
    if (result.status === 'stopped') io.complain(`mimir: stopped; \`mimir resume ${what.session}\` goes on with it`);
    // Nobody reads on: as of a person's Ctrl-C.
    return exitCodeOf(result, io.lost.aborted ? 'SIGINT' : watch.got());
  } finally {
    watch.end();
    workshop.close();
  }
}
