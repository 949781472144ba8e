import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { AgentId, SessionId } from '../../../src/domain/ids.ts';
import type { Mode } from '../../../src/domain/reason.ts';
import { type Answer, openApprovals } from '../../../src/engine/gate/approvals.ts';
import type { ApprovalRequest } from '../../../src/events/event.ts';
import { memoryLog } from '../../support/log.ts';
import { fakeWorld } from '../../support/world.ts';
import { openRecorder } from '../../../src/engine/gate/recorder.ts';

/** What may happen to the inbox, in any order. Numbers choose among what is there. */
type Step =
  | { readonly do: 'ask'; readonly agent: number; readonly what: number }
  | { readonly do: 'answer'; readonly which: number; readonly allow: boolean; readonly scope: 'once' | 'session' }
  | { readonly do: 'abort'; readonly which: number }
  | { readonly do: 'mode'; readonly mode: Mode }
  | { readonly do: 'wait'; readonly ms: number };

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), agent: fc.nat(19), what: fc.nat(4) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('answer' as const),
        which: fc.nat(200),
        allow: fc.boolean(),
        scope: fc.constantFrom('once' as const, 'session' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), which: fc.nat(200) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('mode' as const),
        mode: fc.constantFrom<Mode>('human', 'confirm', 'yolo'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(400) }) },
  ),
  { maxLength: 150 },
);

/** Five acts: two are granted by their kind, one by its words, one is of changing content, one is always asked singly. */
const request = (what: number): ApprovalRequest => ({
  action: 'shell',
  title: `act ${what}`,
  exact: `act ${what}`,
  options: [],
  unsandboxed: what === 4,
  because: '',
  ...(what === 4 ? {} : { same: `act ${what}` }),
});

interface Asked {
  readonly what: number;
  readonly abort: AbortController;
  answer: Answer | null;
}

const SESSION = SessionId.parse('test-session');
const LIMIT = 1000;

async function played(
  all: readonly Step[],
): Promise<{ readonly asked: readonly Asked[]; readonly log: ReturnType<typeof memoryLog> }> {
  const log = memoryLog();
  const world = fakeWorld();
  const recorder = openRecorder(log, SESSION, world);
  const approvals = openApprovals(recorder, world, () => LIMIT);
  const asked: Asked[] = [];
  const ids = (): readonly string[] =>
    log.read(SESSION).flatMap((event) => (event.type === 'approval.requested' ? [event.approval] : []));
  const ask = (agent: number, what: number): void => {
    const one: Asked = { what, abort: new AbortController(), answer: null };
    asked.push(one);
    const inputs = what === 3 ? [{ path: 'x', digest: String(asked.length % 2) }] : [];
    const asking = {
      inputs,
      runs: (modeOf: (id: AgentId) => Mode) => what < 2 && modeOf(AgentId.parse('ROOT')) === 'yolo',
    };
    const order = { agent: AgentId.parse(`ROOT::S${agent + 1}`) };
    void approvals.ask(order, null, request(what), one.abort.signal, asking).then((answer) => {
      expect(one.answer).toBeNull();
      one.answer = answer;
    });
  };
  const act = (step: Step): Promise<void> | void => {
    if (step.do === 'ask') return ask(step.agent, step.what);
    if (step.do === 'wait') return world.advance(step.ms);
    if (step.do === 'mode') return void approvals.release(() => step.mode, `mode ${step.mode}`);
    if (asked.length === 0) return undefined;
    if (step.do === 'abort') return asked[step.which % asked.length]?.abort.abort();
    const { allow, scope } = step;
    return void approvals.answer(ids()[step.which % asked.length] ?? '', { allow, scope, text: '' });
  };
  for (const step of all) await act(step);
  await world.advance(LIMIT);
  return { asked, log };
}

it('every question gets exactly one answer, whatever is asked, answered, given up or released in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { asked, log } = await played(all);
      const events = log.read(SESSION);
      const of = (type: 'approval.requested' | 'approval.answered'): readonly string[] =>
        events.flatMap((event) => (event.type === type ? [event.approval] : []));
      expect(of('approval.answered').toSorted()).toEqual(of('approval.requested').toSorted());
      expect(new Set(of('approval.answered')).size).toBe(of('approval.answered').length);
      // Whoever asked has heard what the log says; those given up before they were asked are withdrawn without a word.
      const heard = asked.map(({ answer }) => answer?.is);
      expect(heard).not.toContain(undefined);
      const said = events.flatMap((event) => (event.type === 'approval.answered' ? [event.answer] : []));
      expect(heard.map(String).toSorted()).toEqual(said.toSorted());
      // A mode answers only what it would not have asked.
      for (const event of events)
        if (event.type === 'approval.answered' && event.by.startsWith('mode'))
          expect(event).toMatchObject({ answer: 'allowed', by: 'mode yolo' });
      expect(asked.some(({ what, answer }) => what > 1 && answer?.by.startsWith('mode') === true)).toBe(false);
    }),
    { numRuns: 150 },
  );
});
