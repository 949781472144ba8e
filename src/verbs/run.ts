/** `mimir run`: a run without a screen, for people in a plain terminal (line mode), scripts and CI. */
import { resolve } from 'node:path';
import { TEMPLATE_NAME } from '../config/templates.ts';
import type { SessionId } from '../domain/ids.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { approvalOf, nobodyWords } from './approval.ts';
import { COLOR } from './colour.ts';
import { CWD, JSON_FLAG, LIMITS, MODELS } from './common-flags.ts';
import { EXIT, Exit } from './exit.ts';
import { exitCodeOf } from './exit-code.ts';
import type { Arguments } from './flags.ts';
import { asHosted, carryHosted, DETACH, HOSTED, sessionFrom } from './hosted.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import { followRun } from './line-follow.ts';
import { askTrust } from './line-trust.ts';
import type { Workshop } from './workshop.ts';
import { newSession, openWorkshop, refuseHumanAlone } from './workshop.ts';
import { readPlanFile, valuesFrom, whatIs } from './plan-file.ts';
import { hereOf, projectOf } from './project.ts';
import { settled } from './settled.ts';
import { watchSignals } from './signals.ts';
import type { Verb } from './verb.ts';

export const runVerb: Verb = {
  usage: 'mimir run "<task>" [options]  |  mimir run --plan NAME [--set name=value]…',
  summary: 'Plans, asks for approval and runs the agents, without a screen.',
  example: 'mimir run "Review the error handling in src" --yes --json > run.jsonl',
  words: 1,
  flags: {
    plan: { value: 'FILE|NAME', help: 'take the plan from a file (YAML or JSON), or a template, instead of a planner' },
    set: { value: 'name=value', help: 'fill an argument of the template; may be repeated', many: true },
    yes: { value: '', help: 'approve the plan beforehand, and nothing else' },
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
    if (args.get('plan') !== undefined) return Promise.resolve(runPlan(args, io, args.get('plan') ?? ''));
    if (args.has('set')) throw new Exit(EXIT.wrongUse, '--set fills arguments of a plan\n  name it with --plan');
    return Promise.resolve(runTask(args, io, taskOf(args, null), null));
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
  await askTrust(project, args, io);
  if (args.has('detach')) {
    const { detach } = await import('./hosting.ts');
    return detach(['run', ...planFlags(args, io)], args, project, io, [task]);
  }
  const hosted = args.get('hosted');
  const workshop = await openWorkshop(args, asHosted(args, io), project);
  if (hosted === undefined) return carry(workshop, args, io, { session: newSession(), task, plan });
  const idle = args.has('idle') ? { idle: true as const } : {};
  return carryHosted(workshop, args, io, { session: sessionFrom(hosted), task, plan, ...idle });
}

/** Of a run that is made for children that a person spawns: what lists of sessions say of it. */
const IDLE_TASK = 'Waits for what it is told';

/** A file is named so that it is found from elsewhere. */
function planFlags(args: Arguments, io: Io): readonly string[] {
  const name = args.get('plan');
  if (name === undefined) return [];
  const found = whatIs(name, io.where()) === 'file' ? resolve(io.where(), name) : name;
  return [`--plan=${found}`, ...args.all('set').map((one) => `--set=${one}`)];
}

/** A file comes before a template of the same name: what stands where the person is, is what they see. */
async function runPlan(args: Arguments, io: Io, name: string): Promise<number> {
  const values = valuesFrom(args);
  const found = whatIs(name, io.where());
  if (found === 'file' || !TEMPLATE_NAME.test(name)) return runFile(args, io, name);
  const project = projectOf(args, io);
  const { trust } = hereOf(project, io, {}, 'look');
  const { planFromTemplate } = await import('./lobby-templates.ts');
  const plan = planFromTemplate(project, trust.state === 'trusted', name, values);
  if (!plan.ok && plan.fault.startsWith('there is no') && found === 'folder') return runFile(args, io, name);
  if (!plan.ok) throw new Exit(EXIT.wrongUse, plan.fault);
  const { draft, from, task } = plan.value;
  return runTask(args, io, taskOf(args, task), { draft, from });
}

function runFile(args: Arguments, io: Io, name: string): Promise<number> {
  const { draft, task } = readPlanFile(name, io.where(), valuesFrom(args));
  return runTask(args, io, taskOf(args, task), { draft, from: name });
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
    const folder = workshop.project.places.state;
    const goesOn = await followRun(run, io, {
      json,
      person,
      approves: approval === 'person',
      models,
      folder,
      detach: async (session) => {
        await run.result;
        return settled(async () => (await import('./hosting.ts')).goOnElsewhere(session, args, workshop.project, io));
      },
    });
    if (goesOn) return EXIT.done;
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
