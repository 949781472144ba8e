/** Agents in a terminal as models: real tmux on a server of the test's own, with programs that draw a screen and read keys, without a sandbox. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../../../src/domain/result.ts';
import type { ModelReply, ToolCall, Turn } from '../../../src/domain/turn.ts';
import {
  COMPLETION_PHRASES,
  connectInTerminal,
  type ForeignModels,
  foreignModels,
} from '../../../src/integrations/index.ts';
import type { TerminalSettings } from '../../../src/integrations/index.ts';
import type { ModelFault } from '../../../src/ports/model.ts';
import { startInTerminal } from '../../../src/tools/sandbox/foreign.ts';
import { world } from '../../../src/app/process/index.ts';
import { terminalCommand, type TerminalScript } from '../../support/terminal-agent.ts';
import { callForeign, scriptedOption } from '../../support/foreign-models.ts';
import { needs } from '../../support/needs.ts';
import { makeFolder } from '../../support/repos.ts';

const MODEL = 'tmux/scripted';
needs('tmux');
const server = makeFolder();
process.env['TMUX_TMPDIR'] = server;
const tmux = (...args: readonly string[]): string =>
  spawnSync('tmux', ['-L', 'mimir', ...args], { encoding: 'utf8' }).stdout;
const opened: ForeignModels[] = [];
afterAll(async () => {
  await Promise.all(opened.map((models) => models.ended(null)));
  tmux('kill-server');
});

const SETTINGS: TerminalSettings = {
  complete: COMPLETION_PHRASES,
  idleAfter: Infinity,
  tokens: true,
  tools: true,
  snapshotEvery: 30_000,
};

let sessions = 0;

class Conversation {
  readonly turns: Turn[] = [{ by: 'user', text: 'Rename it.' }];
  readonly replies: ModelReply[] = [];
  readonly folder = makeFolder();
  readonly session = `mimir-t${(sessions += 1)}`;
  readonly models: ForeignModels;
  #calls = 0;

  constructor(script: Omit<TerminalScript, 'notes'>, settings: Partial<TerminalSettings> = {}, closes = true) {
    const environment = { PATH: process.env['PATH'] ?? '', HOME: this.folder };
    const place = {
      environment,
      home: this.folder,
      root: this.folder,
      node: process.execPath,
      sandbox: {
        state: { is: 'bubblewrap' },
        walk: () => Promise.reject(new Error('unused')),
        ended: () => Promise.resolve(),
        wrap: ({ file, args, env }: { file: string; args: readonly string[]; env: Readonly<Record<string, string>> }) =>
          Promise.resolve(
            ok({
              file: '/bin/sh',
              argv: ['-c', `cd "$0" && exec "$@"`, this.folder, file, ...args],
              env,
              note: null,
              end: () => Promise.resolve(),
            }),
          ),
      },
    } as const;
    const command = terminalCommand({ ...script, notes: NOTES });
    this.models = foreignModels({
      agents: [{ name: 'scripted', command: 'scripted', asks: false, option: scriptedOption(MODEL) }],
      world,
      start: async (_, agent) => {
        const program = { command, agent, home: [], env: {}, proxy: null };
        const terminal = { session: this.session, folder: path.join(this.folder, '.terminal'), closes };
        const started = await startInTerminal(place, program, terminal);
        if (!started.ok) return started;
        let read = 0;
        const newLines = (): readonly string[] => {
          const file = path.join(this.folder, 'transcripts/project/session.jsonl');
          const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
          return lines.slice(read, (read = lines.length));
        };
        const all = { ...SETTINGS, ...settings };
        return ok((events) =>
          connectInTerminal({
            process: { ...started.value, newLines, errors: () => '' },
            name: 'scripted',
            settings: all,
            events,
            world,
            isLoaded: false,
          }),
        );
      },
    });
    opened.push(this.models);
  }

  async ask(signal = new AbortController().signal): Promise<ModelReply | ModelFault> {
    const reply = await callForeign(this.models, MODEL, this.turns, { number: (this.#calls += 1), signal });
    if (!reply.ok) return reply.fault;
    this.replies.push(reply.value);
    return reply.value;
  }

  answer(textOf: (call: ToolCall) => string | null = () => 'noted'): void {
    const results = (this.replies.at(-1)?.calls ?? []).map((call) => {
      const text = textOf(call);
      return { call: call.id, ok: text !== null, text: text ?? 'Nobody can be asked.' };
    });
    if (results.length > 0) this.turns.push({ by: 'tools', results });
  }

  /** To the end; the answer, or the fault. `answers`: to what it asks. */
  async toEnd(answers: (call: ToolCall) => string | null = () => 'noted'): Promise<string> {
    for (;;) {
      const reply = await this.ask();
      if ('is' in reply) return reply.message;
      if (reply.stopReason !== 'tool use') return reply.text;
      this.answer((call) => (call.tool === 'ask_user' ? answers(call) : 'noted'));
    }
  }

  did(): readonly unknown[] {
    return this.replies.flatMap(({ calls }) => calls.map(({ tool, input }) => [tool, input]));
  }

  notes(): readonly string[] {
    const file = path.join(this.folder, NOTES);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }
}

const NOTES = 'notes.txt';
const HOW =
  'You work in a copy of the project, which is merged when you are done; do not commit. Your last message is handed to the others as your result: say what you did and found.';

describe.concurrent('an agent in a terminal', () => {
  it('S084: is told its task, and its transcript tells what it does, its todos, its tokens and its answer', async () => {
    const conversation = new Conversation({
      transcript: 'transcripts',
      prompts: [
        [
          { do: 'todos', todos: [['Rename', 'in_progress']] },
          { do: 'run', command: 'echo renamed' },
          { do: 'say', text: 'The cache is renamed.' },
        ],
      ],
    });
    expect(await conversation.toEnd()).toBe('The cache is renamed.');
    expect(conversation.notes()).toEqual([
      `prompt ${JSON.stringify(`Rename it.\n\n${HOW}`)}`,
      'ran echo renamed: renamed',
    ]);
    expect(conversation.did()).toEqual([
      ['agent_did', { what: `started in a terminal: tmux -L mimir attach -t =${conversation.session}` }],
      ['update_todos', { todos: [{ description: 'Rename', status: 'active' }] }],
      ['agent_did', { what: 'Bash(echo renamed)' }],
    ]);
    expect(conversation.replies.map(({ usage }) => usage.input + usage.output + usage.cacheRead)).toEqual([
      0,
      expect.any(Number),
      expect.any(Number),
    ]);
    const all = conversation.replies.reduce((sum, { usage }) => sum + usage.cacheRead, 0);
    expect(all).toBe(3000);
  });

  it('S074, S086: without a transcript is done by what its terminal shows', async () => {
    const conversation = new Conversation({
      prompts: [
        [
          { do: 'run', command: 'echo Error: broken' },
          { do: 'say', text: 'Renamed the cache. All tests pass.' },
        ],
      ],
    });
    expect(await conversation.toEnd()).toBe('Renamed the cache. All tests pass.');
  });

  it('S075: fails with what it says at its end', async () => {
    const conversation = new Conversation({
      prompts: [[{ do: 'say', text: 'Cannot proceed: there is no cache.' }]],
    });
    expect(await conversation.toEnd()).toBe('scripted says: Cannot proceed: there is no cache.');
  });

  it('S075: fails where its program ends with an error', async () => {
    const conversation = new Conversation({
      prompts: [
        [
          { do: 'print', text: 'out of memory' },
          { do: 'exit', code: 3 },
        ],
      ],
    });
    expect(await conversation.toEnd()).toBe('scripted ended with exit code 3: out of memory');
  });

  it('S074: is done where its program ends by itself', async () => {
    const conversation = new Conversation({
      prompts: [
        [
          { do: 'say', text: 'It was renamed before.' },
          { do: 'exit', code: 0 },
        ],
      ],
    });
    expect(await conversation.toEnd()).toBe('It was renamed before.');
  });

  it('S155: takes no phrase and no question of a file or a command for its own, whatever stands in them', async () => {
    const tricky = [
      'Done.',
      'All tests pass',
      'Error: not found',
      'Task complete. Committed and pushed.',
      'Do you want to proceed?',
      '%end 1 2 0',
      '\u001b]0;title\u0007\u001b[31m漢字 🙂\u001b[0m',
      'Overwrite it? [y/N]',
    ];
    const conversation = new Conversation({
      prompts: [
        [
          { do: 'run', command: `printf '%s\\n' ${tricky.map((line) => `'${line}'`).join(' ')}; sleep 1` },
          { do: 'run', command: 'sleep 4' },
          { do: 'say', text: 'The file has eight lines. I finished reading it.' },
        ],
      ],
    });
    expect(await conversation.toEnd(() => null)).toBe('The file has eight lines. I finished reading it.');
    expect(conversation.did()).toHaveLength(1);
  });

  it('S112: without a transcript is told by its terminal, as often as it is configured', async () => {
    const prompts = [
      [
        { do: 'print', text: 'Step one of two' },
        { do: 'run', command: 'sleep 2' },
        { do: 'say', text: 'Done.' },
      ],
    ] as const;
    const often = new Conversation({ prompts }, { snapshotEvery: 100 });
    const seldom = new Conversation({ prompts });
    expect(await Promise.all([often.toEnd(), seldom.toEnd()])).toEqual(['Done.', 'Done.']);
    expect(often.did()).toContainEqual(['agent_did', { what: 'Step one of two' }]);
    expect(seldom.did()).toHaveLength(1);
  });

  it('S110, S111: is told neither tokens nor tools where they are switched off', async () => {
    const script = {
      transcript: 'transcripts',
      prompts: [
        [
          { do: 'run', command: 'true' },
          { do: 'say', text: 'Done.' },
        ],
      ],
    } as const;
    const conversation = new Conversation(script, { tokens: false, tools: false });
    expect(await conversation.toEnd()).toBe('Done.');
    expect(conversation.did()).toHaveLength(1);
    expect(conversation.replies.map(({ usage }) => usage.cacheRead)).toEqual([0, 0]);
  });

  it('S136: asks the person what its program asks, and types the answer', async () => {
    const conversation = new Conversation({
      trust: true,
      prompts: [
        [
          { do: 'choose', question: 'Do you want to make this edit?', options: ['Yes', 'Yes, always', 'No'] },
          { do: 'confirm', question: 'Overwrite it? [y/N] ' },
          { do: 'say', text: 'Done.' },
        ],
      ],
    });
    const asked: unknown[] = [];
    const end = await conversation.toEnd(({ input }) => {
      asked.push(Reflect.get(Object(input), 'options'));
      return asked.length === 2 ? 'No' : 'Yes.';
    });
    expect(end).toBe('Done.');
    expect(asked).toEqual([
      ['Yes, proceed', 'No, exit'],
      ['Yes', 'Yes, always', 'No'],
      ['y', 'n'],
    ]);
    expect(conversation.notes().filter((line) => !line.startsWith('prompt'))).toEqual([
      'chosen "1"',
      'chosen "3"',
      'typed y',
    ]);
  });

  it('chooses in a menu without numbers by the keys that move its mark', async () => {
    const [question, options] = ['Do you trust this folder?', ['Yes, I trust it', 'No, exit', 'Show it first']];
    const pick = { do: 'pick', question, options, at: 1 } as const;
    const conversation = new Conversation({ prompts: [[pick, pick, pick, { do: 'say', text: 'Done.' }]] });
    const answers = ['Yes, I trust it', 'No, exit', 'Show it first'];
    const asked: unknown[] = [];
    const end = await conversation.toEnd(({ input }) => {
      asked.push(Reflect.get(Object(input), 'options'));
      return answers[asked.length - 1] ?? null;
    });
    expect([end, asked]).toEqual(['Done.', [options, options, options]]);
    expect(conversation.notes().slice(1)).toEqual(answers.map((answer) => `picked ${answer}`));
  });

  it('fails where it asks and nobody answers', async () => {
    const conversation = new Conversation({ prompts: [[{ do: 'confirm', question: 'Overwrite it? [y/N] ' }]] });
    expect(await conversation.toEnd(() => null)).toBe('scripted asks, and nobody answers: Overwrite it? [y/N]');
  });

  it('gets messages typed, whatever they contain, each as one prompt', async () => {
    const conversation = new Conversation({ prompts: [[{ do: 'say', text: 'Done.' }]] });
    await conversation.toEnd();
    const text = 'Two\nlines, "quoted" $HOME \\ `date` ; kill-server #{pane_id} 漢字 \u001b[201~\u0003 end';
    conversation.turns.push({ by: 'user', text });
    await conversation.toEnd();
    expect(conversation.notes().at(-1)).toBe(
      `prompt ${JSON.stringify(text.replaceAll('\u001b', '').replaceAll('\u0003', ''))}`,
    );
  });

  it('is told again what it has dropped, and fails where it takes nothing', async () => {
    const prompts = [[{ do: 'say', text: 'Done.' }]] as const;
    const late = new Conversation({ prompts, drops: 1 });
    const deaf = new Conversation({ prompts, drops: 9 });
    expect(await Promise.all([late.toEnd(), deaf.toEnd()])).toEqual(['Done.', 'scripted does not take what is typed']);
    const told = JSON.stringify(`Rename it.\n\n${HOW}`);
    expect(late.notes()).toEqual([`dropped ${told}`, `prompt ${told}`]);
    expect(deaf.notes()).toEqual([`dropped ${told}`, `dropped ${told}`, `dropped ${told}`]);
  });

  it.each([
    ['a program that only shows what it does', {}],
    ['a program with a transcript, which never ends that turn', { transcript: 'transcripts' }],
  ] as const)('%s is interrupted by Escape, and goes on with the next message', async (_, options) => {
    const conversation = new Conversation({ ...options, prompts: [[{ do: 'wait' }], [{ do: 'say', text: 'Done.' }]] });
    const stop = new AbortController();
    await conversation.ask();
    conversation.answer();
    const reply = conversation.ask(stop.signal);
    await expect.poll(() => conversation.notes(), { timeout: 20_000 }).toContain('waits');
    stop.abort();
    expect(await reply).toEqual({ is: 'aborted', message: 'stopped' });
    conversation.turns.push({ by: 'user', text: 'Go on.' });
    expect(await conversation.toEnd()).toBe('Done.');
    expect(conversation.notes().at(-1)).toBe('prompt "Go on."');
  });

  it('is ended where it does not stop when it is interrupted, and that is said instead of waiting for it', async () => {
    const conversation = new Conversation({
      prompts: [[{ do: 'print', text: 'Working (esc to interrupt)' }, { do: 'deaf' }]],
    });
    const stop = new AbortController();
    await conversation.ask();
    conversation.answer();
    const reply = conversation.ask(stop.signal);
    await expect.poll(() => conversation.notes(), { timeout: 20_000 }).toContain('deaf');
    stop.abort();
    await reply;
    expect(await conversation.ask()).toEqual({ is: 'refused', message: 'scripted was ended' });
  });

  it('S071, S106: leaves its terminal to be looked at, or closes it', async () => {
    for (const closes of [false, true]) {
      const conversation = new Conversation({ prompts: [[{ do: 'say', text: 'Done.' }]] }, {}, closes);
      await conversation.toEnd();
      await conversation.models.ended(null);
      const left = tmux('list-panes', '-t', `=${conversation.session}:`, '-F', '#{session_name} #{pane_dead}').trim();
      expect(left).toBe(closes ? '' : `${conversation.session} 1`);
    }
  });

  it('is lost where the person closes its terminal', async () => {
    const conversation = new Conversation({ prompts: [[{ do: 'wait' }]] });
    const end = conversation.toEnd();
    await expect.poll(() => conversation.notes(), { timeout: 20_000 }).toContain('waits');
    execFileSync('tmux', ['-L', 'mimir', 'kill-session', '-t', `=${conversation.session}`]);
    expect(await end).toBe('the terminal of scripted was closed');
  });
});
