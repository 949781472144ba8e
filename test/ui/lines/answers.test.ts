/** The plan prompt of line mode, with a person who types ahead. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import { EMPTY } from '../../../src/events/state.ts';
import { ownTreeText } from '../../../src/domain/plan/writes.ts';
import type { PlanEdit } from '../../../src/domain/plan/plan-edit.ts';
import { ok, type Result } from '../../../src/domain/result.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { Command, Receipt, Refusal } from '../../../src/ports/controls.ts';
import { editsOf, LineAnswers, optionsFor, planWord } from '../../../src/ui/lines/answers.ts';
import { planLines } from '../../../src/app/reports/plan-lines.ts';
import { planned, Recording, started } from '../../support/recorded-run.ts';
import { planOf } from '../../support/plans.ts';

interface Asked {
  readonly edits: readonly PlanEdit[];
  readonly prompts: readonly string[];
  readonly lines: readonly string[];
}

/** What is asked and said after `e` or `m` when these lines are typed; nothing more comes after them. */
async function asked(word: 'e' | 'm', typed: readonly string[], models = true): Promise<Asked> {
  const left = [...typed];
  const prompts: string[] = [];
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const ask = (prompt: string): Promise<string | null> => {
    prompts.push(prompt.trim());
    return Promise.resolve(left.shift() ?? null);
  };
  const plan = planOf({ tasks: [{ id: 'a', description: 'look', role: 'finder', estimatedTokens: 4000 }] });
  const edits = await editsOf(word, { ask, say, complain: say }, { plan, models });
  return { edits, prompts, lines };
}
const DESCRIPTION = 'New description (Enter keeps):';
const MODEL = 'New model (Enter keeps):';
const TOKENS = 'Max tokens (Enter keeps):';

describe('a plan in lines', () => {
  it('says which tasks work apart, and what is run to check them', () => {
    const own = { role: 'refactoring', estimatedTokens: 4000, writes: ['src/**'] };
    const plan = planOf({
      tasks: [
        { ...own, id: 'a', description: 'build', tree: 'own', checks: ['npm test'] },
        { ...own, id: 'b', description: 'document', tree: 'own' },
      ],
    });
    const lines = planLines({ ...EMPTY, plan, planBy: 'offline', maxParallel: 4 }, new Chalk({ level: 0 }));
    expect(lines.filter((line) => /tree|Checks|May change/.test(line))).toEqual([
      '   May change: src/**',
      '   Works in a tree of its own, merged when it is done',
      '   Checks: npm test',
      '   May change: src/**',
      '   Works in a tree of its own, merged when it is done',
    ]);
    const [task] = plan.tasks;
    expect(task && ownTreeText(task, { treeSetup: 'npm ci' })).toBe(
      'in a tree of its own, prepared by "npm ci", merged when it is done',
    );
    expect(ownTreeText({}, { treeSetup: 'npm ci' })).toBeNull();
  });

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
        "   Estimate: 8.0k tokens, $0.04",
        "   Depends on: Task #1 finder",
        "Total: 12k tokens, $0.05, about 38s with 4 at once",
        "",
      ]
    `);
  });
});

describe('the plan prompt', () => {
  it.each(['', 'y', 'Y', ' Y '])('proceeds with the recommended plan on "%s" (O102)', (typed) => {
    expect(planWord(typed)).toBe('proceed');
  });

  it('cancels on n (O103)', () => {
    expect(planWord('n')).toBe('cancel');
  });

  it.each(['N', 'no', 'x', 'E', 'yes please'])(
    'knows no other word: "%s" is none of its four answers (O107)',
    (typed) => {
      expect(planWord(typed)).toBe('other');
    },
  );

  it('lists its options (O108)', () => {
    expect(optionsFor(true).map((line) => line.trim().slice(0, 1))).toEqual(['O', 'Y', 'n', 'e', 'm']);
  });

  it('edits each task in turn, showing what there is (O104, O105)', async () => {
    const { edits, prompts, lines } = await asked('e', ['read', 'o3']);
    expect(prompts).toEqual([DESCRIPTION, MODEL]);
    expect(lines.slice(-3)).toEqual(['\nEdit Task 1 (finder)', '  Current: look', '  Current model: haiku-4.5']);
    expect(edits).toEqual([
      { is: 'describe', task: 'a', description: 'read' },
      { is: 'model', task: 'a', model: 'o3' },
    ]);
  });

  it('takes the recommended models without asking where promptForModels is false (O109, O128)', async () => {
    const { edits, prompts } = await asked('e', ['read'], false);
    expect(prompts).toEqual([DESCRIPTION]);
    expect(optionsFor(false)).toContain('  e  edit task descriptions');
    expect(edits).toEqual([{ is: 'describe', task: 'a', description: 'read' }]);
    expect((await asked('m', ['', '', ''], false)).prompts).toEqual([DESCRIPTION, MODEL, TOKENS]);
  });

  it('asks for the tokens of each agent as well in manual mode (O106)', async () => {
    const { edits, prompts } = await asked('m', ['read', 'o3', '9000']);
    expect(prompts).toEqual([DESCRIPTION, MODEL, TOKENS]);
    expect(edits.at(-1)).toEqual({ is: 'budget', task: 'a', budget: { maxTokens: 9000, maxCost: 1 } });
  });

  it.each([[[]], [['read']], [['read', 'o3']]])(
    'approves nothing where the input ends within the edits: %j',
    async (typed) => {
      await expect(asked('m', typed)).rejects.toThrow('the input has ended');
      const left = [...typed];
      const done: Command[] = [];
      const send = (command: Command): Promise<Result<Receipt, Refusal>> => {
        done.push(command);
        return Promise.resolve(ok({ text: '' }));
      };
      const state = foldAll(planned(started(new Recording())).events);
      const quiet = (): void => undefined;
      const answers = new LineAnswers({
        context: {
          place: 'plan',
          state,
          commands: [],
          say: quiet,
          send,
          submit: async (command) => void (await send(command)),
        },
        console: {
          say: quiet,
          complain: quiet,
          next: () => Promise.resolve(null),
          ask: () => Promise.resolve(left.shift() ?? null),
          fresh: () => Promise.resolve(),
          close: quiet,
        },
        io: { paint: new Chalk({ level: 0 }), terminal: true },
        approves: true,
        models: true,
      });
      await expect(answers.takes({ text: 'm', begun: 1 })).rejects.toThrow('the input has ended');
      expect(done).toEqual([]);
    },
  );
});
