/** Agents of other programs in runs of the real program: approvals, the sandbox around them, their network, crashes, and what rules forbid. */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { acpCommand, type AcpScript, type AcpStep } from '../support/acp-agent.ts';
import { jsonLines } from '../support/cli.ts';
import { toolProcessesBelow } from '../support/invariants.ts';
import { LEDGER, type Machine, type Person } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { of, ownModel, planText, runOn } from '../support/on-the-wire.ts';
import { until } from '../support/until.ts';

needs('git', 'bubblewrap');

const NOTES = 'notes.txt';
const say = (text: string): AcpStep => ({ do: 'say', text });
const run = (command: string, ask?: true): AcpStep => ({ do: 'run', command, ...(ask === undefined ? {} : { ask }) });

/** Waits until a line of its notes in its tree begins like this. */
async function noted({ home }: Machine, start: string): Promise<void> {
  const files = (): readonly string[] => globSync(`state/mimir/**/${NOTES}`, { cwd: home });
  await until(() =>
    files().some((file) =>
      readFileSync(path.join(home, file), 'utf8')
        .split('\n')
        .some((line) => line.startsWith(start)),
    ),
  );
}

/** A machine on which the agent `helper` is configured; the model plans one task for it. */
async function withAgent(script: AcpScript, more = ''): Promise<Machine> {
  const rules = [
    { when: { first: '# Roles' }, answer: { text: planText(['Rename the cache', 'helper']) } },
    { answer: { text: 'All is done.' } },
  ];
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER, config: more });
  configure(machine, script);
  return machine;
}

/** Sets what the agent does from its next start on. */
function configure({ home }: Machine, script: AcpScript, more = ''): void {
  const file = path.join(home, 'config/mimir/config.yml');
  const others = readFileSync(file, 'utf8').replace(/^agents:\n.*\n/m, '');
  writeFileSync(
    file,
    `${others}agents:\n  helper: { acp: ${JSON.stringify(acpCommand(script))}, home: [.helper]${more} }\n`,
  );
}

/** Waits for a question with these words and answers it. It takes no key in its first moment. */
async function answer(person: Person, words: string, key: string): Promise<void> {
  await person.sees(words, 'A to answer');
  person.press('A');
  await person.sees('Esc later');
  const isAnswered = (): Promise<boolean> =>
    person.terminal
      .waitFor((rows) => !rows.join('\n').includes('Esc later'), { timeout: 1500 })
      .then(() => true)
      .catch(() => false);
  do person.press(key);
  while (!(await isAnswered()));
}

const notesIn = ({ project }: Machine): readonly string[] => {
  const file = path.join(project, NOTES);
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
};

describe('an agent of another program', () => {
  it('works in a tree of its own, asks for each act, and its work is merged and paid for', async () => {
    const steps: readonly AcpStep[] = [
      { do: 'plan', entries: [['Rename', 'in_progress']] },
      run("sed -i 's/cache.set/memory.set/' src/cache.js", true),
      { do: 'write', path: 'LICENSE', text: 'mine\n', ask: true },
      { do: 'plan', entries: [['Rename', 'completed']] },
      { do: 'cost', dollars: 0.25 },
      say('I renamed it.'),
    ];
    const machine = await withAgent({ notes: NOTES, prompts: [steps] });
    const person = machine.opens([]);
    await person.sees(/press 1-\d/);
    person.type('Rename the cache');
    person.press('enter');
    await person.sees('⏎ accept', 'in a tree of its own');
    person.press('Y');
    await answer(person, 'acp-agent.ts', '1');
    await answer(person, "sed -i 's/cache.set/memory.set/' src/cache.js", '1');
    await answer(person, 'Edit LICENSE', '4');
    await person.sees('2 files changed', 'I renamed it.', /helper +\d+s +\$0\.25 /);
    person.press('q');
    expect(await person.leaves()).toBe(0);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toContain('memory.set');
    expect(existsSync(path.join(machine.project, 'LICENSE'))).toBe(false);
    const heard = notesIn(machine).filter((line) => /^(?:sed|Edit)/.test(line));
    expect(heard).toEqual(["sed -i 's/cache.set/memory.set/' src/cache.js: once", 'Edit LICENSE: no']);
    const { out } = await machine.mimir('report', '--format', 'json');
    const report: unknown = JSON.parse(out);
    expect(report).toMatchObject({ agents: [{ role: 'helper', cost: 0.25 }] });
  });

  it('reads and writes only its tree and its login folder, and reaches only the hosts that it may', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('hello from the provider'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const ask = (host: string): string =>
      `node -e "let all='';const s=require('net').connect(3128,'127.0.0.1',()=>s.write('CONNECT ${host} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'));s.on('data',(d)=>(all+=d));s.on('close',()=>console.log(all.split('\\r\\n').filter(Boolean).join(', ')))"`;
    const machine = await withAgent({ prompts: [] });
    const prompts = [
      [
        run(`cat ${machine.home}/secret.txt`),
        run(`echo x > ${machine.project}/src/cache.js`),
        run(`ls ${machine.project}`),
        run('echo kept > ~/.helper/session'),
        run('cat ~/.helper/login'),
        run('ls -A ~'),
        run('env | grep -c -e KEY -e TOKEN || true'),
        run(`ls ${machine.home}/state/mimir/projects`),
        run('test -e .env && cat .env; ln -s "$PWD/../../.." out; ls out/projects'),
        run(ask(`127.0.0.1:${port}`)),
        run(ask('example.org:443')),
        run(
          `node -e "require('net').connect(${port},'127.0.0.1').on('error',(e)=>console.log(e.code)).on('connect',()=>console.log('reached'))"`,
        ),
        say('Tried.'),
      ],
    ];
    configure(machine, { notes: NOTES, prompts }, `, hosts: ["127.0.0.1:${port}"]`);
    mkdirSync(path.join(machine.home, '.helper'));
    writeFileSync(path.join(machine.home, '.helper/login'), 'logged in\n');
    writeFileSync(path.join(machine.home, 'secret.txt'), 'secret\n');
    const before = readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8');
    const { code, err } = await runOn(machine, 'Rename the cache', '--mode', 'yolo');
    server.close();
    expect([code, err]).toEqual([0, '']);
    const ran = notesIn(machine).flatMap((line) => /^ran .*: (.*)$/.exec(line)?.[1] ?? []);
    expect(ran).toEqual([
      'No such file or directory',
      'Directory nonexistent',
      '',
      '',
      'logged in',
      '.cache',
      '0',
      'No such file or directory',
      'No such file or directory',
      'HTTP/1.1 200 Connection Established, hello from the provider',
      'HTTP/1.1 403 Forbidden',
      'ECONNREFUSED',
    ]);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toBe(before);
    expect(readFileSync(path.join(machine.home, '.helper/session'), 'utf8')).toBe('kept\n');
  });

  it('continues its session after the program was killed, and its work is merged once', async () => {
    const prompts = [[run('echo one >> src/cache.js'), { do: 'wait' }]] as const;
    const machine = await withAgent({ notes: NOTES, prompts, load: true });
    const person = machine.opens(['run', 'Rename the cache', '--yes', '--mode', 'yolo']);
    await noted(machine, 'ran echo one');
    person.terminal.signal('SIGKILL');
    await person.terminal.exit;
    configure(machine, {
      notes: NOTES,
      prompts: [[run('echo two >> src/cache.js'), say('Both are there.')]],
      load: true,
    });
    const resumed = await machine.mimir('resume', '--yes', '--mode', 'yolo', '--json');
    expect([resumed.code, resumed.err]).toEqual([0, '']);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8').split('\n').slice(-3)).toEqual([
      'one',
      'two',
      '',
    ]);
    expect(notesIn(machine).find((line) => line.startsWith('loaded'))).toBe('loaded session-1');
    expect(of(jsonLines(resumed.out), 'merge.finished')).toHaveLength(1);
  });

  it('is stopped with its process, and says nothing more', async () => {
    const machine = await withAgent({ notes: NOTES, prompts: [[{ do: 'wait' }]] });
    const person = machine.opens(['run', 'Rename the cache', '--yes', '--mode', 'yolo']);
    await noted(machine, 'prompt');
    person.press('ctrl-c');
    await person.sees('stopped by Ctrl-C');
    await person.terminal.exit;
    expect(toolProcessesBelow(machine.project)).toEqual([]);
  });
});

describe('rules on agents of other programs', () => {
  const never: AcpScript = { notes: NOTES, prompts: [[say('I work.')]] };

  it('may forbid them: then there is no such role', async () => {
    const machine = await withAgent(never, 'enforcement: { foreignAgents: deny }\n');
    const { code, out, err } = await machine.mimir('run', 'Rename it', '--plan', planFile(machine), '--yes');
    expect([code, out + err]).toEqual([3, expect.stringContaining(FORBIDDEN)]);
  });

  it('with a limit of cost, which cannot be kept, refuse them before anything runs', async () => {
    const machine = await withAgent(never);
    const { code, out, err } = await machine.mimir(
      'run',
      'Rename it',
      '--plan',
      planFile(machine),
      '--yes',
      '--max-cost',
      '1',
    );
    expect([code, out + err]).toEqual([3, expect.stringContaining(UNKNOWN_COST)]);
  });

  it('may allow their start without approval', async () => {
    const machine = await withAgent(never, 'enforcement: { foreignAgents: allow }\n');
    const { code, events } = await runOn(machine, 'Rename the cache', '--mode', 'confirm');
    expect([code, of(events, 'approval.asked')]).toEqual([0, []]);
  });
});

const FORBIDDEN =
  "one: 'helper' is an agent of another program — enforcement.foreignAgents: deny (user, ~/config/mimir/config.yml:3)";
const UNKNOWN_COST =
  'one: No model is left for helper, which asked for acp/helper: --max-cost 1: what an agent of another program costs is not known before, so the limit cannot be enforced (command line)';

/** A plan of one task for the agent, beside the project. */
function planFile({ home }: Machine): string {
  const file = path.join(home, 'plan.json');
  writeFileSync(file, JSON.stringify({ reason: '', tasks: [{ id: 'one', description: 'Rename it', role: 'helper' }] }));
  return file;
}
