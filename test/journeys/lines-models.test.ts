/** A whole session in a dumb terminal, with a language model: everything that a person does on the full screen, by typed lines. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Double } from '../support/double/double.ts';
import { openDouble } from '../support/double/double.ts';
import type { Script } from '../support/double/script.ts';
import type { Machine, Person } from '../support/journey.ts';
import { answersInLines } from '../support/questions.ts';
import { LEDGER, makeMachine } from '../support/journey.ts';
import { ledgerStory, MERGE, PLANNER, STORY_TASK, WORKERS } from '../support/ledger-story.ts';

const doubles: Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.close())));

const DUMB = { cols: 160, rows: 60, env: { TERM: 'dumb' } };

/** The finder's last answer never comes to its end unless it is interrupted and told something; the second agent wants to run a command. */
const story = (): Script => {
  const slow = { text: 'It stands in `src/cache.js:6`, and keeps every balance. '.repeat(20), rate: 2 };
  const rules = WORKERS.map((rule, at) => (at === 2 ? { ...rule, answer: slow } : rule));
  const told = {
    when: { first: '^Find where balanceOf', last: 'parse as well' },
    answer: { text: 'balanceOf is in `src/cache.js:6`, and parse in `src/parse.js:1`.' },
  };
  const asks = {
    when: { first: '^Find every file', turn: 1 },
    answer: { calls: [{ tool: 'bash', input: { command: 'npm test' } }] },
  };
  return ledgerStory({ rules: [PLANNER, told, asks, ...rules, MERGE], rate: 400 });
};

async function machineWith(script: Script): Promise<Machine> {
  const double = await openDouble(script);
  doubles.push(double);
  return makeMachine(LEDGER, { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: double.url });
}

/** Types a line, and waits for what it leads to, in all that was said since. */
async function says(person: Person, text: string, ...sees: readonly (string | RegExp)[]): Promise<void> {
  const from = person.terminal.output().length;
  person.type(`${text}\r`);
  await hears(person, from, ...sees);
}

async function hears(person: Person, from: number, ...sees: readonly (string | RegExp)[]): Promise<void> {
  const since = (): string => person.terminal.output().slice(from).replaceAll('\r', '');
  for (const what of sees) await person.sees(() => since().search(what) !== -1);
}

describe.concurrent('a session in a dumb terminal', () => {
  it('plans, changes, approves, answers, messages, interrupts, amends, resumes, exports and leaves', async () => {
    const person = (await machineWith(story())).opens([], DUMB);
    await person.sees('Type a task');
    await says(
      person,
      STORY_TASK,
      'Multi-Agent Execution Plan',
      /Depends on: Task #1 finder, #2 librarian/,
      /Proceed\?/,
    );
    await says(person, 'role 2 tester', /#2 tester: role is now tester|role is now tester/);
    await says(person, 'edit 3 Explain how balanceOf works, in three sentences.', '#3 reviewer: description changed');
    await says(person, 'plan', '2. tester', 'in three sentences');
    const from = person.terminal.output().length;
    await says(person, 'accept', /Plan approved/);
    await hears(person, from, 'npm test', '  1  y  allow once', 'Question 1, #2 tester: allow it');
    await says(
      person,
      'agents',
      '#1 finder: running',
      /#2 tester: waiting, asks you/,
      /#3 reviewer: waiting for #1 finder, #2 tester/,
    );
    await answersInLines(person, '1', 'Allowed once: npm test');
    await says(person, '', /\d running.*no open questions/);
    await says(person, 'interrupt 1', /[Ff]inder interrupted/);
    await says(person, 'message 1 Look at parse as well', /[Ss]ent to finder/);
    await says(person, 'budget 3 90k', 'The running plan would change:', /90k|90000/, 'Change the plan\\?');
    await says(person, 'yes', /The plan is changed: .*reviewer/);
    await says(person, 'show 1 messages', 'Look at parse as well');
    await says(person, 'resume 1', /[Ff]inder resumed/, /\[finder\] done/, /\[reviewer\] done/, 'completed: 3 agents');
    await says(person, 'compare', /\| reviewer \| .* of /);
    await says(person, 'export html', /\.html/);
    await says(person, 'quit');
    expect(await person.leaves()).toBe(0);
    expect(person.terminal.output()).not.toContain('\u001b');
  });

  it('is told what leaving means, twice Ctrl-C leaves, and resume goes on in lines with what was done', async () => {
    const machine = await machineWith(story());
    const person = machine.opens(['--plain', STORY_TASK], { cols: 120, rows: 50 });
    await person.sees('Proceed? [Y/n/e/m]');
    await says(person, 'role 2 tester', /role is now tester/);
    await says(person, 'y', /Question 1, #2 tester: allow it/);
    await answersInLines(person, 'n not now', /Denied[^]*\[tester\] done/);
    person.press('ctrl-c');
    await person.sees('Press Ctrl-C again to quit');
    person.press('ctrl-c');
    await person.sees('Stopping the agents');
    expect(await person.leaves()).toBe(1);
    const again = machine.opens(['resume', '--plain'], { cols: 120, rows: 50 });
    await again.sees('Resuming session', /\d running/);
    await says(again, 'show 2', '#2 tester: completed');
    await says(again, 'quit', 'Quit\\? yes quits');
    await says(again, 'yes', 'continues it');
    expect(await again.leaves()).toBe(1);
  });

  it('takes no letter for a yes that was typed before the question was said', async () => {
    const person = (await machineWith(story())).opens([STORY_TASK], DUMB);
    await person.sees(/Proceed\?/);
    await says(person, 'role 2 tester', /role is now tester/);
    const from = person.terminal.output().length;
    // The letter stands in the terminal's own line when the question comes.
    person.type('accept\ry');
    await hears(person, from, 'earlier input was discarded', /Question 1, #2 tester/);
    await says(person, '', '1 open question');
    await answersInLines(person, 'n', 'Denied');
    person.terminal.kill();
  });

  it('keeps what is being typed whole while others speak', async () => {
    const person = (await machineWith(story())).opens(['--plain', STORY_TASK], { cols: 120, rows: 50 });
    await person.sees('Proceed? [Y/n/e/m]');
    person.press('enter');
    await person.sees('[finder] Find where balanceOf');
    person.type('message 1 be');
    await person.sees(/^> message 1 be$/m, /\[finder\] .*\.\.\. \d+ tools/);
    expect(person.screen()).toMatch(/^> message 1 be$/m);
    person.type(' brief');
    person.press('enter');
    await person.sees(/[Ss]ent to finder/);
    person.terminal.kill();
  });
});
