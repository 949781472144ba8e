/** Somebody in line mode without a terminal: a session over a played log, what was said to them, and which commands it led to. */
import { Chalk } from 'chalk';
import type { MimirEvent } from '../../src/events/event.ts';
import type { Command } from '../../src/ports/controls.ts';
import type { ProjectInfo } from '../../src/ports/project-service.ts';
import type { LineConsole, Typed } from '../../src/ui/lines/console.ts';
import { LINE_COMMANDS } from '../../src/ui/lines/commands/commands.ts';
import { LineSession } from '../../src/ui/lines/session.ts';
import { until } from './until.ts';
import type { FakeRun } from './fake-run.ts';
import { fakeRun, PROJECT_SERVICE } from './fake-run.ts';

export interface Typist {
  readonly session: LineSession;
  readonly run: FakeRun;
  readonly commands: readonly Command[];
  /** All lines so far; `since` forgets what was said before. */
  readonly said: string[];
  /** The prompt that waits. */
  prompt(): string;
  /** Types lines, each once the one before was taken; resolves when the session waits for the next. */
  types(...lines: readonly string[]): Promise<void>;
  /** A line that was begun at that time. */
  typesSince(begun: number, line: string): Promise<void>;
  /** What one line leads to. */
  hears(line: string): Promise<readonly string[]>;
  play(events: readonly MimirEvent[]): Promise<void>;
  ends(): Promise<void>;
}

/** `changes`: the run answers a change of the plan with this event, as the engine does. */
export async function typist(
  events: readonly MimirEvent[] | null,
  {
    info = PROJECT_SERVICE,
    changes,
    terminal = false,
  }: Readonly<{ info?: ProjectInfo; changes?: MimirEvent; terminal?: boolean }> = {},
): Promise<Typist> {
  const run = fakeRun(info);
  const said: string[] = [];
  const console = new TypedConsole(said);
  const session = new LineSession({
    io: { paint: new Chalk({ level: 0 }), terminal },
    console,
    service: run.projectService,
    commands: LINE_COMMANDS,
    once: false,
    approves: true,
    models: true,
    folder: '/nowhere',
    mimir: (words) => Promise.resolve(void said.push(`mimir ${words.join(' ')}`)),
  });
  if (events !== null) {
    const begun = await run.projectService.start('task');
    if (!begun.ok) throw new Error('not begun');
    const { value } = begun;
    session.follow({
      ...value,
      submit: async (command) => {
        const done = await value.submit(command);
        if (command.do === 'edit plan' && changes !== undefined && done.ok) await run.play([changes]);
        return done;
      },
    });
    await run.play(events);
  }
  const work = session.work();
  const types = async (...lines: readonly string[]): Promise<void> => {
    for (const line of lines) await console.type({ text: line, begun: Date.now() });
  };
  await console.waits();
  return {
    session,
    run,
    commands: run.commands,
    said,
    prompt: () => console.prompt,
    types,
    typesSince: (begun, text) => console.type({ text, begun }),
    async hears(line) {
      const before = said.length;
      await types(line);
      return said.slice(before);
    },
    async play(more) {
      await run.play(more);
      await console.waits();
    },
    async ends() {
      console.close();
      await work;
    },
  };
}

class TypedConsole implements LineConsole {
  prompt = '';
  readonly #said: string[];
  #waiting: ((typed: Typed | null) => void) | null = null;
  #ended = false;

  constructor(said: string[]) {
    this.#said = said;
  }

  say(line: string): void {
    this.#said.push(line);
  }

  complain(line: string): void {
    this.#said.push(line);
  }

  next(prompt: string, signal: AbortSignal): Promise<Typed | null | 'woken'> {
    if (this.#ended) return Promise.resolve(null);
    if (signal.aborted) return Promise.resolve('woken');
    this.prompt = prompt;
    return new Promise((resolve) => {
      const woken = (): void => {
        this.#waiting = null;
        resolve('woken');
      };
      signal.addEventListener('abort', woken, { once: true });
      this.#waiting = (typed) => {
        signal.removeEventListener('abort', woken);
        this.#waiting = null;
        resolve(typed);
      };
    });
  }

  async ask(prompt: string): Promise<string | null> {
    const typed = await this.next(prompt, new AbortController().signal);
    return typed === null || typed === 'woken' ? null : typed.text;
  }

  fresh(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.#ended = true;
    this.#waiting?.(null);
  }

  async waits(): Promise<void> {
    await until(() => this.#waiting !== null);
  }

  async type(typed: Typed): Promise<void> {
    await this.waits();
    this.#waiting?.(typed);
    await this.waits();
  }
}
