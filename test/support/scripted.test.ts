/** Scripts: what is written is said, what isn't is a clear fault, and a stop is a stop at once. */
import { describe, expect, it } from 'vitest';
import { scriptedProvider, type ScriptedReply } from './scripted.ts';
import { workRequest } from '../models/request.ts';

const ignore = (): void => undefined;
const never = new AbortController().signal;

describe('a scripted model', () => {
  it('says its text word by word and asks for its tools', async () => {
    const heard: string[] = [];
    const provider = scriptedProvider({
      replies: () => ({ text: 'I look first.', calls: [{ tool: 'list_files', input: { path: '.' } }] }),
    });
    const reply = await provider.call(workRequest(), never, ({ text }) => heard.push(text));
    expect(heard).toEqual(['I ', 'look ', 'first.', '{"path":"."}']);
    expect(reply).toEqual({
      ok: true,
      value: {
        text: 'I look first.',
        calls: [{ id: 'call-1.1', tool: 'list_files', input: { path: '.' } }],
        stopReason: 'tool use',
        usage: { input: 4, output: 9, cacheRead: 0, cacheWrite: 0 },
        model: 'scripted/model',
      },
    });
  });

  it('counts the calls of each agent, and goes on after a resume where the turns end', async () => {
    const seen: string[] = [];
    const replies = (request: { readonly agent: string }, n: number): ScriptedReply => {
      seen.push(`${request.agent} ${n}`);
      return { text: 'yes' };
    };
    const provider = scriptedProvider({ replies });
    await provider.call(workRequest({ agent: 'ROOT::S1' }), never, ignore);
    await provider.call(workRequest({ agent: 'ROOT::S1' }), never, ignore);
    const turns = [
      { by: 'user', text: 'task' },
      { by: 'model', text: 'before', calls: [] },
    ] as const;
    await provider.call(workRequest({ agent: 'ROOT::S2', turns }), never, ignore);
    expect(seen).toEqual(['ROOT::S1 0', 'ROOT::S1 1', 'ROOT::S2 1']);
  });

  it('refuses with whose reply is missing when the script has ended', async () => {
    const provider = scriptedProvider({ replies: () => undefined });
    expect(await provider.call(workRequest(), never, ignore)).toEqual({
      ok: false,
      fault: { is: 'refused', message: 'the script has no reply 1 for ROOT::S1 (finder)' },
    });
  });

  it('stops at once while a reply is held', async () => {
    const provider = scriptedProvider({ replies: () => new Promise<ScriptedReply>(() => undefined) });
    const stop = new AbortController();
    const reply = provider.call(workRequest(), stop.signal, ignore);
    stop.abort();
    expect(await reply).toEqual({ ok: false, fault: { is: 'aborted', message: 'stopped' } });
  });

  it('plays faults and given usage as written', async () => {
    const fault = { is: 'rate limited', message: 'slow down', retryAfterMs: 5 } as const;
    const provider = scriptedProvider({
      replies: (_, n) => (n === 0 ? { fault } : { text: 'now', usage: { input: 100, cacheRead: 7 } }),
    });
    expect(await provider.call(workRequest(), never, ignore)).toEqual({ ok: false, fault });
    const second = await provider.call(workRequest(), never, ignore);
    expect(second.ok && second.value.usage).toEqual({ input: 100, output: 1, cacheRead: 7, cacheWrite: 0 });
  });
});
