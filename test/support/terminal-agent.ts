/**
 * A coding agent in a terminal that does what its arguments say when joined, a list of steps for each prompt in turn; the last list is repeated.
 * Reads keys in raw mode, with bracketed paste, and draws a prompt as such programs do. Run by Node as a process of its own.
 */
import { execSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

export type TerminalStep =
  | { readonly do: 'say'; readonly text: string }
  | { readonly do: 'run'; readonly command: string }
  /** Prints a text as it is. */
  | { readonly do: 'print'; readonly text: string }
  /** Shows a menu, and notes what was chosen. */
  | { readonly do: 'choose'; readonly question: string; readonly options: readonly string[] }
  /** Shows a menu without numbers, marked at `at`, in which arrows move; notes what was chosen. */
  | { readonly do: 'pick'; readonly question: string; readonly options: readonly string[]; readonly at: number }
  /** Asks on one line, and notes the line that was typed. */
  | { readonly do: 'confirm'; readonly question: string }
  | { readonly do: 'todos'; readonly todos: readonly (readonly [content: string, status: string])[] }
  /** Works on whatever is typed. */
  | { readonly do: 'deaf' }
  /** Shows that it works until it is interrupted. */
  | { readonly do: 'wait' }
  | { readonly do: 'exit'; readonly code: number };

export interface TerminalScript {
  readonly prompts: readonly (readonly TerminalStep[])[];
  /** A file, relative to its folder, that gets each prompt and answer as a line. */
  readonly notes: string;
  /** A folder of the home in which it writes a transcript. */
  readonly transcript?: string;
  /** Asks whether the folder is to be trusted before anything else. */
  readonly trust?: true;
  /** Drops the first prompts that are typed, so many. */
  readonly drops?: number;
}

/** Characters of one argument; the configuration allows 1,000. */
const ARGUMENT = 900;

/** The command that starts it. */
export const terminalCommand = (script: TerminalScript): readonly string[] => [
  process.execPath,
  path.join(import.meta.dirname, 'terminal-agent.ts'),
  ...(JSON.stringify(script).match(new RegExp(`[^]{1,${ARGUMENT}}`, 'g')) ?? []),
];

/** What is typed: pastes and keys. */
class Keys {
  #waiting: (() => void) | null = null;
  #typed = '';
  interrupted = false;

  constructor() {
    process.stdin.setRawMode(true);
    process.stdin.on('data', (data: Buffer) => {
      this.#typed += data.toString('utf8');
      if (data.toString('utf8') === '\u001b') this.interrupted = true;
      this.#waiting?.();
    });
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** A whole input, up to Enter; new lines of a paste belong to it. */
  async line(): Promise<string> {
    for (;;) {
      // oxlint-disable-next-line no-control-regex -- the marks of a paste
      const found = /^(?:\u001b\[200~([^]*?)\u001b\[201~)?([^\r\n\u001b]*)\r/.exec(this.#typed);
      if (found !== null) {
        this.#typed = this.#typed.slice(found[0].length);
        return (found[1] ?? '') + (found[2] ?? '');
      }
      if (this.#typed.startsWith('\u001b') && this.#typed.length === 1) this.#typed = '';
      await this.#more();
    }
  }

  async key(): Promise<string> {
    while (this.#typed === '') await this.#more();
    const key = this.#typed;
    this.#typed = '';
    return key;
  }

  async escape(): Promise<void> {
    while (!this.interrupted) await this.#more();
    [this.interrupted, this.#typed] = [false, ''];
  }
}

const RULE = '─'.repeat(100);
const show = (text: string): void => void process.stdout.write(`${text.replaceAll('\n', '\r\n')}\r\n`);
const prompt = (): void => show(`\n${RULE}\n> \n${RULE}\n  ? for shortcuts`);

/** Shows a prompt and drops what is typed, so many times. */
async function dropped(keys: Keys, note: (line: string) => void, times: number): Promise<void> {
  if (times > 0) prompt();
  for (let left = times; left > 0; left -= 1) note(`dropped ${JSON.stringify(await keys.line())}`);
}

async function main(script: TerminalScript): Promise<void> {
  process.stdout.write('\u001b[?2004h');
  const keys = new Keys();
  const { notes, transcript } = script;
  const note = (line: string): void => appendFileSync(notes, `${line}\n`);
  let calls = 0;
  const write = (line: Readonly<Record<string, unknown>>): void => {
    if (transcript === undefined) return;
    const folder = path.join(process.env['HOME'] ?? '', transcript, 'project');
    mkdirSync(folder, { recursive: true });
    appendFileSync(path.join(folder, 'session.jsonl'), `${JSON.stringify({ cwd: process.cwd(), ...line })}\n`);
  };
  const assistant = (content: unknown, stop: string): void =>
    write({
      type: 'assistant',
      message: {
        id: `message-${(calls += 1)}`,
        content: [content],
        stop_reason: stop,
        usage: { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 1000, cache_creation_input_tokens: 0 },
      },
    });
  const use = (name: string, input: unknown): void => {
    const id = `call-${calls}`;
    assistant({ type: 'tool_use', id, name, input }, 'tool_use');
    write({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id }] } });
  };
  const run = (command: string): void => {
    let output = '';
    try {
      output = execSync(`${command} 2>&1`, { encoding: 'utf8' });
    } catch (error) {
      output = String(Reflect.get(Object(error), 'stdout'));
    }
    note(`ran ${command}: ${output.trim()}`);
    show(`⏺ Bash(${command})\n  ⎿  ${output.trim().replaceAll('\n', '\n     ') || '(no output)'}\n`);
    use('Bash', { command });
  };
  const perform = async (step: TerminalStep, isLast: boolean): Promise<void> => {
    switch (step.do) {
      case 'say':
        show(`⏺ ${step.text}`);
        return assistant({ type: 'text', text: step.text }, isLast ? 'end_turn' : 'tool_use');
      case 'print':
        return show(step.text);
      case 'run':
        return run(step.command);
      case 'todos':
        return use('TodoWrite', { todos: step.todos.map(([content, status]) => ({ content, status })) });
      case 'choose': {
        show(
          `${step.question}\n${step.options.map((one, at) => `${at === 0 ? '❯' : ' '} ${at + 1}. ${one}`).join('\n')}`,
        );
        note(`chosen ${JSON.stringify(await keys.key())}`);
        return show('\n'.repeat(50));
      }
      case 'pick': {
        let { at } = step;
        for (let key = ''; !key.includes('\r'); key = await keys.key()) {
          at += (key.split('\u001b[B').length - key.split('\u001b[A').length) % step.options.length;
          const rows = step.options.map((one, row) => `${row === at ? '❯' : ' '} ${one}`).join('\n  ');
          show(`${'\n'.repeat(50)} ${step.question}\n\n  ${rows}\n\n  Enter to confirm · Esc to cancel`);
        }
        note(`picked ${step.options[at]}`);
        return show('\n'.repeat(50));
      }
      case 'confirm':
        process.stdout.write(step.question);
        note(`typed ${await keys.line()}`);
        return show('');
      case 'wait':
        show('✻ Working… (3s · esc to interrupt)');
        note('waits');
        await keys.escape();
        return show(`${'\n'.repeat(50)}⏺ Interrupted.`);
      case 'deaf':
        note('deaf');
        return new Promise(() => undefined);
      case 'exit':
        return process.exit(step.code);
    }
  };
  // Node takes the title as an argument of its own, before the file.
  if (process.title === 'continued') note('continued its conversation');
  if (script.trust === true)
    await perform(
      { do: 'choose', question: 'Do you trust the files in this folder?', options: ['Yes, proceed', 'No, exit'] },
      false,
    );
  await dropped(keys, note, script.drops ?? 0);
  for (let at = 0; ; at += 1) {
    if (at > 0 || script.drops === undefined) prompt();
    const text = await keys.line();
    show(`${'\n'.repeat(50)}> ${text}`);
    note(`prompt ${JSON.stringify(text)}`);
    write({ type: 'user', message: { content: text } });
    const steps = script.prompts[at] ?? script.prompts.at(-1) ?? [];
    for (const [index, step] of steps.entries()) await perform(step, index === steps.length - 1);
  }
}

const Script: z.ZodType<TerminalScript> = z.custom<TerminalScript>((value) => typeof value === 'object');
if (process.argv[1] === import.meta.filename) await main(Script.parse(JSON.parse(process.argv.slice(2).join(''))));
