import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { memoryLog } from '../../support/log.ts';
import { AGENT, calling, planOf, says, testRun } from '../../support/run.ts';
import { eventsOf, outputs, ran } from '../../support/run-looks.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');

describe('the order of things', () => {
  it('is decide, reserve, record, act, record', async () => {
    const log = memoryLog();
    const seen: string[] = [];
    const session = SessionId.parse('test-session');
    const look = (what: string): void => {
      const last = log.read(session).at(-1);
      seen.push(`${what} after ${last?.type ?? ''}`);
    };
    await ran(
      ({ agent, purpose }, n) => {
        look(`${agent} ${purpose.is}`);
        return purpose.is === 'work' && n === 0 ? calling('write x') : undefined;
      },
      { log, wait: () => Promise.resolve(look('the tool')) },
    );
    expect(seen).toEqual([
      'ROOT plan after model.started',
      'ROOT::S1 work after model.started',
      'the tool after tool.started',
      'ROOT::S1 work after model.started',
    ]);
  });

  it.each(['tool.started', 'tool.finished', 'approval.requested', 'approval.answered', 'agent.finished'] as const)(
    'stops before the effect when %s can not be written, and ends every agent',
    async (type) => {
      const log = memoryLog();
      const full = {
        ...log,
        append: (session: SessionId, time: string, bodies: readonly EventBody[]) => {
          if (bodies.some((body) => body.type === type && 'agent' in body && body.agent === S1)) log.fail('disk full');
          return log.append(session, time, bodies);
        },
      };
      const acts: string[] = [];
      const run = testRun({
        plan: planOf(['o1'], ['o2']),
        acts,
        log: full,
        script: (request, n) =>
          request.agent === S2 ? new Promise<undefined>(() => {}) : says({ [S1]: [calling('write x')] })(request, n),
      });
      if (type !== 'approval.requested') {
        const { approvals } = await run.until((state) => state.approvals.length === 1);
        await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
      }
      expect(await run.result).toMatchObject({ success: false, status: 'stopped', error: 'disk full', errorIs: 'log' });
      expect(acts).toEqual(type === 'tool.finished' || type === 'agent.finished' ? ['write x'] : []);
      expect(run.state().finished).toBe(null);
    },
  );

  it('refuses a command in words when it can not be written down', async () => {
    const log = memoryLog();
    const run = testRun({ log, approval: 'person' });
    await run.until(({ phase }) => phase === 'approving');
    log.fail('disk full');
    expect(await run.refused({ do: 'set mode', mode: 'human' })).toBe(
      'refused: not done, cannot write the log: disk full',
    );
    run.stop('over');
    expect((await run.result).error).toBe('disk full');
  });

  it('takes a bug in a tool for the end of its agent, not of the run', async () => {
    const run = testRun({
      plan: planOf(['a'], ['b']),
      script: says({ [S1]: [calling('read x')] }),
      wait: () => Promise.reject(new Error('off by one')),
    });
    expect((await run.result).status).toBe('failed');
    expect([S1, S2].map((id) => run.state().agents.get(id)?.error)).toEqual(['a bug in Mimir: off by one', null]);
  });
});

describe('a tool call', () => {
  it('of a tool that the agent does not have is an error result, counted as a call (D20, O094, H07)', async () => {
    const run = await ran(
      says({
        [S1]: [
          {
            text: '',
            calls: [
              { tool: 'Read', input: {} },
              { tool: 'git', input: {} },
            ],
          },
        ],
      }),
    );
    expect(outputs(run)).toEqual([
      [false, 'Tool not found: Read'],
      [false, 'Tool not found: git'],
    ]);
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', toolCalls: 2 });
  });

  it('with input that is not right goes back as text (H07)', async () => {
    const acts: string[] = [];
    const bad = [{ text: 1 }, '{"text":"x"}', { text: 'x', more: true }].map((input) => ({ tool: 'read', input }));
    const run = await ran(says({ [S1]: [{ text: '', calls: bad }] }), { acts });
    expect(outputs(run).map(([ok, text]) => [ok, text.split('\n')[0]])).toEqual(
      bad.map(() => [false, 'The input of read is invalid:']),
    );
    expect(acts).toEqual([]);
  });

  it('beyond the sixteenth of a reply is not run (H07)', async () => {
    const acts: string[] = [];
    const many = calling(...Array.from({ length: 20 }, (_, index) => `read ${index}`));
    const run = await ran(says({ [S1]: [many] }), { acts });
    expect(acts.length).toBe(16);
    expect(outputs(run).filter(([, text]) => text.startsWith('At most 16 calls in one reply')).length).toBe(4);
  });

  it('cut off by the output limit is never run, and the model is told (H08)', async () => {
    const acts: string[] = [];
    const run = await ran(says({ [S1]: [{ ...calling('write x'), stopReason: 'output limit' }] }), { acts });
    expect(acts).toEqual([]);
    expect(eventsOf(run, 'agent.told').length).toBe(2);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });

  it('runs with others that only read; writing ones wait their turn; answers come in the order asked', async () => {
    const acts: string[] = [];
    const seen: unknown[] = [];
    const waiting = new Set<() => void>();
    const run = await ran(
      ({ turns, purpose }, n) => {
        const last = turns.at(-1);
        if (last?.by === 'tools') seen.push(...last.results.map(({ text }) => text));
        return purpose.is === 'work' && n === 0 ? calling('read 1', 'read 2', 'write 3', 'read 4') : undefined;
      },
      {
        acts,
        // Each waits until two are here, or none can come any more: the first two readings meet.
        wait: () =>
          new Promise((resolve) => {
            waiting.add(resolve);
            if (waiting.size === 2 || acts.length > 2) {
              const all = [...waiting].toReversed();
              waiting.clear();
              for (const go of all) go();
            }
          }),
      },
    );
    expect(acts).toEqual(['read 1', 'read 2', 'write 3', 'read 4']);
    expect(seen).toEqual(['read did 1', 'read did 2', 'write did 3', 'read did 4']);
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
  });
});
