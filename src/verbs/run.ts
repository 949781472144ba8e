/** `mimir run`: a run without a screen, for people in a plain terminal (line mode), scripts and CI. */
import type { SessionId } from '../domain/ids.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { approvalOf, nobodyWords } from './approval.ts';
import { COLOR } from './colour.ts';
import { CWD, JSON_FLAG, LIMITS, MODELS } from './common-flags.ts';
import { EXIT, Exit } from './exit.ts';
import { exitCodeOf } from './exit-code.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import { followRun } from './line-mode.ts';
import { askTrust } from './line-trust.ts';
import type { Workshop } from './workshop.ts';
import { newSession, openWorkshop, refuseHumanAlone } from './workshop.ts';
import { readPlanFile } from './plan-file.ts';
import { projectOf } from './project.ts';
import { watchSignals } from './signals.ts';
import type { Verb } from './verb.ts';

export const runVerb: Verb = {
  usage: 'mimir run "<task>" [options]',
  summary: 'Plans, asks for approval and runs the agents, without a screen.',
  example: 'mimir run "Review the error handling in src" --yes --json > run.jsonl',
  words: 1,
  flags: {
    plan: { value: 'FILE', help: 'take the plan from a file (YAML or JSON) instead of a planner' },
    yes: { value: '', help: 'approve the plan beforehand, and nothing else' },
    ...JSON_FLAG,
    ...LIMITS,
    ...MODELS,
    ...CWD,
    ...COLOR,
  },
  run(args, io) {
    const [task = ''] = args.words;
    if (task.trim() === '') throw new Exit(EXIT.wrongUse, 'a task is missing\n  mimir run "what should be done"');
    return Promise.resolve(runTask(args, io, task));
  },
};

async function runTask(args: Arguments, io: Io, task: string): Promise<number> {
  const file = args.get('plan');
  const plan = file === undefined ? null : { draft: readPlanFile(file, io.where()), from: file };
  const project = projectOf(args, io);
  await askTrust(project, args, io);
  const workshop = await openWorkshop(args, io, project);
  return carry(workshop, args, io, { session: newSession(), task, plan });
}

/** Runs or resumes `what` to its end in lines or JSON; the exit code of INTERFACE. */
export async function carry(
  workshop: Workshop,
  args: Arguments,
  io: Io,
  what: { readonly session: SessionId; readonly task: string; readonly plan: RunOptions['plan'] },
): Promise<number> {
  const json = args.has('json');
  const person = io.terminal && !json;
  refuseHumanAlone(workshop, person);
  const approval = approvalOf(workshop.config, args, person);
  const run = await workshop.start({ ...what, approval, person, pace: 'none' });
  const watch = watchSignals((signal) => run.stop(signal));
  // Nobody would see what a run does whose output is cut off.
  io.lost.addEventListener('abort', () => run.stop('its output was cut off'), { once: true });
  try {
    const models = workshop.config.rules.promptForModels.value;
    await followRun(run, io, { json, person: person && approval === 'person', models, answers: person });
    const result = await run.result;
    if (result.error !== null) io.complain(`mimir: ${harmless(result.error)}`);
    if (approval === 'nobody' && result.status === 'rejected')
      io.complain(`mimir: there is no terminal to ask for approval\n  ${nobodyWords(workshop.config)}`);
    if (result.status === 'stopped') io.complain(`mimir: stopped; \`mimir resume ${what.session}\` goes on with it`);
    return exitCodeOf(result, watch.got());
  } finally {
    watch.end();
    workshop.close();
  }
}
