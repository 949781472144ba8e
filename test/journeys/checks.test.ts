/** Checks of tasks through the real program: a real test runner, a real sandbox, a model that only says that it is done. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Rule } from '../support/double/script.ts';
import { toolProcessesBelow } from '../support/invariants.ts';
import type { Machine } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { of, ownModel, runOn } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

const FILES = {
  'package.json': '{ "name": "sum", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/sum.js': 'export const sum = (a, b) => a - b;\n',
  'test/sum.test.js': [
    "import { strict as assert } from 'node:assert';",
    "import { test } from 'node:test';",
    "import { sum } from '../src/sum.js';",
    "test('adds', () => assert.equal(sum(1, 2), 3));",
    '',
  ].join('\n'),
};

/** Checks of a task as they are in a plan, without `attempts` as many as usual. */
interface Checked {
  readonly checks: readonly (string | { readonly run: string; readonly timeout: string })[];
  readonly attempts?: number;
}

/** A project with a plan of one task, whose agent answers by these rules. */
async function planned(checks: string | readonly string[] | Checked, ...rules: readonly Rule[]): Promise<Machine> {
  const { machine } = await ownModel('anthropic', { script: { rules }, files: FILES });
  const checked = typeof checks === 'object' && 'checks' in checks ? checks : { checks: [checks].flat() };
  const plan = JSON.stringify({ tasks: [{ id: 'mend', role: 'code', description: 'Mend the sum', ...checked }] });
  writeFileSync(path.join(machine.project, 'plan.yml'), plan);
  return machine;
}
const FLAGS = ['--plan', 'plan.yml', '--allow', 'edits,commands'] as const;
const says = (text: string): Rule => ({ answer: { text } });

it('does not believe that the tests pass: the run fails, with what they printed in the next message', async () => {
  const machine = await planned('npm test', says('All tests pass.'));
  const { code, events } = await runOn(machine, 'Mend the sum', ...FLAGS);
  expect(code).toBe(1);
  expect(of(events, 'check.finished').map(({ passed, exit, attempt }) => [passed, exit, attempt])).toEqual([
    [false, 1, 1],
    [false, 1, 2],
  ]);
  const told = of(events, 'agent.told').map(({ text }) => String(text));
  expect(told[1]).toContain('`npm test`: exit code 1, expected 0.');
  expect(told[1]).toMatch(/^✖ adds /m);
  const { out } = await machine.mimir('report', '--format', 'json');
  expect(JSON.parse(out)).toHaveProperty('agents.0.verification', 'failed');
});

it('says that a check is stale once the person has changed the project after the run', async () => {
  const machine = await planned('test -f src/sum.js', says('Done.'));
  expect((await machine.mimir('run', 'Mend the sum', '--yes', ...FLAGS)).code).toBe(0);
  const verification = async (): Promise<string> =>
    /"verification": ?"(\w+)"/.exec((await machine.mimir('report', '--format', 'json')).out)?.[1] ?? '';
  const before = await verification();
  writeFileSync(path.join(machine.project, 'src/sum.js'), 'export const sum = () => 3;\n');
  expect([before, await verification()]).toEqual(['verified', 'stale']);
});

it('lets the agent mend what fails, and ends with 0 once the tests pass', async () => {
  const call = { tool: 'bash', input: { command: "sed -i 's/a - b/a + b/' src/sum.js" } };
  const machine = await planned('npm test', { when: { turn: 2 }, answer: { calls: [call] } }, says('Done.'));
  const done = await machine.mimir('run', 'Mend the sum', '--yes', ...FLAGS);
  expect(done.code).toBe(0);
  expect(done.out).toContain('Checks: npm test');
  expect(done.out).toContain('check failed: npm test: exit code 1');
  expect(done.out).toContain('## Checks\n\n- code: npm test: passed');
  const { out } = await machine.mimir('report', '--format', 'json');
  expect(JSON.parse(out)).toMatchObject({
    agents: [{ verification: 'verified', checks: [{ run: 'npm test', attempt: 2, end: { passed: true, exit: 0 } }] }],
  });
});

it('runs a check again after the program was killed within it', async () => {
  const machine = await planned('test -e go || sleep 300', says('Done.'));
  const person = machine.opens(['run', 'Mend the sum', '--yes', ...FLAGS]);
  await person.sees('checks: test -e go');
  person.terminal.signal('SIGKILL');
  await person.terminal.exit;
  writeFileSync(path.join(machine.project, 'go'), '');
  const resumed = await machine.mimir('resume', '--json');
  expect(resumed.code).toBe(0);
  expect(of(jsonLines(resumed.out), 'check.finished').map(({ passed, attempt }) => [passed, attempt])).toEqual([
    [true, 1],
  ]);
});

it('of work in a tree of its own run again on what was merged, before a dependant begins', async () => {
  const by = (first: string, command: string): Rule => ({
    when: { first, turn: 1 },
    answer: { calls: [{ tool: 'bash', input: { command } }] },
  });
  const rules = [
    by('^Expect four', "sed -i 's/, 3)/, 4)/' test/sum.test.js"),
    by('^Mend the sum', "sed -i 's/a - b/a + b/' src/sum.js"),
    says('Done.'),
  ];
  const { machine, double } = await ownModel('anthropic', { script: { rules }, files: FILES });
  const tasks = [
    { id: 'four', role: 'code', description: 'Expect four', writes: ['test/**'], tree: 'own' },
    { id: 'mend', role: 'code', description: 'Mend the sum', writes: ['src/**'], tree: 'own', checks: ['npm test'] },
    { id: 'use', role: 'finder', description: 'Use the sum', dependsOn: ['mend'] },
  ];
  writeFileSync(path.join(machine.project, 'plan.json'), JSON.stringify({ reason: '', tasks }));
  const { code, events } = await runOn(machine, 'Mend it', '--plan', 'plan.json', '--allow', 'edits,commands');
  const passed = of(events, 'check.finished').map((one) => one['passed']);
  expect([code, passed, double.asked.some(({ first }) => first.startsWith('Use the sum'))]).toEqual([
    1,
    [true, false],
    false,
  ]);
});

it('names what fails before anything has begun, in lines and on the screen, over a kill, and beside the result', async () => {
  const machine = await planned(['npm test', 'test -e go || sleep 300'], says('All tests pass.'));
  const lines = machine.opens(['run', 'Mend the sum', ...FLAGS]);
  await lines.sees('Proceed?');
  lines.type('try');
  lines.press('enter');
  await lines.sees('Trying 2 checks', 'tried, failed: npm test: exit code 1', 'tries: test -e go');
  lines.terminal.signal('SIGKILL');
  await lines.terminal.exit;
  const screen = machine.opens(['resume'], { cols: 160, rows: 40 });
  await screen.sees('1 of 2 checks fails before anything has begun: npm test (exit code 1); not tried: 1');
  writeFileSync(path.join(machine.project, 'go'), '');
  screen.press('V');
  await screen.sees(/begun: npm test \(exit code 1\)\s*$/m);
  screen.press('Y');
  await screen.sees('failed before anything had begun too');
  const { out } = await machine.mimir('report', '--format', 'json');
  expect(JSON.parse(out)).toMatchObject({
    agents: [
      {
        checks: [
          { run: 'npm test', end: { exit: 1 }, first: { passed: false, exit: 1 } },
          { run: 'test -e go || sleep 300', end: { exit: 0 }, first: { passed: true, exit: 0 } },
        ],
      },
    ],
  });
});

it('ends a check that hangs with all that it started, says so to the agent, and comes to its end', async () => {
  const hangs = { run: "npm test & node -e 'setInterval(() => 0, 1e6)'; wait", timeout: '2s' };
  const machine = await planned({ checks: [hangs], attempts: 2 }, says('All tests pass.'));
  const { code, events } = await runOn(machine, 'Mend the sum', ...FLAGS);
  const ends = of(events, 'check.finished').map(({ passed, exit, attempt, failure }) => [
    passed,
    exit,
    attempt,
    failure,
  ]);
  const failure = { is: 'time limit', text: 'stopped after its time limit of 2s' };
  expect([code, ends]).toEqual([
    1,
    [
      [false, null, 1, failure],
      [false, null, 2, failure],
    ],
  ]);
  expect(String(of(events, 'agent.told')[1]?.['text'])).toContain('stopped after its time limit of 2s');
  expect(toolProcessesBelow(machine.project)).toEqual([]);
});

it('takes a flaky check for what it says last, and the report tells how often it was tried', async () => {
  // It counts where it is nobody's change of the project.
  const flaky = 'n=$(cat /tmp/n 2>/dev/null || echo 0); echo $((n+1)) > /tmp/n; echo "run $n"; test $n -ge 2';
  const machine = await planned({ checks: [flaky], attempts: 4 }, says('All tests pass.'));
  const { code, events } = await runOn(machine, 'Mend the sum', ...FLAGS);
  const ends = of(events, 'check.finished').map(({ passed, attempt, changed }) => [passed, attempt, changed]);
  expect([code, ends]).toEqual([
    0,
    [
      [false, 1, undefined],
      [false, 2, undefined],
      [true, 3, undefined],
    ],
  ]);
  const { out } = await machine.mimir('report', '--format', 'json');
  expect(JSON.parse(out)).toMatchObject({
    agents: [{ verification: 'verified', checks: [{ run: flaky, attempt: 3, end: { passed: true } }] }],
  });
});

it('says in the result and in the report that an agent has edited the test by which it is judged', async () => {
  const command = "sed -i 's/, 3)/, -1)/' test/sum.test.js";
  const edits: Rule = { when: { turn: 1 }, answer: { calls: [{ tool: 'bash', input: { command } }] } };
  const machine = await planned('npm test', edits, says('All tests pass.'));
  const { code, out } = await machine.mimir('run', 'Mend the sum', '--yes', ...FLAGS);
  const judged = ['test/sum.test.js'];
  expect([code, out]).toEqual([0, expect.stringContaining(`its agent changed what it checks: ${judged.join()}`)]);
  const report = await machine.mimir('report', '--format', 'json');
  expect(JSON.parse(report.out)).toMatchObject({
    agents: [{ verification: 'verified', checks: [{ run: 'npm test', end: { passed: true, judged } }] }],
  });
});
