import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home, Ran } from '../support/cli.ts';
import { openHome, SMALL } from '../support/cli.ts';
import { holding, like } from '../support/like.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  home.remove();
});

const VERBS =
  'run plan resume attach sessions show diff undo merge trees report pr events spawn children what send kill progress complete me who others all status agents models policy trust config doctor init audit'.split(
    ' ',
  );
const refused = (err: string): Ran => ({ code: 2, signal: null, out: '', err });

describe('help', () => {
  it('lists every command with what it does', async () => {
    const { code, out, err } = await home.run(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const listed = [...out.matchAll(/^ {2}(\w+) +[A-Z].*\.$/gm)].map(([, verb]) => verb);
    expect(listed).toEqual(['mimir', ...VERBS, 'worker', 'cluster', 'reset', 'acp', 'version']);
    const titles = ['Session', 'Runs', 'Child sessions', 'Policy, models and this machine', 'Options', 'Examples'];
    expect(out.split('\n').filter((line) => /^[A-Z][a-z, ]+$/.test(line))).toEqual(titles);
  });

  it('of each command has its options and an example', async () => {
    const all = await Promise.all(VERBS.map((verb) => home.run([verb, '--help'])));
    for (const [index, { code, out, err }] of all.entries()) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(
        new RegExp(`^mimir ${VERBS[index]}[^]* --cwd DIR [^]*\\nExample:\\n  .*mimir ${VERBS[index]}`),
      );
    }
  });

  it('`mimir reset` gives a terminal back: alternate screen, mouse and hidden cursor are off', async () => {
    const { code, out, err } = await home.run(['reset']);
    expect([code, err]).toEqual([0, holding('the terminal is restored')]);
    for (const mode of ['?1049l', '?1003l', '?1006l', '?1000l', '?2004l', '?25h'])
      expect(out).toContain(`\u001b[${mode}`);
  });

  it('has a usage line, the options of every command, and a way to begin', async () => {
    const { out } = await home.run(['--help']);
    expect(out).toContain('\nUsage: mimir ["<task>"] [options]  |  mimir COMMAND [options]\n');
    expect(out).toMatch(
      /\nOptions\n {2}--cwd DIR .*\n {2}--color .*\n {2}--help .*\n {2}--version .*\n\nExamples\n {2}mimir "/,
    );
  });

  it('of a command that looks at sessions says which of them shows what, and the fields of a record in one place', async () => {
    const looks = await Promise.all(
      ['me', 'who', 'children', 'others', 'what', 'status', 'all'].map((verb) => home.run([verb, '--help'])),
    );
    for (const { out } of looks) expect(out).toContain('Which command shows what:\n  me        you: your place');
    expect(looks.filter(({ out }) => out.includes('tmux_session'))).toHaveLength(1);
  });

  it('is the same by `mimir help VERB`', async () => {
    expect(await home.run(['help', 'run'])).toEqual(await home.run(['run', '-h']));
  });

  it('names the nearest command for one that there is not', async () => {
    expect(await home.run(['help', 'sesions'])).toMatchObject({
      code: 2,
      err: holding('`mimir sessions`'),
    });
    expect(await home.run(['help', 'xylophone'])).toEqual(
      refused('mimir: there is no command "xylophone"\n  `mimir --help` lists them\n'),
    );
  });

  it('names to an agent the nearest command that agents have', async () => {
    const agents = { env: { MIMIR_SOCKET: '/nowhere' } };
    expect(await home.run(['chidren'], agents)).toEqual(
      refused('mimir: there is no command "chidren"\n  did you mean `mimir children`?\n'),
    );
    expect(await home.run(['rum', 'x'], agents)).toMatchObject({ code: 3, err: holding('agents cannot start a run') });
  });

  it('prints the version and nothing else', async () => {
    expect(await home.run(['--version'])).toEqual({
      code: 0,
      signal: null,
      out: like(/^\d+\.\d+\.\d+\n$/),
      err: '',
    });
  });
});

describe('wrong use is exit 2 and says what was meant:', () => {
  const cases: readonly (readonly [what: string, args: readonly string[], err: string])[] = [
    [
      'a command with a typo is not taken for a task',
      ['sesions'],
      'there is no command "sesions"\n  did you mean `mimir sessions`? To run it as a task: mimir run "sesions"',
    ],
    [
      'nor one that has arguments',
      ['reprot', '4f9a2c'],
      'there is no command "reprot"\n  did you mean `mimir report`? To run it as a task: mimir run "reprot"',
    ],
    ['an unknown option', ['run', 'x', '--jsn'], 'unknown option --jsn\n  did you mean --json?'],
    ['an unknown short option', ['run', 'x', '-x'], 'unknown option -x'],
    ['a value where none belongs', ['run', 'x', '--json=3'], '--json takes no value'],
    ['a value that is missing', ['run', 'x', '--max-cost'], '--max-cost needs a value: --max-cost=USD'],
    ['a negative number', ['run', 'x', '--max-tokens', '-5'], '--max-tokens needs a value: --max-tokens=N'],
    [
      'a number that is none',
      ['run', 'x', '--max-tokens=many'],
      '--max-tokens: "many" is not valid\n  expected a whole number of 0 or more',
    ],
    [
      'half a token',
      ['run', 'x', '--max-tokens=1.5'],
      '--max-tokens: "1.5" is not valid\n  expected a whole number of 0 or more',
    ],
    [
      'money in words',
      ['run', 'x', '--max-cost=1e9'],
      '--max-cost: "1e9" is not valid\n  expected an amount such as 2.50',
    ],
    [
      'a time in words',
      ['run', 'x', '--max-duration=soon'],
      '--max-duration: "soon" is not valid\n  expected a time such as 90s, 10m or 1h',
    ],
    ['an unknown mode', ['run', 'x', '--mode=yol'], '--mode: "yol" is not valid\n  expected human, confirm or yolo'],
    [
      'an unknown colour',
      ['run', 'x', '--color', 'blue'],
      '--color: "blue" is not valid\n  expected never, 16, 256 or truecolor',
    ],
    [
      'half a role model',
      ['run', 'x', '--role-model', 'oracle'],
      '--role-model: "oracle" is not valid\n  expected role=model, such as oracle=o3',
    ],
    [
      'a task without quotes',
      ['run', 'find', 'bugs'],
      'unexpected argument: "bugs"\n  put a task of several words in quotes',
    ],
    ['no task', ['run', '--yes'], 'missing argument: task\n  mimir run "<task>"'],
    ['an empty task', ['plan', ' \n'], 'missing argument: task\n  mimir plan "<task>"'],
    [
      'no task and no terminal',
      [],
      'missing argument: task (there is no terminal to ask for it)\n  mimir run "<task>"',
    ],
    ['config without a word', ['config'], 'config needs a subcommand: schema or show'],
    [
      'a format that there is not',
      ['report', '--format', 'pdf'],
      '--format: "pdf" is not valid\n  expected md, json or html',
    ],
    ['an empty folder name', ['sessions', '--cwd', ''], '--cwd is empty\n  expected a directory'],
    [
      'human mode without a person',
      ['run', 'x', '--mode', 'human', '--yes'],
      'mode human needs a terminal: every turn waits for a person\n  use --mode confirm',
    ],
    ['a session when there is none', ['show'], 'this project has no sessions yet\n  `mimir` starts one'],
    [
      'a session that there is not',
      ['report', 'nope'],
      'this project has no session "nope"\n  `mimir sessions` lists them',
    ],
    [
      'nothing to resume',
      ['resume'],
      'nothing to resume: this project has no stopped or failed session\n  `mimir sessions` lists all sessions',
    ],
  ];
  it.each(cases)('%s', async (_, args, err) => {
    expect(await home.run(args)).toEqual(refused(`mimir: ${err}\n`));
  });

  it('what was typed is repeated with its hidden characters shown as escapes', async () => {
    const { code, err } = await home.run(['run', 'x', '--mode', '\u001b[31myolo\u0007']);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'mimir: --mode: "\\x1b[31myolo\\x07" is not valid\n  expected human, confirm or yolo\n',
    });
  });

  it('a task that only looks a little like a command is a task', async () => {
    expect(await home.run(['Refactor', '--plain'])).toMatchObject({ code: 4 });
  });
});
