/** The checks that stand behind every case can fail: sessions that break one rule each, and one that breaks none. */
import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CallId, ModelId, ROOT } from '../../src/domain/ids.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import { freshFolder } from './folder.ts';
import { brokenBy, toolProcessesBelow } from './invariants.ts';
import { CHOICES, graph } from './plans.ts';
import { Recording, started } from './recorded-run.ts';
import { created } from './story.ts';
import { until } from './until.ts';

const HAIKU = ModelId.parse('anthropic/haiku-4.5');
const call = CallId.parse('call-1');

const session = (...bodies: readonly EventBody[]): readonly MimirEvent[] =>
  [created(ROOT), ...bodies].reduce((recording, body) => recording.at(1, body), started(new Recording())).events;

const proposed: EventBody = {
  type: 'plan.proposed',
  plan: graph('a'),
  choices: CHOICES,
  by: 'planner',
  ms: 1,
  digest: '',
};
const asked = (model: ModelId, tokens: number, cost: number): EventBody => ({
  type: 'model.started',
  agent: ROOT,
  call,
  model,
  purpose: 'work',
  reserved: { tokens, cost },
});
const answered = (input: number, cost: number): EventBody => ({
  type: 'model.finished',
  agent: ROOT,
  call,
  model: HAIKU,
  usage: { input, output: 0, cacheRead: 0, cacheWrite: 0 },
  cost,
  priced: true,
  stopReason: 'end',
  ms: 1,
  calls: [],
});
const began = (tool: string, path: string): EventBody => ({
  type: 'tool.started',
  agent: ROOT,
  call,
  tool,
  label: tool,
  input: { path },
  repeat: 'never',
});
const wrote = (ok: boolean): EventBody => ({
  type: 'tool.finished',
  agent: ROOT,
  call,
  tool: 'write_file',
  ok,
  output: '',
  ms: 1,
});
const words = (events: readonly MimirEvent[]): readonly string[] =>
  brokenBy(events).map((line) => line.replace(/ event \d+/, ''));

describe('what must hold after every case', () => {
  it('holds in a session that keeps to everything', () => {
    const kept = session(
      proposed,
      asked(HAIKU, 100, 0.01),
      answered(90, 0.01),
      began('write_file', 'a.ts'),
      wrote(true),
    );
    expect(words(kept)).toEqual([]);
  });

  it('is broken by a call of a model that the rules forbid', () => {
    const denied = ModelId.parse('openai/o4-mini');
    expect(words(session(proposed, asked(denied, 1, 0)))).toEqual(['I1: openai/o4-mini was called and is not allowed']);
  });

  it.each(['../out.txt', '/etc/passwd', '.git/hooks/pre-commit', '.mimir/config.yml'])(
    'is broken by a write of %s that was done, not by one that was refused',
    (path) => {
      expect(words(session(began('write_file', path), wrote(false)))).toEqual([]);
      expect(words(session(began('write_file', path), wrote(true)))).toEqual([
        expect.stringContaining(`wrote ${path}`),
      ]);
    },
  );

  it('is broken by a promise above a limit, and by a bill above the promise', () => {
    const limited: EventBody = { type: 'budget.changed', agent: ROOT, budget: { maxTokens: 99, maxCost: 1 }, by: 'me' };
    expect(words(session(limited, asked(HAIKU, 100, 2)))).toEqual([
      'I3: ROOT has 100 tokens promised of 99',
      'I3: ROOT has $2 promised of $1',
    ]);
    expect(words(session(asked(HAIKU, 100, 0.01), answered(101, 0.01)))).toEqual([
      'I3: call call-1 used more than was promised for it',
    ]);
  });

  it('is broken by an effect that begins twice', () => {
    expect(words(session(began('bash', ''), began('bash', '')))).toEqual([
      'I4: bash of ROOT call-1 began a second time',
    ]);
  });

  it('is broken by a process of a tool that is left behind', async () => {
    const folder = freshFolder();
    const left = spawn('sleep', ['60'], { cwd: folder, env: { MIMIR_CALL: 'x', PATH: '/usr/bin:/bin' } });
    onTestFinished(() => void left.kill('SIGKILL'));
    await until(() => toolProcessesBelow(folder).length === 1);
    expect(toolProcessesBelow(folder)).toEqual([`${left.pid} sleep 60`]);
    left.kill('SIGKILL');
    await until(() => toolProcessesBelow(folder).length === 0);
    // Not by the box of another test, which hides a socket that lies here from its command.
    const words = ['-c', 'sleep 60; :', 'x', '--ro-bind', '/dev/null', `${folder}/socket`, '--chdir', '/'];
    const other = spawn('bash', words, { cwd: '/', env: { MIMIR_CALL: 'x', PATH: '/usr/bin:/bin' } });
    onTestFinished(() => void other.kill('SIGKILL'));
    await until(() => toolProcessesBelow('sleep 60; :').length === 1);
    expect(toolProcessesBelow(folder)).toEqual([]);
  });
});
