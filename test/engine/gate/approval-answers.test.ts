/** What one answer does: to whom it grants what, which other questions it answers, and when the agent runs again. */
import { describe, expect, it } from 'vitest';
import { type AgentId, CallId, SessionId } from '../../../src/domain/ids.ts';
import { type Answer, changedInputs, openApprovals, withdrawGrant } from '../../../src/engine/gate/approvals.ts';
import { openRecorder } from '../../../src/engine/gate/recorder.ts';
import type { ApprovalRequest } from '../../../src/events/event.ts';
import { memoryLog } from '../../support/log.ts';
import { AGENT } from '../../support/run.ts';
import { created } from '../../support/story.ts';
import { fakeWorld } from '../../support/world.ts';

const S1 = AGENT('ROOT::S1');
const S2 = AGENT('ROOT::S2');
const never = new AbortController().signal;

const write = (file: string): ApprovalRequest => ({
  action: 'write',
  title: `finder: write ${file}`,
  exact: `write ${file}`,
  options: [],
  unsandboxed: false,
  because: '',
  same: 'write',
  file,
});

const command = (text: string, programs?: readonly (readonly string[])[]): ApprovalRequest => ({
  action: 'shell',
  title: `finder: ${text}`,
  exact: text,
  options: [],
  unsandboxed: false,
  because: '',
  same: text,
  ...(programs === undefined ? {} : { programs }),
});

interface Setting {
  readonly within?: number;
  readonly waitsOn?: (agent: AgentId) => boolean;
  readonly rests?: (agent: AgentId) => boolean;
}

/** Two agents that ask. Answers are in the order of the questions; null as long as one is open. */
function asking({ within, waitsOn, rests }: Setting = {}) {
  const log = memoryLog();
  const world = fakeWorld();
  const recorder = openRecorder(log, SessionId.parse('test-session'), world);
  recorder.record(created(S1), created(S2));
  const approvals = openApprovals(recorder, world, () => within, waitsOn, rests);
  const answers: (Answer | null)[] = [];
  const ids: string[] = [];
  recorder.onRecord((event) => {
    if (event.type === 'approval.requested') ids.push(event.approval);
  });
  return {
    world,
    recorder,
    approvals,
    ask: (agent: AgentId, request: ApprovalRequest, inputs: readonly { path: string; digest: string }[] = []) => {
      const at = answers.push(null) - 1;
      void approvals.ask({ agent }, CallId.parse(`c${at}`), request, never, { inputs }).then((answer) => {
        answers[at] = answer;
      });
      return at;
    },
    answer: (at: number, allow: boolean, scope: 'once' | 'session' | 'program' | 'file' = 'once') =>
      approvals.answer(ids[at] ?? '', { allow, scope, text: '' }),
    open: () => recorder.state().approvals.map(({ request }) => request.exact),
    grants: () => recorder.state().grants.map(({ scope, title }) => [scope, title]),
    statusOf: (agent: AgentId) => recorder.state().agents.get(agent)?.status,
    answers,
  };
}

describe('a denial', () => {
  it.each(['once', 'session', 'program', 'file'] as const)('grants nothing with the scope %s', (scope) => {
    const { ask, answer, open, grants } = asking();
    const first = ask(S1, command('ls', [['ls']]));
    ask(S1, command('ls', [['ls']]));
    expect(answer(first, false, scope)).toEqual({ ok: true, value: 'denied: ls' });
    expect([grants(), open()]).toEqual([[], ['ls']]);
  });
});

describe('a permission for one file', () => {
  it('answers the agent’s other questions about that file, and no others', () => {
    const { ask, answer, open, grants } = asking();
    const first = ask(S1, write('a.txt'));
    ask(S1, write('a.txt'));
    ask(S1, write('b.txt'));
    ask(S2, write('a.txt'));
    ask(S1, { ...command('cat a.txt'), file: 'a.txt' });
    answer(first, true, 'file');
    expect(grants()).toEqual([['file', 'finder: write a.txt']]);
    expect(open()).toEqual(['write b.txt', 'write a.txt', 'cat a.txt']);
  });
});

describe('a permission for the session', () => {
  it('covers equal commands of all agents, and changes of files of the one that asked alone', () => {
    const { ask, answer, open } = asking();
    const [touch, change] = [ask(S1, command('touch x')), ask(S1, write('a.txt'))];
    ask(S2, command('touch x'));
    ask(S2, command('touch y'));
    ask(S1, write('b.txt'));
    ask(S2, write('a.txt'));
    answer(touch, true, 'session');
    answer(change, true, 'session');
    expect(open()).toEqual(['touch y', 'write a.txt']);
  });

  it('does not cover a command whose files have changed since, and says which', () => {
    const { ask, answer, open, approvals } = asking();
    const before = [
      { path: 'same.sh', digest: '1' },
      { path: 'changed.sh', digest: '1' },
      { path: 'gone.sh', digest: '1' },
    ];
    const now = [
      { path: 'same.sh', digest: '1' },
      { path: 'changed.sh', digest: '2' },
      { path: 'new.sh', digest: '1' },
    ];
    const first = ask(S1, command('sh same.sh'), before);
    ask(S2, command('sh same.sh'), now);
    answer(first, true, 'session');
    expect(open()).toEqual(['sh same.sh']);
    expect(approvals.granted(S2, command('sh same.sh'), now)).toEqual({
      is: 'changed',
      paths: ['changed.sh', 'new.sh', 'gone.sh'],
    });
    expect(approvals.granted(S2, command('sh same.sh'), before)).toEqual({ is: 'yes' });
    expect(changedInputs(before, before)).toEqual([]);
  });
});

describe('a permission for programs', () => {
  it('covers commands all of whose programs were allowed, each by some answer', () => {
    const { ask, answer, approvals } = asking();
    for (const program of ['ls', 'cat']) answer(ask(S1, command(program, [[program]])), true, 'program');
    const covers = (...programs: readonly string[]): string =>
      approvals.granted(
        S2,
        command(
          'x',
          programs.map((program) => [program]),
        ),
      ).is;
    expect([covers('ls'), covers('cat', 'ls'), covers('ls', 'rm'), covers('rm')]).toEqual(['yes', 'yes', 'no', 'no']);
    expect(approvals.granted(S2, command('x')).is).toBe('no');
  });

  it('is none where the question names none, nor where it can not be repeated', () => {
    const { ask, answer, grants } = asking();
    const { same: _, ...once } = command('sudo ls', [['sudo']]);
    expect(answer(ask(S1, command('ls')), true, 'program')).toEqual({ ok: true, value: 'allowed once: ls' });
    expect(answer(ask(S1, once), true, 'session')).toEqual({ ok: true, value: 'allowed once: sudo ls' });
    expect(answer(ask(S1, command('ls')), true, 'file')).toEqual({ ok: true, value: 'allowed once: ls' });
    expect(grants()).toEqual([]);
  });

  it('asks again when it was withdrawn', () => {
    const { ask, answer, approvals, recorder } = asking();
    answer(ask(S1, command('ls', [['ls']])), true, 'program');
    expect(withdrawGrant(recorder, recorder.state().grants[0]?.id ?? '')).toEqual({
      ok: true,
      value: 'withdrawn: commands that run only ls …, in the sandbox asks again',
    });
    expect(approvals.granted(S1, command('ls', [['ls']])).is).toBe('no');
  });
});

describe('an agent that asked', () => {
  it('waits until all its questions are answered', () => {
    const { ask, answer, statusOf } = asking();
    const [one, other] = [ask(S1, command('ls')), ask(S1, command('cat'))];
    expect(statusOf(S1)).toBe('waiting');
    answer(one, true);
    expect(statusOf(S1)).toBe('waiting');
    answer(other, true);
    expect(statusOf(S1)).toBe('running');
  });

  it('goes on although another agent still waits', () => {
    const { ask, answer, statusOf } = asking();
    const one = ask(S1, command('ls'));
    ask(S2, command('cat'));
    answer(one, true);
    expect([statusOf(S1), statusOf(S2)]).toEqual(['running', 'waiting']);
  });

  it('waits on where it waits for something else as well', () => {
    const { ask, answer, statusOf } = asking({ waitsOn: (agent) => agent === S1 });
    const [one, other] = [ask(S1, command('ls')), ask(S2, command('ls'))];
    answer(one, true);
    answer(other, true);
    expect([statusOf(S1), statusOf(S2)]).toEqual(['waiting', 'running']);
  });

  it('keeps its status where it is not working now', () => {
    const { ask, answer, statusOf } = asking({ rests: (agent) => agent === S1 });
    const before = statusOf(S1);
    const one = ask(S1, command('ls'));
    expect(statusOf(S1)).toBe(before);
    answer(one, true);
    expect(statusOf(S1)).toBe(before);
  });

  it.each([
    [59_999, 'nobody answered within 59.999 s'],
    [60_000, 'nobody answered within 1 min'],
    [90_000, 'nobody answered within 1.5 min'],
    [3_600_000, 'nobody answered within 1 h'],
    [5_400_000, 'nobody answered within 1.5 h'],
  ])('is denied when nobody answers within %i ms', async (within, text) => {
    const { ask, answers, world } = asking({ within });
    ask(S1, command('ls'));
    await world.advance(within - 1);
    expect(answers).toEqual([null]);
    await world.advance(1);
    expect(answers).toEqual([{ is: 'denied', text, by: 'mimir' }]);
  });

  it('has no limit to its time where there is none', async () => {
    const { ask, answers, world } = asking();
    ask(S1, command('ls'));
    await world.advance(1e9);
    expect(answers).toEqual([null]);
  });
});

describe('the receipt of an answer', () => {
  it('says whether an act is allowed, and of a question whether it was answered', () => {
    const { ask, answer } = asking();
    const question: ApprovalRequest = { ...command('which one?'), action: 'question' };
    const receipts = [command('ls'), question].flatMap((request) =>
      [true, false].map((allow) => answer(ask(S1, request), allow)),
    );
    expect(receipts.map((receipt) => receipt.ok && receipt.value)).toEqual([
      'allowed once: ls',
      'denied: ls',
      'answered',
      'not answered',
    ]);
  });
});
