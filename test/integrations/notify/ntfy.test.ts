/** Questions that buttons of ntfy answer, by a server on loopback: each once, none by a stranger, and none is lost. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Notifier, openNotifier, type Target } from '../../../src/integrations/index.ts';
import type { World } from '../../../src/ports/world.ts';
import { ANSWERS, type FakeNtfy, openNtfyDouble, QUESTIONS, READER, TOKEN } from '../../support/ntfy.ts';
import { question } from '../../support/chat-questions.ts';
import { until } from '../../support/until.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Open {
  readonly server: FakeNtfy;
  readonly notifier: Notifier;
  readonly answers: (readonly [question: string, key: string])[];
  readonly problems: string[];
}

/** Waits that were asked for end at once; the one for the last deliveries does not end. */
const sleep: World['sleep'] = (_, signal) =>
  signal === undefined ? new Promise(() => undefined) : new Promise((resolve) => setImmediate(resolve));

async function open(more: Partial<Target> = {}): Promise<Open> {
  const server = await openNtfyDouble();
  const answers: (readonly [string, string])[] = [];
  const problems: string[] = [];
  let names = 0;
  const world: World = {
    now: () => 0,
    elapsed: () => 0,
    name: (length) => `${(names += 1)}`.padEnd(length, 'x'),
    sleep,
  };
  const topic = { url: `${server.url}/${ANSWERS}`, token: READER };
  const target: Target = { is: 'ntfy', url: `${server.url}/${QUESTIONS}`, secret: TOKEN, answers: topic, ...more };
  const notifier = openNotifier({
    targets: [target],
    world,
    project: 'ledger',
    failed: (text) => problems.push(text),
    answer(question, answer) {
      if ('words' in answer) throw new Error('no words can be posted');
      answers.push([question, answer.key]);
      return Promise.resolve(answer.key === '1' ? 'Allowed once.' : 'Denied.');
    },
  });
  closers.push(async () => {
    await notifier.close();
    await server.down();
  });
  return { server, notifier, answers, problems };
}

const said = ({ published }: FakeNtfy): readonly string[] => published.map(({ message }) => message);

describe('a question on a phone', () => {
  it('has a button for each answer, and says what became of it', async () => {
    const { server, notifier, answers, problems } = await open();
    notifier.ask({ ...question('q1'), about: 'S1' });
    const message = await server.message('may I run q1?');
    const url = `${server.url}/${ANSWERS}`;
    const button = (label: string, code: string): object => ({
      action: 'http',
      label,
      url,
      body: code.padEnd(32, 'x'),
    });
    expect(message).toEqual({
      topic: QUESTIONS,
      title: 'Mimir: ledger',
      message: 'may I run q1?',
      priority: 4,
      actions: [button('allow once', '1'), button('deny', '2')],
    });
    await server.press(message, 'allow once');
    await server.message('Allowed once. may I run q1?');
    expect([answers, problems]).toEqual([[['q1', '1']], []]);
  });

  it('is answered once: by the first of two buttons, however often and in whatever order it is delivered', async () => {
    const { server, notifier, answers } = await open();
    notifier.ask(question('q1'));
    notifier.ask(question('q2'));
    const [first, second] = [await server.message('q1'), await server.message('q2')];
    await server.press(second, 'deny');
    await server.press(second, 'allow once');
    await server.press(first, 'allow once');
    await server.message('Allowed once. may I run q1?');
    server.repeat();
    server.repeat();
    await server.press(first, 'deny');
    await server.message('This question is no longer open. may I run q1?');
    expect(answers).toEqual([
      ['q2', '4'],
      ['q1', '1'],
    ]);
    expect(said(server).filter((text) => text.startsWith('This question')).length).toBe(2);
  });

  it('cannot be answered any more when it was answered elsewhere, nor by the code of another run', async () => {
    const { server, notifier, answers } = await open();
    notifier.ask(question('q1'));
    const message = await server.message('q1');
    notifier.settled('q1', 'Allowed.');
    await server.press(message, 'allow once');
    await server.message('This question is no longer open. may I run q1?');
    const other = await open();
    other.notifier.ask(question('q1'));
    await other.server.message('q1');
    await other.server.post('99'.padEnd(32, 'x'));
    other.notifier.ask(question('q2'));
    await other.server.press(await other.server.message('q2'), 'deny');
    await other.server.message('Denied. may I run q2?');
    expect([answers, other.answers]).toEqual([[], [['q2', '4']]]);
  });

  it('is not answered by a stranger who knows the topic, and nothing is said to one', async () => {
    const { server, notifier, answers, problems } = await open();
    notifier.ask(question('q1'));
    const message = await server.message('q1');
    for (const text of ['allow once', 'q1 1', '1', '', '{"question":"q1","key":"1"}', 'x'.repeat(4000)])
      await server.post(text);
    await server.press(message, 'deny');
    await server.message('Denied.');
    expect([answers, problems]).toEqual([[['q1', '4']], []]);
    expect(said(server)).toEqual(['may I run q1?', 'Denied. may I run q1?']);
  });

  it('cannot be allowed where only a part of it is shown, in bytes', async () => {
    const { server, notifier } = await open();
    notifier.ask(question('q1', 'ж'.repeat(3000)));
    const { message, actions } = await server.message('This is not all of it');
    expect(Buffer.byteLength(message)).toBeLessThan(4096);
    expect(actions.map(({ label }) => label)).toEqual(['deny']);
  });

  it('with more answers than buttons says where the others are', async () => {
    const { server, notifier } = await open();
    const choices = ['red', 'green', 'blue', 'grey'].map((label, at) => ({ key: `${at}`, label, allows: false }));
    notifier.ask({ ...question('q1'), choices });
    const { message, actions } = await server.message('q1');
    expect(actions.map(({ label }) => label)).toEqual(['red', 'green', 'blue']);
    expect(message).toBe('may I run q1?\n\nOther answers can be given in a terminal.');
  });

  it('comes in place of the notice, and other notices come as before', async () => {
    const { server, notifier } = await open();
    const notice = { session: 's', project: 'ledger', agent: [], role: null, cost: 0, time: '' };
    notifier.notify({ ...notice, is: 'plan', text: 'the plan is ready' });
    notifier.notify({ ...notice, is: 'asks', text: 'code asks' });
    notifier.notify({ ...notice, is: 'failed', text: 'code failed' });
    notifier.ask({ ...question('plan-1', 'Approve this plan?'), about: null });
    notifier.notify({ ...notice, is: 'ended', text: 'the run is done' });
    await server.message('the run is done');
    expect(said(server)).toEqual(['code failed', 'Approve this plan?', 'the run is done']);
  });
});

describe('a server of ntfy that fails', () => {
  it('is tried again until it is there: of a hundred questions none is lost, none is answered twice, and an answered one is not asked', async () => {
    const { server, notifier, answers, problems } = await open();
    await server.down();
    for (let at = 0; at < 100; at += 1) notifier.ask(question(`q${at}.`));
    await until(() => problems.length > 0);
    notifier.settled('q50.', 'Allowed.');
    await server.up();
    await until(() => server.published.length >= 99);
    const asked = [...server.published];
    // Pressed while it cannot be read: it is read later.
    for (const message of asked.slice(0, 50)) await server.press(message, 'deny');
    await server.down();
    await server.up();
    for (const message of asked.slice(50).toReversed()) await server.press(message, 'deny');
    for (const message of asked.slice(0, 10)) await server.press(message, 'deny');
    await until(() => server.published.filter(({ message }) => message.startsWith('Denied.')).length >= 99);
    server.repeat();
    const all = Array.from({ length: 100 }, (_, at) => `q${at}.`).filter((id) => id !== 'q50.');
    expect(answers.map(([id]) => id).toSorted()).toEqual(all.toSorted());
    expect(asked.map(({ message }) => message)).toEqual(all.map((id) => `may I run ${id}?`));
    expect(problems).toEqual([
      expect.stringMatching(/^ntfy cannot be reached, and is tried again until the run ends: /),
    ]);
  });

  it('refuses the token: that is said once, and no answers are taken', async () => {
    const { server, problems } = await open({ answers: undefined });
    const answers = { url: `${server.url}/${ANSWERS}`, token: 'another' };
    const second = openNotifier({
      targets: [{ is: 'ntfy', url: `${server.url}/${QUESTIONS}`, secret: TOKEN, answers }],
      world: { now: () => 0, elapsed: () => 0, name: () => 'x', sleep },
      project: 'ledger',
      failed: (text) => problems.push(text),
      answer: () => Promise.reject(new Error('asked')),
    });
    await until(() => problems.length > 0);
    await second.close();
    expect([problems, server.readers]).toEqual([['no answers are taken by ntfy: status 403'], ['Bearer another']]);
  });
});
