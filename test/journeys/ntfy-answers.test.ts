/** Buttons on a phone beside a run of the real program: they answer what was asked, and only where the configuration and the rules let them. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import { LEDGER, type Machine, type Person } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { ANSWERS, type FakeNtfy, openNtfyDouble, QUESTIONS, READER, TOKEN } from '../support/ntfy.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

const servers: FakeNtfy[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.down())));

const makes = (file: string) => ({ calls: [{ tool: 'bash', input: { command: `touch ${file}` } }] });
const rules: readonly Rule[] = [
  { when: { first: '# Roles' }, answer: { text: planText(['Make two files', 'code']) } },
  { when: { first: '^Make two files', turn: 1 }, answer: makes('one.txt') },
  { when: { first: '^Make two files', turn: 2 }, answer: makes('two.txt') },
  { answer: { text: 'All is made.' } },
];

async function withPhone(
  more = '',
  env: Readonly<Record<string, string>> = { NTFY_TOKEN: TOKEN, NTFY_READER: READER },
): Promise<{ readonly machine: Machine; readonly server: FakeNtfy; readonly run: () => Person }> {
  const server = await openNtfyDouble();
  servers.push(server);
  const answers = `answers: { topic: ${ANSWERS}, secretEnv: NTFY_READER }`;
  const ntfy = `{ url: "${server.url}/${QUESTIONS}", secretEnv: NTFY_TOKEN, ${answers} }`;
  const config = `notifications:\n  ntfy: ${ntfy}\n${more}`;
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER, config, env });
  return { machine, server, run: () => machine.opens(['run', 'Make two files']) };
}

const isThere = ({ project }: Machine, file: string): boolean => existsSync(path.join(project, file));

describe('buttons on a phone', () => {
  it('approve the plan, allow one act and deny another, each with what exactly it is', async () => {
    const { machine, server, run } = await withPhone();
    const person = run();
    await server.press(await server.message('Approve this plan?'), 'approve');
    const first = await server.message(
      /^planner > main \(main\) wants to run a command:\n\ntouch one\.txt\n\nbecause /,
    );
    await server.press(first, 'allow once');
    await server.press(await server.message(/\n\ntouch two\.txt\n\n/), 'deny');
    await server.message('the run is done');
    await person.sees('All is made.');
    expect(await person.terminal.exit).toMatchObject({ code: 0 });
    expect(['one.txt', 'two.txt'].map((file) => isThere(machine, file))).toEqual([true, false]);
    const said = server.published.map(({ message }) => message.split(' planner')[0] ?? '');
    expect(said.filter((text) => /^(?:Allowed|Denied|Plan)/.test(text))).toEqual([
      expect.stringMatching(/^Plan approved\. Approve this plan\?/),
      'Allowed once.',
      'Denied.',
    ]);
    expect((await machine.mimir('doctor')).out).toMatch(/ntfy +buttons answer questions by mimir-answers/);
  });

  it.each<[string, string, Readonly<Record<string, string>>, RegExp]>([
    [
      'a rule forbids answers',
      'enforcement: { remoteAnswers: deny }\n',
      { NTFY_TOKEN: TOKEN, NTFY_READER: READER },
      /ntfy +no answers are taken: enforcement\.remoteAnswers: deny/,
    ],
    [
      'one topic has no token',
      '',
      { NTFY_TOKEN: TOKEN },
      /ntfy +no answers are taken: both topics need a token, set in secretEnv and answers\.secretEnv/,
    ],
  ])('are not there where %s, and nothing that is posted is read', async (_, more, env, words) => {
    const { machine, server, run } = await withPhone(more, env);
    const person = run();
    const { actions } = await server.message('the plan is ready: 1 task to approve');
    expect([actions, server.readers]).toEqual([[], []]);
    expect((await machine.mimir('doctor')).out).toMatch(words);
    person.press('ctrl-c', 'ctrl-c');
    await person.terminal.exit;
  });
});
