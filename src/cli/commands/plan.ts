/** `mimir plan`: shows the plan with policy and estimates; nothing runs. */
import type { SoundPlan } from '../../domain/plan/plan.ts';
import * as cli from '../../app/process/index.ts';
import { openProject } from '../../app/project/index.ts';
import { planJson, planYaml, writeOut } from '../plan-file.ts';
import { outlookOf, planLines } from '../../app/reports/index.ts';
import { openReader, projectOf, stateOf } from '../../app/workspace/index.ts';
import { command } from '../verb.ts';

export const planVerb = command('plan', (args, io) => planTask(args, io));

async function planTask(args: cli.Arguments, io: cli.Io): Promise<number> {
  const [task = ''] = args.words;
  if (task.trim() === '') throw cli.wrongUse('missing argument: task\n  mimir plan "<task>"');
  const project = projectOf(args, io);
  const opened = await openProject(args, io, project);
  const session = cli.newSession();
  const run = await opened.start({ session, task, plan: null, approval: 'nobody', person: false, pace: 'none' });
  const watch = cli.watchSignals((signal) => run.stop(cli.SIGNAL_WORDS[signal]));
  for (const note of opened.config.notes) io.complain(`note: ${cli.sanitise(note)}`);
  const result = await run.result;
  watch.end();
  opened.close();
  const state = stateOf(openReader(project), session);
  const { plan } = state;
  if (plan === null && result.error !== null) io.complain(`mimir: ${cli.sanitise(result.error)}`);
  if (plan === null || watch.received() !== null) return cli.exitCodeOf(result, watch.received());
  if (['output', 'json', 'yaml'].some((flag) => args.has(flag))) put(state.task, plan, outlookOf(state), args, io);
  else for (const line of planLines(state, io.paint)) io.say(line);
  return cli.EXIT.done;
}

/** Writes the plan for programs to stdout or a file. */
function put(task: string, plan: SoundPlan, outlook: object, args: cli.Arguments, io: cli.Io): void {
  const text = args.has('json') ? planJson(task, plan, outlook) : planYaml(task, plan);
  const output = args.get('output');
  if (output === undefined) io.write(text);
  else writeOut(output, io.where(), text);
}
