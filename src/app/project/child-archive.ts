/** Archives transcripts of children in a configured folder, one Markdown file each, rewritten when a child ends again. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentId } from '../../domain/ids.ts';
import { type AgentState, EMPTY, fold } from '../../events/index.ts';
import { childRules, type Rules } from '../../policy/index.ts';
import type { Controls } from '../../ports/controls.ts';
import { LogFault } from '../../ports/log.ts';
import { transcriptText } from '../views/index.ts';
import { fileErrorText, sanitise, writePrivate } from '../process/index.ts';

/** The configured archive folder, or null. */
export function archiveFolder(rules: Pick<Rules, 'children'>, home: string): string | null {
  const { archivePath } = childRules(rules);
  return archivePath === null ? null : archivePath.replace(/^~(?=\/|$)/, home);
}

/** Why the folder cannot be written, or null. */
export function archiveProblem(folder: string): string | null {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return folder === dirname(folder) ? null : archiveProblem(dirname(folder));
  if (!found.isDirectory()) return `${folder} is no folder`;
  try {
    accessSync(folder, constants.W_OK);
    return null;
  } catch {
    return `${folder} is not writable`;
  }
}

/** Archives until the run has ended. Resolves with null, or with why a copy could not be written, which does not fail the run. */
export async function archiveChildren(
  { session, events }: Pick<Controls, 'session' | 'events'>,
  folder: string | null,
): Promise<string | null> {
  if (folder === null) return null;
  let [state, fault]: [typeof EMPTY, string | null] = [EMPTY, null];
  try {
    for await (const event of events(0)) {
      state = fold(state, event);
      const ended = event.type === 'agent.finished' ? state.agents.get(event.agent) : undefined;
      if (ended !== undefined && ended.spawned !== null) fault ??= written(folder, session, ended);
    }
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
  return fault;
}

/** `run-7f3a-S1-S2.md` */
const fileOf = (session: string, agent: AgentId): string =>
  `${session}-${agent.replace(/^ROOT::/, '').replaceAll('::', '-')}.md`.replaceAll(/[^\w.-]/g, '_');

function written(folder: string, session: string, agent: AgentState): string | null {
  const file = join(folder, fileOf(session, agent.id));
  try {
    writePrivate(file, sanitise(transcriptText(agent, agent.task)));
    return null;
  } catch (error) {
    return `${file} cannot be written: ${fileErrorText(error)}`;
  }
}
