/** Addresses of sessions, who sees what, and the five events of a child session. */
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, ROOT } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { CHILD_DEFAULTS } from '../../../src/policy/rules.ts';
import { approval } from '../../support/recorded-run.ts';
import type { Timed } from '../../support/session-stage.ts';
import {
  ARCHITECT,
  at,
  ENGINEER,
  FAMILY,
  HELP,
  made,
  NOW,
  SECURITY,
  spawned,
  status,
  TASK,
  TESTER,
  told,
} from '../../support/family-story.ts';
import { sessionEvent } from '../../../src/events/sessions/session-events.ts';
import { below, childrenOf, foundIn, maySee, maySeeEvent, withoutWords } from '../../../src/events/sessions/record.ts';
import { createdTimes, recordsWith } from '../../../src/events/sessions/sessions.ts';

const familyOf = (story: readonly Timed[]): { readonly sessions: ReturnType<typeof recordsWith> } => {
  const events = told(story);
  return { sessions: recordsWith(foldAll(events), createdTimes(events), { ...CHILD_DEFAULTS, now: NOW, alive: true }) };
};
const family = familyOf(FAMILY);
const agentOf = (word: string, of = family): unknown => {
  const found = foundIn(of, word);
  return found.ok ? found.value.agent : { [found.fault.is]: found.fault.candidates.map(({ agent }) => agent) };
};

describe('a session is named', () => {
  it('D15, S060: by its place, its short id, its name, and in any case of letters', () => {
    expect(
      ['ROOT', 'ROOT::S1::S1', '3f0dq8', '3F0DQ8', 'architect', 'Architect', 'main', 'root::s2'].map((word) =>
        agentOf(word),
      ),
    ).toEqual([ROOT, HELP, ARCHITECT, ARCHITECT, ARCHITECT, ARCHITECT, ROOT, ARCHITECT]);
    expect(['ROOT::S9', 'nobody', ''].map((word) => agentOf(word))).toEqual([
      { nobody: [] },
      { nobody: [] },
      { nobody: [] },
    ]);
  });

  it('S030: by the name that was given beside its role, where only one has it', () => {
    expect(['cache', 'Cache', 'ache'].map((word) => agentOf(word))).toEqual([ENGINEER, ENGINEER, { nobody: [] }]);
    const twice = [...FAMILY, at(580, made(idAfter(SECURITY), 'tester', 'Test', spawned('tester-cache', ROOT)))];
    expect([agentOf('cache', familyOf(twice)), agentOf('tester-cache', familyOf(twice))]).toEqual([
      { several: [ENGINEER, 'ROOT::S5'] },
      'ROOT::S5',
    ]);
  });

  it('by a name of several only where one of them is not at its end', () => {
    const twice = [...FAMILY, at(580, made(idAfter(SECURITY), 'finder', 'Find more', spawned('finder', ROOT)))];
    expect(agentOf('finder', familyOf(twice))).toBe('ROOT::S5');
    const thrice = [...twice, at(581, made(idAfter(idAfter(SECURITY)), 'finder', 'Find all', spawned('Finder', ROOT)))];
    expect(agentOf('finder', familyOf(thrice))).toBe('ROOT::S5');
    const alike = [...twice, at(581, made(idAfter(idAfter(SECURITY)), 'finder', 'Find all', spawned('finder', ROOT)))];
    expect(agentOf('finder', familyOf(alike))).toEqual({ several: [HELP, 'ROOT::S5', 'ROOT::S6'] });
  });

  it('S007: as a tree of parents, children and their children', () => {
    const [main, engineer] = family.sessions;
    if (main === undefined || engineer === undefined) throw new Error('nobody is there');
    expect(childrenOf(family, main).map(({ agent }) => agent)).toEqual([ENGINEER, ARCHITECT, TESTER, SECURITY]);
    expect(below(family, engineer).map(({ agent }) => agent)).toEqual([HELP, TASK]);
  });
});

const idAfter = (agent: AgentId): AgentId => AgentId.parse(`ROOT::S${Number(agent.slice(-1)) + 1}`);

describe('who sees what (S149)', () => {
  const state = foldAll(told(FAMILY));

  it('a person everything, an agent itself and those below it, and nobody what a forced agent says', () => {
    const everybody = [...state.agents.keys()];
    const seenBy = (asker: AgentId | null): readonly AgentId[] => everybody.filter((one) => maySee(state, asker, one));
    expect(seenBy(null)).toEqual(everybody);
    expect(seenBy(ROOT)).toEqual([ROOT, ENGINEER, ARCHITECT, HELP, TESTER, TASK]);
    expect(seenBy(ENGINEER)).toEqual([ENGINEER, HELP, TASK]);
    expect(seenBy(HELP)).toEqual([HELP]);
    expect(seenBy(SECURITY)).toEqual([SECURITY]);
  });

  it('events likewise: of others nothing but what was told to them', () => {
    const seen = told(FAMILY).filter((event) => maySeeEvent(state, HELP, event));
    expect(new Set(seen.map((event) => ('agent' in event ? event.agent : null)))).toEqual(new Set([HELP]));
    const notice = (of: AgentId, to: AgentId): EventBody => ({
      type: 'message.sent',
      agent: of,
      from: of,
      to,
      kind: 'result',
      delivery: 'sequential',
      content: 'Child x completed: y',
      notice: { of, is: 'completed' },
    });
    const sees = (asker: AgentId, body: EventBody): boolean =>
      told([...FAMILY, at(590, body)])
        .slice(-1)
        .every((event) => maySeeEvent(state, asker, event));
    expect(sees(ENGINEER, notice(HELP, ENGINEER))).toBe(true);
    expect(sees(ARCHITECT, notice(HELP, ENGINEER))).toBe(false);
    expect(sees(ROOT, notice(SECURITY, ENGINEER))).toBe(false);
  });

  it('a record without its words keeps where it stands and what it cost', () => {
    const [, engineer] = family.sessions;
    if (engineer === undefined) throw new Error('nobody is there');
    expect(withoutWords(engineer)).toEqual({
      ...engineer,
      spawn_prompt: '',
      tools_used: {},
      total_tools: 0,
      last_tool: null,
      last_tool_call: null,
      current_activity: null,
    });
  });
});

describe('the events of a child session', () => {
  it('S017 to S021, S065: are of five types, with a line of words and more of it', () => {
    const events = told(FAMILY).flatMap((event) => sessionEvent(event, HELP) ?? []);
    expect(events).toEqual([
      {
        session_id: '5kylm1',
        event_type: 'spawned',
        timestamp: '2026-11-22T09:03:20.000Z',
        message: 'Find all callers',
        metadata: {
          agent: 'ROOT::S1::S1',
          run: 'k7f3a2',
          seq: 16,
          name: 'finder',
          role: 'finder',
          model: 'anthropic/claude-haiku-4-5',
          parent: 'ROOT::S1',
          by: 'ROOT::S1',
          wait: null,
        },
      },
      {
        session_id: '5kylm1',
        event_type: 'checkpoint',
        timestamp: '2026-11-22T09:03:21.000Z',
        message: 'running',
        metadata: { agent: 'ROOT::S1::S1', run: 'k7f3a2', seq: 17, status: 'running' },
      },
      {
        session_id: '5kylm1',
        event_type: 'completed',
        timestamp: '2026-11-22T09:04:00.000Z',
        message: 'Found 3 of them',
        metadata: {
          agent: 'ROOT::S1::S1',
          run: 'k7f3a2',
          seq: 20,
          outcome: 'partial',
          partial: true,
          summary: 'Found 3 of them',
          error: 'the budget is used up',
          tokens_used: 1200,
          cost: 0.01,
          duration: 60_000,
          tool_calls: 1,
        },
      },
    ]);
  });

  const words = (body: EventBody, of: AgentId = ENGINEER): unknown => {
    const [event] = told([at(0, body)]);
    const found = event === undefined ? null : sessionEvent(event, of);
    return found === null ? null : `${found.event_type}: ${found.message}`;
  };
  const notice = (is: 'completed' | 'idle'): EventBody => ({
    type: 'message.sent',
    agent: null,
    from: 'child-x',
    to: ROOT,
    kind: 'status',
    delivery: 'sequential',
    content: 'Child x was idle for 60 s',
    notice: { of: ENGINEER, is },
  });

  it.each<readonly [string, EventBody, string | null]>([
    ['S119 an error ends it', { ...failed('no database') }, 'error: no database'],
    ['S126 a kill ends it with an error', { ...failed('by you'), outcome: 'killed' }, 'error: by you'],
    ['S122 a question', question(), 'idle: asks: npm test'],
    [
      'S118 waiting for children',
      status(ENGINEER, 'waiting', 'waits for its children'),
      'idle: waits for its children',
    ],
    ['waiting for a slot is no news', status(ENGINEER, 'initializing'), null],
    ['S109 a notice that it is idle', notice('idle'), 'idle: Child x was idle for 60 s'],
    ['its end is told once, not by the notice as well', notice('completed'), null],
    ['D14 another owner', { type: 'agent.adopted', agent: ENGINEER, owner: ROOT }, 'checkpoint: adopted by ROOT'],
    ['D14 no owner', { type: 'agent.adopted', agent: ENGINEER, owner: null }, 'checkpoint: continues without a parent'],
    [
      'S063 its own word',
      { type: 'agent.signalled', agent: ENGINEER, status: 'error', message: '' },
      'checkpoint: reports that it cannot continue',
    ],
    [
      'S080 its words',
      { type: 'agent.message', agent: ENGINEER, call: CallId.parse('c'), text: '\n\nRead it.\nMore' },
      'checkpoint: Read it.',
    ],
    [
      'all todos',
      { type: 'agent.todos', agent: ENGINEER, todos: [{ description: 'x', status: 'completed' }] },
      'checkpoint: 1 of 1 done',
    ],
  ])('%s', (_, body, expected) => {
    expect(words(body)).toBe(expected);
  });

  it('S134: a message to it is one of its events, and of nobody else', () => {
    const message: EventBody = {
      type: 'message.sent',
      agent: null,
      from: 'person',
      to: ENGINEER,
      kind: 'request',
      delivery: 'urgent',
      content: 'Status update?',
    };
    expect([words(message), words(message, ROOT)]).toEqual(['checkpoint: message from person: Status update?', null]);
  });
});

function failed(error: string): Extract<EventBody, { readonly type: 'agent.finished' }> {
  const metrics = { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 0, toolCalls: 0 };
  return { type: 'agent.finished', agent: ENGINEER, status: 'failed', outcome: 'failed', summary: '', error, metrics };
}

function question(): EventBody {
  return { type: 'approval.requested', agent: ENGINEER, approval: 'q', call: CallId.parse('c'), request: approval({}) };
}
