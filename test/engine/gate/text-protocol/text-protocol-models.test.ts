/** Models without tool calls beside those that have them: who gets which, and conversations that go from one to the other. */
import { describe, expect, it } from 'vitest';
import { scriptedModel } from '../../../support/scripted.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { forcedRun, SECURITY, writing } from '../../../support/forced.ts';
import { AGENT, calling, ROLES, type Setting } from '../../../support/run.ts';
import { ends, runs, wordRun } from '../../../support/words.ts';

const S1 = AGENT('ROOT::S1');

describe('a model without tool calls', () => {
  const two = (text: 'fast' | 'slow'): NonNullable<Setting['catalogue']> =>
    ['fast', 'slow'].map((name) =>
      scriptedModel(`${name === 'fast' ? 'scripted' : 'other'}/${name}`, {
        aliases: [name],
        price: { input: 1, output: 5 },
        ...(name === text ? { protocol: 'text' as const } : {}),
      }),
    );
  const plan = { reason: '', tasks: [{ id: 't', description: 'do t', role: 'oracle', recommendedModel: 'fast' }] };

  it('makes its agents work by words, and a fallback that has them goes on with calls, in the same conversation', async () => {
    const requests: ModelRequest[] = [];
    const run = wordRun({
      catalogue: two('fast'),
      plan,
      files: { 'a.txt': 'one\n' },
      script: ({ agent, purpose, model, turns }) => {
        if (agent !== S1 || purpose.is !== 'work') return undefined;
        if (model.endsWith('fast'))
          return turns.length === 1 ? runs('cat a.txt') : { fault: { is: 'unauthorised', message: 'no' } };
        return turns.length === 3 ? calling('bash cat a.txt a.txt') : { text: 'it says one' };
      },
      record: (request) => void (request.agent === S1 && requests.push(request)),
    });
    await run.result;
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed', summary: 'it says one' });
    const asked = requests.map(({ model, tools, turns }) => [
      model,
      tools.length > 0,
      turns.some(({ by }) => by === 'tools'),
    ]);
    expect(asked).toEqual([
      ['scripted/fast', false, false],
      ['scripted/fast', false, false],
      ['other/slow', true, true],
      ['other/slow', true, true],
    ]);
    expect(requests[2]?.system).not.toContain('one command a turn');
  });

  it('reads calls and results of the model before it as text', async () => {
    const requests: ModelRequest[] = [];
    const run = wordRun({
      catalogue: two('slow'),
      plan,
      files: { 'a.txt': 'one\n' },
      script: ({ agent, purpose, model, turns }) => {
        if (agent !== S1 || purpose.is !== 'work') return undefined;
        if (model.endsWith('fast'))
          return turns.length === 1 ? calling('bash cat a.txt') : { fault: { is: 'unauthorised', message: 'no' } };
        return ends('it says one');
      },
      record: (request) => void (request.agent === S1 && requests.push(request)),
    });
    await run.result;
    expect(run.state().agents.get(S1)?.summary).toBe('it says one');
    const last = requests.at(-1);
    expect([last?.tools, last?.turns.map((turn) => turn.by)]).toEqual([[], ['user', 'model', 'user']]);
    expect(last?.turns[1]).toEqual({ by: 'model', text: '```bash\ncat a.txt\n```', calls: [] });
  });

  it('is none of those that the offline analyst is: it has its tools, whatever the role says', async () => {
    const requests: ModelRequest[] = [];
    const run = wordRun({
      catalogue: [scriptedModel('offline/analyst')],
      offlineOnly: true,
      files: { 'a.txt': 'one\n' },
      script: ({ agent, purpose }, n) =>
        agent === S1 && purpose.is === 'work' && n === 0 ? calling('bash cat a.txt') : undefined,
      record: (request) => void (request.agent === S1 && requests.push(request)),
    });
    await run.result;
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    expect(requests.map(({ tools }) => tools.length > 0)).toEqual([true, true]);
  });

  it('judges nothing: a forced agent gives its verdict by a tool, so that its gate stays closed (A11)', async () => {
    const run = forcedRun({
      roles: [...ROLES, { ...SECURITY, protocol: 'text' }],
      script: ({ agent, purpose }, n) =>
        purpose.is === 'work' && agent === S1 && n === 0 ? writing('a.ts', 'x') : undefined,
    });
    await run.result;
    expect(run.state().agents.get(AGENT('ROOT::S3'))?.error).toBe(
      'role security has protocol: text, but a reviewer needs tool calls for its verdict',
    );
    expect(run.state().gates.map(({ open }) => open)).toEqual([false]);
  });

  it('is offered instead of a dearer one only where there is a shell', async () => {
    const catalogue = [
      scriptedModel('scripted/fast', { aliases: ['fast'], price: { input: 50, output: 250 } }),
      scriptedModel('scripted/mute', { aliases: ['mute'], price: { input: 0.1, output: 0.5 }, protocol: 'text' }),
    ];
    const offers = async (role: string): Promise<readonly string[]> => {
      const task = { id: 't', description: 'do t', role, budget: { maxCost: 0.1 } };
      const run = wordRun({ catalogue, plan: { reason: '', tasks: [task] }, mode: 'confirm' });
      const { approvals } = await run.until((state) => state.approvals.length === 1);
      run.stop('enough');
      await run.result;
      return approvals[0]?.request.options ?? [];
    };
    const withMute = (options: readonly string[]): boolean => options.some((option) => option.includes('mute'));
    expect([withMute(await offers('oracle')), withMute(await offers('finder'))]).toEqual([true, false]);
  });

  it('is not chosen for a role without a shell, and the plan says why', async () => {
    const run = wordRun({
      catalogue: two('fast'),
      plan: { reason: '', tasks: [{ id: 't', description: 'do t', role: 'finder' }] },
    });
    await run.result;
    expect(run.state().agents.get(S1)?.model).toEqual({
      asked: 'fast',
      used: 'other/slow',
      because: 'fast works by commands (protocol: text), but the role has no shell',
    });
  });
});
