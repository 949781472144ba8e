/**
 * The end of a run: the results of finished agents become one report, written by `main` through the gate (charged to
 * ROOT, CONTRACT D18), beside the plain lines `Agent N: <summary>` (O059). One agent's answer is the report itself.
 */
import type { WorkOrder } from '../domain/agent.ts';
import { ROOT } from '../domain/ids.ts';
import { isFinal } from '../events/queries.ts';
import { askRoot } from './ask-root.ts';
import { findingsOf, orderOf } from './orders.ts';
import type { RunParts } from './parts.ts';
import { finish, result } from './run-result.ts';
import type { RunResult } from './run-options.ts';

export async function merge(parts: RunParts): Promise<RunResult> {
  if (parts.signal.aborted) return result(parts);
  const agents = [...parts.recorder.state().agents.values()].filter(({ id, parent }) => id !== ROOT && parent === ROOT);
  const ended = agents.filter(isFinal);
  const only = ended.length === 1 ? ended[0] : undefined;
  const report = only
    ? only.summary
    : await writeReport(
        parts,
        ended.map(({ id }) => id),
      );
  if (parts.signal.aborted) return result(parts);
  return finish(parts, report);
}

async function writeReport(parts: RunParts, ended: Parameters<typeof findingsOf>[1]): Promise<string> {
  const { options, recorder, gate } = parts;
  const results = findingsOf(recorder.state(), ended);
  if (results.every(({ outcome }) => outcome === 'skipped')) return '';
  const order: WorkOrder = {
    ...orderOf(options, parts.root, results),
    system: options.prompts.merge,
    tools: [],
    capabilities: [],
  };
  const told = gate.tell(
    order,
    `# Task\n${options.task}\n\n# What the agents found\n\n${results
      .map(({ role, description, outcome, summary }) => `## ${role}: ${description}\n(${outcome})\n\n${summary}`)
      .join('\n\n')}`,
  );
  const purpose = { is: 'merge', task: options.task, results } as const;
  const reply = await askRoot(gate, { order, turns: [told], purpose }, 'at the end', parts.signal);
  if (reply.ok) return reply.value.text;
  // The work is done: a merge that could not be written must not take it away.
  return `(The report could not be written: ${reply.fault.text}. What each agent found follows.)\n\n${results
    .map(({ role, summary }) => `## ${role}\n\n${summary}`)
    .join('\n\n')}`;
}
