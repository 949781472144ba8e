/** Agents of other programs as models: real processes that speak the protocol by its own SDK, without a sandbox. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { ok } from '../../../src/domain/result.ts';
import type { Json, ModelReply, ToolCall, Turn } from '../../../src/domain/turn.ts';
import { connectAgent, type ForeignModels, foreignModels } from '../../../src/integrations/index.ts';
import type { Delta, ModelFault } from '../../../src/ports/model.ts';
import type { World } from '../../../src/ports/world.ts';
import { startTalking } from '../../../src/tools/process/run-program.ts';
import { acpCommand, type AcpScript, type AcpStep } from '../../support/acp-agent.ts';
import { callForeign, scriptedOption } from '../../support/foreign-models.ts';
import { toolProcessesBelow } from '../../support/invariants.ts';
import { makeFolder } from '../../support/repos.ts';
import { until } from '../../support/until.ts';

/** As many random agents as MIMIR_TEST_FUZZ says. */
const RUNS = Number(process.env['MIMIR_TEST_FUZZ'] ?? 12);
const MODEL = 'acp/scripted';
const opened: ForeignModels[] = [];
afterEach(() => Promise.all(opened.splice(0).map((models) => models.ended(null))));

/** A conversation as the agent loop has it: each call of a reply gets a result. */
class Conversation {
  readonly turns: Turn[];
  readonly replies: ModelReply[] = [];
  /** What is told of its starts, before anything else. */
  readonly news: string[] = [];
  readonly shown: Delta[] = [];
  readonly models: ForeignModels;
  readonly folder: string;
  #calls = 0;

  constructor(
    script: AcpScript,
    options: {
      readonly asks?: boolean;
      readonly folder?: string;
      readonly turns?: Turn[];
      readonly gate?: Promise<void>;
    } = {},
  ) {
    this.turns = options.turns ?? [{ by: 'user', text: 'Rename it.' }];
    this.folder = options.folder ?? makeFolder();
    const [file = '', ...args] = acpCommand(script);
    const world: Pick<World, 'sleep'> = {
      sleep: (_, signal) => (script.silent === true ? Promise.resolve() : untilAborted(signal)),
    };
    this.models = foreignModels({
      agents: [
        { name: 'scripted', command: 'scripted-acp', asks: options.asks ?? false, option: scriptedOption(MODEL) },
      ],
      world,
      start: () => {
        const env = { PATH: process.env['PATH'] ?? '' };
        const started = startTalking({ file, args, cwd: this.folder, env });
        if (!started.ok) return Promise.resolve(started);
        const of = { process: started.value, cwd: this.folder, name: 'scripted', mode: null, world };
        return Promise.resolve(
          ok(async (events, earlier) => {
            await options.gate;
            return connectAgent({ ...of, events, earlier });
          }),
        );
      },
    });
    opened.push(this.models);
  }

  async ask(signal = new AbortController().signal, closing?: 'none'): Promise<ModelReply | ModelFault> {
    const reply = await callForeign(this.models, MODEL, this.turns, {
      number: (this.#calls += 1),
      signal,
      shown: (delta) => this.shown.push(delta),
      ...(closing === undefined ? {} : { toolChoice: closing }),
    });
    if (!reply.ok) return reply.fault;
    const { calls } = reply.value;
    const what = String(Reflect.get(Object(calls[0]?.input), 'what'));
    if (!/^(?:started|continued)/.test(what)) {
      this.replies.push(reply.value);
      return reply.value;
    }
    this.news.push(what);
    this.#result(calls, () => true);
    return this.ask(signal, closing);
  }

  #result(calls: readonly ToolCall[], isAllowed: (call: ToolCall) => boolean): void {
    const results = calls.map((call) => ({ call: call.id, ok: isAllowed(call), text: 'result' }));
    if (calls.length > 0) this.turns.push({ by: 'tools', results });
  }

  /** Gives the calls of the last reply their results. */
  answer(isAllowed: (call: ToolCall) => boolean = () => true): void {
    this.#result(this.replies.at(-1)?.calls ?? [], isAllowed);
  }

  /** To the end; the answer, or the fault. */
  async toEnd(isAllowed?: (call: ToolCall) => boolean): Promise<string> {
    for (;;) {
      const reply = await this.ask();
      if ('is' in reply) return reply.message;
      if (reply.stopReason !== 'tool use') return reply.text;
      this.answer(isAllowed);
    }
  }

  calls(): readonly (readonly [tool: string, input: Json])[] {
    return this.replies.flatMap(({ calls }) => calls.map(({ tool, input }) => [tool, input] as const));
  }

  notes(): readonly string[] {
    const file = path.join(this.folder, NOTES);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }
}

const NOTES = 'notes.txt';

/** A time limit that never comes. */
const untilAborted = (signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));

const script = (...steps: readonly AcpStep[]): AcpScript => ({ notes: NOTES, prompts: [steps] });
const say = (text: string): AcpStep => ({ do: 'say', text });

describe('an agent of another program', () => {
  it('gets the task as its prompt, and its last message is the answer', async () => {
    const one = new Conversation(
      script(say('I look. '), { do: 'run', command: 'true', ask: true }, say('Re'), say('named.')),
    );
    expect(await one.toEnd()).toBe('Renamed.');
    expect(one.news).toEqual(['started scripted 1.0.0']);
    expect(one.notes()[0]).toMatch(/^prompt "Rename it\.\\n\\nYou work in a copy of the project/);
    expect(one.replies.map(({ text }) => text)).toEqual(['I look.', '', 'Renamed.']);
    expect(one.shown.filter(({ is }) => is === 'text').map(({ text }) => text)).toEqual(['I look. ', 'Re', 'named.']);
  });

  it('tells its plan as todos, and what it did', async () => {
    const entries = [
      ['Look', 'in_progress'],
      ['Edit', 'pending'],
    ] as const;
    const one = new Conversation(
      script({ do: 'plan', entries }, { do: 'run', command: 'ls', ask: true }, say('Done.')),
    );
    await one.toEnd();
    expect(one.calls()).toEqual([
      [
        'update_todos',
        {
          todos: [
            { description: 'Look', status: 'active' },
            { description: 'Edit', status: 'pending' },
          ],
        },
      ],
      ['agent_command', { command: 'ls', id: 'call-1' }],
      ['agent_did', { what: 'ls' }],
    ]);
  });

  it('waits for each permission, and gets none that lasts', async () => {
    const steps: readonly AcpStep[] = [
      { do: 'run', command: 'echo 1', ask: true },
      { do: 'write', path: 'a.txt', text: 'x', ask: true },
      say('Done.'),
    ];
    const one = new Conversation(script(...steps));
    expect(await one.toEnd(({ tool }) => tool !== 'agent_edit')).toBe('Done.');
    expect(one.notes().slice(1)).toEqual(['echo 1: once', 'ran echo 1: 1', 'Edit a.txt: no']);
    expect(existsSync(path.join(one.folder, 'a.txt'))).toBe(false);
    expect(one.calls().slice(2)).toEqual([
      ['agent_did', { what: 'echo 1' }],
      ['agent_did', { what: 'failed: Edit a.txt' }],
    ]);
  });

  it('gets one answer to each of a hundred permissions at once', async () => {
    const one = new Conversation(script({ do: 'ask many', times: 100 }));
    expect(await one.toEnd(({ input }) => !/7/.test(String(Reflect.get(Object(input), 'command'))))).toBe('81 allowed');
    const asked = one.calls().filter(([tool]) => tool === 'agent_command');
    expect(asked.map(([, input]) => String(Reflect.get(Object(input), 'command')))).toEqual(
      Array.from({ length: 100 }, (_, at) => `echo ${at}`),
    );
    expect(one.notes().filter((line) => line.startsWith('echo'))).toHaveLength(100);
  });

  it('tells its cost, each dollar once', async () => {
    const cost = (dollars: number): AcpStep => ({ do: 'cost', dollars });
    const one = new Conversation(script(cost(0.25), { do: 'run', command: 'ls', ask: true }, cost(0.4), say('Done.')));
    await one.toEnd();
    expect(one.replies.reduce((sum, { cost: more = 0 }) => sum + more, 0)).toBeCloseTo(0.4);
    expect(one.replies[0]?.cost).toBe(0.25);
  });

  it('gets a message as its next prompt, also one that comes while it works', async () => {
    const prompts = [[{ do: 'run', command: 'ls', ask: true }, say('First.')], [say('Second.')]] as const;
    const one = new Conversation({ notes: NOTES, prompts });
    await one.ask();
    one.answer();
    one.turns.push({ by: 'user', text: 'And hurry.' });
    expect(await one.toEnd()).toBe('First.\n\nSecond.');
    one.turns.push({ by: 'user', text: 'Why?' });
    expect(await one.toEnd()).toBe('Second.');
    expect(
      one
        .notes()
        .filter((line) => line.startsWith('prompt'))
        .slice(1),
    ).toEqual(['prompt "And hurry."', 'prompt "Why?"']);
  });

  it('is cancelled at once, with its open permissions refused, and goes on with the next prompt', async () => {
    const prompts = [[{ do: 'run', command: 'ls', ask: true }, { do: 'wait' }], [say('Again.')]] as const;
    const one = new Conversation({ notes: NOTES, prompts });
    await one.ask();
    const stop = new AbortController();
    const asked = one.ask(stop.signal);
    stop.abort();
    expect(await asked).toMatchObject({ is: 'aborted' });
    one.turns.push({ by: 'user', text: 'Go on.' });
    expect(await one.toEnd()).toBe('Again.');
    expect(one.notes().slice(1)).toEqual(['ls: no', 'prompt "Go on."']);
  });

  it('goes on when it was interrupted and nothing new is said', async () => {
    const prompts = [[say('I begin.'), { do: 'wait' }], [say('Done.')]] as const;
    const one = new Conversation({ notes: NOTES, prompts });
    const stop = new AbortController();
    const asked = one.ask(stop.signal);
    await untilNoted(one);
    stop.abort();
    await asked;
    expect(await one.toEnd()).toContain('Done.');
    expect(one.notes().at(-1)).toBe('prompt "You were interrupted. Continue with your task."');
  });

  it('answers in its last turn without asking or telling anything else', async () => {
    const prompts = [[{ do: 'wait' }], [{ do: 'run', command: 'ls', ask: true }, say('So far so good.')]] as const;
    const one = new Conversation({ notes: NOTES, prompts });
    const stop = new AbortController();
    const asked = one.ask(stop.signal);
    await untilNoted(one);
    stop.abort();
    await asked;
    expect(await one.ask(undefined, 'none')).toMatchObject({ text: 'So far so good.', calls: [], stopReason: 'end' });
    expect(one.notes()).toContain('ls: no');
  });

  it('is started after its start was allowed, and fails with the reason where it was not', async () => {
    const asks = new Conversation(script(say('Done.')), { asks: true });
    expect(await asks.toEnd()).toBe('Done.');
    expect(asks.calls()).toEqual([['agent_command', { command: 'scripted-acp', id: 'start' }]]);
    const denied = new Conversation(script(say('Done.')), { asks: true });
    expect(await denied.toEnd(() => false)).toBe('scripted was not started: result');
    expect(denied.notes()).toEqual([]);
  });

  it('is put into the mode that asks, unless it is in it already', async () => {
    const auto = new Conversation({ ...script(say('Done.')), modes: ['auto', 'default'] });
    await auto.toEnd();
    expect(auto.notes()[0]).toBe('mode default');
    const asking = new Conversation({ ...script(say('Done.')), modes: ['default', 'auto'] });
    await asking.toEnd();
    expect(asking.notes()[0]).toMatch(/^prompt/);
  });

  it('continues its session after a crash where it can, and else hears what it had said', async () => {
    const before: Turn[] = [
      { by: 'user', text: 'Rename it.' },
      { by: 'model', text: 'I began.', calls: [], opaque: { session: 'session-0' } },
      { by: 'user', text: 'Also test it.' },
    ];
    const loads = new Conversation({ ...script(say('Done.')), load: true }, { turns: [...before] });
    expect(await loads.toEnd()).toBe('Done.');
    expect(loads.news).toEqual(['continued its session: scripted 1.0.0']);
    expect(loads.notes()[0]).toBe('loaded session-0');
    expect(loads.notes()[1]).toMatch(/^prompt "You were interrupted\..*\\n\\nAlso test it\."$/);
    const loses = new Conversation(script(say('Done.')), { turns: [...before] });
    expect(await loses.toEnd()).toBe('Done.');
    expect(loses.news).toEqual(['started scripted 1.0.0 anew: its earlier conversation is lost']);
    expect(loses.notes()[0]).toMatch(
      /^prompt "Rename it\.\\n\\nAlso test it\..*cannot be opened any more.*I began\."$/,
    );
  });
});

describe('an agent that does not work', () => {
  it.each<[string, AcpScript, RegExp]>([
    [
      'needs a login',
      { prompts: [], needsLogin: true },
      /^scripted \(scripted 1\.0\.0\) is not logged in: Authentication required; start it once in a terminal and log in \(it offers Log in with Ana\)$/,
    ],
    [
      'speaks another version',
      { prompts: [], version: 2 },
      /^scripted speaks version 2 of the protocol, and Mimir version 1$/,
    ],
    [
      'prints no messages',
      { prompts: [], garbage: true },
      /^scripted does not speak the protocol: it printed "Welcome to the agent, line 0"$/,
    ],
    ['answers nothing', { prompts: [], silent: true }, /^scripted did not answer within 30 s$/],
    ['ends', script({ do: 'exit', code: 3 }), /^scripted ended: exit code 3: it broke$/],
  ])('that %s fails with the reason, and nothing of it is left', async (_, what, fault) => {
    const one = new Conversation(what);
    expect(await one.toEnd()).toMatch(fault);
    expect(toolProcessesBelow(one.folder)).toEqual([]);
  });

  it('is stopped at once while it starts, and its process ends when it answers', async () => {
    const gate = Promise.withResolvers<void>();
    const one = new Conversation({ prompts: [] }, { gate: gate.promise });
    const control = new AbortController();
    const asked = one.ask(control.signal);
    await until(() => toolProcessesBelow(one.folder).length > 0);
    control.abort();
    expect(await asked).toEqual({ is: 'aborted', message: 'stopped' });
    gate.resolve();
    await until(() => toolProcessesBelow(one.folder).length === 0);
  });

  it('may print other lines between its messages', async () => {
    const one = new Conversation(script({ do: 'print', lines: 100 }, say('Done.')));
    expect(await one.toEnd()).toBe('Done.');
  });

  it(
    'has one end whatever it does',
    async () => {
      const step: fc.Arbitrary<AcpStep> = fc.oneof(
        fc.string({ maxLength: 20 }).map((text): AcpStep => ({ do: 'say', text })),
        fc.constantFrom<AcpStep>(
          { do: 'think', text: 'hm' },
          { do: 'plan', entries: [['Look', 'completed']] },
          { do: 'plan', entries: [] },
          { do: 'run', command: 'true', ask: true },
          { do: 'ask many', times: 20 },
          { do: 'cost', dollars: 1 },
          { do: 'print', lines: 150 },
          { do: 'exit', code: 0 },
        ),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 5 }), fc.boolean(), async (steps, isAllowed) => {
          const one = new Conversation(script(...steps));
          expect(await one.toEnd(() => isAllowed)).not.toBe('');
          await one.models.ended(null);
          expect(toolProcessesBelow(one.folder)).toEqual([]);
        }),
        { numRuns: RUNS },
      );
    },
    60_000 + RUNS * 1000,
  );
});

async function untilNoted(one: Conversation): Promise<void> {
  while (one.notes().length === 0) await new Promise((resolve) => setImmediate(resolve));
}
