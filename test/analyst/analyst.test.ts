/** The analyst at work with the real tools on real folders: what it says is true, and saying it again changes nothing. */
import { afterAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/domain/agents/agent.ts';
import { AgentId, CallId, OFFLINE, RoleName } from '../../src/domain/ids.ts';
import type { Turn } from '../../src/domain/turn.ts';
import { offlineAnalyst } from '../../src/analyst/offline-analyst.ts';
import { ALIASES } from '../../src/policy/models.ts';
import { analyst, carry, requestOf } from './carry.ts';
import type { Carried } from './carry.ts';
import { claimCount, folderOf, GO, JAVA, PYTHON, RUST, SHOP, untrue } from './folders.ts';
import { workRequest } from '../models/request.ts';

const shop = folderOf(SHOP, { git: true });
const others = { python: folderOf(PYTHON), go: folderOf(GO), rust: folderOf(RUST), java: folderOf(JAVA) };
const empty = folderOf({});
afterAll(() => [shop, empty, ...Object.values(others)].forEach((folder) => folder.remove()));

const NOTE =
  '_No language model was used: the built-in offline analyst reads, searches and counts, and does not understand. Check what matters._';

/** A task that names no kind: each role does its own. */
const ROLES = ['finder', 'librarian', 'reviewer', 'security', 'oracle', 'tester', 'refactoring', 'rush', 'made-up'];
const TASK = 'Look at `cartTotal`';

/** Each role once on the shop: tools are slow, and the answer is the same every time. */
const works = new Map<string, Promise<Carried>>();
function atWork(role: string): Promise<Carried> {
  const known = works.get(role) ?? carry({ root: shop.root, role, task: TASK });
  works.set(role, known);
  return known;
}

const findingOf = (role: string, carried: Carried): Finding => ({
  agent: AgentId.parse('ROOT::S1'),
  task: null,
  role: RoleName.parse(role),
  description: TASK,
  outcome: 'completed',
  summary: carried.answer,
});

describe('every role', () => {
  it.each(ROLES)('%s claims only what is there, in no more turns than it has', async (role) => {
    const { answer, turns } = await atWork(role);
    expect(untrue(shop.root, answer)).toEqual([]);
    expect(claimCount(answer)).toBeGreaterThan(role === 'rush' ? -1 : 0);
    const asked = turns.filter(({ by }) => by === 'model').length;
    expect(asked).toBeLessThanOrEqual(role === 'rush' ? 5 : 10);
    expect(answer.split('\n')[2]).toBe(NOTE);
  });

  it.each(ROLES)('%s keeps a list that ends with everything done', async (role) => {
    const { todos } = await atWork(role);
    expect(todos[0]?.[0]?.status).toBe('active');
    expect(todos.at(-1)?.map(({ status }) => status)).toEqual(todos[0]?.map(() => 'completed'));
  });

  it.each(ROLES)('%s says the same again after any cut of its turns: a resume changes nothing', async (role) => {
    const errand = { root: shop.root, role, task: TASK };
    const { turns } = await atWork(role);
    for (const [at, turn] of turns.entries()) {
      if (turn.by !== 'model') continue;
      const reply = await analyst.call(
        requestOf(errand, turns.slice(0, at)),
        new AbortController().signal,
        () => undefined,
      );
      expect(reply.ok && { by: 'model', text: reply.value.text, calls: reply.value.calls }).toEqual(turn);
    }
  });

  it.each(ROLES)('%s says what it could not look at when it has no tools, and ends', async (role) => {
    const { answer, turns } = await carry({ root: shop.root, role, task: TASK, tools: [] });
    expect(turns).toHaveLength(2);
    expect(untrue(shop.root, answer)).toEqual([]);
    expect(answer).not.toContain('undefined');
  });

  it.each(ROLES)('%s ends on an empty folder without git, and claims nothing', async (role) => {
    const { answer } = await carry({ root: empty.root, role, task: TASK });
    expect(claimCount(answer)).toBe(0);
  });

  it.each(Object.entries(others))('claims only what is there in %s', async (_, { root }) => {
    for (const role of ROLES) {
      const { answer } = await carry({ root, role, task: 'Find the entry points and what is risky' });
      expect(untrue(root, answer)).toEqual([]);
    }
  });
});

describe('a message in the middle', () => {
  const MESSAGE: Turn = { by: 'user', text: 'Message from the person who runs you:\nplease also look at parsePrice' };

  it('is acknowledged truthfully and done as a task of its own', async () => {
    const whole = await atWork('finder');
    const told = await carry({
      root: shop.root,
      role: 'finder',
      task: TASK,
      turns: [...whole.turns.slice(0, 3), MESSAGE],
    });
    const next = told.turns[4];
    expect(next?.by === 'model' && next.text).toContain(
      'A message came in: "please also look at parsePrice". I am not a language model: I take it as one more task.',
    );
    expect(told.answer).toContain('## About the message');
    expect(told.answer).toContain('`src/price.ts:2` `export function parsePrice(text: string): number {`');
    expect(untrue(shop.root, told.answer)).toEqual([]);
  });

  it('is answered alone after the answer was given', async () => {
    const whole = await atWork('finder');
    const told = await carry({ root: shop.root, role: 'finder', task: TASK, turns: [...whole.turns, MESSAGE] });
    expect(told.answer).toContain('`src/price.ts:2`');
    expect(told.answer.match(/^## Definitions$/gm)).toHaveLength(1);
  });

  it('that is no task it knows is answered so', async () => {
    const whole = await atWork('rush');
    const idle: Turn = { by: 'user', text: 'Message from the person who runs you:\nhow is it going?' };
    const told = await carry({ root: shop.root, role: 'rush', task: TASK, turns: [...whole.turns.slice(0, 3), idle] });
    const said = told.turns.flatMap((turn) => (turn.by === 'model' ? [turn.text] : [])).join('\n');
    expect(said).toContain(
      'A message came in: "how is it going?" I am not a language model: I take it as one more task.',
    );
    expect(told.answer).toContain('"how is it going?" is not a kind of task that the built-in analyst knows');
  });
});

describe('a call of the analyst', () => {
  it('counts what is new since its last reply, four bytes a token, and nothing twice', async () => {
    const request = { ...workRequest({ role: 'rush' }), model: OFFLINE, system: 'x'.repeat(400) };
    const reply = await analyst.call(request, new AbortController().signal, () => undefined);
    expect(reply.ok && reply.value.usage.input).toBe(Math.ceil((400 + 'find the parser'.length) / 4));
  });

  it('streams at a readable rate on a screen, never longer than three and a half seconds', async () => {
    let waited = 0;
    const world = { sleep: async (ms: number): Promise<void> => void (waited += ms) };
    const slow = offlineAnalyst(ALIASES, { is: 'readable', world });
    const heard: string[] = [];
    const results: Finding[] = [findingOf('finder', await atWork('finder'))];
    const request = { ...workRequest(), model: OFFLINE, purpose: { is: 'merge', task: TASK, results } as const };
    const reply = await slow.call(request, new AbortController().signal, ({ text }) => heard.push(text));
    expect(reply.ok && reply.value.text).toBe(heard.join(''));
    expect(heard.length).toBeGreaterThan(10);
    expect(waited).toBeLessThan(3500);
  });

  it('stops at once when it is aborted while it speaks', async () => {
    const stop = new AbortController();
    const world = { sleep: async (): Promise<void> => stop.abort() };
    const slow = offlineAnalyst(ALIASES, { is: 'readable', world });
    const reply = await slow.call({ ...workRequest(), model: OFFLINE }, stop.signal, () => undefined);
    expect(reply).toEqual({ ok: false, fault: { is: 'aborted', message: 'stopped' } });
  });

  it('makes an answer shorter, and says so, where the budget allows no more', async () => {
    const results: Finding[] = [findingOf('finder', await atWork('finder'))];
    const purpose = { is: 'merge', task: TASK, results } as const;
    const request = { ...workRequest(), model: OFFLINE, call: CallId.parse('m'), purpose, maxOutputTokens: 256 };
    const reply = await analyst.call(request, new AbortController().signal, () => undefined);
    expect(reply.ok && reply.value.usage.output).toBeLessThanOrEqual(256);
    expect(reply.ok && reply.value.text).toContain('(cut: the budget does not allow a longer answer)');
  });
});

describe('the report', () => {
  it('is the same for the same, claims only what is there, and says at its top what it is', async () => {
    const results: Finding[] = [];
    for (const role of ['finder', 'librarian', 'reviewer', 'tester', 'oracle', 'rush']) {
      results.push(findingOf(role, await carry({ root: shop.root, role, task: TASK, findings: results })));
    }
    const request = { ...workRequest(), model: OFFLINE, purpose: { is: 'merge', task: TASK, results } as const };
    const reply = await analyst.call(request, new AbortController().signal, () => undefined);
    const again = await analyst.call(request, new AbortController().signal, () => undefined);
    expect(again).toEqual(reply);
    const text = reply.ok ? reply.value.text : '';
    expect(untrue(shop.root, text)).toEqual([]);
    expect(text.split('\n')[0]).toBe(NOTE);
    expect(text.split('\n').length).toBeLessThanOrEqual(160);
    expect(text.split(NOTE)).toHaveLength(2);
    expect(text.match(/^## .*$/gm)?.[0]).toBe('## In short');
  });

  it('says what failed', async () => {
    const failed: Finding = {
      ...findingOf('tester', await carry({ root: empty.root, role: 'tester', task: TASK })),
      outcome: 'failed',
      summary: '',
    };
    const request = {
      ...workRequest(),
      model: OFFLINE,
      purpose: { is: 'merge', task: TASK, results: [failed] } as const,
    };
    const reply = await analyst.call(request, new AbortController().signal, () => undefined);
    expect(reply.ok && reply.value.text).toContain(`- tester (failed): ${TASK}`);
  });
});
