/** Line mode with a person at it: what each typed line leads to, from the start to the end of a run. */
import { describe, expect, it, vi } from 'vitest';
import { COMMIT_REQUEST } from '../../../src/app/actions/message.ts';
import type { EventBody, MimirEvent } from '../../../src/events/event.ts';
import { AgentId } from '../../../src/domain/ids.ts';
import { fail, ok, type Result } from '../../../src/domain/result.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { PlanPreview } from '../../../src/ports/controls.ts';
import { PROJECT_SERVICE } from '../../support/fake-run.ts';
import { RACE } from '../../support/plans.ts';
import { finished, midRun, planned, Recording, SESSION, started } from '../../support/recorded-run.ts';
import { typist } from '../../support/typist.ts';
import { until } from '../../support/until.ts';

const proposal = (): Recording => planned(started(new Recording()));

/** The same plan with another digest, as after a change. */
function edited(): MimirEvent {
  const log = proposal();
  const { plan } = foldAll(log.events);
  if (plan === null) throw new Error('no plan');
  const body: EventBody = { type: 'plan.edited', plan, edit: '#1 finder: description changed', digest: 'd2' };
  return log.at(7, body).events.at(-1) ?? fatal();
}
const fatal = (): never => {
  throw new Error('nothing was recorded');
};

describe('the start in lines', () => {
  const info = {
    ...PROJECT_SERVICE,
    suggestions: ['Review this repository', 'Find dead code'],
    templates: [
      {
        name: 'audit',
        description: 'look at one module',
        arguments: [{ name: 'module', description: 'which', default: 'src' }],
        tasks: 3,
        from: '.mimir/plans/audit.yml',
      },
    ],
  };

  it('takes any words for a task', async () => {
    const person = await typist(null, { info });
    await person.types('Explain the cache and help me');
    expect(person.run.begun).toEqual(['Explain the cache and help me']);
  });

  it('takes a number for a suggestion, and says which', async () => {
    const person = await typist(null, { info });
    expect(await person.hears('2')).toEqual(['Task: Find dead code']);
    expect(person.run.begun).toEqual(['Find dead code']);
  });

  it('says what can be begun as numbered lines', async () => {
    const person = await typist(null, { info });
    person.session.welcome();
    expect(person.said).toEqual([
      'Mimir 0.1.0, shop in /home/me/shop. offline (no provider), mode confirm, sandbox none.',
      'Suggestions:',
      '1. Review this repository',
      '2. Find dead code',
      'Type a task; a number plans a suggestion; templates lists templates; help lists the commands; quit quits.',
    ]);
    expect(await person.hears('templates')).toEqual([
      '1. audit: look at one module, 3 tasks; variables: module (.mimir/plans/audit.yml)',
    ]);
  });

  it('begins nothing for a slip of a command', async () => {
    const person = await typist(null, { info });
    expect(await person.hears('sesions')).toEqual([
      'Unknown command "sesions". Did you mean sessions? Nothing was done.',
    ]);
    expect(person.run.begun).toEqual([]);
  });
});

describe('a plan in lines', () => {
  it('says its options once, and its prompt as it is written (O108)', async () => {
    const person = await typist(proposal().events);
    expect(person.said.filter((line) => line === 'Options:')).toHaveLength(1);
    expect(person.prompt()).toBe('Proceed? [Y/n/e/m] ');
  });

  it.each([
    ['model 2 o3', { is: 'model', task: 'task-2', model: 'o3' }],
    ['role 1 oracle', { is: 'role', task: 'task-1', role: 'oracle' }],
    ['edit 3 Say why both win', { is: 'describe', task: 'task-3', description: 'Say why both win' }],
    ['budget 1 5,000, $1', { is: 'budget', task: 'task-1', budget: { maxTokens: 5000, maxCost: 1 } }],
    [
      'budget 1 20k $2.50 10m',
      { is: 'budget', task: 'task-1', budget: { maxTokens: 20_000, maxCost: 2.5, maxDuration: 600_000 } },
    ],
    ['tools 1 git, file_search', { is: 'tools', task: 'task-1', tools: ['git', 'file_search'] }],
    ['needs 4 1, 3', { is: 'depends', task: 'task-4', dependsOn: ['task-1', 'task-3'] }],
    ['needs 4', { is: 'depends', task: 'task-4', dependsOn: [] }],
    ['join 1 2', { is: 'join', task: 'task-1', other: 'task-2' }],
    ['move 2 up', { is: 'move', task: 'task-2', by: -1 }],
    ['drop 6', { is: 'drop', task: 'task-6' }],
  ])('"%s" changes it', async (line, edit) => {
    const person = await typist(proposal().events, { changes: edited() });
    await person.types(line);
    expect(person.commands).toEqual([{ do: 'edit plan', edit }]);
    expect(person.said.at(-1)).toMatch(/^#1 finder: description changed\. Now .*; plan shows all of it\.$/);
  });

  it('asks for what a split and a new task need', async () => {
    const person = await typist(proposal().events, { changes: edited() });
    await person.types('split 1', 'List callers', 'Map them', '', 'y');
    const descriptions = ['List callers', 'Map them'];
    expect(person.commands).toEqual([
      { do: 'edit plan', edit: { is: 'split', task: 'task-1', descriptions, inOrder: true } },
    ]);
    expect(await person.hears('add painter Paint it')).toEqual([expect.stringMatching(/^There is no role painter: /)]);
  });

  it('names first what depends on a task that is dropped, and keeps it without a yes', async () => {
    const person = await typist(proposal().events, { changes: edited() });
    expect(await person.hears('drop 3')).toEqual(['1 task depends on it and will depend on what it needs: 5 tester.']);
    await person.types('no');
    expect(person.commands).toEqual([]);
  });

  it('goes back and forth', async () => {
    const person = await typist(proposal().events, { changes: edited() });
    expect(await person.hears('undo')).toEqual(['Nothing to undo.']);
    await person.types('edit 1 Look', 'undo');
    expect(person.commands.map((command) => (command.do === 'edit plan' ? command.edit.is : command.do))).toEqual([
      'describe',
      'replace',
    ]);
  });

  it.each(['Y', 'y', '', 'accept'])('"%s" approves exactly what was shown (O102)', async (line) => {
    const person = await typist(proposal().events);
    await person.types(line);
    expect(person.commands).toEqual([{ do: 'approve plan', digest: 'd1' }]);
  });

  it.each(['n', 'what?', 'never mind', 'cancel'])('"%s" cancels (O103, O107)', async (line) => {
    const person = await typist(proposal().events);
    await person.types(line);
    expect(person.commands).toEqual([{ do: 'reject plan' }]);
  });

  it('takes no line for an answer that was begun before it was said', async () => {
    const person = await typist(proposal().events);
    await person.typesSince(0, '');
    expect(person.commands).toEqual([]);
    expect(person.said.at(-1)).toBe('That was begun before the plan was printed, so it is ignored: type it again.');
  });

  it('says what is near, and cancels nothing for a slip', async () => {
    const person = await typist(proposal().events);
    expect(await person.hears('modle 1 o3')).toEqual([
      'Unknown command "modle". Did you mean model? Nothing was done.',
    ]);
    expect(await person.hears('model 9 o3')).toEqual(['There is no task 9: tasks are numbered 1 to 6.']);
    expect(await person.hears('budget 1 lots')).toEqual([
      '"lots" is not a limit: expected tokens such as 20k, dollars such as $2.50, or a time such as 10m.',
    ]);
    expect(await person.hears('budget 1 5 000')).toEqual(['"000" sets the same limit again.']);
    expect(person.commands).toEqual([]);
  });

  it('plans again with a hint', async () => {
    const person = await typist(proposal().events);
    await person.types('again look at the tests first');
    expect(person.commands).toEqual([{ do: 'plan again', hint: 'look at the tests first' }]);
  });
});

describe('a run in lines', () => {
  it.each([
    ['message 3 look at refresh', { do: 'message', to: 'ROOT::S3', text: 'look at refresh', delivery: 'important' }],
    ['message 3 now stop there', { do: 'message', to: 'ROOT::S3', text: 'stop there', delivery: 'urgent' }],
    ['message all later be brief', { do: 'message', to: 'all', text: 'be brief', delivery: 'sequential' }],
    ['interrupt 3', { do: 'interrupt', agent: 'ROOT::S3' }],
    ['retry #2', { do: 'retry', agent: 'ROOT::S2' }],
    ['interrupt 4.1', { do: 'interrupt', agent: 'ROOT::S4::S1' }],
    ['model oracle sonnet-4.5', { do: 'set model', agent: 'ROOT::S3', model: 'sonnet-4.5' }],
    ['budget 3 50k', { do: 'set budget', agent: 'ROOT::S3', budget: { maxTokens: 50_000 } }],
    ['budget 0 $5', { do: 'set budget', agent: 'ROOT', budget: { maxCost: 5 } }],
  ])('"%s" is %o', async (line, command) => {
    const person = await typist(midRun().events);
    expect(await person.hears(line)).toEqual([`Done: ${command.do}`]);
    expect(person.commands).toEqual([command]);
  });

  it('resumes an agent only after an interruption', async () => {
    const log = midRun();
    const running = await typist(log.events);
    expect(await running.hears('resume 3')).toEqual(['Oracle is not interrupted.']);
    const agent = AgentId.parse('ROOT::S3');
    log.at(200, { type: 'agent.status', agent, status: 'interrupted', reason: 'by you' });
    const interrupted = await typist(log.events);
    await interrupted.types('resume 3');
    expect([running.commands, interrupted.commands]).toEqual([[], [{ do: 'resume', agent }]]);
  });

  it.each([
    ['skip 6', 'yes', { do: 'skip', agent: 'ROOT::S6' }],
    ['kill 4', 'yes', { do: 'kill', agent: 'ROOT::S4' }],
    ['stop', 'kill', { do: 'stop run', reason: 'stopped by the person' }],
    ['mode human', 'yes', { do: 'set mode', mode: 'human' }],
    ['pin 4 human', 'yes', { do: 'pin mode', agent: 'ROOT::S4', mode: 'human' }],
    ['pin 4 off', 'yes', { do: 'pin mode', agent: 'ROOT::S4', mode: null }],
  ])('"%s" asks first, and only "%s" does it', async (line, word, command) => {
    const person = await typist(midRun().events);
    await person.types(line, 'no', line, '', line, word);
    expect(person.commands).toEqual([command]);
  });

  it('says how it stands with Enter', async () => {
    const person = await typist(midRun().events);
    expect((await person.hears('')).map((line) => line.replace(/, [\dm s]+, /, ', TIME, '))).toEqual([
      '3 running, 2 queued (4 at once), 1 completed, 1 failed, TIME, $0.33 of $2.00, no open questions.',
    ]);
  });

  it('lists agents by numbers that stay, whatever is selected or sorted', async () => {
    const person = await typist(midRun().events);
    const names = async (line: string): Promise<readonly string[]> =>
      (await person.hears(line)).slice(1).map((one) => one.split(':')[0] ?? '');
    expect(await names('agents')).toEqual([
      '#1 finder',
      '#2 librarian',
      '#3 oracle',
      '#4 refactoring',
      '#4.1 finder 2',
      '#5 tester',
      '#6 reviewer',
    ]);
    expect(await names('agents running')).toEqual(['#3 oracle', '#4 refactoring', '#4.1 finder 2']);
    expect(await names('agents race')).toEqual(['#3 oracle', '#5 tester']);
    expect(await names('agents 4')).toEqual(['#4.1 finder 2']);
    expect((await names('agents cost')).slice(0, 2)).toEqual(['#3 oracle', '#4 refactoring']);
    expect((await names('agents status'))[0]).toBe('#2 librarian');
  });

  it('says who waits for whom', async () => {
    const person = await typist(midRun().events);
    expect(await person.hears('graph')).toEqual([
      '#1 finder, completed; depends on none; blocks #3 oracle and #4 refactoring.',
      '#2 librarian, failed, provider refused the request (400); depends on none; blocks #4 refactoring.',
      '#3 oracle, running; depends on #1 finder; blocks #5 tester.',
      '#4 refactoring, running; depends on #1 finder and #2 librarian; blocks #6 reviewer.',
      '#4.1 finder 2, running; depends on none.',
      '#5 tester, waiting for #3 oracle; depends on #3 oracle.',
      '#6 reviewer, waiting for #4 refactoring; depends on #4 refactoring.',
    ]);
  });

  it('says one agent, and any part of it', async () => {
    const person = await typist(midRun().events);
    expect((await person.hears('show 3'))[0]).toMatch(/^#3 oracle: running, .* Explain the race/);
    expect(await person.hears('show 3 tools')).toEqual([
      '#3 oracle, tools:',
      '1. Edit src/auth/store.ts (edit): done in 1.2s',
      '2. Bash npm test -- refresh --repeat 50 (bash): runs',
    ]);
    expect((await person.hears('show 3 todos'))[1]).toBe('1. completed: Reproduce the race');
    expect(await person.hears('show 3 messages')).toEqual(['#3 oracle has no messages yet.']);
    expect(await person.hears('find 3 guard')).toEqual([
      expect.stringMatching(/^Line \d+: - the UPDATE has no guard$/),
    ]);
    expect(await person.hears('show 9')).toEqual(['There is no agent 9: numbers are 1, 2, 3, 4, 4.1, 5 or 6.']);
    expect((await person.hears('show finder'))[0]).toMatch(/^#1 finder: completed/);
    expect(await person.hears('show 1 looks')).toEqual([
      '"looks" is not a part of an agent: expected transcript, todos, tools, diffs, checks or messages.',
    ]);
  });

  it('says the end of the log, all of it or what went wrong', async () => {
    const person = await typist(midRun().events);
    expect(await person.hears('log 2')).toHaveLength(2);
    expect(await person.hears('log errors')).toEqual([
      expect.stringMatching(/ error #2 librarian: .*provider refused the request/),
    ]);
    expect(await person.hears('log many')).toEqual([
      '"many" is not valid: expected a number of lines, warnings or errors.',
    ]);
  });

  it('says the next agent that needs the person, one after the other', async () => {
    const person = await typist(midRun().events);
    expect(await person.hears('attention')).toEqual([
      expect.stringMatching(/^1 of 1: #2 librarian: failed/),
      'retry 2 retries it, show 2 shows details.',
    ]);
  });

  it('shows the difference before it changes the plan that runs, and needs a yes', async () => {
    const person = await typist(midRun().events);
    const changes = [
      { is: 'changed', task: RACE.tasks[0]?.id ?? fatal(), text: '#6 reviewer: model gpt-5 -> o3' },
    ] as const;
    person.run.previewPlan(() => ok({ plan: RACE, digest: 'd9', base: 'd1', changes }));
    await person.types('model 6 o3', 'no');
    expect(person.commands).toEqual([]);
    expect((await person.hears('model 6 o3'))[1]).toBe('- changed: #6 reviewer: model gpt-5 -> o3');
    await person.types('yes');
    const edits = [{ is: 'model', task: 'task-6', model: 'o3' }];
    expect(person.commands).toEqual([{ do: 'amend plan', edits, base: 'd1', digest: 'd9' }]);
  });

  it('says after a second that the run has not yet said what a change would do', async () => {
    const person = await typist(midRun().events);
    const answer = Promise.withResolvers<Result<PlanPreview, string>>();
    person.run.previewPlan(() => answer.promise);
    const typed = person.types('drop 5');
    await until(() => person.said.includes('mimir: the run has not said yet what this would do'));
    answer.resolve(fail('#5 tester has begun'));
    await typed;
    expect(person.said.at(-1)).toBe('Not changed: #5 tester has begun.');
    expect(person.commands).toEqual([]);
  });

  it('says why a plan that runs can not be changed', async () => {
    const person = await typist(midRun().events);
    person.run.previewPlan(() => fail('#5 tester has begun'));
    expect(await person.hears('drop 5')).toEqual(['Not changed: #5 tester has begun.']);
  });
});

describe('the end of a run in lines', () => {
  it('asks nothing about a mode that cannot be changed', async () => {
    const running = await typist(midRun().events);
    expect(await running.hears('pin main human')).toEqual(['Main has the mode of the run: change that instead.']);
    expect(running.commands).toEqual([]);
  });

  it('has main commit the changes when it is asked to, and by no other words', async () => {
    const person = await typist(finished().events);
    const resume = vi.spyOn(person.run.projectService, 'resume');
    expect(await person.hears('commit off')).toEqual([
      'The run has ended: type commit alone to let main commit its changes.',
    ]);
    expect(resume).not.toHaveBeenCalled();
    await person.types('commit');
    expect(resume.mock.calls).toEqual([[SESSION, COMMIT_REQUEST]]);
  });

  it('asks the log whether a completed run can be resumed: an undo may have closed its reviews since', async () => {
    const person = await typist(finished().events);
    const resume = vi.spyOn(person.run.projectService, 'resume');
    resume.mockResolvedValueOnce(fail({ text: 'it has completed' }));
    expect(await person.hears('resume')).toEqual(['It has completed.']);
    await person.types('resume');
    expect(resume.mock.calls).toEqual([
      [SESSION, undefined],
      [SESSION, undefined],
    ]);
  });
});
