/** What the plan and start screens look at, standing still. */
import { planDigest } from '../../../../../src/domain/digest.ts';
import { SessionId } from '../../../../../src/domain/ids.ts';
import type { SoundPlan } from '../../../../../src/domain/plan/plan.ts';
import { EMPTY, type RunState } from '../../../../../src/events/state.ts';
import type { ProjectInfo } from '../../../../../src/ports/project-service.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import type { Body, Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { PROJECT_SERVICE as NO_PROJECT } from '../../../../support/fake-run.ts';
import { CHOICES, RACE } from '../../../../support/plans.ts';

export const PROJECT_SERVICE: ProjectInfo = {
  ...NO_PROJECT,
  cwd: '/home/ada/work/tokens',
  project: 'tokens',
  version: '0.1.0',
  provider: 'offline (no provider)',
  sandbox: 'bubblewrap, network off',
  mode: 'confirm',
  suggestions: [
    'Review this repository and point out risks',
    'Explain how the parts of src/ work together',
    'Find untested code and suggest tests',
    'Check README.md against what the code does',
  ],
  sessions: [
    {
      id: SessionId.parse('run-7f3a'),
      task: 'Fix the token refresh race',
      when: '2026-11-20T18:03:00Z',
      state: 'stopped',
    },
    {
      id: SessionId.parse('run-6b01'),
      task: 'Document the storage layer',
      when: '2026-11-19T10:12:00Z',
      state: 'finished',
    },
  ],
  notes: ['.mimir/config.yml:7 unknown key "modle", did you mean "model"?'],
};

/** A state in which a plan waits for a person. */
export const approving = (plan: SoundPlan = RACE, more: Partial<RunState> = {}): RunState => ({
  ...EMPTY,
  session: SessionId.parse('run-7f3a'),
  phase: 'approving',
  task: 'Fix the token refresh race',
  provider: 'anthropic, openai',
  plan,
  planDigest: planDigest(plan),
  planBy: 'anthropic/opus-4.5',
  planMs: 6000,
  choices: CHOICES,
  budget: { maxCost: 2 },
  maxParallel: 4,
  startedAt: Date.UTC(2026, 10, 21, 12),
  ...more,
});

export const contextOf = (state: RunState = EMPTY, more: Partial<Context> = {}): Context => ({
  state,
  projectService: PROJECT_SERVICE,
  now: Date.UTC(2026, 10, 21, 12, 0, 12),
  glyphs: UNICODE,
  live: new Map(),
  ...more,
});

/** The text of a body, with the blanks at the ends of lines: they are part of it. */
export const textOf = ({ lines }: Body): string => `${lines.map((line) => plain(line)).join('\n')}\n`;
