import { describe, expect, it } from 'vitest';
import { ModelId } from '../../src/domain/ids.ts';
import { scriptedModel, type ScriptedReply } from '../support/scripted.ts';
import { ended, fault, hops, meets, one, timesOf, waiting } from '../support/faulty.ts';
import { eventsOf, throughTime } from '../support/run-looks.ts';
import { AGENT, calling, FAST, MODELS, planOf, ROLES, RULES, type Script, SLOW } from '../support/run.ts';

const S1 = AGENT('ROOT::S1');

describe('a model that is waited for', () => {
  it('is asked with an urgent message that came meanwhile, at once', async () => {
    const asked: string[] = [];
    const { run, world } = waiting({
      record: ({ agent, turns }) => void (agent === S1 && asked.push(JSON.stringify(turns))),
      script: meets(fault('rate limited', { retryAfterMs: 60_000 })),
    });
    await run.until(({ agents }) => agents.get(S1)?.status === 'waiting');
    await run.tell({ do: 'message', to: S1, text: 'look at b first', delivery: 'urgent' });
    await throughTime(run, world);
    expect(asked.map((turns) => turns.includes('look at b first'))).toEqual([false, true]);
  });
});

describe('a model that a person chooses while another is waited for', () => {
  it('is asked at once', async () => {
    const { run, world } = waiting({
      roles: ROLES,
      script: ({ agent, model }) => (agent === S1 && model === FAST ? fault('cut') : undefined),
    });
    await run.until(({ agents }) => agents.get(S1)?.status === 'waiting');
    await run.tell({ do: 'set model', agent: S1, model: 'slow' });
    await throughTime(run, world);
    const asked = run.events().flatMap((e) => (e.type === 'model.started' && e.agent === S1 ? [e.model] : []));
    expect([asked, timesOf(run, 'session.finished')]).toEqual([[FAST, SLOW], [0]]);
  });
});

describe('another model', () => {
  const other = scriptedModel('elsewhere/third', { aliases: ['third'] });
  const three = {
    roles: ROLES.map((role) => ({ ...role, models: ['fast', 'slow', 'third'] })),
    catalogue: [...MODELS, other],
  };
  const only =
    (answer: (model: string) => ScriptedReply | undefined): Script =>
    ({ agent, model }) =>
      agent === S1 ? answer(model) : undefined;

  it.each([
    ['rate limited', 600_000, 27],
    ['overloaded', 60_000, 9],
    ['cut', 3826, 5],
    ['malformed', 255, 2],
    ['silent', 0, 1],
  ] as const)('is asked after "%s" for %i ms, with an event (D4, J05)', async (is, after, tries) => {
    const run = await ended({ roles: ROLES, script: only((model) => (model === FAST ? fault(is) : undefined)) });
    const times = tries === 1 ? '' : ` (${tries} attempts)`;
    expect(hops(run)).toEqual([[FAST, SLOW, `${is}: it is ${is}${times}`]]);
    expect(timesOf(run, 'model.fallback')[0]).toBe(after);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('is waited for as long as an only one where it is the last: it is no fallback of itself', async () => {
    const failing = only((model) => fault(model === FAST ? 'silent' : 'overloaded'));
    const alone = await ended({ roles: ROLES.map((role) => ({ ...role, models: ['slow'] })), script: failing });
    const last = await ended({ roles: ROLES, script: failing });
    expect(hops(last)).toHaveLength(1);
    expect([alone, last].map((run) => timesOf(run, 'model.failed').at(-1))).toEqual([600_000, 600_000]);
  });

  it('is asked after a second silence where an answer had begun (J05)', async () => {
    const silent = fault('silent', { begun: true });
    const run = await ended({ roles: ROLES, script: only((model) => (model === FAST ? silent : undefined)) });
    expect(hops(run)).toEqual([[FAST, SLOW, 'silent: it is silent (2 attempts)']]);
  });

  it('is asked at once by whoever comes later, the report too, when the provider has been down for a minute', async () => {
    const run = await ended({
      ...three,
      plan: planOf(['a'], ['b', 'a']),
      script: ({ purpose, model }) => (purpose.is === 'work' && model !== other.id ? fault('unreachable') : undefined),
    });
    expect(timesOf(run, 'model.fallback')).toEqual([60_000, 60_000, 60_000]);
    expect((await run.result).success).toBe(true);
  });

  it.each(['unauthorised', 'no credit', 'unreachable'] as const)(
    'of another provider only is asked after "%s" (J07)',
    async (is) => {
      const run = await ended({ ...three, script: only((model) => (model === other.id ? undefined : fault(is))) });
      expect(hops(run)).toMatchObject([[FAST, other.id, expect.stringContaining(is)]]);
      expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    },
  );

  it('is asked once for each cause in one turn, and never after "refused" or by force', async () => {
    const same = await ended({ ...three, script: only(() => fault('overloaded')) });
    expect(hops(same).length).toBe(1);
    const each = await ended({
      ...three,
      script: only((model) => (model === other.id ? undefined : fault(model === FAST ? 'overloaded' : 'cut'))),
    });
    expect(hops(each).length).toBe(2);
    const refused = await ended({ ...three, script: only(() => fault('refused')) });
    expect(hops(refused)).toEqual([]);
    expect(refused.state().agents.get(S1)?.error).toBe('fast: it is refused');
  });

  it('that no rule allows is named with the rule, and the agent fails (J08)', async () => {
    const from = { rule: 'deniedModels: [slow]', layer: 'managed', file: '/etc/mimir.yml', line: 3 } as const;
    const rules = { ...RULES, deniedModels: [{ written: 'slow', pattern: SLOW, from }] };
    const run = await ended({ roles: ROLES, rules, script: only(() => fault('overloaded')) });
    expect(run.state().agents.get(S1)).toMatchObject({
      outcome: 'failed',
      error:
        'fast: it is overloaded (27 attempts); no other model is allowed: deniedModels: [slow] (managed, /etc/mimir.yml:3)',
    });
    expect(eventsOf(run, 'policy.decided')[0]).toMatchObject({ subject: SLOW, decision: 'deny', ...from });
  });

  it('is not asked where substitution is disabled: the rule is named (D4)', async () => {
    const from = { rule: 'modelFallback: deny', layer: 'user', file: '/home/u/config.yml', line: 4 } as const;
    const rules = { ...RULES, modelFallback: { value: 'deny', from } } as const;
    const run = await ended({ roles: ROLES, rules, script: only(() => fault('overloaded')) });
    expect(hops(run)).toEqual([]);
    expect(run.state().agents.get(S1)?.error).toBe(
      'fast: it is overloaded (27 attempts); no other model is allowed: modelFallback: deny (user, /home/u/config.yml:4)',
    );
  });

  it('is not asked at a provider that refused the key, by nobody any more (J07)', async () => {
    const asked: string[] = [];
    const run = await ended({
      ...three,
      plan: planOf(['a'], ['b', 'a'], ['c', 'b']),
      record: ({ model, purpose }) => void (purpose.is === 'work' && asked.push(model)),
      script: ({ purpose, model }) => (purpose.is === 'work' && model !== other.id ? fault('unauthorised') : undefined),
    });
    expect(asked).toEqual([FAST, other.id, other.id, other.id]);
    expect((await run.result).success).toBe(true);
  });
});

describe('a run that nobody answers', () => {
  it('ends in bounded time, can be resumed, and loses nothing (J09)', async () => {
    const down = await ended({
      plan: planOf(['a'], ['b'], ['c', 'a']),
      script: ({ agent, purpose }, n) =>
        purpose.is !== 'work' ? undefined : agent === S1 && n === 0 ? calling('read x') : fault('unreachable'),
    });
    expect(await down.result).toMatchObject({ success: false, status: 'stopped', errorIs: 'model' });
    expect((await down.result).error).toBe('no model could be reached: fast: it is unreachable (26 attempts)');
    expect(down.state().lastAt - down.state().startedAt).toBeLessThanOrEqual(601_000);
    const acts: string[] = [];
    const again = await ended({ log: down.log, acts });
    expect((await again.result).success).toBe(true);
    // What had been done was not done again.
    expect(acts).toEqual([]);
    expect([...again.state().agents.values()].slice(1).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 3 }, () => 'completed'),
    );
  });

  it('while it is planned says so and can be resumed', async () => {
    const run = await ended({ script: ({ purpose }) => (purpose.is === 'plan' ? fault('unauthorised') : undefined) });
    expect(await run.result).toMatchObject({ status: 'stopped', errorIs: 'model' });
    const again = await ended({ log: run.log });
    expect((await again.result).success).toBe(true);
  });

  it('but for its report hands over what was found', async () => {
    const run = await ended({
      plan: planOf(['a'], ['b']),
      script: ({ purpose }) => (purpose.is === 'merge' ? fault('overloaded') : undefined),
    });
    expect((await run.result).success).toBe(true);
  });

  it('in part goes on without those agents, and lets them in when it is resumed', async () => {
    const elsewhere = scriptedModel('elsewhere/slow', { aliases: ['slow'] });
    const roles = ROLES.map((role) => ({ ...role, models: role.name === 'oracle' ? ['slow'] : ['fast'] }));
    const plan = {
      reason: '',
      tasks: [
        { id: 'a', description: 'do a', role: 'finder', model: 'fast' },
        { id: 'o', description: 'do o', role: 'oracle', model: 'slow' },
      ],
    };
    const setting = { plan, roles, catalogue: [...MODELS.slice(0, 1), elsewhere] };
    const run = await ended({
      ...setting,
      script: ({ model }) => (model === elsewhere.id ? fault('overloaded') : undefined),
    });
    expect([...run.state().agents.values()].slice(1).map(({ outcome }) => outcome)).toEqual(['completed', 'failed']);
    expect((await run.result).status).toBe('failed');
    const again = await ended({ ...setting, log: run.log });
    expect((await again.result).success).toBe(true);
  });
});

describe('an answer of another model', () => {
  const wrong = ModelId.parse('scripted/opus');

  it('is paid for, not used, and pauses the run (A08)', async () => {
    const acts: string[] = [];
    const usage = { input: 40, output: 9 };
    const run = await ended({
      acts,
      script: ({ agent }, n) => (agent === S1 && n === 0 ? { ...calling('read x'), usage, model: wrong } : undefined),
    });
    expect(acts).toEqual([]);
    expect(one(run, 'model.failed')).toMatchObject({ cause: 'mismatch', usage: { input: 40, output: 9 } });
    expect(await run.result).toMatchObject({
      status: 'stopped',
      errorIs: 'denied',
      error: 'model_mismatch: fast: asked scripted/fast, but scripted/opus answered; the answer was discarded',
    });
    expect(run.state().agents.get(S1)).toMatchObject({
      status: 'interrupted',
      reason: 'model_mismatch: fast: asked scripted/fast, but scripted/opus answered; the answer was discarded',
    });
    const again = await ended({ log: run.log, acts });
    expect((await again.result).success).toBe(true);
    expect(acts).toEqual([]);
  });

  it('says how to allow that name, where the provider may answer by others', async () => {
    const run = await ended({
      scripted: { terms: { retryFor: 0, answersAs: [], own: false } },
      script: ({ agent }, n) => (agent === S1 && n === 0 ? { text: 'Done.', model: wrong } : undefined),
    });
    expect(await run.result).toMatchObject({
      status: 'stopped',
      error:
        'model_mismatch: fast: asked scripted/fast, but scripted/opus answered (if that is right, allow it by answersAs of the provider); the answer was discarded',
    });
  });

  it('is used, and charged, where the person allows that name (answersAs)', async () => {
    const terms = { retryFor: 0, answersAs: ['opus'], own: false };
    const run = await ended({
      scripted: { terms },
      script: ({ agent }, n) => (agent === S1 && n === 0 ? { text: 'Done.', model: wrong } : undefined),
    });
    expect(one(run, 'model.finished')).toMatchObject({ model: FAST });
    expect(eventsOf(run, 'model.finished')[0]).toMatchObject({ model: wrong });
    expect((await run.result).success).toBe(true);
  });

  it('that a rule forbids opens no model, though the person allows that name', async () => {
    const from = { rule: 'deniedModels: [opus]', layer: 'managed', file: '/etc/mimir.yml', line: 3 } as const;
    const run = await ended({
      rules: { ...RULES, deniedModels: [{ written: 'opus', pattern: wrong, from }] },
      scripted: { terms: { retryFor: 0, answersAs: ['opus'], own: true } },
      script: ({ agent }, n) => (agent === S1 && n === 0 ? { ...calling('read x'), model: wrong } : undefined),
    });
    expect(await run.result).toMatchObject({
      status: 'stopped',
      error:
        'model_mismatch: fast: asked scripted/fast, but scripted/opus answered, which is not allowed: deniedModels: [opus] (managed, /etc/mimir.yml:3); the answer was discarded',
    });
  });

  it('may be told by the provider as well', async () => {
    const run = await ended({ script: meets(fault('mismatch')) });
    expect(await run.result).toMatchObject({ status: 'stopped', errorIs: 'denied' });
  });
});
