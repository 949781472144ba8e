/** `mimir plan`: the plan, policy and estimate; nothing runs. */
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { CWD, LIMITS, MODELS } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import { exitCodeOf } from '../../app/process/exit-codes.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { newSession } from '../../app/client/connect.ts';
import { openWorkshop } from '../../app/project/open-project.ts';
import { planJson, planYaml, writeOut } from '../plans/plan-file.ts';
import { planLines } from '../../app/reports/plan-lines.ts';
import { outlookOf } from '../../app/reports/plan-lines.ts';
import { stateOf, openReader } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import { watchSignals } from '../../app/process/signals.ts';
import type { Verb } from '../verb.ts';

export const planVerb: Verb = {
  usage: 'mimir plan "<task>" [--json|--yaml] [-o FILE]',
  summary: 'Shows the plan with models and estimates; nothing runs.',
  example: 'mimir plan "Find dead code" --yaml -o plan.yml && mimir run --plan plan.yml',
  words: 1,
  flags: {
    json: { value: '', help: 'JSON on stdout, with `estimate` (low, likely, high) and `whatIf` (other models)' },
    yaml: { value: '', help: 'as YAML, to be edited and used with `mimir run --plan`' },
    output: { value: 'FILE', help: 'write it to a file', short: 'o' },
    ...LIMITS,
    ...MODELS,
    ...CWD,
  },
  run: (args, io) => planTask(args, io),
};

async function planTask(args: Arguments, io: Io): Promise<number> {
  const [task = ''] = args.words;
  if (task.trim() === '') throw new Exit(EXIT.wrongUse, 'a task is missing\n  mimir plan "what should be done"');
  const project = projectOf(args, io);
  const workshop = await openWorkshop(args, io, project);
  const session = newSession();
  const run = await workshop.start({ session, task, plan: null, approval: 'nobody', person: false, pace: 'none' });
  const watch = watchSignals((signal) => run.stop(signal));
  for (const note of workshop.config.notes) io.complain(`note: ${harmless(note)}`);
  const result = await run.result;
  watch.end();
  workshop.close();
  const state = stateOf(openReader(project), session);
  const { plan } = state;
  if (plan === null && result.error !== null) io.complain(`mimir: ${harmless(result.error)}`);
  if (plan === null || watch.got() !== null) return exitCodeOf(result, watch.got());
  if (['output', 'json', 'yaml'].some((flag) => args.has(flag))) put(state.task, plan, outlookOf(state), args, io);
  else for (const line of planLines(state, io.paint)) io.say(line);
  return EXIT.done;
}

/** The plan as text for programs, to stdout or a file. */
function put(task: string, plan: SoundPlan, outlook: object, args: Arguments, io: Io): void {
  const text = args.has('json') ? planJson(task, plan, outlook) : planYaml(task, plan);
  const output = args.get('output');
  if (output === undefined) io.write(text);
  else writeOut(output, io.where(), text);
}
