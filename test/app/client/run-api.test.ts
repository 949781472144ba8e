/** What the process that carries a run tells of it, to a person and to agents. */
import { describe, expect, it } from 'vitest';
import { RoleName, ROOT } from '../../../src/domain/ids.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { CHILD_DEFAULTS } from '../../../src/policy/rules.ts';
import type { RunApi } from '../../../src/ports/control.ts';
import { runApi } from '../../../src/app/client/run-api.ts';
import {
  agentAt,
  ARCHITECT,
  at,
  ENGINEER,
  FAMILY,
  HELP,
  made,
  NOW,
  RUN,
  SECURITY,
  told,
} from '../../support/family-story.ts';
import type { Timed } from '../../support/session-stage.ts';

/** The answers, and from where the log was read for them. */
function givenOf(story: readonly Timed[]): {
  readonly given: Pick<RunApi, 'family' | 'detail' | 'events'>;
  readonly reads: (number | undefined)[];
} {
  const reads: (number | undefined)[] = [];
  const view = {
    session: RUN,
    state: () => foldAll(told(story)),
    each: (after?: number) => {
      reads.push(after);
      return told(story).slice(after ?? 0);
    },
  };
  return { given: runApi(view, { children: CHILD_DEFAULTS, now: () => NOW, letters: () => 2 }), reads };
}

describe('what is given of a run', () => {
  it('S149, S150: the person sees the whole family, an agent the standing of others without their words', () => {
    const { given } = givenOf(FAMILY);
    const { sessions, ...run } = given.family(null);
    expect(run).toEqual({
      run: 'k7f3a2',
      state: 'running',
      task: 'Make the cache faster',
      mode: 'confirm',
      started_at: '2026-11-22T09:00:00.000Z',
      cost: 0.037,
      tokens: 4500,
      questions: 0,
      kept_messages: 2,
      reviews_due: [],
      you: null,
    });
    const seen = given.family(ENGINEER);
    expect([seen.you, seen.task, seen.sessions.length]).toEqual([ENGINEER, '', sessions.length]);
    const withWords = seen.sessions.filter(({ spawn_prompt }) => spawn_prompt !== '').map(({ agent }) => agent);
    expect(withWords).toEqual([ENGINEER, HELP, agentAt('ROOT::S1::S2')]);
    expect(seen.sessions.map(({ agent, status, cost }) => [agent, status, cost])).toEqual(
      sessions.map(({ agent, status, cost }) => [agent, status, cost]),
    );
    const words = JSON.stringify(given.family(ROOT).sessions.find(({ agent }) => agent === SECURITY));
    expect([words.includes('Judge it'), words.includes('"pass"')]).toEqual([false, false]);
  });

  it('S150, O138: tells who has still to judge what was done in a run without a plan', () => {
    const gate = {
      agent: ROOT,
      role: RoleName.parse('security'),
      trigger: 'always',
      tree: '',
      onFailure: 'block',
    } as const;
    const due = { since: NOW, keeps: { maxTokens: 40_000 } };
    const story = [...FAMILY, at(900, { type: 'forced.gate', ...gate, open: false, why: 'later', due })];
    const judged = [...story, at(960, { type: 'forced.gate', ...gate, open: true, why: 'passed', upTo: 40 })];
    const dueIn = (all: readonly Timed[]): unknown => givenOf(all).given.family(null).reviews_due;
    expect([dueIn(story), dueIn(judged)]).toEqual([['security'], []]);
  });

  it('S149: details and events are refused in words to who is not above', () => {
    const { given } = givenOf(FAMILY);
    const fault =
      'only its ancestors can see what ROOT::S2 does\n  `mimir others` shows its state, `mimir send ROOT::S2 "…"` asks it';
    expect(given.detail(ENGINEER, ARCHITECT)).toEqual({ ok: false, fault });
    expect(given.events(ENGINEER, ARCHITECT, 0)).toEqual({ ok: false, fault });
    expect(given.detail(ROOT, SECURITY)).toMatchObject({ ok: false });
    expect(given.detail(null, SECURITY)).toMatchObject({ ok: true });
    const nobody = { ok: false, fault: 'there is no session ROOT::S9 in this run' };
    expect([given.detail(null, agentAt('ROOT::S9')), given.events(null, agentAt('ROOT::S9'), 0)]).toEqual([
      nobody,
      nobody,
    ]);
    const seen = given.events(HELP, HELP, 18);
    expect(seen.ok && [...seen.value]).toMatchObject([{ seq: 19 }, { seq: 20 }]);
  });

  it('reads the log on from where it was left, and not again for each question', () => {
    const story = [...FAMILY];
    const { given, reads } = givenOf(story);
    given.family(null);
    given.family(ENGINEER);
    expect(reads).toEqual([0]);
    story.push(at(595, made(agentAt('ROOT::S5'), 'code', 'more')));
    expect(given.family(null).sessions.at(-1)).toMatchObject({ created_at: '2026-11-22T09:09:55.000Z' });
    given.events(null, null, FAMILY.length);
    expect(reads).toEqual([0, FAMILY.length, FAMILY.length]);
  });
});
