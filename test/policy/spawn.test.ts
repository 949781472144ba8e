/** Who may spawn a child beyond the plan: every combination of role, tools, depth, mode and `childAgents.mode`. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODES, type Mode } from '../../src/domain/reason.ts';
import { CAPABILITIES, type Capability, type Role } from '../../src/domain/agents/role.ts';
import { builtIn, CHILD_DEFAULTS, type ChildRules, childRules, type Rules } from '../../src/policy/rules.ts';
import { decide } from '../../src/policy/decide.ts';
import { explainAction } from '../../src/policy/explain/action.ts';
import { meet } from '../../src/policy/intersect-rules.ts';
import { loaded } from '../config/some-place.ts';
import { at, someRules, written } from './some-rules.ts';

type How = ChildRules['mode']['value'];
const HOWS: readonly How[] = ['auto', 'supervised', 'manual'];

const said = (how: How): ChildRules['mode'] => ({ value: how, from: written(`childAgents.mode: ${how}`, 5) });
const rulesWith = (how: How, deepest = 2): Rules =>
  someRules({
    children: { mode: said(how) },
    maxNestingDepth: { value: deepest, from: written(`agentOrchestration.maxNestingDepth: ${deepest}`, 2) },
  });

/** By `childAgents.mode` and mode, for an agent that has the tool and room below it. */
const TABLE: Readonly<Record<How, Readonly<Record<Mode, 'allow' | 'ask' | 'deny'>>>> = {
  auto: { human: 'ask', confirm: 'ask', yolo: 'allow' },
  supervised: { human: 'ask', confirm: 'ask', yolo: 'ask' },
  manual: { human: 'deny', confirm: 'deny', yolo: 'deny' },
};

interface Case {
  readonly role: string;
  readonly own: readonly Capability[];
  readonly depth: number;
  readonly mode: Mode;
  readonly how: How;
}

/** Each role as it is, and with the Task tool as a plan task that says `maySpawn` gets it; two levels and one too deep. */
const casesOf = (roles: readonly Role[]): readonly Case[] =>
  roles.flatMap((role) =>
    [role.capabilities, [...role.capabilities, 'spawn' as const]].flatMap((own) =>
      [1, 2, 3].flatMap((depth) =>
        MODES.flatMap((mode) => HOWS.map((how): Case => ({ role: role.name, own, depth, mode, how }))),
      ),
    ),
  );

describe('spawning beyond the plan', () => {
  it('D35, S097, S148: is what the table says, for every role, tool, depth, mode and childAgents.mode', () => {
    const { roles } = loaded();
    const cases = casesOf(roles);
    const wrong = cases.filter(({ own, depth, mode, how }) => {
      const expected = own.includes('spawn') && depth <= 2 ? TABLE[how][mode] : 'deny';
      const { verdict } = decide(
        { is: 'spawn', depth, agents: 1 },
        rulesWith(how),
        at({ mode, capabilities: own, sandbox: 'read-only' }),
      );
      return verdict !== expected;
    });
    expect(wrong).toEqual([]);
    expect(cases.length).toBe(roles.length * 2 * 3 * MODES.length * HOWS.length);
  });

  it('D35: names the rule with its file and line', () => {
    const spawn = { is: 'spawn', depth: 1, agents: 1 } as const;
    expect(decide(spawn, rulesWith('supervised'), at({ mode: 'yolo' }))).toEqual({
      verdict: 'ask',
      because: written('childAgents.mode: supervised: each spawn needs approval', 5),
      singly: true,
    });
    expect(decide(spawn, rulesWith('manual'), at({ mode: 'yolo' }))).toEqual({
      verdict: 'deny',
      because: written('childAgents.mode: manual: only a person may spawn', 5),
    });
  });

  it('D35: asks each time where spawns are supervised, whatever was allowed for the session, and takes a yes', () => {
    const spawn = { is: 'spawn', depth: 1, agents: 1 } as const;
    for (const mode of MODES) {
      expect(decide(spawn, rulesWith('supervised'), at({ mode }))).toMatchObject({ verdict: 'ask', singly: true });
      expect(decide(spawn, rulesWith('supervised'), at({ mode, answered: true })).verdict).toBe('allow');
      expect(decide(spawn, rulesWith('supervised'), at({ mode, interactive: false })).verdict).toBe('deny');
      expect(decide(spawn, rulesWith('manual'), at({ mode, answered: true })).verdict).toBe('deny');
    }
  });

  it('D35: lets a person spawn in every mode, within the limits', () => {
    for (const how of HOWS) {
      for (const mode of MODES) {
        const by = { is: 'spawn', depth: 1, agents: 1, by: 'person' } as const;
        const asked = at({ mode, capabilities: [], interactive: false });
        expect(decide(by, rulesWith(how), asked).verdict).toBe('allow');
        expect(decide({ ...by, depth: 3 }, rulesWith(how), asked).verdict).toBe('deny');
        expect(decide({ ...by, siblings: 16 }, rulesWith(how), asked).verdict).toBe('deny');
      }
    }
  });

  it('S152: is denied beyond the children that one parent may have at once', () => {
    const from = written('childAgents.maxPerParent: 2', 8);
    const rules = someRules({ children: { maxPerParent: { value: 2, from } } });
    const yolo = at({ mode: 'yolo' });
    expect(decide({ is: 'spawn', depth: 1, agents: 3, siblings: 1 }, rules, yolo).verdict).toBe('allow');
    expect(decide({ is: 'spawn', depth: 1, agents: 3, siblings: 2 }, rules, yolo)).toEqual({
      verdict: 'deny',
      because: { ...from, rule: 'childAgents.maxPerParent: 2: 2 children of this agent are not done' },
    });
    const one = someRules({ children: { maxPerParent: { value: 1, from } } });
    expect(decide({ is: 'spawn', depth: 1, agents: 3 }, one, yolo).verdict).toBe('allow');
    expect(decide({ is: 'spawn', depth: 1, agents: 3, siblings: Number.NaN }, rules, yolo).verdict).toBe('deny');
  });

  it('is denied beyond the agents that a run may have, and says how many it has', () => {
    const from = written('limits.maxAgentsPerRun: 1', 9);
    const denied = (most: number, agents: number): unknown =>
      decide(
        { is: 'spawn', depth: 1, agents },
        someRules({ maxAgentsPerRun: { value: most, from } }),
        at({ mode: 'yolo' }),
      );
    const because = (text: string): unknown => ({
      verdict: 'deny',
      because: { ...from, rule: `${from.rule}: ${text}` },
    });
    expect(denied(1, 1)).toEqual(because('the run already has 1 agent'));
    expect(denied(1, 2)).toEqual(because('the run already has 2 agents'));
    expect(denied(2, 1)).toMatchObject({ verdict: 'allow' });
    expect(denied(2, Number.NaN)).toMatchObject({ verdict: 'deny' });
  });

  it('never gets looser with a stricter rule, whatever the circumstances', () => {
    const LOOSE = ['allow', 'ask', 'deny'];
    fc.assert(
      fc.property(
        fc.constantFrom(...MODES),
        fc.boolean(),
        fc.boolean(),
        fc.subarray([...CAPABILITIES]),
        fc.integer({ min: 0, max: 4 }),
        fc.integer({ min: 0, max: 20 }),
        (mode, interactive, answered, capabilities, depth, siblings) => {
          const verdicts = HOWS.map((how) =>
            LOOSE.indexOf(
              decide(
                { is: 'spawn', depth, agents: 1, siblings },
                rulesWith(how),
                at({ mode, interactive, answered, capabilities }),
              ).verdict,
            ),
          );
          expect(verdicts).toEqual([...verdicts].sort((a, b) => a - b));
        },
      ),
    );
  });

  it('is explained with what would change it', () => {
    const explained = explainAction('tool Task', { is: 'spawn', depth: 1, agents: 0 }, rulesWith('manual'), at());
    expect(explained.because).toEqual(written('childAgents.mode: manual: only a person may spawn', 5));
    expect(explained.change.join('\n')).toContain('childAgents.mode: auto');
  });
});

describe('two sets of rules on children', () => {
  it('are the defaults where neither says anything, and no key is made', () => {
    expect(meet(someRules(), someRules({ maxAgentsPerRun: { value: 3, from: builtIn('x') } })).children).toBe(
      undefined,
    );
    expect(childRules(someRules())).toEqual(CHILD_DEFAULTS);
  });

  it('D27, D35, S152: meet in the stricter of each, with its place; what only says how they are kept stands', () => {
    const place = written('childAgents', 1);
    const standing = someRules({ children: { orphans: 'kill', maxPerParent: { value: 8, from: place } } });
    const next = someRules({
      children: {
        orphans: 'keep',
        mode: said('supervised'),
        messages: { value: 'family', from: place },
        maxPerParent: { value: 12, from: builtIn('x') },
        killOnComplete: true,
      },
    });
    expect(meet(standing, next).children).toEqual({
      ...CHILD_DEFAULTS,
      orphans: 'kill',
      mode: said('supervised'),
      messages: { value: 'family', from: place },
      maxPerParent: { value: 8, from: place },
    });
    expect(meet(next, standing).children).toEqual({
      ...CHILD_DEFAULTS,
      ...next.children,
      maxPerParent: { value: 8, from: place },
    });
  });
});

it('a child that is idle ends after ten minutes where no file says otherwise (S099)', () => {
  expect(CHILD_DEFAULTS.idleTimeout).toBe(600_000);
});

it('a parent is told of a child that completes or fails, and not of one that is idle, where no file says otherwise', () => {
  expect(CHILD_DEFAULTS.notify).toEqual({ complete: true, error: true, idle: false });
});
