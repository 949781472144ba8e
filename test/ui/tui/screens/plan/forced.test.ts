/** What the rules add to a plan and do to a run, as a person sees it: locked, said in words, with the rule. */
import { describe, expect, it } from 'vitest';
import type { MandatoryReview } from '../../../../../src/domain/agents/agent.ts';
import { AgentId, ModelId, RoleName, TaskId } from '../../../../../src/domain/ids.ts';
import { openSession } from '../../../../support/app-session.ts';
import {
  finished,
  midRun,
  planned,
  type Recording,
  Recording as Log,
  started,
} from '../../../../support/recorded-run.ts';

const security: MandatoryReview = {
  role: RoleName.parse('security'),
  model: { asked: 'gpt-5', used: ModelId.parse('anthropic/claude-haiku-4-5'), because: 'gpt-5 is denied' },
  triggers: ['on-write', 'on-commit'],
  onFailure: 'block',
  after: [TaskId.parse('task-4'), TaskId.parse('task-5')],
  runs: 2,
  estimatedTokens: 12_000,
  estimatedCost: 0.084,
  estimatedSeconds: 40,
  budget: { maxCost: 0.2 },
  because: 'forcedAgents.security (managed, /etc/mimir/policy.yml:12)',
};
const audit: MandatoryReview = { ...security, role: RoleName.parse('audit'), triggers: ['manual'], runs: 0, after: [] };

/** The same log, the plan of which has these forced agents. */
function withForced(log: Recording, ...forced: readonly MandatoryReview[]): Recording {
  const next = new Log();
  for (const event of log.events)
    next.events.push(event.type === 'plan.proposed' ? { ...event, plan: { ...event.plan, forced } } : event);
  return next;
}

describe('what the rules add to a plan', () => {
  const plan = (): Recording => withForced(planned(started(new Log())), security, audit);

  it('is a locked row with when it runs and what all its runs cost', async () => {
    const { terminal } = await openSession(plan());
    const text = terminal.text();
    expect(text).toContain('▣ 2 required');
    expect(text).toMatch(/▣ security ×2 {2}after tasks that … gpt-5 → haiku-4\.5 +24k +\$0\.17/);
    expect(text).toMatch(/▣ audit {2}started by you +gpt-5 → haiku-4\.5/);
  });

  it.each([80, 100])('has its model at %i columns as well', async (width) => {
    const { terminal } = await openSession(plan(), { width, height: 30 });
    expect(terminal.text()).toMatch(/▣ security ×2 {2}after t.*→ haiku-4\.5 +24k +\$0\.17/);
  });

  it('can be looked at, not changed: the key names the rule', async () => {
    const { terminal, run } = await openSession(plan());
    terminal.press('G', 'k');
    for (const words of ['Required by policy', '#4 refactoring, #5 tester', 'gpt-5 → haiku-4.5', 'blocks: the changes'])
      expect(terminal.text()).toContain(words);
    for (const key of ['e', 'M', 'd', 'b', 'J', 'r']) {
      terminal.press(key);
      expect(terminal.text()).toContain('security is required by policy (managed,');
    }
    expect(run.commands).toEqual([]);
  });

  it('is selected by a click where it stands, scrolled or not', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `judge-${index}`);
    const many = names.map((name) => ({ ...audit, role: RoleName.parse(name) }));
    const { terminal } = await openSession(withForced(planned(started(new Log())), ...many), {
      width: 80,
      height: 24,
    });
    const rowWith = (what: string): number => terminal.rows().findIndex((row) => row.includes(what));
    for (const key of ['g', 'G']) {
      terminal.press(key);
      const shown = names.filter((name) => rowWith(`▣ ${name} `) !== -1);
      expect(shown.length).toBeGreaterThan(1);
      for (const name of shown) {
        terminal.send({ is: 'click', x: 10, y: rowWith(`▣ ${name} `) });
        expect(terminal.text()).toContain(`─ ▣ ${name} ─`);
        terminal.press(key);
      }
    }
  });
});

describe('what the rules do to a run', () => {
  const at = (id: string): AgentId => AgentId.parse(id);
  const judged = (): Recording => {
    const log = withForced(midRun(), security, audit);
    const forced = { trigger: 'on-write', tree: 'abc' } as const;
    return log
      .at(170, {
        type: 'agent.created',
        agent: at('ROOT::S7'),
        parent: at('ROOT'),
        role: security.role,
        name: 'security',
        task: 'Judge what refactoring wrote',
        taskId: null,
        tools: ['read'],
        budget: {},
        dependsOn: [at('ROOT::S4')],
        model: security.model,
        iterations: 9,
        forced,
      })
      .at(171, { type: 'agent.status', agent: at('ROOT::S7'), status: 'running', reason: '' })
      .at(172, {
        type: 'forced.gate',
        agent: at('ROOT::S4'),
        role: security.role,
        trigger: 'on-write',
        tree: 'abc',
        open: false,
        onFailure: 'block',
        why: 'no verdict yet',
      });
  };
  const failed = (): Recording =>
    judged().at(180, {
      type: 'forced.verdict',
      agent: at('ROOT::S7'),
      role: security.role,
      tree: 'abc',
      pass: false,
      summary: 'The guard is not atomic.',
      findings: ['src/a.ts:1: two statements', 'src/a.ts:9: logged'],
    });

  it('stands on the card of the work that waits, and on that of the agent that judges', async () => {
    const { terminal, run } = await openSession(judged(), { height: 60 });
    expect(terminal.text()).toContain('▣ waiting for security');
    await run.play(failed().events.slice(-1));
    expect(terminal.text()).toContain('▣ security did not pass: 2 findings');
    expect(terminal.text()).toContain('● ▣ security');
    expect(terminal.text()).toContain('✗ did not pass: 2 findings  The guard');
  });

  it('is told whole in the Info of the agent that judges', async () => {
    const { terminal } = await openSession(failed(), { height: 60 });
    terminal.press('G', 'tab', 'left');
    for (const words of ['what #4 refactoring wrote', 'src/a.ts:1: two statements', 'after tasks that write'])
      expect(terminal.text()).toContain(words);
  });

  it('is told at the end: what was judged, found, and stayed closed', async () => {
    const log = failed();
    log.events.push(...finished().events.slice(-1));
    const { terminal } = await openSession(log);
    for (const words of ['Reviews', 'security ✗ did not pass: 2 findings, what #4', '• src/a.ts:9: logged'])
      expect(terminal.text()).toContain(words);
  });

  it('starts by hand what is left to the person', async () => {
    const { terminal, run } = await openSession(judged());
    terminal.press('V');
    expect(run.commands).toEqual([{ do: 'review', role: 'audit' }]);
  });
});
