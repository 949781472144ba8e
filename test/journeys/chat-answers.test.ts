/** A chat beside a run of the real program: it hears, answers, messages and stops, within what it may. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LEDGER, type Machine, type Person } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';
import type { Rule } from '../support/double/script.ts';
import { type FakeTelegram, openTelegramDouble } from '../support/telegram.ts';
import { until } from '../support/until.ts';

needs('git', 'bubblewrap');

const TOKEN = '12345:a-secret-token';
const [ANSWERS, CONTROLS] = [2, 3];

const servers: FakeTelegram[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const makes = (file: string) => ({ calls: [{ tool: 'bash', input: { command: `touch ${file}` } }] });
const rules: readonly Rule[] = [
  { when: { first: '# Roles' }, answer: { text: planText(['Make two files', 'code']) } },
  { when: { first: '^Make two files', turn: 1 }, answer: makes('one.txt') },
  { when: { first: '^Make two files', turn: 2 }, answer: makes('two.txt') },
  { when: { first: '^Make two files', turn: 3 }, answer: makes('three.txt') },
  { answer: { text: 'All is made.' } },
];

async function withChat(
  more = '',
  script = rules,
  flags: readonly string[] = ['--yes'],
): Promise<{ readonly machine: Machine; readonly server: FakeTelegram; readonly person: Person }> {
  const server = await openTelegramDouble(TOKEN);
  servers.push(server);
  const chats = `[{ id: ${ANSWERS}, may: answer }, { id: ${CONTROLS}, may: control }]`;
  const config = `notifications:\n  telegram: { botTokenEnv: BOT_TOKEN, server: "${server.url}", chats: ${chats} }\n${more}`;
  const env = { BOT_TOKEN: TOKEN };
  const { machine } = await ownModel('anthropic', { script: { rules: script }, files: LEDGER, config, env });
  const person = machine.opens(['run', 'Make two files', ...flags]);
  return { machine, server, person };
}

const isThere = ({ project }: Machine, file: string): boolean => existsSync(path.join(project, file));

describe('a chat beside a run', () => {
  it('is asked with the exact act, allows and denies it, and hears the end', async () => {
    const { machine, server, person } = await withChat();
    const first = await server.message('touch one.txt');
    expect(first.text).toMatch(
      /^planner > main \(main\) wants to run a command:\n\ntouch one\.txt\n\nbecause .* so far$/,
    );
    expect(Object.keys(first.buttons)).toEqual(['allow once', 'deny']);
    server.press(first.chat, first.buttons['allow once'] ?? '', 2);
    const second = await server.message('touch two.txt');
    server.write(second.chat, 'one file is enough', second.id);
    const third = await server.message('touch three.txt');
    server.press(third.chat, third.buttons['deny'] ?? '');
    await server.message('the run is done');
    await person.sees('All is made.');
    expect(await person.terminal.exit).toMatchObject({ code: 0 });
    expect(['one.txt', 'two.txt', 'three.txt'].map((file) => isThere(machine, file))).toEqual([true, false, false]);
    expect(server.receipts.filter((text) => text === 'Allowed once.')).toHaveLength(1);
  });

  it('is asked about the plan, has another one made with its words, and approves that', async () => {
    const fewer = [
      { when: { last: 'with fewer files' }, answer: { text: planText(['Make one file', 'code']) } },
      { when: { first: '^Make one file', turn: 1 }, answer: makes('one.txt') },
    ];
    const { machine, server } = await withChat('', [...fewer, ...rules], []);
    const first = await server.message('Approve this plan?');
    expect(first.text).toContain('1. main');
    expect(Object.keys(first.buttons)).toEqual(['approve', 'discard']);
    server.write(first.chat, 'with fewer files', first.id);
    // Both chats are asked at once, and the other one may be the first.
    const next = await server.message(
      ({ chat, text, id }) => chat === first.chat && text.startsWith('Approve this plan?') && id !== first.id,
    );
    server.press(first.chat, first.buttons['approve'] ?? '');
    await until(() => server.receipts.length === 1);
    server.press(first.chat, next.buttons['approve'] ?? '');
    await server.message('touch one.txt');
    expect(server.receipts).toEqual(['This question is no longer open.', 'Plan approved.']);
    expect(isThere(machine, 'one.txt')).toBe(false);
  });

  it('S140: lists agents, tells cost, and stops the run where it may', async () => {
    const { server, person } = await withChat();
    await server.message('touch one.txt');
    server.write(ANSWERS, '/list');
    await server.message(/^planner \(main\): .*\n {2}main \(main\): /);
    server.write(ANSWERS, '/status');
    await server.message('1 open question');
    server.write(ANSWERS, '/stop');
    await server.message('This chat may not do that.');
    server.write(CONTROLS, '/stop');
    await server.message('the run was stopped');
    await person.sees('stopped from a chat');
  });

  it('S143: tells of one agent and those below another, and writes to one whose name has several words', async () => {
    const plan = planText(['Make two files', 'code'], ['Make one more', 'code']);
    const [, ...others] = rules;
    const { server, machine } = await withChat('', [{ when: { first: '# Roles' }, answer: { text: plan } }, ...others]);
    await server.message('touch one.txt');
    server.write(ANSWERS, '/subagents main');
    await server.message(/^code 1 \(code\): .*\ncode 2 \(code\): /);
    server.write(ANSWERS, '/subagents CODE 2');
    await server.message('code 2 has none.');
    server.write(ANSWERS, '/status code 2');
    await server.message(/^code 2 \(code\): .* · \$0\.00 · \d calls?$/);
    server.write(ANSWERS, '/status code 7');
    await server.message('There is no agent of this name: /list names all.');
    server.write(CONTROLS, '/message code 2 use tabs');
    await server.message(/^sent to code 2/);
    server.write(CONTROLS, '/message code 9 use tabs');
    await server.message('There is no agent of this name, or no text: /message NAME TEXT');
    server.write(ANSWERS, '/budget code 1 $5');
    await server.message('This chat may not do that.');
    server.write(CONTROLS, '/budget code 1 much');
    await server.message(/^"much" is not a limit: expected tokens such as 20k/);
    server.write(CONTROLS, '/budget code 1 $1.50 600k');
    await server.message(/^code 1 may use .*\$1\.5/);
    server.write(CONTROLS, '/stop');
    await server.message('the run was stopped');
    expect(isThere(machine, 'one.txt')).toBe(false);
  });

  it('only looks where an administrator or the person forbids answers', async () => {
    const { server, person } = await withChat('enforcement: { remoteAnswers: deny }\n');
    const { chat, buttons } = await server.message('touch one.txt');
    expect(buttons).toEqual({});
    server.write(CONTROLS, '/stop');
    await server.message('This chat may not do that.');
    expect(chat).toBeGreaterThan(0);
    person.press('ctrl-c', 'ctrl-c');
    await person.terminal.exit;
  });
});
