/** How the checks of an agent's task stand, in a word. */
import { type Ink, type Line, toLabel } from '../../../app/views/index.ts';
import { type AgentState, type CheckRun, type Verification, verificationOf } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';

type Shown = Exclude<Verification, null>;

const WORDS: Readonly<Record<Shown, readonly [word: string, ink: Ink]>> = {
  claimed: ['claimed', 'warn'],
  verified: ['verified', 'ok'],
  failed: ['checks failed', 'err'],
  stale: ['stale', 'warn'],
};

/** `✓ verified`, `claimed`, `✗ checks failed`, `stale`; empty without checks, and before the agent says that it is done. */
export function checkMark(agent: AgentState, { state, glyphs }: Pick<Context, 'state' | 'glyphs'>): Line {
  const verification = verificationOf(state, agent);
  if (verification === null) return [];
  const [word, ink] = WORDS[verification];
  const sign = verification === 'verified' ? 'completed' : verification === 'failed' ? 'failed' : 'waiting';
  return [strong(`${glyphs.status[sign]} ${word}`, ink)];
}

/** `◌ claimed, checking: npm test (attempt 2)`, `prepares its tree: npm ci`; null unless a check is being run. */
export function checkingLine(agent: AgentState, context: Context): Line | null {
  const run = agent.checks?.find(({ end }) => end === null);
  if (run?.attempt === 0) return [tint(`prepares its tree: ${runText(run)}`, 'fg')];
  if (run !== undefined) return [...checkMark(agent, context), tint(`, checking: ${runText(run)}`, 'fg')];
  return agent.waitingFor?.is === 'checks' ? [...checkMark(agent, context), tint(', checking', 'fg')] : null;
}

const runText = ({ run, attempt }: CheckRun): string => `${toLabel(run)}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
