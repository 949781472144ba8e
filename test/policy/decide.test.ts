import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODES, type Mode, isLooser } from '../../src/domain/reason.ts';
import { CAPABILITIES, type Capability } from '../../src/domain/agents/role.ts';
import { type Action, type Circumstances, decide } from '../../src/policy/decide.ts';
import { builtIn } from '../../src/policy/rules.ts';
import { at, someRules, written } from './some-rules.ts';

const SANDBOXES = ['none', 'read-only', 'read-write'] as const;

const use = (capability: Capability | null, command?: string): Action => ({
  is: 'tool',
  tool: 'some_tool',
  capability,
  ...(command === undefined ? {} : { command }),
});
const spawn: Action = { is: 'spawn', depth: 1, agents: 3 };
const verdict = (action: Action, changes: Partial<Circumstances>): string =>
  decide(action, someRules(), at(changes)).verdict;

describe('the table of modes', () => {
  // The modes, row by row: human, confirm, yolo.
  const TABLE: readonly (readonly [string, Action, (typeof SANDBOXES)[number], readonly [string, string, string]])[] = [
    ['a turn', { is: 'turn' }, 'read-write', ['ask', 'allow', 'allow']],
    ['reading', use('read'), 'none', ['ask', 'allow', 'allow']],
    ['reading git', use('git-read'), 'none', ['ask', 'allow', 'allow']],
    ['writing', use('write'), 'none', ['ask', 'ask', 'allow']],
    ['a shell in the sandbox', use('shell', 'npm test'), 'read-write', ['ask', 'ask', 'allow']],
    ['a shell in a read-only sandbox', use('shell', 'npm test'), 'read-only', ['ask', 'ask', 'allow']],
    ['a shell without a sandbox', use('shell', 'npm test'), 'none', ['ask', 'ask', 'deny']],
    ['writing git', use('git-write'), 'none', ['ask', 'ask', 'allow']],
    ['spawning beyond the plan', spawn, 'none', ['ask', 'ask', 'allow']],
    ['spawning a child that only reads', { ...spawn, reads: true }, 'none', ['ask', 'allow', 'allow']],
    ['a tool of its own', use(null), 'none', ['allow', 'allow', 'allow']],
  ];

  it.each(TABLE)('judges %s in human, confirm and yolo', (_, action, sandbox, expected) => {
    expect(MODES.map((mode) => verdict(action, { mode, sandbox }))).toEqual(expected);
  });

  it.each(TABLE)('denies %s where it would ask and nobody can be asked', (_, action, sandbox, expected) => {
    const alone = MODES.map((mode) => verdict(action, { mode, sandbox, interactive: false }));
    expect(alone).toEqual(expected.map((each) => (each === 'ask' ? 'deny' : each)));
  });

  it.each(TABLE)('lets %s happen after an answer, unless it is denied', (_, action, sandbox, expected) => {
    const answered = MODES.map((mode) => verdict(action, { mode, sandbox, answered: true }));
    expect(answered).toEqual(expected.map((each) => (each === 'deny' ? 'deny' : 'allow')));
  });

  it('asks about what leaves this machine in every mode, unless rules allow each of its commands', () => {
    const words = (...all: readonly string[]) =>
      all.map((each) => ({ words: each.split(' '), from: written(each, 2) }));
    const publish: Action = { is: 'publish', commands: ['git push origin x', 'gh pr create'] };
    const judged = (allow: readonly string[], ask: readonly string[] = [], deny: readonly string[] = []) =>
      MODES.map((mode) => {
        const commands = { allow: words(...allow), ask: words(...ask), deny: words(...deny) };
        const { verdict: is, because } = decide(publish, someRules({ commands }), at({ mode }));
        return `${is}: ${because.rule}`;
      });
    const thrice = (words: string): readonly string[] => MODES.map(() => words);
    const asks = thrice('ask: what leaves this machine needs approval');
    expect([judged([]), judged(['git push **'])]).toEqual([asks, asks]);
    expect(judged(['git push **', 'gh **'])).toEqual(thrice('allow: git push **'));
    expect(judged(['git push **', 'gh **'], ['gh pr **'])).toEqual(thrice('ask: gh pr **'));
    expect(judged(['git push **', 'gh **'], [], ['gh pr **'])).toEqual(thrice('deny: gh pr **'));
  });

  it('denies everything in a mode that is none', () => {
    expect(decide(use('read'), someRules(), Object.assign(at(), { mode: 'careless' }))).toEqual({
      verdict: 'deny',
      because: builtIn('unknown mode "careless"'),
    });
  });

  it('asks about a command that can not be read, and an answer covers it alone', () => {
    const unclear = use('shell', 'bash -c "$X"');
    const deny = [{ words: ['rm', '**'], from: written('commands.deny: [rm **]', 2) }];
    const rules = someRules({ commands: { allow: [], ask: [], deny } });
    expect(decide(unclear, rules, at())).toMatchObject({ verdict: 'ask', exactly: true });
    expect(decide(unclear, rules, at({ mode: 'yolo' }))).not.toHaveProperty('exactly');
  });

  it('says in the reason that nobody could be asked', () => {
    expect(decide(use('write'), someRules(), at({ interactive: false }))).toEqual({
      verdict: 'deny',
      because: builtIn('mode confirm: write needs approval, and nobody can be asked here'),
      unanswered: true,
    });
  });
});

describe('what a mode never loosens', () => {
  it('denies a tool for which the agent has no capability, in every mode (O146)', () => {
    for (const mode of MODES) {
      expect(decide(use('write'), someRules(), at({ mode, capabilities: ['read'], answered: true }))).toEqual({
        verdict: 'deny',
        because: builtIn('some_tool needs "write", which this agent does not have'),
      });
    }
  });

  it.each(['none', 'read-write'] as const)(
    'denies the shell of a role that can not write in sandbox %s (D2)',
    (sandbox) => {
      const capabilities = ['read', 'shell'] as const;
      for (const mode of MODES) expect(verdict(use('shell', 'ls'), { mode, sandbox, capabilities })).toBe('deny');
      expect(verdict(use('shell', 'ls'), { mode: 'yolo', sandbox: 'read-only', capabilities })).toBe('allow');
    },
  );

  it('always asks for a shell without a sandbox: no rule helps, and no answer for the session', () => {
    const from = written('commands.allow: "npm test"', 3);
    const rules = someRules({ commands: { allow: [{ words: ['npm', 'test'], from }], ask: [], deny: [] } });
    expect(decide(use('shell', 'npm test'), rules, at({ sandbox: 'none' }))).toEqual({
      verdict: 'ask',
      because: builtIn('mode confirm: shell needs approval, UNSANDBOXED'),
      singly: true,
    });
  });

  it('asks about exactly the command that a rule asks for', () => {
    const from = written('commands.ask: "npm publish"', 3);
    const rules = someRules({ commands: { allow: [], ask: [{ words: ['npm', 'publish'], from }], deny: [] } });
    const publish = use('shell', 'npm publish');
    expect(decide(publish, rules, at())).toEqual({ verdict: 'ask', because: from, exactly: true });
  });

  it('denies every shell without a sandbox where one is required', () => {
    const from = written('sandbox.required: true', 9);
    const rules = someRules({ sandboxRequired: { value: true, from } });
    expect(decide(use('shell', 'ls'), rules, at({ sandbox: 'none' }))).toEqual({ verdict: 'deny', because: from });
    expect(decide(use('shell', 'ls'), rules, at()).verdict).toBe('ask');
  });

  it('holds the loosest mode that is allowed, and names the rule', () => {
    const from = written('mode.max: confirm', 4);
    const rules = someRules({ maxMode: { value: 'confirm', from } });
    expect(decide(use('write'), rules, at({ mode: 'yolo' }))).toEqual({
      verdict: 'ask',
      because: { ...from, rule: 'mode.max: confirm (write needs approval)' },
    });
  });
});

describe('a command that only reads (D39)', () => {
  const reading = { place: { root: '/project', folder: '/project' }, obstacle: null };
  const judge = (command: string, changes: Partial<Circumstances> = {}, rules = someRules()) =>
    decide(use('shell', command), rules, at({ reading, ...changes }));

  it('is allowed in mode confirm for a read-only box, also where nobody can be asked', () => {
    const allowed = { verdict: 'allow', because: builtIn('mode confirm: reads only'), sandbox: 'read-only' };
    expect(judge('cat a.ts | head')).toEqual(allowed);
    expect(judge('cat a.ts', { interactive: false })).toEqual(allowed);
    expect(judge('cat a.ts', { sandbox: 'read-only', capabilities: ['read', 'shell'] })).toEqual(allowed);
    expect(judge('npm test').verdict).toBe('ask');
    expect(judge('cat ../a.ts').verdict).toBe('ask');
  });

  it('asks in mode human and without a sandbox, and runs in yolo as any other', () => {
    expect(judge('cat a.ts', { mode: 'human' })).toEqual({
      verdict: 'ask',
      because: builtIn('mode human: shell needs approval'),
    });
    expect(judge('cat a.ts', { sandbox: 'none' }).verdict).toBe('ask');
    expect(judge('cat a.ts', { mode: 'yolo' })).toEqual({
      verdict: 'allow',
      because: builtIn('mode yolo: shell is allowed in the sandbox'),
    });
  });

  it('asks, with the reason, where the project does not permit it', () => {
    expect(judge('cat a.ts', { reading: { ...reading, obstacle: 'it is too large' } })).toEqual({
      verdict: 'ask',
      because: builtIn('mode confirm: shell needs approval: it only reads, but it is too large'),
    });
  });

  it('obeys the rules on commands first', () => {
    const rule = (words: string) => ({ words: words.split(' '), from: written(words, 1) });
    const rules = (list: 'allow' | 'ask' | 'deny', words: string) =>
      someRules({ commands: { allow: [], ask: [], deny: [], [list]: [rule(words)] } });
    expect(judge('cat a.ts', {}, rules('deny', 'cat **')).verdict).toBe('deny');
    expect(judge('cat a.ts', {}, rules('ask', 'cat **')).verdict).toBe('ask');
    expect(judge('cat $(ls)', {}, rules('deny', 'cat b **')).verdict).toBe('ask');
    expect(judge('cat a.ts', {}, rules('deny', 'curl **')).verdict).toBe('allow');
    expect(judge('cat a.ts', {}, rules('allow', 'cat **'))).toEqual({
      verdict: 'allow',
      because: written('cat **', 1),
    });
  });
});

describe('spawning', () => {
  it('is denied below the deepest level, in the words of the first design (O055)', () => {
    const from = written('agentOrchestration.maxNestingDepth: 2', 7);
    const rules = someRules({ maxNestingDepth: { value: 2, from } });
    expect(decide({ is: 'spawn', depth: 2, agents: 0 }, rules, at({ mode: 'yolo' })).verdict).toBe('allow');
    expect(decide({ is: 'spawn', depth: 3, agents: 0 }, rules, at({ mode: 'yolo', answered: true }))).toEqual({
      verdict: 'deny',
      because: { ...from, rule: 'Max nesting depth (2) exceeded. Cannot create nested agent.' },
    });
  });

  it('is denied when the run is full, when orchestration is off, and without the capability', () => {
    const yolo = at({ mode: 'yolo' });
    const full = someRules({ maxAgentsPerRun: { value: 3, from: written('limits.maxAgentsPerRun: 3', 2) } });
    expect(decide(spawn, full, yolo)).toEqual({
      verdict: 'deny',
      because: written('limits.maxAgentsPerRun: 3: the run already has 3 agents', 2),
    });
    const off = someRules({ enabled: { value: false, from: written('agentOrchestration.enabled: false', 1) } });
    expect(decide(spawn, off, yolo).verdict).toBe('deny');
    expect(decide(spawn, someRules(), at({ mode: 'yolo', capabilities: ['read'] })).verdict).toBe('deny');
  });

  it('is denied for counts that are no numbers', () => {
    expect(decide({ is: 'spawn', depth: Number.NaN, agents: 0 }, someRules(), at({ mode: 'yolo' })).verdict).toBe(
      'deny',
    );
    expect(decide({ is: 'spawn', depth: 1, agents: Number.NaN }, someRules(), at({ mode: 'yolo' })).verdict).toBe(
      'deny',
    );
  });
});

describe('deciding', () => {
  it('denies when deciding itself fails', () => {
    const broken = {
      ...someRules(),
      get maxMode(): never {
        throw new Error('rules are gone');
      },
    };
    expect(decide(use('read'), broken, at())).toEqual({
      verdict: 'deny',
      because: builtIn('the decision failed: rules are gone'),
    });
  });

  const actions = fc.oneof(
    fc.constant<Action>({ is: 'turn' }),
    fc.record({ is: fc.constant('spawn' as const), depth: fc.integer(), agents: fc.integer() }),
    fc.constantFrom(...CAPABILITIES, null).map((capability) => use(capability, 'ls')),
  );
  const circumstances = fc.record({
    mode: fc.constantFrom<Mode>(...MODES),
    interactive: fc.boolean(),
    sandbox: fc.constantFrom(...SANDBOXES),
    capabilities: fc.subarray([...CAPABILITIES]),
    answered: fc.boolean(),
  });

  it('never asks where nobody can be asked', () => {
    fc.assert(
      fc.property(actions, circumstances, (action, context) => {
        expect(decide(action, someRules(), { ...context, interactive: false }).verdict).not.toBe('ask');
      }),
    );
  });

  it('never denies in a stricter mode what only the mode allows in a looser one, and never the other way round', () => {
    const RANK = ['deny', 'ask', 'allow'];
    fc.assert(
      fc.property(actions, circumstances, fc.constantFrom<Mode>(...MODES), (action, context, other) => {
        fc.pre(isLooser(other, context.mode) && context.sandbox !== 'none');
        const strict = decide(action, someRules(), { ...context, interactive: true });
        const loose = decide(action, someRules(), { ...context, interactive: true, mode: other });
        expect(RANK.indexOf(loose.verdict)).toBeGreaterThanOrEqual(RANK.indexOf(strict.verdict));
      }),
    );
  });
});
