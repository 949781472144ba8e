/** The words of agents without tool calls: what of a reply is run, how a conversation reads, and which outputs mean more than they say. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../../src/domain/budget.ts';
import { CallId, ModelId } from '../../../../src/domain/ids.ts';
import type { Json, ModelReply, ToolCall, Turn } from '../../../../src/domain/turn.ts';
import {
  markerRequest,
  fenced,
  fencesIn,
  finalOutput,
  withoutPrefix,
  protocolPrompt,
  readReply,
  textTurns,
  unreadableReason,
  unreadableInARow,
} from '../../../../src/engine/gate/text-protocol.ts';

const CALL = CallId.parse('call-1');
const OWN = CallId.parse('text_call-1');
const said = (text: string, more: Partial<ModelReply> = {}): ModelReply => ({
  text,
  calls: [],
  stopReason: 'end',
  usage: NO_USAGE,
  model: ModelId.parse('local/coder'),
  ...more,
});
const read = (text: string): Json => {
  const { calls, stopReason } = readReply(said(text), CALL);
  return stopReason === 'end' ? 'end' : (calls[0]?.input ?? null);
};
const bash = (command: string, id = OWN): ToolCall => ({ id, tool: 'bash', input: { command } });
const printed = (output: string): { ok: boolean; text: string } => ({
  ok: true,
  text: `exit code 0 after 0.1 s\n${output}`,
});
/** Bash refuses what has a `;` before its first command; what reads commands here doesn't mind. */
const ECHO = /^[\s;]*echo\s+/;
const block = (command: string): string => `\`\`\`bash\n${command}\n\`\`\``;
const asked = (command: string, output: string): unknown => markerRequest(bash(command), printed(output));

describe('a reply', () => {
  it('is one command, the only block that is marked as bash', () => {
    const reply = readReply(said(`I look.\n\n${block('ls src')}\n`, { opaque: { mine: 1 } }), CALL);
    expect(reply).toEqual(said(`I look.\n\n${block('ls src')}\n`, { calls: [bash('ls src')], stopReason: 'tool use' }));
  });

  it('may hold blocks of other kinds, several lines, longer fences, and its own time', () => {
    expect(read(`As in\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n${block('cd src &&\n  ls')}`)).toEqual({
      command: 'cd src &&\n  ls',
    });
    expect(read("````bash\ncat > a.md <<'END'\n```js\n1\n```\nEND\n````")).toEqual({
      command: "cat > a.md <<'END'\n```js\n1\n```\nEND",
    });
    expect(read('~~~sh\nls\n~~~')).toEqual({ command: 'ls' });
    expect(read('```bash timeout=300\nnpm test\n```')).toEqual({ command: 'npm test', timeout: 300 });
    expect(read('```bash timeout=999\nnpm test\n```')).toEqual({ command: 'npm test', timeout: 600 });
    expect(read('```bash\r\nls\r\n```\r\n')).toEqual({ command: 'ls' });
  });

  it('is not carried out with none or several commands, or with half of one', () => {
    expect(read('I would look into src.')).toEqual({ problem: 'no command' });
    expect(read('')).toEqual({ problem: 'no command' });
    expect(read('```\nls\n```')).toEqual({ problem: 'no command' });
    expect(read(block(' '))).toEqual({ problem: 'no command' });
    expect(read(`${block('ls')}\n${block('pwd')}`)).toEqual({ problem: 'several commands' });
    expect(read('```bash\nls')).toEqual({ problem: 'no end' });
  });

  it('is not carried out when a fence inside of it ended its command too early', () => {
    const inner = (fence: string): string => block(`cat > a.md <<'END'\n${fence}\n1\n\`\`\`\nEND`);
    expect(read(inner('```js'))).toEqual({ problem: 'no end' });
    expect(read(inner('```'))).toEqual({ problem: 'no end' });
  });

  it('is read without what was thought aloud before', () => {
    expect(read(`<think>maybe\n${block('rm -r x')}\n</think>\n${block('ls')}`)).toEqual({ command: 'ls' });
  });

  it('is the end with [COMPLETE] or [DONE] in the last line and no command (D9, O096)', () => {
    expect(read('It is in a.ts:1.\n[COMPLETE]')).toBe('end');
    expect(read('It is in a.ts:1.\n\n [DONE] \n')).toBe('end');
    expect(read('[COMPLETE] is what I will say.')).toEqual({ problem: 'no command' });
    expect(read(`${block('ls')}\n[COMPLETE]`)).toEqual({ command: 'ls' });
  });

  it('that was cut off or refused holds nothing to run, and calls that a server makes up count for nothing', () => {
    const made = { calls: [{ id: CALL, tool: 'bash', input: { command: 'rm -r x' } }] };
    for (const stopReason of ['output limit', 'refused'] as const)
      expect(readReply(said(block('ls'), { stopReason, ...made }), CALL)).toEqual(said(block('ls'), { stopReason }));
    expect(readReply(said('', { stopReason: 'tool use', ...made }), CALL).calls).toEqual([
      { id: OWN, tool: 'bash', input: { problem: 'no command' } },
    ]);
  });

  it('brings back any command that is put into a block of its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\n', '`', '~', '```', '$', '"', '#') }), (command) => {
        const { commands, open } = fencesIn(`Now:\n${fenced(command)}\nThat is all.`);
        expect({ commands, open }).toEqual({ commands: [{ command, timeout: null }], open: false });
      }),
    );
  });

  it('is one call or the end, whatever it says', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('```bash', '```', '\n', 'ls', '[DONE]', ' ', '<<E', '~~~sh') }),
        (text) => {
          const { calls, stopReason } = readReply(said(text), CALL);
          expect(calls.length).toBe(stopReason === 'end' ? 0 : 1);
        },
      ),
    );
  });
});

describe('replies that could not be carried out', () => {
  const unread: Turn = {
    by: 'model',
    text: 'hm',
    calls: [{ id: OWN, tool: 'bash', input: { problem: 'no command' } }],
  };
  const good: Turn = { by: 'model', text: '', calls: [bash('ls')] };
  const told: Turn = { by: 'user', text: 'go on' };

  it('are counted in a row, whatever was told between them', () => {
    expect(unreadableInARow([])).toBe(0);
    expect(unreadableInARow([told, good, unread, told, unread])).toBe(2);
    expect(unreadableInARow([unread, unread, good])).toBe(0);
  });

  it('are only those of this protocol', () => {
    expect(unreadableReason({ id: CALL, tool: 'bash', input: { problem: 'no command' } })).toBe(null);
    expect(unreadableReason({ id: OWN, tool: 'bash', input: { problem: 'toString' } })).toBe(null);
    expect(unreadableReason({ id: OWN, tool: 'bash', input: { problem: 'no end' } })).toBe('no end');
  });
});

describe('a marker', () => {
  it.each([
    ['MIMIR_SPAWN_CHILD', null],
    ['MINI_SWE_AGENT_SPAWN_CHILD', null],
    ['MIMIR_SPAWN_CHILD::scout', 'scout'],
    ['MINI_SWE_AGENT_SPAWN_CHILD::the second one', 'the second one'],
  ])('%s asks for a child whose task is all that follows (H001, H003)', (marker, name) => {
    const task = 'Look into src.\n\nSay what is there.';
    expect(asked(`echo "${marker}\n${task}"`, `${marker}\n${task}`)).toEqual({ is: 'spawn', name, task });
    expect(asked(`echo '${marker}'; cat task.md`, `${marker}\n${task}`)).toEqual({ is: 'spawn', name, task });
  });

  it.each(['MIMIR_FINAL_OUTPUT', 'MINI_SWE_AGENT_FINAL_OUTPUT'])(
    '%s ends the agent with all that follows, which may be many lines (H006, H007)',
    (marker) => {
      expect(asked(`echo ${marker}; cat <<'E'\na\n\nb\nE`, `${marker}\na\n\nb`)).toEqual({
        is: 'final',
        text: 'a\n\nb',
      });
      expect(asked(`echo ${marker}`, marker)).toEqual({ is: 'final', text: '' });
    },
  );

  it('may be written with "\\n" as shells other than bash would have it (H001)', () => {
    const command = 'echo "MINI_SWE_AGENT_SPAWN_CHILD\\nlook into src\\nand say"';
    expect(asked(command, 'MINI_SWE_AGENT_SPAWN_CHILD\\nlook into src\\nand say')).toEqual({
      is: 'spawn',
      name: null,
      task: 'look into src\nand say',
    });
  });

  it.each([
    ['a file that begins with it', 'cat notes.md', 'MIMIR_FINAL_OUTPUT\nI am done'],
    ['an echo that comes later', 'ls; echo MIMIR_FINAL_OUTPUT', 'MIMIR_FINAL_OUTPUT'],
    ['an echo behind another one', 'echo; echo MIMIR_FINAL_OUTPUT', 'MIMIR_FINAL_OUTPUT\n'],
    ['a variable', 'echo "$LINE"', 'MIMIR_FINAL_OUTPUT\nI am done'],
    ['an echo of a file', 'echo "$(cat notes.md)"', 'MIMIR_FINAL_OUTPUT\nI am done'],
    ['an echo through another program', 'echo MIMIR_FINAL_OUTPUT | cat', 'MIMIR_FINAL_OUTPUT'],
    ['the marker in the second line', 'echo MIMIR_FINAL_OUTPUT', 'warning\nMIMIR_FINAL_OUTPUT'],
    ['another marker than the one that was written', 'echo MIMIR_FINAL_OUTPUT', 'MIMIR_SPAWN_CHILD\nx'],
    ['another name than the one that was written', 'echo MIMIR_SPAWN_CHILD::a', 'MIMIR_SPAWN_CHILD::b\nx'],
    ['more on its line', 'echo MIMIR_FINAL_OUTPUT now', 'MIMIR_FINAL_OUTPUT now'],
    ['a word that only begins like it', 'echo MIMIR_FINAL_OUTPUTS', 'MIMIR_FINAL_OUTPUTS'],
    ['a name that is none', 'echo "MIMIR_SPAWN_CHILD::$(x)"', 'MIMIR_SPAWN_CHILD::x\ny'],
    ['no marker', 'echo done', 'done'],
  ])('does nothing: %s (D23)', (_, command, output) => {
    expect(asked(command, output)).toBe(null);
  });

  it('does nothing in a command that failed, was refused, or is not of this protocol (D23)', () => {
    const command = 'echo MIMIR_FINAL_OUTPUT';
    expect(markerRequest(bash(command), { ok: false, text: 'exit code 1 after 0.1 s\nMIMIR_FINAL_OUTPUT' })).toBe(null);
    expect(markerRequest(bash(command), { ok: true, text: 'MIMIR_FINAL_OUTPUT\nof some other tool' })).toBe(null);
    expect(markerRequest(bash(command, CALL), printed('MIMIR_FINAL_OUTPUT'))).toBe(null);
    expect(markerRequest({ id: OWN, tool: 'read_file', input: { command } }, printed('MIMIR_FINAL_OUTPUT'))).toBe(null);
    expect(withoutPrefix(OWN)).toBe('model_text_call-1');
    expect(withoutPrefix(CALL)).toBe(CALL);
  });

  it('is never set off by output alone, for any output and any command that does not echo one (D23)', () => {
    const piece = fc.constantFrom(
      'MIMIR_FINAL_OUTPUT',
      'MIMIR_SPAWN_CHILD',
      'MINI_SWE_AGENT_FINAL_OUTPUT',
      'echo ',
      '\n',
      ' ',
      '::a',
      '"',
      '$A',
      ';',
      'cat ',
      '\\n',
      'x',
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (command, output) => {
        const marked = asked(command, output);
        if (marked === null) return;
        // Both begin with the very same marker, the command by an echo of it; for bash two quotes with nothing between are nothing.
        const [first = ''] = output.split(/\n|\\n/);
        expect(command.replaceAll('""', '')).toMatch(ECHO);
        expect(command.replaceAll('"', '').replace(ECHO, '').startsWith(first.trimEnd())).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('a final output', () => {
  const turn = (text: string, call: ToolCall): Turn => ({ by: 'model', text, calls: [call] });
  const results = (output: string, id = OWN): Turn => ({ by: 'tools', results: [{ call: id, ...printed(output) }] });

  it('is what the command printed below the marker; with nothing there, what was said beside it', () => {
    const done = turn(`All is found.\n\n${block('echo MIMIR_FINAL_OUTPUT')}`, bash('echo MIMIR_FINAL_OUTPUT'));
    expect(finalOutput(done, results('MIMIR_FINAL_OUTPUT\na.ts:1'))).toBe('a.ts:1');
    expect(finalOutput(done, results('MIMIR_FINAL_OUTPUT'))).toBe('All is found.');
  });

  it('is none without its result, of another call, or in a result of somebody else', () => {
    const done = turn('', bash('echo MIMIR_FINAL_OUTPUT'));
    expect(finalOutput(done, undefined)).toBe(null);
    expect(finalOutput(done, { by: 'user', text: 'exit code 0 after 0.1 s\nMIMIR_FINAL_OUTPUT' })).toBe(null);
    expect(finalOutput(done, results('MIMIR_FINAL_OUTPUT', CALL))).toBe(null);
    expect(finalOutput(turn('', bash('cat a')), results('MIMIR_FINAL_OUTPUT'))).toBe(null);
  });
});

describe('a conversation as text', () => {
  it('keeps its turns, with no call and no result of a tool left as such', () => {
    const turns: readonly Turn[] = [
      { by: 'user', text: 'the task' },
      { by: 'model', text: `I look.\n\n${block('ls')}`, calls: [bash('ls')] },
      { by: 'tools', results: [{ call: OWN, ok: true, text: 'exit code 0 after 0.1 s\na.ts' }] },
      { by: 'model', text: 'hm', calls: [{ id: OWN, tool: 'bash', input: { problem: 'no command' } }] },
      { by: 'tools', results: [{ call: OWN, ok: false, text: 'Nothing was run' }] },
      {
        by: 'model',
        text: '',
        calls: [{ id: CALL, tool: 'read_file', input: { path: 'a.ts' } }, bash('cat a', CallId.parse('c'))],
      },
      {
        by: 'tools',
        results: [
          { call: CALL, ok: true, text: '1\tone' },
          { call: CallId.parse('c'), ok: false, text: 'exit code 1 after 0.1 s' },
        ],
      },
    ];
    expect(textTurns(turns)).toEqual([
      { by: 'user', text: 'the task' },
      { by: 'model', text: `I look.\n\n${block('ls')}`, calls: [] },
      { by: 'user', text: 'Result of the command:\n\nexit code 0 after 0.1 s\na.ts' },
      { by: 'model', text: 'hm', calls: [] },
      { by: 'user', text: 'Nothing was run' },
      { by: 'model', text: `(used read_file: {"path":"a.ts"})\n\n${block('cat a')}`, calls: [] },
      { by: 'user', text: 'Result of read_file:\n\n1\tone\n\nResult of the command:\n\nexit code 1 after 0.1 s' },
    ]);
  });
});

describe('what the agent is told of it', () => {
  it('names children only where it may have some, and the box it is in', () => {
    const alone = protocolPrompt({ sandbox: 'read-only', children: [], findings: false });
    expect(alone).toContain('MIMIR_FINAL_OUTPUT');
    expect(alone).toContain('[COMPLETE]');
    expect(alone).not.toContain('SPAWN');
    expect(alone).toContain('cannot change the project');
    const parent = protocolPrompt({ sandbox: 'none', children: ['code', 'explore'], findings: false });
    expect(parent).toContain('echo MIMIR_SPAWN_CHILD; cat');
    expect(parent).toContain('code, explore');
    expect(parent).not.toContain('in a box');
  });

  it('shows commands that would be read as it says', () => {
    const shown = fencesIn(protocolPrompt({ sandbox: 'none', children: ['code'], findings: true })).commands.map(
      ({ command }) => command,
    );
    expect(
      shown.map((command) =>
        asked(command, command.startsWith('echo') ? (/echo "?([^";]+)/.exec(command)?.[1] ?? '') : ''),
      ),
    ).toEqual([
      null,
      { is: 'final', text: '' },
      { is: 'finding', task: 'ROOT::S2', from: 6000 },
      { is: 'spawn', name: null, task: '' },
    ]);
  });
});
