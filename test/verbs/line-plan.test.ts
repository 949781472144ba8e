/** The plan prompt of line mode, with a person who types ahead. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { planDigest } from '../../src/domain/digest.ts';
import { EMPTY } from '../../src/events/state.ts';
import type { Io } from '../../src/verbs/io.ts';
import { askAboutPlan } from '../../src/verbs/line-plan.ts';
import type { PlanAnswer } from '../../src/verbs/line-plan.ts';
import { planLines } from '../../src/verbs/plan-lines.ts';
import { planOf } from '../support/plans.ts';

interface Asked {
  readonly answer: PlanAnswer;
  readonly prompts: readonly string[];
  readonly lines: readonly string[];
}

/** What is asked and said when these lines are typed; nothing more comes after them. */
async function asked(typed: readonly string[], models = true): Promise<Asked> {
  const left = [...typed];
  const prompts: string[] = [];
  const lines: string[] = [];
  const io: Io = {
    env: {},
    terminal: true,
    width: 80,
    paint: new Chalk({ level: 0 }),
    lost: new AbortController().signal,
    where: () => '/',
    say: (line) => void lines.push(line),
    complain: (line) => void lines.push(line),
    write: (text) => void lines.push(text),
    json: () => undefined,
  };
  const asker = {
    ask: (prompt: string) => {
      prompts.push(prompt.trim());
      return Promise.resolve(left.shift() ?? null);
    },
    close: () => undefined,
  };
  const plan = planOf({ tasks: [{ id: 'a', description: 'look', role: 'finder', estimatedTokens: 4000 }] });
  const answer = await askAboutPlan(asker, io, { ...EMPTY, plan, planDigest: planDigest(plan) }, { models });
  return { answer, prompts, lines };
}
const DESCRIPTION = 'New description (Enter keeps):';
const MODEL = 'New model (Enter keeps):';
const TOKENS = 'Max tokens (Enter keeps):';
const PROCEED = 'Proceed? [Y/n/e/m]';

describe('a plan in lines', () => {
  it('names each task with role, model, estimate and what it needs, and the sum (O099 to O101, O110, D21)', () => {
    const plan = planOf({
      reason: 'Two kinds of work.',
      tasks: [
        { id: 'a', description: 'look', role: 'finder', estimatedTokens: 4000 },
        { id: 'b', description: 'judge', role: 'reviewer', estimatedTokens: 8000, dependsOn: ['a'] },
      ],
    });
    const state = { ...EMPTY, plan, planBy: 'offline', maxParallel: 4 };
    expect(planLines(state, new Chalk({ level: 0 }))).toMatchInlineSnapshot(`
      [
        "",
        "Multi-Agent Execution Plan",
        "2 agents, planned by offline. Two kinds of work.",
        "",
        "1. finder  haiku-4.5 (recommended)",
        "   look",
        "   Estimate: 4.0k tokens, $0.0072",
        "2. reviewer  sonnet-4.5 (recommended)",
        "   judge",
        "   Estimate: 8.0k tokens, $0.0432",
        "   Depends on: Task #1 finder",
        "Total: 12k tokens, $0.0504, about 38 s with 4 at once",
        "",
      ]
    `);
  });
});

describe('the plan prompt', () => {
  it.each(['', 'y', 'Y', ' Y '])('proceeds with the recommended plan on "%s" (O102, O108)', async (typed) => {
    expect(await asked([typed])).toMatchObject({ answer: { proceed: true, edits: [] }, prompts: [PROCEED] });
  });

  it.each(['n', 'N', 'no', 'x', 'E', '?', 'yes please'])('cancels on "%s" (O103, O107)', async (typed) => {
    expect(await asked([typed])).toMatchObject({ answer: { proceed: false, edits: [] }, prompts: [PROCEED] });
  });

  it('cancels when nobody answers', async () => {
    expect((await asked([])).answer.proceed).toBe(false);
  });

  it('edits each task in turn, showing what there is (O104, O105)', async () => {
    const { answer, prompts, lines } = await asked(['e', 'read', 'o3']);
    expect(prompts).toEqual([PROCEED, DESCRIPTION, MODEL]);
    expect(lines.slice(-3)).toEqual(['\nEdit Task 1 (finder)', '  Current: look', '  Current model: haiku-4.5']);
    expect(answer.edits).toEqual([
      { is: 'describe', task: 'a', description: 'read' },
      { is: 'model', task: 'a', model: 'o3' },
    ]);
  });

  it('takes the recommended models without asking where promptForModels is false; it approves nothing (O109, O128)', async () => {
    const { answer, prompts, lines } = await asked(['e', 'read'], false);
    expect(prompts).toEqual([PROCEED, DESCRIPTION]);
    expect(lines).toContain('  e  edit task descriptions');
    expect(answer.edits).toEqual([{ is: 'describe', task: 'a', description: 'read' }]);
    expect((await asked([], false)).answer.proceed).toBe(false);
    expect((await asked(['m', '', '', ''], false)).prompts).toEqual([PROCEED, DESCRIPTION, MODEL, TOKENS]);
  });

  it('asks for the tokens of each agent as well in manual mode (O106)', async () => {
    const { answer, prompts } = await asked(['m', 'read', 'o3', '9000']);
    expect(prompts).toEqual([PROCEED, DESCRIPTION, MODEL, TOKENS]);
    expect(answer.edits.at(-1)).toEqual({ is: 'budget', task: 'a', budget: { maxTokens: 9000, maxCost: 1 } });
  });
});
