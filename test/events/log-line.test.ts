import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { logLine } from '../../src/events/log-line.ts';
import { body } from '../support/events.ts';
import {
  asked,
  began,
  callId,
  created,
  FINDER,
  finished,
  MODEL,
  START,
  status,
  story,
  used,
} from '../support/story.ts';

function lineOf(body: EventBody): ReturnType<typeof logLine> {
  const [event] = story(body);
  if (event === undefined) throw new Error('no event');
  return logLine(event, START);
}
const line = (level: 'info' | 'warn' | 'error', text: string, agent: string | null = FINDER): object => ({
  at: START,
  agent,
  level,
  text,
});
const decided = (decision: 'allow' | 'deny' | 'substitute'): EventBody => ({
  type: 'policy.decided',
  agent: FINDER,
  subject: 'haiku-4.5',
  action: 'model',
  decision,
  rule: 'enforcement.deniedModels',
  layer: 'project',
  file: '.mimir/config.yml',
  line: 4,
  policyHash: 'hash',
});

describe('the line of an event in the log', () => {
  it.each<readonly [string, EventBody, unknown]>([
    ['a mode', { type: 'session.mode', mode: 'yolo' }, line('warn', 'mode is now yolo for all agents', null)],
    ['an agent', created(FINDER), line('info', 'queued: find the entry points')],
    ['ROOT, which everybody has', created(ROOT), null],
    ['a status without a reason', status(FINDER, 'running'), null],
    ['a status with one', status(FINDER, 'waiting', 'asks'), line('warn', 'waiting: asks')],
    [
      'a status that its reason names',
      status(FINDER, 'interrupted', 'interrupted by you'),
      line('warn', 'interrupted by you'),
    ],
    ['a failure', status(FINDER, 'failed', 'no'), line('error', 'failed: no')],
    [
      'a wait for a provider, which its retry has told',
      { type: 'agent.status', agent: FINDER, status: 'waiting', reason: 'busy', waitsFor: 'provider' },
      null,
    ],
    [
      'a try that comes next',
      {
        type: 'model.retry',
        agent: FINDER,
        call: callId('c1'),
        model: MODEL,
        cause: 'rate limited',
        wait: 11_200,
        attempt: 2,
        attempts: 5,
      },
      { ...line('warn', 'waiting for offline: rate limited: retrying in 12s (2 of 5)'), call: 'c1', retry: true },
    ],
    [
      'a try after no connection was made, with the address',
      {
        type: 'model.retry',
        agent: FINDER,
        call: callId('c1'),
        model: MODEL,
        cause: 'unreachable',
        message: 'cannot reach 127.0.0.1:11434: connection refused',
        wait: 400,
        attempt: 2,
      },
      {
        ...line(
          'warn',
          'waiting for offline: cannot reach 127.0.0.1:11434: connection refused: retrying in 1s (try 2)',
        ),
        call: 'c1',
        retry: true,
      },
    ],
    ['a call that begins', asked(FINDER, 'c1'), null],
    [
      'a call that was stopped',
      { type: 'model.failed', agent: FINDER, call: callId('c1'), model: MODEL, cause: 'aborted', message: 'stopped' },
      null,
    ],
    ['a tool', began(FINDER, 't1'), line('info', 'read src/a.ts')],
    ['a tool that did well', used(FINDER, 't1', 'fine'), null],
    [
      'a tool that did not',
      used(FINDER, 't1', 'no such file\nlook again', false),
      line('warn', 'read_file: no such file'),
    ],
    ['what was allowed', decided('allow'), null],
    ['what was denied', decided('deny'), line('warn', 'deny: haiku-4.5: enforcement.deniedModels')],
    ['a good end', finished(FINDER), line('info', 'completed')],
    [
      'a bad end',
      finished(FINDER, 'partial', 'Max iterations reached'),
      line('error', 'partial: Max iterations reached'),
    ],
  ])('is right for %s', (_, body, expected) => {
    expect(lineOf(body)).toEqual(expected);
  });

  it('is short words or nothing, whatever happens', () => {
    fc.assert(
      fc.property(body, (any) => {
        const found = lineOf(any);
        if (found !== null) expect([found.at, typeof found.text]).toEqual([START, 'string']);
      }),
    );
  });
});
