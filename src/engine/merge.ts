/**
 * The end of a run: the results of finished agents become one report, written by `main` through the gate (charged to
 * ROOT, CONTRACT D18), beside the plain lines `Agent N: <summary>` (O059). One agent's answer is the report itself.
 */
import type { Finding, WorkOrder } from '../domain/agent.ts';
import type { AgentId } from '../domain/ids.ts';
import { ROOT } from '../domain/ids.ts';
import { isFinal, isTakenOut } from '../events/queries.ts';
import { askRoot } from './ask-root.ts';
import { reviewWords } from './forced-record.ts';
import type { FindingLimits } from './orders.ts';
import { findingLimits, findingsOf, orderOf } from './orders.ts';
import type { RunParts } from './parts.ts';
import { finish, result } from './run-result.ts';
import type { RunResult } from './run-options.ts';

export async function merge(parts: RunParts): Promise<RunResult> {
  if (parts.signal.aborted) return result(parts);
  const agents = [...parts.recorder.state().agents.values()].filter(({ id, parent }) => id !== ROOT && parent === ROOT);
  // Those that judge have no part of the work: what they said stands below the report.
  const ended = agents.filter((one) => isFinal(one) && one.forced === null && !isTakenOut(one));
  const only = ended.length === 1 ? ended[0] : undefined;
  const report = only
    ? only.summary
    : await writeReport(
        parts,
        ended.map(({ id }) => id),
      );
  if (parts.signal.aborted) return result(parts);
  const reviews = reviewWords(parts.recorder.state());
  return finish(parts, reviews === '' ? report : `${report}\n\n## Reviews\n\n${reviews}`.trimStart());
}

/** Bytes of what one agent and all together hand to the merge; less for a model with a small window. */
const FOR_THE_REPORT: FindingLimits = { one: 24_000, all: 160_000 };
/** After a model that found it too long. */
const LESS = 4;

async function writeReport(parts: RunParts, ended: readonly AgentId[]): Promise<string> {
  const { options, recorder } = parts;
  const model = recorder.state().agents.get(ROOT)?.model.used ?? parts.root.model.used;
  const limits = findingLimits(options, model, FOR_THE_REPORT);
  const results = findingsOf(recorder.state(), ended, limits);
  if (results.every(({ outcome }) => outcome === 'skipped')) return '';
  let reply = await askForReport(parts, results);
  if (!reply.ok && reply.fault.is === 'too long')
    reply = await askForReport(
      parts,
      findingsOf(recorder.state(), ended, { one: limits.one / LESS, all: limits.all / LESS }),
    );
  if (reply.ok && reply.value.text.trim() !== '') return reply.value.text;
  const why = reply.ok ? 'the model gave no answer' : reply.fault.text;
  // The work is done: a merge that could not be written must not take it away.
  return `(The report could not be written: ${why}. What each agent found follows.)\n\n${results
    .map(({ role, summary }) => `## ${role}\n\n${summary}`)
    .join('\n\n')}`;
}

function askForReport(
  { options, root, gate, signal }: RunParts,
  results: readonly Finding[],
): ReturnType<typeof askRoot> {
  const order: WorkOrder = {
    ...orderOf(options, root, results),
    system: options.prompts.merge,
    tools: [],
    capabilities: [],
  };
  const found = results.map(
    ({ role, description, outcome, summary }) => `## ${role}: ${description}\n(${outcome})\n\n${summary}`,
  );
  const told = gate.tell(order, `# Task\n${options.task}\n\n# What the agents found\n\n${found.join('\n\n')}`);
  const purpose = { is: 'merge', task: options.task, results } as const;
  return askRoot(gate, { order, turns: [told], purpose }, 'at the end', signal);
}
