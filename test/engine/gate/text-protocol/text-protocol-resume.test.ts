/** Agents that work by words in runs that are cut off anywhere, come near the window, or print secrets. */
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../../src/domain/ids.ts';
import { openRedactor } from '../../../../src/domain/text/redact.ts';
import type { MimirEvent } from '../../../../src/events/event.ts';
import { UNKNOWN_EFFECT } from '../../../../src/events/turns.ts';
import { scriptedModel, type ScriptedReply } from '../../../support/scripted.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { makeFolder } from '../../../support/repos.ts';
import { cutLog, lengthsOf, memoryLog } from '../../../support/log.ts';
import { AGENT, type TestRun } from '../../../support/run.ts';
import { ends, quickShell, resultsOf, runs, saying, spawns, wordRun } from '../../../support/words.ts';
import { fakeWorld } from '../../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
const CHILD = AGENT('ROOT::S1::S1');
const never = new Promise<undefined>(() => {});

const count = (events: readonly MimirEvent[], holds: (event: MimirEvent) => boolean): number =>
  events.filter(holds).length;

/** A reply that can't be carried out, a command, a child, its own end. */
const script = saying({
  [S1]: [
    { text: 'Let me think.' },
    runs('echo one >> log.txt; cat log.txt'),
    spawns('look there'),
    ends('it is there'),
    ends('it is there'),
  ],
  [CHILD]: [runs('wc -l < log.txt'), ends('found it'), ends('found it')],
});

describe('a run of words that is cut off at any event', () => {
  it('goes on where it was: one child, one end each, no command twice (D11, H005, H007)', async () => {
    const lengths: number[] = [];
    const whole = wordRun({ script, port: quickShell(), log: lengthsOf(memoryLog(), lengths) });
    await whole.result;
    const events = whole.events();
    expect(whole.state().agents.get(S1)?.summary).toBe('it is there');
    expect(lengths.length).toBeGreaterThan(20);
    for (const length of lengths.slice(0, -1)) {
      const before = events.slice(0, length);
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = wordRun({
        script,
        log: cutLog(SESSION, before),
        world: { ...fakeWorld(), name },
        port: quickShell(),
      });
      await run.result;
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      const all = run.events();
      const began = (event: MimirEvent, text: string): boolean =>
        event.type === 'tool.started' && event.label.startsWith(text);
      const cutInside = resultsOf(run, S1).includes(UNKNOWN_EFFECT) || resultsOf(run, CHILD).includes(UNKNOWN_EFFECT);
      expect([at, run.state().finished?.status]).toEqual([at, 'completed']);
      expect([at, count(all, (event) => event.type === 'agent.created' && event.agent === CHILD) <= 1]).toEqual([
        at,
        true,
      ]);
      expect([at, count(all, (event) => began(event, 'echo one'))]).toEqual([at, 1]);
      if (cutInside) continue;
      const ended = [S1, CHILD].map((id) => run.state().agents.get(id)?.summary);
      expect([at, ...ended]).toEqual([at, 'it is there', 'found it']);
      expect([at, resultsOf(run, S1)[2]]).toEqual([at, 'found it']);
    }
  });

  it('that was stopped leaves the command open with its child, and goes on with both', async () => {
    const folder = makeFolder();
    const first = wordRun({
      folder,
      script: (request, n) => (request.agent === CHILD && request.turns.length > 1 ? never : script(request, n)),
    });
    await first.until(({ agents }) => agents.get(CHILD)?.iterations === 2);
    first.stop('Ctrl-C');
    await first.result;
    expect(first.state().agents.get(CHILD)).toMatchObject({ status: 'interrupted', outcome: null });
    const run = wordRun({ folder, script, log: first.log });
    expect((await run.result).status).toBe('completed');
    expect(resultsOf(run, S1)).toEqual([expect.anything(), 'exit code 0 after T\none', 'found it', expect.anything()]);
    expect(count(run.events(), (event) => event.type === 'tool.started' && event.agent === S1)).toBe(4);
    expect(run.state().agents.get(CHILD)?.outcome).toBe('completed');
  });

  it('that is handed over waits for the reply of its child, not for the command that waits for it (H022)', async () => {
    let reply = (): void => {};
    const waited = new Promise<void>((resolve) => (reply = resolve));
    const first = wordRun({
      port: quickShell(),
      script: async (request, n) => {
        if (request.agent === CHILD && request.turns.length === 3) await waited;
        return script(request, n);
      },
    });
    await first.until(({ agents }) => agents.get(CHILD)?.iterations === 2);
    const given = first.controls.submit({ do: 'hand over', how: 'when quiet' });
    expect(await first.refused({ do: 'hand over', how: 'when quiet' })).toContain(
      'waiting for a reply for ROOT::S1::S1',
    );
    reply();
    expect((await given).ok).toBe(true);
    const acts: string[] = [];
    const run = wordRun({ script, log: first.log, port: quickShell(acts) });
    expect((await run.result).status).toBe('completed');
    // The reply was there: its command is run here, and the parent's not again.
    expect(acts.map((act) => act.split(';')[0])).toEqual(['echo MIMIR_FINAL_OUTPUT', 'echo MIMIR_FINAL_OUTPUT']);
    expect(resultsOf(run, S1)[2]).toBe('found it');
  });
});

describe('a conversation of words near the window', () => {
  it('is summarised as text, and what was handed over by a final output is carried on', async () => {
    const requests: ModelRequest[] = [];
    const long = (n: number): ScriptedReply => runs(`echo ${n}; printf 'word %.0s' {1..400}`);
    const run: TestRun = wordRun({
      catalogue: [
        scriptedModel('scripted/fast', {
          aliases: ['fast'],
          window: 6000,
          outputLimit: 500,
          price: { input: 1, output: 5 },
        }),
      ],
      script: async ({ agent, purpose, turns }, n) => {
        if (agent !== S1) return undefined;
        if (purpose.is === 'compact') return { text: '```bash\nrm -r x\n```\nSo far: nothing.' };
        if (purpose.is !== 'work') return undefined;
        if (n > 0) return n < 9 ? long(n) : ends('the second answer');
        expect(turns.length).toBe(1);
        await run.tell({ do: 'message', to: S1, text: 'and more?', delivery: 'sequential' });
        return ends('the first answer');
      },
      record: (request) => void (request.agent === S1 && requests.push(request)),
    });
    await run.result;
    expect(run.state().agents.get(S1)).toMatchObject({ outcome: 'completed' });
    expect(run.state().agents.get(S1)?.summary).toBe('the first answer\n\nthe second answer');
    const summaries = requests.filter(({ purpose }) => purpose.is === 'compact');
    expect(summaries.length).toBeGreaterThan(0);
    expect(requests.flatMap(({ tools }) => tools)).toEqual([]);
    expect(requests.flatMap(({ turns }) => turns).filter(({ by }) => by === 'tools')).toEqual([]);
  });
});

describe('a secret that a command of words prints', () => {
  it('is not in the log, and not in what a model is told (M03)', async () => {
    const secret = 'sk-canary-0123456789abcdef';
    const requests: ModelRequest[] = [];
    const run = wordRun({
      files: { 'a.txt': `${secret}\n` },
      redactor: openRedactor([secret]),
      script: saying({ [S1]: [runs('cat a.txt'), ends('done')] }),
      record: (request) => void requests.push(request),
    });
    await run.result;
    expect(run.state().agents.get(S1)?.outcome).toBe('completed');
    expect(JSON.stringify(run.events())).not.toContain(secret);
    const told = JSON.stringify(requests.map(({ turns }) => turns));
    expect([told.includes(secret), told.includes('[key]')]).toEqual([false, true]);
  });
});
