/** The mode of the run and of its branches: what a change would do, and the change itself. Deciding by it is policy's. */
import type { AgentId } from '../domain/ids.ts';
import { isLooser } from '../domain/mode.ts';
import type { Mode } from '../domain/mode.ts';
import { reasonText } from '../domain/reason.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { ModePreview } from '../ports/controls.ts';
import type { RunParts } from './parts.ts';

/** What `setMode`, or `pinMode` for `agent`, would do now. */
export function previewMode({ recorder, options }: RunParts, mode: Mode, agent?: AgentId): ModePreview {
  const { mode: now, agents } = recorder.state();
  const before = agent === undefined ? now : (agents.get(agent)?.pin ?? now);
  return { refused: problemOf(options.rules, mode), looser: isLooser(mode, before), changes: [], answers: 0 };
}

/** For all agents; never looser than the rules allow. */
export function setMode({ recorder, options }: RunParts, mode: Mode): Result<string, string> {
  const problem = problemOf(options.rules, mode);
  if (problem !== null) return fail(problem);
  if (recorder.state().mode === mode) return fail(`the mode is ${mode} already`);
  recorder.record({ type: 'session.mode', mode });
  return ok(`mode ${mode} for all agents`);
}

/** Holds a branch to a mode that is stricter than the run's; null takes it back. */
export function pinMode({ recorder }: RunParts, agent: AgentId, mode: Mode | null): Result<string, string> {
  const one = recorder.state().agents.get(agent);
  if (one === undefined) return fail(`there is no agent ${agent}`);
  if (one.pin === mode) return fail(`${one.name} is held to that already`);
  recorder.record({ type: 'agent.pinned', agent, mode });
  return ok(mode === null ? `${one.name} follows the mode of the run` : `${one.name} is held to ${mode}`);
}

const problemOf = ({ maxMode }: RunParts['options']['rules'], mode: Mode): string | null =>
  isLooser(mode, maxMode.value) ? `${mode} is not allowed: ${reasonText(maxMode.from)}` : null;
