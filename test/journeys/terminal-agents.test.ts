/** Agents of other programs in terminals of tmux, in runs of the real program: approval, questions, the sandbox around them, crashes, and commands. */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import { toolProcessesBelow } from '../support/invariants.ts';
import { LEDGER, type Machine } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';
import { answersInLines } from '../support/questions.ts';
import { makeFolder } from '../support/repos.ts';
import { terminalCommand, type TerminalScript, type TerminalStep } from '../support/terminal-agent.ts';
import { until } from '../support/until.ts';

needs('git', 'bubblewrap', 'tmux');

const NOTES = 'notes.txt';
const TRANSCRIPTS = '.helper/projects';
const say = (text: string): TerminalStep => ({ do: 'say', text });
const run = (command: string): TerminalStep => ({ do: 'run', command });

/** Lines of its notes in its tree. */
const notesOf = ({ home }: Machine): readonly string[] =>
  globSync(`state/mimir/**/${NOTES}`, { cwd: home }).flatMap((file) =>
    readFileSync(path.join(home, file), 'utf8').split('\n'),
  );

const noted = (machine: Machine, start: string): Promise<void> =>
  until(() => notesOf(machine).some((line) => line.startsWith(start)));

const tmux = ({ env }: Machine, ...args: readonly string[]): string =>
  spawnSync('tmux', ['-L', 'mimir', ...args], { encoding: 'utf8', env: { ...process.env, ...env } }).stdout;

const machines: Machine[] = [];
afterAll(() => {
  for (const machine of machines) tmux(machine, 'kill-server');
});

/** A machine on which the agent `helper` works in a terminal; the model plans one task for it. */
async function withAgent(script: TerminalScript, more = '', PATH = process.env['PATH'] ?? ''): Promise<Machine> {
  const rules = [
    { when: { first: '# Roles' }, answer: { text: planText(['Rename the cache', 'helper']) } },
    { answer: { text: 'All is done.' } },
  ];
  const env = { TMUX_TMPDIR: makeFolder(), PATH };
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER, config: more, env });
  machines.push(machine);
  mkdirSync(path.join(machine.home, '.helper'));
  configure(machine, script);
  return machine;
}

/** Sets what the agent does from its next start on. */
function configure({ home }: Machine, script: TerminalScript, more = ''): void {
  const file = path.join(home, 'config/mimir/config.yml');
  const others = readFileSync(file, 'utf8').replace(/^agents:\n.*\n/m, '');
  const own = `tmux: ${JSON.stringify(terminalCommand(script))}, home: [.helper], transcript: ${TRANSCRIPTS}${more}`;
  writeFileSync(file, `${others}agents:\n  helper: { ${own} }\n`);
}

/** Ends the run that was begun by a spawn, which waits for messages. */
async function endRun(machine: Machine): Promise<void> {
  const [run = ''] = /\w{6}(?=\s)/.exec((await machine.mimir('sessions')).out) ?? [];
  expect((await machine.mimir('kill', run)).code).toBe(0);
}

describe.concurrent('an agent in a terminal', () => {
  it('S071, S110, S111: works in a tree of its own, is counted, and its terminal stays to be looked at', async () => {
    const steps = [run("sed -i 's/cache.set/memory.set/' src/cache.js"), say('I renamed it.')];
    const machine = await withAgent({ notes: NOTES, transcript: TRANSCRIPTS, prompts: [steps] });
    const { code, err, events } = await runOn(machine, 'Rename the cache', '--mode', 'yolo');
    expect([code, err]).toEqual([0, '']);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toContain('memory.set');
    const { out } = await machine.mimir('report', '--format', 'json');
    const report: unknown = JSON.parse(out);
    expect(report).toMatchObject({ agents: [{ role: 'helper', model: { used: 'tmux/helper' }, cost: null }] });
    const used = of(events, 'model.finished').map((event) => Number(Reflect.get(Object(event['usage']), 'cacheRead')));
    expect(used.reduce((all, one) => all + one, 0)).toBe(2000);
    expect(of(events, 'tool.started').map(({ label }) => label)).toContain(
      "Bash(sed -i 's/cache.set/memory.set/' src/cache.js)",
    );
    const [session = ''] = tmux(machine, 'list-panes', '-a', '-F', '#{session_name} #{pane_dead}').trim().split('\n');
    expect(session).toMatch(/^mimir-[0-9a-z]{6} 1$/);
    const { out: children } = await machine.mimir('children', '--json', '--status', 'all');
    expect(children).toContain(`"tmux_session":"${session.slice(0, -2)}"`);
  });

  it('S136: asks what its program asks, and gets the answer', async () => {
    const choose = { do: 'choose', question: 'Do you want to proceed?', options: ['Yes', 'No'] } as const;
    const machine = await withAgent({ notes: NOTES, prompts: [[choose, say('Done.')]] });
    const person = machine.opens(['run', 'Rename the cache', '--yes', '--mode', 'yolo']);
    await person.sees('Do you want to proceed?', 'Its terminal: tmux -L mimir attach -t =mimir-');
    await answersInLines(person, '2', /helper +done|All is done|report/);
    await noted(machine, 'chosen "2"');
    expect(await person.terminal.exit).toMatchObject({ code: 0 });
  });

  it('reads and writes only its tree and its login folder, and cannot reach its terminal', async () => {
    const machine = await withAgent({ notes: NOTES, prompts: [] });
    const commands = [
      `cat ${machine.home}/secret.txt`,
      `echo x > ${machine.project}/src/cache.js`,
      'echo kept > ~/.helper/session',
      'env | grep -c -e KEY -e TOKEN -e TMUX || true',
      `TMUX_TMPDIR=${machine.env['TMUX_TMPDIR']} tmux -L mimir ls`,
      `ls ${machine.home}/state/mimir/projects ${machine.home}/state/mimir`,
    ];
    configure(machine, { notes: NOTES, prompts: [[...commands.map(run), say('Tried. Done.')]] });
    writeFileSync(path.join(machine.home, 'secret.txt'), 'secret\n');
    const { code, err } = await runOn(machine, 'Rename the cache', '--mode', 'yolo');
    expect([code, err]).toEqual([0, '']);
    const notes = readFileSync(path.join(machine.project, NOTES), 'utf8').split('\n');
    expect(notes.flatMap((line) => /^ran .*?: (.*)$/.exec(line)?.[1] ?? [])).toEqual([
      expect.stringContaining('No such file or directory'),
      '',
      '',
      '0',
      expect.stringMatching(/no server running|error connecting|not found/),
      expect.stringContaining('No such file or directory'),
    ]);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).not.toBe('x\n');
    expect(readFileSync(path.join(machine.home, '.helper/session'), 'utf8')).toBe('kept\n');
  });

  it('ends with Mimir, and is told what it lost when the run is resumed', async () => {
    const machine = await withAgent({ notes: NOTES, prompts: [[run('echo one >> src/cache.js'), { do: 'wait' }]] });
    const person = machine.opens(['run', 'Rename the cache', '--yes', '--mode', 'yolo']);
    await noted(machine, 'waits');
    person.terminal.signal('SIGKILL');
    await person.terminal.exit;
    await until(
      () =>
        toolProcessesBelow(machine.project).length === 0 &&
        !tmux(machine, 'list-panes', '-aF', '#{pane_dead}').includes('0'),
    );
    configure(machine, { notes: NOTES, prompts: [[run('echo two >> src/cache.js'), say('Both are there. Done.')]] });
    const resumed = await machine.mimir('resume', '--yes', '--mode', 'yolo', '--json');
    expect([resumed.code, resumed.err]).toEqual([0, '']);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8').split('\n').slice(-3)).toEqual([
      'one',
      'two',
      '',
    ]);
    expect(of(jsonLines(resumed.out), 'merge.finished')).toHaveLength(1);
    const prompts = readFileSync(path.join(machine.project, NOTES), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('prompt'));
    expect(prompts[1]).toContain('You worked on this before and were interrupted');
  });

  it('continues its conversation after a crash of Mimir where the program can, and counts nothing twice', async () => {
    const one = {
      notes: NOTES,
      transcript: TRANSCRIPTS,
      prompts: [[run('echo one >> src/cache.js'), { do: 'wait' }]],
    } as const;
    const machine = await withAgent(one);
    const person = machine.opens(['run', 'Rename the cache', '--yes', '--mode', 'yolo']);
    await noted(machine, 'waits');
    person.terminal.signal('SIGKILL');
    await person.terminal.exit;
    await until(() => toolProcessesBelow(machine.project).length === 0);
    const two = { ...one, prompts: [[run('echo two >> src/cache.js'), say('Both are there. Done.')]] };
    configure(machine, two, ', continues: [--title=continued]');
    const resumed = await machine.mimir('resume', '--yes', '--mode', 'yolo', '--json');
    expect([resumed.code, resumed.err]).toEqual([0, '']);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8').split('\n').slice(-3)).toEqual([
      'one',
      'two',
      '',
    ]);
    const notes = readFileSync(path.join(machine.project, NOTES), 'utf8').split('\n');
    const [, second = ''] = notes.filter((line) => line.startsWith('prompt'));
    expect(notes).toContain('continued its conversation');
    expect(second).toMatch(/^prompt "You were interrupted\. Acts that were under way/);
    const events = jsonLines(resumed.out);
    const labels = of(events, 'tool.started').map(({ label }) => String(label));
    expect(labels.filter((label) => /^Bash|^continued/.test(label))).toEqual([
      expect.stringMatching(/^continued its session: in a terminal: tmux -L mimir attach/),
      'Bash(echo two >> src/cache.js)',
    ]);
    const used = of(events, 'model.finished').map((event) => Number(Reflect.get(Object(event['usage']), 'cacheRead')));
    expect(used.reduce((all, each) => all + each, 0)).toBe(2000);
  });

  it('S037, S039: is spawned by its name, and told with its session', async () => {
    const machine = await withAgent(
      { notes: NOTES, prompts: [[{ do: 'wait' }]] },
      'enforcement: { foreignAgents: allow }\n',
    );
    const spawned = await machine.mimir('spawn', 'helper', 'Rename the cache');
    expect([spawned.code, spawned.err, spawned.out]).toEqual([
      0,
      '',
      expect.stringMatching(/^Spawned \S+ \((\w{6})\) in tmux session mimir-\1$/m),
    ]);
    await noted(machine, 'waits');
    const { out } = await machine.mimir('status', '--json');
    expect(out).toMatch(/"tmux_session":"mimir-\w{6}"/);
    expect(tmux(machine, 'list-sessions', '-F', '#{session_name}')).toMatch(/^mimir-\w{6}\n$/);
    await endRun(machine);
    await until(() => toolProcessesBelow(machine.project).length === 0);
  });

  it('S131: is merged where it was spawned, and goes on in a new tree with a message', async () => {
    const script = { notes: NOTES, prompts: [[run('echo one >> src/cache.js'), say('Done.')]] };
    const machine = await withAgent(script, 'enforcement: { foreignAgents: allow }\n');
    const { out } = await machine.mimir('spawn', 'helper', 'Rename the cache');
    const id = /\((\w{6})\)/.exec(out)?.[1] ?? '';
    const ends = (text: string): Promise<void> =>
      until(() => readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8').endsWith(text));
    await ends('one\n');
    const sent = await machine.mimir('send', id, 'Once more');
    expect([sent.code, sent.err]).toEqual([0, '']);
    await ends('one\none\n');
    const notes = readFileSync(path.join(machine.project, NOTES), 'utf8').split('\n');
    expect(notes.filter((line) => line.startsWith('prompt')).at(-1)).toContain('Once more');
    await endRun(machine);
  });

  it('is started again where the server of its terminals ends in that moment', async () => {
    const folder = makeFolder();
    const real = (process.env['PATH'] ?? '')
      .split(':')
      .map((one) => path.join(one, 'tmux'))
      .find((one) => existsSync(one));
    const ends = `[ ! -e ${folder}/once ] && { touch ${folder}/once; echo "server exited unexpectedly" >&2; exit 1; }`;
    const script = `#!/bin/sh\ncase "$*" in *new-session*) ${ends};; esac\nexec ${real ?? 'tmux'} "$@"\n`;
    writeFileSync(path.join(folder, 'tmux'), script, { mode: 0o755 });
    const machine = await withAgent(
      { notes: NOTES, prompts: [[say('Done.')]] },
      '',
      `${folder}:${process.env['PATH'] ?? ''}`,
    );
    const { code, err } = await runOn(machine, 'Rename the cache', '--mode', 'yolo');
    expect([code, err, existsSync(path.join(folder, 'once'))]).toEqual([0, '', true]);
  });

  it('is stopped with its program', async () => {
    const machine = await withAgent({ notes: NOTES, prompts: [[{ do: 'wait' }]] });
    const person = machine.opens(['run', 'Rename the cache', '--yes', '--mode', 'yolo']);
    await noted(machine, 'waits');
    person.press('ctrl-c');
    await person.sees('stopped by Ctrl-C');
    await person.terminal.exit;
    expect(toolProcessesBelow(machine.project)).toEqual([]);
    expect(globSync('state/mimir/**/start.sh', { cwd: machine.home })).toEqual([]);
  });

  it('S094, S095: is also the program of childAgents.command, with its arguments', async () => {
    const [command = '', ...args] = terminalCommand({ notes: NOTES, prompts: [[say('Done.')]] });
    const machine = await withAgent(
      { notes: NOTES, prompts: [] },
      `childAgents: { command: ${command}, args: ${JSON.stringify(args)} }\n`,
    );
    const plan = path.join(machine.home, 'plan.json');
    writeFileSync(plan, JSON.stringify({ reason: '', tasks: [{ id: 'one', description: 'Rename it', role: 'node' }] }));
    const { code, err } = await runOn(machine, 'Rename it', '--plan', plan, '--mode', 'yolo');
    expect([code, err]).toEqual([0, '']);
    expect(existsSync(path.join(machine.project, NOTES))).toBe(true);
  });
});
