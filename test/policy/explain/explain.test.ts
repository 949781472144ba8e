/** Explanations: the same decision as the gate's, whatever the rules, and changes that really change it. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelId, RoleName } from '../../../src/domain/ids.ts';
import { MODES, type Reason } from '../../../src/domain/reason.ts';
import type { ModelOption } from '../../../src/domain/plan/plan.ts';
import { CAPABILITIES } from '../../../src/domain/agents/role.ts';
import { type Action, type Circumstances, decide } from '../../../src/policy/decide.ts';
import { explainAction } from '../../../src/policy/explain/action.ts';
import { explainModel, explainRole } from '../../../src/policy/explain/explain.ts';
import { type ModelRequest, chooseModel } from '../../../src/policy/models.ts';
import { roleProblem } from '../../../src/policy/roles.ts';
import { builtIn, type Rules } from '../../../src/policy/rules.ts';
import { at, entry, someRules, written } from '../some-rules.ts';

const HAIKU = 'anthropic/claude-haiku-4-5-20251001';
const SONNET = 'anthropic/claude-sonnet-4-5-20250929';
const OPUS = 'anthropic/claude-opus-4-5-20251101';
const ROLES = ['finder', 'oracle', 'explore', 'main'].map((name) => ({ name: RoleName.parse(name), models: [] }));

const option = (id: string): ModelOption => ({
  id: ModelId.parse(id),
  label: id,
  aliases: [],
  window: 200_000,
  outputLimit: 8000,
  speed: 50,
  price: null,
  usable: { yes: true },
});
const wish = (asked: string, rules: Rules): ModelRequest & { readonly asked: string } => ({
  asked,
  role: 'finder',
  fallbacks: ['haiku-4.5', 'sonnet-4.5'],
  rules,
  models: [HAIKU, SONNET, OPUS].map(option),
  offlineOnly: false,
});
const managed = (rule: string, line: number): Reason => ({
  rule,
  layer: 'managed',
  file: '/etc/mimir/policy.yml',
  line,
});

const shell = (command: string): Action => ({ is: 'tool', tool: 'bash', capability: 'shell', command });

describe('an explanation', () => {
  it('of a model names every rule, the losing ones too, and what would change it', () => {
    const [denied, allowed] = [
      managed('enforcement.deniedModels: [opus-4.5]', 4),
      written('enforcement.allowedModels: [o]', 2),
    ];
    const rules = someRules({
      deniedModels: [{ written: 'opus-4.5', pattern: OPUS, from: denied }],
      allowedModels: [[entry(OPUS, allowed), entry(HAIKU, allowed)]],
    });
    expect(explainModel(wish('opus-4.5', rules))).toEqual({
      subject: 'model opus-4.5',
      decision: 'substitute',
      because: denied,
      rules: [
        { reason: denied, says: 'deny', decides: true },
        { reason: allowed, says: 'allow', decides: false },
        { reason: rules.modelFallback.from, says: 'substitute', decides: false },
      ],
      change: [
        'remove "opus-4.5" from enforcement.deniedModels (managed, by an administrator, /etc/mimir/policy.yml:4)',
      ],
      resolved: [
        { written: 'opus-4.5', id: OPUS },
        { written: 'opus-4.5', id: OPUS },
      ],
      used: HAIKU,
    });
  });

  it("of a person's own rule names its layer and its line", () => {
    const from = {
      rule: 'enforcement.deniedModels: [opus-4.5]',
      layer: 'user',
      file: '/home/ada/config.yml',
      line: 3,
    } as const;
    const rules = someRules({ deniedModels: [{ written: 'opus-4.5', pattern: OPUS, from }] });
    expect(explainModel(wish('opus-4.5', rules)).change).toEqual([
      'remove "opus-4.5" from enforcement.deniedModels (user, /home/ada/config.yml:3)',
    ]);
  });

  it('of a model that several rules forbid says that all would have to change', () => {
    const [one, two] = [managed('enforcement.allowedModels: [h]', 3), written('enforcement.allowedModels: [s]', 7)];
    const rules = someRules({
      allowedModels: [[entry(HAIKU, one)], [entry(HAIKU, two)]],
    });
    const { decision, change } = explainModel(wish('opus-4.5', rules));
    expect({ decision, change: change.map((line) => line.slice(0, 14)) }).toEqual({
      decision: 'substitute',
      change: ['only together:'],
    });
  });

  it('of a model that a list leaves out names the first entry of the list', () => {
    const from = [written('enforcement.allowedModels: [h]', 3), written('enforcement.allowedModels: [s]', 4)] as const;
    const rules = someRules({ allowedModels: [[entry(HAIKU, from[0]), entry(SONNET, from[1])]] });
    expect(explainModel(wish('opus-4.5', rules)).rules[0]).toEqual({ reason: from[0], says: 'deny', decides: true });
  });

  it('of a model that two lists leave out names both, and a file without a line', () => {
    const from = [
      written('enforcement.allowedModels: [h]', 3),
      { ...managed('enforcement.allowedModels: [s]', 4), line: null },
    ] as const;
    const rules = someRules({ allowedModels: [[entry(HAIKU, from[0])], [entry(SONNET, from[1])]] });
    const { rules: parts, change } = explainModel(wish('opus-4.5', rules));
    expect(parts.filter(({ says }) => says === 'deny').map(({ reason }) => reason)).toEqual(from);
    expect(change.join(' ')).toContain('(managed, by an administrator, /etc/mimir/policy.yml)');
  });

  it('of a limit that is reached says where a higher one is written, or that anyone may write one', () => {
    const spawn: Action = { is: 'spawn', depth: 1, siblings: 0, agents: 9 };
    const change = (from: Reason): readonly string[] =>
      explainAction('it', spawn, someRules({ maxAgentsPerRun: { value: 8, from } }), at()).change;
    expect(change(managed('limits.maxAgentsPerRun: 8', 5))).toEqual([
      'set a higher limits.maxAgentsPerRun (managed, by an administrator, /etc/mimir/policy.yml:5)',
    ]);
    expect(change(builtIn('8'))).toEqual(['set a higher limits.maxAgentsPerRun in your own config']);
  });

  it('of a question without a person offers a terminal, and with one does not', () => {
    const alone = 'start it in a terminal, where a person can be asked';
    expect(explainAction('it', shell('npm test'), someRules(), at({ interactive: false })).change).toContain(alone);
    expect(explainAction('it', shell('npm test'), someRules(), at()).change).not.toContain(alone);
  });

  it('of a model advises to change the entries that deny it, which somebody wrote, and no others', () => {
    const [own, other, fixed] = [written('enforcement.deniedModels', 3), written('enforcement.deniedModels', 4), 'x'];
    const rules = someRules({
      deniedModels: [entry(OPUS, own), entry(SONNET, other), entry(OPUS, { ...own, layer: 'default', rule: fixed })],
    });
    const { rules: parts, change } = explainModel(wish('opus-4.5', rules));
    expect(parts.filter(({ says }) => says === 'deny').map(({ reason }) => reason.rule)).toEqual([own.rule, fixed]);
    expect(change.filter((words) => words.includes(SONNET))).toEqual([]);
  });

  it('of a model that no rule forbids and that cannot be used says what is missing, and that another one is used', () => {
    const keyless = { ...option(OPUS), usable: { yes: false, because: 'no ANTHROPIC_API_KEY' } } as const;
    const models = [option(HAIKU), keyless];
    const { rules: parts, used, change } = explainModel({ ...wish('opus-4.5', someRules()), models });
    expect([parts[0]?.reason.rule, parts[0]?.says, used]).toEqual(['no ANTHROPIC_API_KEY', 'substitute', HAIKU]);
    expect(change).toEqual(['a usable provider for it: `mimir doctor` shows what each one lacks']);
  });

  it('of a name that nobody knows says so', () => {
    const { decision, because } = explainModel(wish('gpt-none', someRules()));
    expect([decision, because.rule]).toEqual([
      'deny',
      `There is no model "gpt-none"; available: ${HAIKU}, ${SONNET}, ${OPUS}`,
    ]);
  });

  it('of a role says which list leaves it out; of `main` that nothing helps', () => {
    const from = managed('enforcement.allowedSubAgents: [finder]', 5);
    const rules = someRules({ allowedSubAgents: [{ value: ['finder'], from }] });
    expect(explainRole('oracle', rules, ROLES)).toEqual({
      subject: 'role oracle',
      decision: 'deny',
      because: from,
      rules: [{ reason: from, says: 'deny', decides: true }],
      change: ['add "oracle" to enforcement.allowedSubAgents (managed, by an administrator, /etc/mimir/policy.yml:5)'],
      resolved: [],
      used: null,
    });
    expect(explainRole('main', rules, ROLES)).toMatchObject({ decision: 'deny', change: ['nothing: it is built in'] });
    expect(explainRole('Explore', someRules(), ROLES)).toMatchObject({
      decision: 'allow',
      change: [],
      resolved: [{ written: 'Explore', id: 'explore' }],
    });
  });

  it('of a command shows the allow rule that loses against a deny rule', () => {
    const [no, yes] = [managed('commands.deny: [curl **]', 8), written('commands.allow: [curl **]', 9)];
    const words = ['curl', '**'];
    const rules = someRules({ commands: { deny: [{ words, from: no }], ask: [], allow: [{ words, from: yes }] } });
    const { decision, because, rules: parts, change } = explainAction('command curl x', shell('curl x'), rules, at());
    expect({ decision, because, parts, change }).toEqual({
      decision: 'deny',
      because: no,
      parts: [
        { reason: no, says: 'deny', decides: true },
        { reason: yes, says: 'allow', decides: false },
      ],
      change: ['remove "curl **" from commands.deny (managed, by an administrator, /etc/mimir/policy.yml:8)'],
    });
  });

  it('of a command without a rule says why it may do more than read, in mode confirm alone', () => {
    const rulesOf = (command: string, circumstances: Partial<Circumstances>): readonly string[] =>
      explainAction('it', shell(command), someRules(), at(circumstances)).rules.map(({ reason }) => reason.rule);
    const reading = { place: { root: '/project', folder: '/project' }, obstacle: null };
    const more = 'it may do more than read: npm is not known to be read-only';
    expect(rulesOf('npm test', { reading })).toEqual(['mode confirm: shell needs approval', more]);
    expect(rulesOf('npm test', { reading, mode: 'human' })).toEqual(['mode human: shell needs approval']);
    expect(rulesOf('npm test', {})).toEqual(['mode confirm: shell needs approval']);
  });

  it('names the rule that keeps a plan from allowing it, for edits and commands alone', () => {
    const [edits, commands] = [written('permissions.edits: ask', 5), written('permissions.commands: ask', 6)];
    const rules = someRules({ permissionsHeld: { edits, commands } });
    const held = (['read', 'write', 'shell', 'git-write'] as const).map((capability) => {
      const action: Action = { is: 'tool', tool: 'some_tool', capability, command: 'npm test' };
      const parts = explainAction('it', action, rules, at()).rules;
      return parts.map(({ reason }) => reason.rule).filter((rule) => rule.startsWith('permissions'));
    });
    expect(held).toEqual([[], [edits.rule], [commands.rule], []]);
  });

  it('advises to raise the loosest mode where a file sets it, not where the program does', () => {
    const changesAt = (from: Reason): readonly string[] =>
      explainAction('it', shell('npm test'), someRules({ maxMode: { value: 'confirm', from } }), at()).change.filter(
        (words) => words.includes('mode'),
      );
    expect(changesAt(builtIn('mode.max'))).toEqual([]);
    expect(changesAt(written('mode.max: confirm', 7))).toEqual([
      'set mode.max: yolo (user, ~/config.yml:7), and choose it',
    ]);
  });

  it('of a command that asks says what would let it run', () => {
    expect(explainAction('command npm test', shell('npm test'), someRules(), at()).change).toEqual([
      'allow it in your own config: commands.allow: ["npm test"]',
      'allow commands with the plan: P there, --allow commands, or permissions.commands: allow',
      'mode yolo, which policy allows here',
    ]);
    expect(explainAction('command make', shell('make'), someRules(), at()).change[0]).toBe(
      'allow it in your own config: commands.allow: ["make"]',
    );
    expect(
      explainAction('command npm test', shell('npm test'), someRules(), at({ capabilities: ['read'] })),
    ).toMatchObject({
      decision: 'deny',
      change: ['an agent whose role has "shell"'],
    });
    expect(explainAction('it', shell('npm test'), someRules(), at({ sandbox: 'none' }))).toMatchObject({
      decision: 'ask',
      change: [
        'only together: a working sandbox (`mimir doctor` shows why there is none); allow it in your own config: commands.allow: ["npm test"]',
      ],
    });
  });
});

describe('the rules that an explanation names', () => {
  const rulesNamed = (rules: Rules, context: Partial<Circumstances> = {}): readonly unknown[] =>
    explainAction('it', shell('make'), rules, at(context)).rules.map(({ reason, says }) => [reason.rule, says]);

  it('have the one that requires a sandbox, where there is none and it is required', () => {
    const required = (value: boolean): Rules =>
      someRules({ sandboxRequired: { value, from: managed('sandbox.required: true', 3) } });
    const deny = ['sandbox.required: true', 'deny'];
    expect(rulesNamed(required(true), { sandbox: 'none' })).toContainEqual(deny);
    expect(rulesNamed(required(true))).not.toContainEqual(deny);
    expect(rulesNamed(required(false), { sandbox: 'none' })).not.toContainEqual(deny);
  });

  it('have none of a list that names no model', () => {
    const rules = someRules({ allowedModels: [[]] });
    expect(explainModel(wish('haiku-4.5', rules)).rules.map(({ reason }) => reason.rule)).toEqual([
      'enforcement.allowedModels: []',
      'the test',
    ]);
  });
});

describe('explanations never differ from decisions', () => {
  const models = fc.constantFrom(HAIKU, SONNET, OPUS);
  const reason = fc
    .record({ line: fc.integer({ min: 1, max: 40 }), layer: fc.constantFrom('managed', 'user') })
    .map(
      ({ line, layer }): Reason => (layer === 'user' ? written('some.rule: x', line) : managed('some.rule: x', line)),
    );
  const entries = (most: number): fc.Arbitrary<Rules['deniedModels']> =>
    fc.array(
      fc.tuple(models, reason).map(([id, from]) => entry(id, from)),
      { maxLength: most },
    );
  const commandRules = fc.array(
    fc
      .tuple(fc.constantFrom('npm **', 'npm test', 'curl **', 'rm *', '* test'), reason)
      .map(([text, from]) => ({ words: text.split(' '), from })),
    { maxLength: 3 },
  );
  const rules = fc
    .record({
      deniedModels: entries(2),
      allowedModels: fc.array(
        entries(3).filter((list) => list.length > 0),
        { maxLength: 2 },
      ),
      fallback: fc.tuple(fc.constantFrom('list' as const, 'deny' as const), reason),
      maxMode: fc.tuple(fc.constantFrom(...MODES), reason),
      required: fc.option(fc.tuple(fc.boolean(), reason)),
      allowedSubAgents: fc.array(fc.tuple(fc.subarray(['finder', 'oracle', 'explore']), reason), { maxLength: 2 }),
      disabledRoles: fc.array(fc.tuple(fc.constantFrom('finder', 'oracle'), reason), { maxLength: 2 }),
      commands: fc.record({ allow: commandRules, ask: commandRules, deny: commandRules }),
    })
    .map(
      ({ fallback, maxMode, required, allowedSubAgents, disabledRoles, ...rest }): Rules =>
        someRules({
          ...rest,
          modelFallback: { value: fallback[0], from: fallback[1] },
          maxMode: { value: maxMode[0], from: maxMode[1] },
          ...(required === null ? {} : { sandboxRequired: { value: required[0], from: required[1] } }),
          allowedSubAgents: allowedSubAgents.map(([value, from]) => ({ value, from })),
          disabledRoles: disabledRoles.map(([role, from]) => ({ role, from })),
        }),
    );
  const context: fc.Arbitrary<Circumstances> = fc.record({
    mode: fc.constantFrom(...MODES),
    interactive: fc.boolean(),
    sandbox: fc.constantFrom('none', 'read-only', 'read-write'),
    capabilities: fc.subarray([...CAPABILITIES]),
  });
  const action: fc.Arbitrary<Action> = fc.oneof(
    fc.record({ is: fc.constant('spawn' as const), depth: fc.nat(4), agents: fc.nat(120) }),
    fc.constant<Action>({ is: 'turn' }),
    fc.constantFrom('npm test', 'curl x | sh', 'rm -rf /', "$'x'", 'echo "$(curl y)"', '').map(shell),
    fc.constantFrom(null, ...CAPABILITIES).map((capability): Action => ({ is: 'tool', tool: 'some_tool', capability })),
  );

  it('for tools and commands: decide', () => {
    fc.assert(
      fc.property(action, rules, context, (one, given, where) => {
        const { decision, because, rules: parts, change } = explainAction('it', one, given, where);
        const decided = decide(one, given, where);
        expect({ decision, because }).toEqual({ decision: decided.verdict, because: decided.because });
        expect(parts.filter(({ decides }) => decides)).toEqual([parts[0]]);
        expect(change.length > 0).toBe(decision !== 'allow');
      }),
      { numRuns: 300 },
    );
  });

  it('for models: chooseModel', () => {
    fc.assert(
      fc.property(fc.constantFrom('haiku-4.5', 'opus-4.5', 'o3', 'nonsense', OPUS), rules, (asked, given) => {
        const { decision, because, used, change } = explainModel(wish(asked, given));
        const chosen = chooseModel(wish(asked, given));
        expect(used).toBe(chosen.ok ? chosen.value.choice.used : null);
        expect(decision).toBe(chosen.ok ? (chosen.value.reason === null ? 'allow' : 'substitute') : 'deny');
        if (chosen.ok && chosen.value.reason !== null) expect(because).toEqual(chosen.value.reason);
        expect(change.length > 0).toBe(decision !== 'allow');
      }),
      { numRuns: 300 },
    );
  });

  it('for roles: roleProblem', () => {
    fc.assert(
      fc.property(fc.constantFrom('finder', 'oracle', 'Explore', 'main', 'constructor'), rules, (name, given) => {
        const problem = roleProblem(name, given, ROLES);
        const { decision, because } = explainRole(name, given, ROLES);
        expect(decision).toBe(problem === null ? 'allow' : 'deny');
        if (problem !== null) expect(because).toEqual(problem.reason);
      }),
      { numRuns: 300 },
    );
  });
});
