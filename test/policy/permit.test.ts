import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ModelId } from '../../src/domain/ids.ts';
import { type Circumstances, decide } from '../../src/policy/decide.ts';
import { builtIn, Permit } from '../../src/policy/rules.ts';
import { at as anywhere, someRules } from './some-rules.ts';

const rules = someRules();
const at = (changes: Partial<Circumstances> = {}): Circumstances =>
  anywhere({ binds: { agent: 'ROOT::S1', action: 'digest' }, ...changes });
const read = { is: 'tool', tool: 'read_file', capability: 'read' } as const;
const FOR = { agent: 'ROOT::S1', action: 'digest', policyHash: rules.policyHash };

function permitOf(changes: Partial<Circumstances> = {}): Permit {
  const decision = decide(read, rules, at(changes));
  if (decision.verdict !== 'allow' || decision.permit === undefined) throw new Error('no permit');
  return decision.permit;
}

describe('a permit', () => {
  it('comes with what is allowed for one action of one agent, and with nothing else', () => {
    expect(permitOf()).toBeInstanceOf(Permit);
    const { binds: _, ...unbound } = at();
    expect(decide(read, rules, unbound)).not.toHaveProperty('permit');
    expect(decide({ ...read, capability: 'write' }, rules, at())).not.toHaveProperty('permit');
    expect(decide(read, rules, at({ capabilities: [] }))).not.toHaveProperty('permit');
  });

  it('for the read-only box of a command that only reads opens no other box', () => {
    const reading = { place: { root: '/project', folder: '/project' }, obstacle: null };
    const shell = { is: 'tool', tool: 'bash', capability: 'shell', command: 'ls' } as const;
    const permit = (): Permit => {
      const decision = decide(shell, rules, at({ reading }));
      if (decision.verdict !== 'allow' || decision.permit === undefined) throw new Error('no permit');
      return decision.permit;
    };
    expect(Permit.spend(permit(), FOR)).toEqual({ ok: false, fault: 'its permit is for another sandbox' });
    expect(Permit.spend(permit(), { ...FOR, sandbox: 'read-only' })).toEqual({ ok: true, value: undefined });
    expect(Permit.spend(permitOf(), { ...FOR, sandbox: 'read-only' })).toEqual({
      ok: false,
      fault: 'its permit is for another sandbox',
    });
  });

  it('is needed for each call of a model, and there is none against a rule', () => {
    const binds = { agent: 'ROOT::S1', action: 'digest' };
    const model = ModelId.parse('double/one');
    const from = builtIn('deniedModels: [one]');
    const denied = someRules({ deniedModels: [{ written: 'one', pattern: model, from }] });
    const call = { is: 'model', model, price: null } as const;
    const decision = decide(call, rules, at({ binds }));
    expect(decision.verdict === 'allow' && decision.permit !== undefined).toBe(true);
    expect(decide(call, denied, at({ binds }))).toEqual({ verdict: 'deny', because: from });
  });

  it('is good once', () => {
    const permit = permitOf();
    expect(Permit.spend(permit, FOR)).toEqual({ ok: true, value: undefined });
    expect(Permit.spend(permit, FOR)).toEqual({ ok: false, fault: 'its permit was already used' });
  });

  it.each([
    ['another agent', { agent: 'ROOT::S2' }, 'its permit is for another agent'],
    ['another action', { action: 'other' }, 'its permit is for another action'],
    ['other rules', { policyHash: 'other' }, 'the rules changed since it was allowed'],
  ])('is no good for %s, and gone after it was tried', (_, changes, fault) => {
    const permit = permitOf();
    expect(Permit.spend(permit, { ...FOR, ...changes })).toEqual({ ok: false, fault });
    expect(Permit.spend(permit, FOR).ok).toBe(false);
  });

  it('can not be made up from its looks', () => {
    const looks: unknown = Object.create(Permit.prototype);
    expect(Reflect.apply(Permit.spend, null, [looks, FOR])).toEqual({ ok: false, fault: 'this is not a permit' });
  });

  it('is minted by decide alone, and every use of a tool and every call of a model spends one', () => {
    const using = (what: string): readonly string[] =>
      globSync('src/**/*.ts').filter(
        (file) => file !== 'src/policy/permit.ts' && readFileSync(file, 'utf8').includes(what),
      );
    expect(using('Permit.mint')).toEqual(['src/policy/decide.ts']);
    expect(using('Permit.spend').toSorted()).toEqual([
      'src/engine/gate/model/call.ts',
      'src/engine/gate/tools/check.ts',
      'src/engine/gate/tools/use.ts',
    ]);
    // Nobody else lets a tool act: agents' uses and the checks of tasks each have one caller, behind the permit.
    // Two wrap others, to see what they change and how large a tree gets, and so does a run on a cluster, to have them carried out elsewhere; both are run in the same
    // way. A worker carries out what the gate of a run has let pass and signed, if its own rules do not deny it.
    const wrappers = [
      'src/tools/trees/command-changes.ts',
      'src/tools/trees/size-limit.ts',
      'src/app/cluster/run-side.ts',
      'src/app/cluster/worker-side.ts',
    ];
    expect(using('tool.run(').filter((file) => !wrappers.includes(file))).toEqual([
      'src/engine/gate/tools/check.ts',
      'src/engine/gate/tools/use.ts',
    ]);
    // Models are asked, and counted for, in one file; rooms below the gate only hand on.
    const asking = (file: string): boolean => file.startsWith('src/engine/') || /^src\/(?:app|cli|ui)\//.test(file);
    expect(using('models.call').filter((file) => asking(file) && !wrappers.includes(file))).toEqual([
      'src/engine/gate/model/call.ts',
    ]);
    expect(using('models.count').filter(asking)).toEqual(['src/engine/gate/model/call.ts']);
    for (const [file, spends, act] of [
      ['src/engine/gate/tools/use.ts', 'Permit.spend(', 'tool.run('],
      ['src/engine/gate/tools/check.ts', 'Permit.spend(', 'tool.run('],
      ['src/engine/gate/model/call.ts', 'Permit.spend(', 'models.call('],
      // A child, or a finding, that a command of the text protocol asked for: let in, which spends a permit, and only then done.
    ] as const) {
      const text = readFileSync(file, 'utf8');
      expect(text).toContain('Permit.spend(');
      expect(text.lastIndexOf(spends, text.indexOf(act))).toBeGreaterThan(-1);
    }
    // Before anything is sent to be counted, too.
    const text = readFileSync('src/engine/gate/model/call.ts', 'utf8');
    expect(text.indexOf('permitFor(parts')).toBeLessThan(text.indexOf('boundFor('));
  });
});
