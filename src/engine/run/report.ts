/**
 * The end of a run: the results of finished agents become one report, written by `main` through the gate (charged to
 * ROOT), beside the plain lines `Agent N: <summary>` (O059). One agent's answer is the report itself.
 */
import type { Finding, WorkOrder } from '../../domain/agents/agent.ts';
import { AS_DATA, findingText, freeTag, textsIn } from '../../domain/agents/brief.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import { isFinal, isTakenOut } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import { askRoot } from '../messaging/ask-root.ts';
import { commitStep } from './commit-step.ts';
import { sinceThen } from '../messaging/child-end.ts';
import { reviewWords } from '../reviews/record.ts';
import type { FindingLimits } from '../agents/agent-spec.ts';
import { findingLimits, findingsOf, orderOf } from '../agents/agent-spec.ts';
import type { RunParts } from './parts.ts';
import { notDoneSection } from '../agents/unanswered.ts';
import { finish, result } from './run-result.ts';
import type { RunResult } from './run-options.ts';

/** `talked`: what ROOT has answered to the person meanwhile, and done for them. */
export async function merge(parts: RunParts, talked: readonly string[]): Promise<RunResult> {
  if (parts.signal.aborted) return result(parts);
  const before = parts.recorder.state();
  // Children that ROOT has taken on answer to it as its own do.
  const agents = [...before.agents.values()].filter((one) => one.id !== ROOT && [one.parent, one.owner].includes(ROOT));
  // Those that judge have no part of the work: what they said stands below the report.
  const ended = agents.filter((one) => isFinal(one) && one.forced === null && !isTakenOut(one));
  const only = ended.length === 1 && talked.length === 0 ? ended[0] : undefined;
  const report = only
    ? only.summary
    : await writeReport(
        parts,
        ended.map(({ id }) => id),
        talked,
      );
  return concluded(parts, report, before, commitStep);
}

/**
 * Ends a run with `report`, and with what was answered since `before`: to messages that came while it was written, or for which a
 * run that was over goes on. Waits for all that works, and has it judged; `lastStep` acts after that and adds its section to the report.
 */
export async function concluded(
  parts: RunParts,
  report: string,
  before: RunState,
  lastStep: (parts: RunParts, report: string) => Promise<string> = () => Promise.resolve(''),
): Promise<RunResult> {
  const { children, forced, recorder } = parts;
  while (children.working() && !parts.signal.aborted) {
    await children.settled();
    forced.goOn();
    await forced.atEnd();
  }
  if (parts.signal.aborted) return result(parts);
  const last = await lastStep(parts, report);
  if (parts.signal.aborted) return result(parts);
  const after = recorder.state();
  const reviews = reviewWords(after);
  const all = [
    report,
    ...lateAnswers(before, after).map(({ name, text }) => `## ${name}, later\n\n${text}`),
    notDoneSection(after),
    last,
    ...(reviews === '' ? [] : [`## Reviews\n\n${reviews}`]),
  ];
  return finish(parts, all.filter((part) => part !== '').join('\n\n'));
}

/** What agents have said beyond what they had before. */
const lateAnswers = (before: RunState, after: RunState): readonly { readonly name: string; readonly text: string }[] =>
  [...after.agents.values()].flatMap((one) => {
    const known = before.agents.get(one.id)?.summary ?? '';
    if (one.id === ROOT || one.forced !== null || one.call !== null || one.summary === known) return [];
    return [{ name: one.name, text: sinceThen(known, one.summary) }];
  });

/** Bytes of what one agent and all together hand to the merge; less for a model with a small window. */
const FOR_THE_REPORT: FindingLimits = { one: 24_000, all: 160_000 };
/** After a model that found it too long. */
const LESS = 4;

async function writeReport(parts: RunParts, ended: readonly AgentId[], talked: readonly string[]): Promise<string> {
  const { options, recorder } = parts;
  const model = recorder.state().agents.get(ROOT)?.model.used ?? parts.root.model.used;
  const limits = findingLimits(options, model, FOR_THE_REPORT);
  const results = findingsOf(recorder.state(), ended, limits);
  if (results.every(({ outcome }) => outcome === 'skipped')) return '';
  let reply = await askForReport(parts, results, talked);
  if (!reply.ok && reply.fault.is === 'too long')
    reply = await askForReport(
      parts,
      findingsOf(recorder.state(), ended, { one: limits.one / LESS, all: limits.all / LESS }),
      talked,
    );
  if (reply.ok && reply.value.text.trim() !== '') return reply.value.text;
  const why = reply.ok ? 'the model gave no answer' : reply.fault.text;
  // The work is done: a merge that could not be written must not take it away.
  return `(The report could not be written: ${why}. What each agent found follows.)\n\n${results
    .map(({ role, ...one }) => `## ${role}\n\n${answerIn(one)}`)
    .join('\n\n')}`;
}

const answerIn = ({ summary, cut }: Pick<Finding, 'summary' | 'cut'>): string =>
  cut === undefined ? summary : `${summary.trimEnd()}\n… (cut)`;

function askForReport(
  { options, root, gate, signal }: RunParts,
  results: readonly Finding[],
  talked: readonly string[],
): ReturnType<typeof askRoot> {
  const order: WorkOrder = {
    ...orderOf(options, root, results),
    system: options.prompts.merge,
    tools: [],
    capabilities: [],
  };
  const tag = freeTag([...textsIn(results), ...talked]);
  const found = results.map(({ cut, ...one }) =>
    findingText({ ...one, summary: answerIn({ summary: one.summary, ...(cut === undefined ? {} : { cut }) }) }, tag),
  );
  const meanwhile = talked.length === 0 ? '' : `\n\n# What you told the person meanwhile\n\n${talked.join('\n\n')}`;
  const told = gate.tell(
    order,
    `# Task\n${options.task}\n\n# What the agents found\n\n${AS_DATA}\n\n${found.join('\n\n')}${meanwhile}`,
  );
  const purpose = { is: 'merge', task: options.task, results } as const;
  return askRoot(gate, { order, turns: [told], purpose }, 'at the end', signal);
}
