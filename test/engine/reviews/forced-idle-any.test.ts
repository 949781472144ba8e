import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AgentId, SessionId } from '../../../src/domain/ids.ts';
import type { MimirEvent } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { RunState } from '../../../src/events/state.ts';
import type { ScriptedReply } from '../../support/scripted.ts';
import { forcedRun, forcing, type MemoryProject, memoryProject, verdict, writing } from '../../support/forced.ts';
import { waits, wish } from '../../support/idle.ts';
import { cutLog, lengthsOf, type MemoryLog, memoryLog } from '../../support/log.ts';
import type { Command } from '../../../src/ports/controls.ts';
import { AGENT, type Script, type TestRun } from '../../support/run.ts';
import { type FakeWorld, fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const ROOT = AGENT('ROOT');
const WORK: ReadonlySet<string> = new Set(['model.started', 'model.finished', 'tool.started', 'tool.finished']);

const deed = fc.record({
  what: fc.constantFrom('say', 'spawn', 'write to', 'complete', 'kill', 'kill review', 'interrupt', 'time', 'resume'),
  whom: fc.nat({ max: 5 }),
  after: fc.nat({ max: 6 }),
});
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

const part = fc.record({
  deeds: fc.array(deed, { minLength: 1, maxLength: 6 }),
  ends: fc.constantFrom<'stop' | 'hand over' | 'at once' | 'cut'>('stop', 'hand over', 'at once', 'cut'),
  /** Of a cut: how much of its log is left. */
  at: fc.double({ min: 0, max: 1, noNaN: true }),
});
const ENDINGS = fc.array(
  fc.constantFrom<'pass' | 'fail' | 'words' | 'crash'>('pass', 'pass', 'fail', 'words', 'crash'),
  {
    minLength: 1,
    maxLength: 6,
  },
);
const REPLY: Readonly<Record<'pass' | 'fail' | 'words' | 'crash', ScriptedReply>> = {
  pass: verdict(true),
  fail: verdict(false, 'a: bad'),
  words: { text: 'PASS' },
  crash: { fault: { is: 'refused', message: 'no' } },
};

const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
};

/** Workers write, read, or only speak; reviewers end as `endings` say, over and over. */
const story = (endings: readonly (keyof typeof REPLY)[], seed: number): Script => {
  let [reviews, written] = [0, 0];
  return async ({ agent, purpose, turns: said }, n) => {
    await turns((seed + n + agent.length) % 3);
    if (purpose.is !== 'work') return undefined;
    if (said.at(-1)?.by === 'tools') return { text: `${agent} has ended` };
    if (purpose.role === 'security') {
      reviews += 1;
      return REPLY[endings[reviews % endings.length] ?? 'pass'];
    }
    return (seed + n) % 3 === 0 ? { text: `${agent} only speaks` } : writing('a.txt', `${(written += 1)}`);
  };
};

/** Work of which nothing is said by the log: neither judged, nor marked as still to be. */
function unmarked(events: readonly MimirEvent[]): readonly string[] {
  const { agents, gates } = foldAll(events);
  const gate = gates.find(({ trigger }) => trigger === 'always');
  if (gate?.due !== undefined) return [];
  return events.flatMap((event) =>
    WORK.has(event.type) && 'agent' in event && event.agent !== null && agents.get(event.agent)?.forced === null
      ? event.seq > (gate?.upTo ?? 0)
        ? [`${event.seq} ${event.type} ${event.agent}`]
        : []
      : [],
  );
}

/** ROOT worked in a run that goes on, though what was due when it was stopped was not judged. */
function tooEarly(events: readonly MimirEvent[], from: number): readonly string[] {
  const due = foldAll(events.slice(0, from)).gates.some((gate) => gate.due !== undefined);
  const end = events[from - 1];
  if (!due || (end?.type === 'session.finished' && end.summary === 'handed over')) return [];
  const since = events.slice(from);
  const judgedAt = since.findIndex((event) => event.type === 'forced.gate' && event.due === undefined);
  return since
    .slice(0, judgedAt === -1 ? since.length : judgedAt)
    .flatMap((event) => (event.type === 'model.started' && event.agent === ROOT ? [`${event.seq}`] : []));
}

const people = (run: TestRun, forced: boolean): readonly AgentId[] =>
  [...run.view.state().agents.values()]
    .filter((one) => one.id !== ROOT && (one.forced !== null) === forced)
    .map(({ id }) => id);

async function act(run: TestRun, world: FakeWorld, { what, whom, after }: Deed): Promise<void> {
  await turns(after);
  const children = people(run, false);
  const child = children[whom % Math.max(1, children.length)] ?? ROOT;
  const command = commandOf(what, child, people(run, true).at(-1) ?? ROOT);
  if (command === null) await world.advance(whom * 500_000);
  else void run.controls.submit(command, what === 'complete' ? child : undefined);
}

/** Null: time goes by. */
function commandOf(what: Deed['what'], child: AgentId, review: AgentId): Command | null {
  switch (what) {
    case 'say':
      return { do: 'message', to: ROOT, text: 'more', delivery: 'important' };
    case 'write to':
      return { do: 'message', to: child, text: 'more', delivery: 'urgent' };
    case 'spawn':
      return { do: 'spawn', parent: ROOT, wish: wish('write', { role: 'oracle' }) };
    case 'complete':
      return { do: 'complete', agent: child, status: 'completed', message: 'done' };
    case 'kill':
    case 'interrupt':
    case 'resume':
      return { do: what, agent: child };
    case 'kill review':
      return { do: 'kill', agent: review };
    default:
      return null;
  }
}

/** When nothing is left to be done; who stays as is named if that does not come. */
async function atRest(run: TestRun): Promise<RunState> {
  for (let looks = 0; looks < 400; looks += 1) {
    const state = run.view.state();
    // Notices are kept for the person where nobody has spoken to main.
    const isRead = state.messages.every(({ to, delivered, notice }) => delivered || to !== ROOT || notice !== null);
    const isJudged = state.gates.every(({ due }) => due === undefined);
    if (waits(state) && isRead && isJudged && unmarked(run.events()).length === 0) return state;
    await turns(5);
  }
  const { agents, gates, messages, approvals } = run.view.state();
  const all = [...agents.values()].map(({ id, status, reason }) => `${id} ${status} ${reason}`);
  throw new Error(JSON.stringify([all, gates, messages.filter(({ delivered }) => !delivered), approvals], null, 1));
}

let worlds = 0;

interface Setting {
  readonly log: MemoryLog;
  readonly project: MemoryProject;
  readonly script: Script;
}

function begin({ log, project, script }: Setting): { readonly run: TestRun; readonly world: FakeWorld } {
  const world: FakeWorld = { ...fakeWorld(), name: () => `name-${(worlds += 1)}` };
  const run = forcedRun({ idle: true, forced: [forcing(['always'])], person: true, log, project, script, world });
  return { run, world };
}

it('O138: whatever is said, spawned, killed, stopped, moved or cut off, no work ends without a review or a mark of it', async () => {
  const one = fc.asyncProperty(
    fc.array(part, { minLength: 1, maxLength: 3 }),
    ENDINGS,
    fc.nat({ max: 50 }),
    async (parts, endings, seed) => {
      const project = memoryProject();
      const script = story(endings, seed);
      // What is recorded together is in the log together or not at all.
      const lengths: number[] = [];
      let log = lengthsOf(memoryLog(), lengths);
      for (const { deeds, ends, at } of parts) {
        const from = log.read(SESSION).length;
        const { run, world } = begin({ log, project, script });
        for (const each of deeds) await act(run, world, each);
        const before = run.events();
        if (ends === 'hand over') await run.controls.submit({ do: 'hand over', how: 'when quiet' });
        if (ends === 'at once') await run.controls.submit({ do: 'hand over', how: 'now' });
        run.stop('Ctrl-C');
        await run.result;
        expect(unmarked(run.events())).toEqual([]);
        expect(tooEarly(run.events(), from)).toEqual([]);
        const cuts = lengths.splice(0).filter((length) => length > from && length <= before.length);
        if (ends !== 'cut' || cuts.length === 0) continue;
        log = lengthsOf(cutLog(SESSION, before.slice(0, cuts[Math.floor(at * (cuts.length - 1))])), lengths);
      }
      const from = log.read(SESSION).length;
      const { run } = begin({ log, project, script });
      // At rest nothing is left: who is interrupted does nothing.
      const end = await atRest(run);
      expect(unmarked(run.events())).toEqual([]);
      expect(tooEarly(run.events(), from)).toEqual([]);
      expect(end.gates.every(({ trigger }) => trigger === 'always')).toBe(true);
      run.stop('done');
      await run.result;
    },
  );
  await fc.assert(one, { numRuns: 100 });
});
