/** Runs with children, as the screens show them: without a plan, with those that were spawned, and with calls of Task. */
import { AgentId, CallId, ModelId, ROOT } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { ended, made, spawned, started, status } from './family-story.ts';
import { Recording, says } from './recorded-run.ts';

const at = (id: string): AgentId => AgentId.parse(id);
const SONNET = { asked: 'sonnet-4.5', used: ModelId.parse('anthropic/claude-sonnet-4-5'), because: null };
const rests = (agent: AgentId, reason: string): EventBody => status(agent, 'waiting', reason);

/** ROOT waits for a word, and nothing works. */
export const idleLog = (): Recording =>
  new Recording()
    .at(0, started('Waiting for messages', { idle: true }))
    .at(0, made(ROOT, 'main', 'Waiting for messages', { model: SONNET }))
    .at(0, rests(ROOT, 'idle'));

const notice = (from: string, to: AgentId, is: 'completed' | 'error', content: string): EventBody => ({
  type: 'message.sent',
  agent: at(from),
  from,
  to,
  kind: is === 'completed' ? 'result' : 'error',
  delivery: 'important',
  content,
  notice: { of: at(from), is },
});

/**
 * A run without a plan in which three were spawned: `reviewer-diff` is done, `engineer-cache` waits for two of its own, of which one
 * has failed and one works; `finder` was killed. The parent of `tester` ended first, and ROOT adopted it.
 */
export function spawnedLog(): Recording {
  const log = idleLog()
    .at(5, made(at('ROOT::S1'), 'reviewer', 'Review the diff', { ...spawned('diff'), name: 'reviewer-diff' }))
    .at(6, status(at('ROOT::S1'), 'running'))
    .at(
      10,
      made(at('ROOT::S2'), 'engineer', 'Implement the cache with tests', {
        ...spawned('cache', 'person', { wait: 600 }),
        name: 'engineer-cache',
      }),
    )
    .at(11, status(at('ROOT::S2'), 'running'));
  says(log, 30, 'ROOT::S1', 'Nothing stands against the diff.', 4000, 0.012)
    .at(31, ended(at('ROOT::S1'), 'completed', 'Nothing stands against the diff.'))
    .at(31, notice('ROOT::S1', ROOT, 'completed', 'Child reviewer-diff completed: Nothing stands against the diff.'));
  says(log, 40, 'ROOT::S2', 'Two questions first.', 6000, 0.02)
    .at(
      41,
      made(at('ROOT::S2::S1'), 'explore', 'Find who evicts', {
        ...spawned('evictions', at('ROOT::S2'), { wait: 60 }),
        name: 'explore-evictions',
      }),
    )
    .at(42, status(at('ROOT::S2::S1'), 'running'))
    .at(
      43,
      made(at('ROOT::S2::S2'), 'tester', 'Run the tests', {
        ...spawned('tests', at('ROOT::S2'), { wait: 60 }),
        name: 'tester-tests',
      }),
    )
    .at(44, status(at('ROOT::S2::S2'), 'running'))
    .at(45, rests(at('ROOT::S2'), 'waits for its children'));
  says(log, 60, 'ROOT::S2::S2', 'There is no database.', 2000, 0.006)
    .at(61, ended(at('ROOT::S2::S2'), 'failed', '', 'no database'))
    .at(61, notice('ROOT::S2::S2', at('ROOT::S2'), 'error', 'Child tester-tests failed: no database'));
  says(log, 70, 'ROOT::S2::S1', 'Only `src/lru.ts` evicts.', 3000, 0.004);
  return log
    .at(80, made(at('ROOT::S3'), 'finder', 'Find every caller', { ...spawned('callers'), name: 'finder-callers' }))
    .at(81, status(at('ROOT::S3'), 'running'))
    .at(
      85,
      made(at('ROOT::S3::S1'), 'explore', 'Look into the tests', {
        ...spawned('left', at('ROOT::S3')),
        name: 'explore-left',
      }),
    )
    .at(86, status(at('ROOT::S3::S1'), 'running'))
    .at(90, { type: 'agent.adopted', agent: at('ROOT::S3::S1'), owner: ROOT })
    .at(90, ended(at('ROOT::S3'), 'killed', '', 'killed by you'))
    .at(90, notice('ROOT::S3', ROOT, 'error', 'Child finder-callers was killed by the person: I list.'));
}

/** The same, and the child of `engineer-cache` has spawned one of its own, which works. */
export const grandchildLog = (): Recording =>
  spawnedLog()
    .at(
      95,
      made(at('ROOT::S2::S1::S1'), 'finder', 'Find the callers', {
        ...spawned('callers', at('ROOT::S2::S1')),
        name: 'finder-callers',
      }),
    )
    .at(96, status(at('ROOT::S2::S1::S1'), 'running'));

const called = (agent: string, call: string, description: string): readonly EventBody[] => [
  {
    type: 'tool.started',
    agent: at(agent),
    call: CallId.parse(call),
    tool: 'Task',
    label: `Task(explore): ${description}`,
    input: {},
    repeat: 'safe',
  },
];
const answered = (agent: string, call: string, output: string): EventBody => ({
  type: 'tool.finished',
  agent: at(agent),
  call: CallId.parse(call),
  tool: 'Task',
  ok: true,
  output,
  ms: 5200,
});

/** An oracle called Task twice at once, and once more: two are back, the last one works. */
export function taskLog(): Recording {
  const log = new Recording()
    .at(0, started('Survey this code', { idle: true }))
    .at(0, made(ROOT, 'main', 'Survey this code', { model: SONNET }))
    .at(0, rests(ROOT, 'idle'))
    .at(
      5,
      made(at('ROOT::S1'), 'oracle', 'Lead the survey of the code', {
        ...spawned('survey'),
        name: 'oracle',
        model: SONNET,
      }),
    )
    .at(6, status(at('ROOT::S1'), 'running'));
  says(log, 20, 'ROOT::S1', 'A question to one who has not seen all this.', 1000, 0.003);
  child(log, 21, 'ROOT::S1::S1', 'c1', 'find auth files');
  back(log, 60, 'ROOT::S1::S1', 'c1', 'Auth lies in `src/auth`, and nowhere else.', 12_400);
  says(log, 70, 'ROOT::S1', 'Two more, at once.', 1060, 0.004);
  child(log, 71, 'ROOT::S1::S2', 'c2', 'find callers');
  child(log, 72, 'ROOT::S1::S3', 'c3', 'read the tests');
  back(log, 110, 'ROOT::S1::S2', 'c2', 'Four callers, all in `src/shop`.', 9100);
  return log;
}

function child(log: Recording, after: number, id: string, call: string, description: string): void {
  for (const body of called('ROOT::S1', call, description)) log.at(after, body);
  log
    .at(after, made(at(id), 'explore', `Look: ${description}`, { name: description, call: CallId.parse(call) }))
    .at(after, status(at('ROOT::S1'), 'waiting'))
    .at(after + 1, status(at(id), 'running'));
}

function back(log: Recording, after: number, id: string, call: string, answer: string, tokens: number): void {
  says(log, after, id, answer, tokens, 0.01)
    .at(after + 1, ended(at(id), 'completed', answer))
    .at(after + 1, answered('ROOT::S1', call, answer));
}
