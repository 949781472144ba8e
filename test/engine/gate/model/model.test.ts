/** Rules that change while a run goes on: each call of a model is judged anew, and what waits for a restart is told. */
import { describe, expect, it } from 'vitest';
import { decisionIn } from '../../../../src/cli/commands/audit.ts';
import type { MimirEvent } from '../../../../src/events/event.ts';
import { ROOT } from '../../../../src/domain/ids.ts';
import type { Rules } from '../../../../src/policy/rules.ts';
import { ended, fault } from '../../../support/faulty.ts';
import { AGENT, FAST, RULES, type TestRun } from '../../../support/run.ts';

const S1 = AGENT('ROOT::S1');
const from = { rule: 'deniedModels: [fast]', layer: 'managed', file: '/etc/mimir/policy.yml', line: 3 } as const;
const without: Rules = {
  ...RULES,
  policyHash: 'other',
  deniedModels: [{ written: 'fast', pattern: FAST, from }],
};

const ofType = <T extends MimirEvent['type']>(run: TestRun, type: T) =>
  run.events().filter((event): event is Extract<MimirEvent, { type: T }> => event.type === type);

describe('a call of a model', () => {
  it.each(['overloaded', 'silent'] as const)(
    'is not tried again after "%s" when a rule has come up against the model meanwhile (A15)',
    async (is) => {
      let now = RULES;
      const run = await ended({
        rules: RULES,
        policyWatcher: { now: () => ({ ok: true, value: now }) },
        script: ({ agent, purpose }) => {
          if (agent !== S1 || purpose.is !== 'work') return undefined;
          now = without;
          return fault(is);
        },
      });
      const started = ofType(run, 'model.started').filter(({ agent }) => agent === S1);
      expect(started.map(({ model }) => model)).toEqual([FAST]);
      expect(run.state().agents.get(S1)?.error).toContain(from.rule);
      expect(ofType(run, 'policy.decided').at(-1)).toMatchObject({ subject: FAST, ...from });
    },
  );

  it('is recorded with the hashes of both files where two states of them hold together, from the start on', async () => {
    const files = { policyHash: 'of both', policyHashes: ['of one', 'of the other'] };
    let now: Rules = { ...RULES, ...files };
    const run = await ended({
      rules: RULES,
      policyWatcher: { now: () => ({ ok: true, value: now }) },
      script: ({ agent, purpose }) => {
        if (agent !== S1 || purpose.is !== 'work') return undefined;
        now = { ...without, ...files };
        return fault('overloaded');
      },
    });
    const named = run.events().flatMap((event) => ('policyHash' in event ? [event] : []));
    expect(named.map(({ type, policyHash, policyHashes }) => ({ type, policyHash, policyHashes }))).toEqual([
      { type: 'session.started', ...files },
      { type: 'policy.decided', ...files },
    ]);
    expect(named.map((event) => decisionIn(event)?.['policyHashes'])).toEqual([
      'of one,of the other',
      'of one,of the other',
    ]);
  });

  it('tells the person once of rules that wait for the next start, whoever asks next (A15)', async () => {
    let now = RULES;
    const waiting: string[] = [];
    const run = await ended({
      rules: RULES,
      policyWatcher: { now: () => ({ ok: true, value: now }), notes: () => waiting.splice(0) },
      script: ({ agent, purpose }, n) => {
        if (agent !== S1 || purpose.is !== 'work' || n > 0) return undefined;
        waiting.push('what loosens waits');
        now = { ...RULES };
        return fault('overloaded');
      },
    });
    const told = ofType(run, 'policy.decided').map(({ agent, subject, rule, layer }) => ({
      agent,
      subject,
      rule,
      layer,
    }));
    expect(told).toEqual([{ agent: ROOT, subject: 'a looser policy', rule: 'what loosens waits', layer: 'managed' }]);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });
});

describe('the usage of a reply', () => {
  it('is marked where the provider counted nothing, since it is then an estimate', async () => {
    const run = await ended({
      script: ({ agent, purpose }) =>
        purpose.is === 'work' ? { text: 'done', ...(agent === S1 && { estimated: true }) } : undefined,
    });
    const marks = ofType(run, 'model.finished').map(({ agent, estimated }) => [agent === S1, estimated]);
    expect(marks.filter(([isOwn]) => isOwn)).toEqual([[true, true]]);
    expect(marks.filter(([isOwn]) => !isOwn).every(([, estimated]) => estimated === undefined)).toBe(true);
  });
});
