/** What a card says that its agent is at: never what is over, always what it waits for and for how long. */
import { describe, expect, it } from 'vitest';
import { type AgentOutcome, statusOfOutcome } from '../../../../../src/domain/agents/agent.ts';
import { AgentId, CallId, ModelId, TaskId } from '../../../../../src/domain/ids.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { doing } from '../../../../../src/ui/tui/components/progress.ts';
import { countsOf } from '../../../../../src/app/views/agent-counts.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { contextOf } from '../../../../support/look.ts';
import { approval, asks, midRun, type Recording, uses } from '../../../../support/recorded-run.ts';

const ORACLE = AgentId.parse('ROOT::S3');

/** What the foot of an agent's card has, 192 s after the start. */
function said(recording: Recording, id = 'ROOT::S3', more: Partial<Context> = {}): string {
  const context = contextOf(recording.events, more);
  const agent = context.state.agents.get(AgentId.parse(id));
  return agent === undefined ? `no ${id}` : plain(doing(agent, context));
}

const ends = (id: string, outcome: AgentOutcome, words: string): Recording =>
  midRun().at(190, {
    type: 'agent.finished',
    agent: AgentId.parse(id),
    status: statusOfOutcome(outcome),
    outcome,
    summary: outcome === 'completed' ? words : '',
    error: outcome === 'completed' || words === '' ? null : words,
    metrics: { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 1, toolCalls: 1 },
  });

/** A tool has just ended, and the model is asked again. */
const askedAgain = (): Recording =>
  uses(midRun(), 185, 'ROOT::S4', 'read', 'Read src/a.ts', 'one line').at(187, {
    type: 'model.started',
    agent: AgentId.parse('ROOT::S4'),
    call: CallId.parse('m9'),
    model: ModelId.parse('anthropic/x'),
    purpose: 'work',
    reserved: { tokens: 0, cost: 0 },
  });

describe('what an agent is at', () => {
  it('is the command that prepares its tree, while that runs', () => {
    const preparing = midRun().at(190, {
      type: 'check.started',
      agent: ORACLE,
      task: TaskId.parse('t3'),
      attempt: 0,
      check: { run: 'npm ci', expect: 0, timeout: 900_000 },
      tree: null,
    });
    expect(said(preparing)).toBe('prepares its tree: npm ci');
  });

  it('is the tool that runs, and no longer that tool once the model is asked again', () => {
    expect([said(midRun()), said(askedAgain(), 'ROOT::S4')]).toEqual([
      '⟩ Bash npm test -- refresh --repeat 50',
      '⟩ thinking',
    ]);
  });

  it('is what it does now, not the stop of the run, once the run is resumed', () => {
    const log = midRun();
    const changes = (status: 'interrupted' | 'initializing' | 'running', reason = ''): string =>
      said(log.at(185, { type: 'agent.status', agent: ORACLE, status, reason, endedBy: { is: 'run' } }));
    expect(changes('interrupted', 'the run was stopped')).toBe('! interrupted: the run was stopped');
    expect(changes('initializing')).toBe('queued');
    changes('running');
    const asked = {
      type: 'model.started',
      agent: ORACLE,
      call: CallId.parse('m9'),
      model: ModelId.parse('anthropic/x'),
      purpose: 'work',
      reserved: { tokens: 0, cost: 0 },
    } as const;
    expect(said(log.at(189, asked))).toBe('⟩ thinking');
  });

  it('is the call that the model writes, as long as it writes it', () => {
    const calls = (size: number): Partial<Context> => ({
      calls: new Map([['ROOT::S3', { tool: 'write_file', size }]]),
    });
    const at = uses(midRun(), 188, 'ROOT::S3', 'bash', 'Bash npm test', 'ok');
    expect([said(at, 'ROOT::S3', calls(12)), said(at, 'ROOT::S3', calls(3210))]).toEqual([
      '⟩ writing a call of write_file',
      '⟩ writing a call of write_file, 3.2k characters',
    ]);
  });

  it('is the last whole sentence of what streams, and never a scrap of it', () => {
    const at = uses(midRun(), 188, 'ROOT::S3', 'bash', 'Bash npm test', 'ok');
    const streams = (text: string): string => said(at, 'ROOT::S3', { live: new Map([['ROOT::S3', text]]) });
    expect(streams('-')).toBe('⟩ writing');
    expect(streams('Two calls race. The second on')).toBe('⟩ Two calls race.');
    expect(streams('Two calls race.\n\n1.')).toBe('⟩ Two calls race.');
    expect(streams('Two calls race.\n\n- `refresh.ts` keeps no lock\n- ')).toBe('⟩ refresh.ts keeps no lock');
    expect(streams('These are the places:\n| schemas.ts:188 |\n```ts\nreturn issues.map(x);\n')).toBe(
      '⟩ These are the places:',
    );
  });

  it('is thinking, and how fast', () => {
    const at = uses(midRun(), 188, 'ROOT::S3', 'bash', 'Bash npm test', 'ok');
    const more = { reasoning: new Map([['ROOT::S3', 'Hm.']]), activity: () => ({ rate: 42, steps: [] }) };
    expect(said(at, 'ROOT::S3', more)).toBe('⟩ thinking, 42 tok/s');
  });

  it('is a question for the person, and how long it has waited', () => {
    expect(said(asks(midRun(), 180, 'ROOT::S3', 'a1', approval({})))).toBe('◌ asks you (12s): npm test');
    // The engine puts the role before it, which stands above already.
    const named = asks(midRun(), 180, 'ROOT::S3', 'a1', approval({ title: 'oracle: npm test' }));
    expect(said(named)).toBe('◌ asks you (12s): npm test');
    expect(contextOf(named.events).state.log.at(-1)?.text).toBe('asks: npm test');
    const asked = asks(midRun(), 180, 'ROOT::S3', 'a1', approval({ action: 'question', title: 'note: which?' }));
    expect(said(asked)).toBe('◌ asks you (12s): note: which?');
  });

  it('is a wait for a provider with the seconds that are left', () => {
    const waits = midRun().at(190, {
      type: 'agent.status',
      agent: ORACLE,
      status: 'waiting',
      reason: 'anthropic is rate limited; next try in 12 s (2 of 5)',
    });
    expect(said(waits)).toBe('◔ retrying in 10s (2 of 5): anthropic is rate limited');
  });

  it('is what it waits for by name before it began, or why it can never begin', () => {
    expect(said(midRun(), 'ROOT::S5')).toBe('waiting for #3 oracle');
    expect(said(ends('ROOT::S3', 'failed', 'no credit'), 'ROOT::S5')).toBe('! blocked by #3 oracle, which failed');
    expect(said(ends('ROOT::S3', 'skipped', 'left out'), 'ROOT::S5')).toBe('! can never run: #3 oracle was left out');
  });

  it('is why it has not begun, and queued, where the run was stopped before its turn', () => {
    const tester = AgentId.parse('ROOT::S5');
    const stops = {
      type: 'agent.status',
      agent: tester,
      status: 'interrupted',
      reason: 'the run was stopped',
    } as const;
    const queued = midRun().at(190, { type: 'agent.status', agent: tester, status: 'initializing', reason: '' });
    expect(said(queued, tester)).toBe('queued');
    const stopped = queued.at(191, { ...stops, endedBy: { is: 'run' } });
    const { state } = contextOf(stopped.events);
    expect([said(stopped, tester), countsOf(state).interrupted]).toEqual(['the run was stopped', 0]);
    const byPerson = contextOf(queued.at(192, { ...stops, endedBy: { is: 'person' } }).events);
    expect(countsOf(byPerson.state).interrupted).toBe(1);
  });

  it('is how it ended, in a word where there is no other', () => {
    const told = (outcome: AgentOutcome, words: string): string => said(ends('ROOT::S3', outcome, words));
    expect([
      told('completed', '## Found\n\nThe race is in `store.ts`.'),
      told('completed', ''),
      told('failed', 'no credit'),
      told('partial', 'the budget is used up'),
      told('killed', 'killed by the person'),
      told('skipped', ''),
    ]).toEqual([
      'The race is in store.ts.',
      'completed',
      '! no credit',
      '! partial: the budget is used up',
      '! killed by the person',
      '! skipped',
    ]);
  });

  it('is the kill and the answer of one that was killed after its end', () => {
    const log = ends('ROOT::S3', 'completed', 'Two races.').at(191, {
      type: 'agent.finished',
      agent: AgentId.parse('ROOT::S3'),
      status: 'interrupted',
      outcome: 'killed',
      summary: 'Two races.',
      error: 'killed by you',
      metrics: { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 1, toolCalls: 1 },
    });
    expect(said(log, 'ROOT::S3')).toBe('! killed by you after its end: Two races.');
  });
});
