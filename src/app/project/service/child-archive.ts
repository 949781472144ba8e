/**
 * Copies of what child sessions said and did, in the folder that the person names: a Markdown file each,
 * written when one ends and anew when it was resumed and ends again. The log has it all anyway; without a folder nothing is written.
 */
import { accessSync, constants, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentId } from '../../../domain/ids.ts';
import { fold } from '../../../events/fold.ts';
import type { AgentState } from '../../../events/state.ts';
import { EMPTY } from '../../../events/state.ts';
import { childRules } from '../../../policy/children.ts';
import type { Rules } from '../../../policy/rules.ts';
import type { Controls } from '../../../ports/controls.ts';
import { LogFault } from '../../../ports/log.ts';
import { transcriptText } from '../../views/agents/transcript-text.ts';
import { fileWords } from '../../process/file-errors.ts';
import { harmless } from '../../process/io.ts';

/** The folder that the rules name, or null. */
export function archiveFolder(rules: Pick<Rules, 'children'>, home: string): string | null {
  const { archivePath } = childRules(rules);
  return archivePath === null ? null : archivePath.replace(/^~(?=\/|$)/, home);
}

/** Why nothing could be written there, before anything is; null when it could. */
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

/** Resolves when the run has ended: with null, or why a copy could not be written, which fails nothing. */
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

/** For this user alone, whole or not at all, through no link of that name. */
function written(folder: string, session: string, agent: AgentState): string | null {
  const file = join(folder, fileOf(session, agent.id));
  const fresh = `${file}.${process.pid}.new`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    rmSync(fresh, { force: true });
    writeFileSync(fresh, harmless(transcriptText(agent, agent.task)), { flag: 'wx', mode: 0o600 });
    renameSync(fresh, file);
    return null;
  } catch (error) {
    return `${file} can't be written: ${fileWords(error)}`;
  }
}
