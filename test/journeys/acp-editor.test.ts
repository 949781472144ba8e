/** Mimir as the agent of an editor: the real program, driven by the protocol's own SDK as client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import {
  client,
  type ClientConnection,
  methods,
  ndJsonStream,
  type NewSessionResponse,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { CLI, LEDGER, type Machine } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

const editors: ChildProcess[] = [];
afterEach(() => {
  for (const one of editors.splice(0)) one.kill();
});

type Choose = (request: RequestPermissionRequest) => string | Promise<string>;

interface Editor {
  readonly connection: ClientConnection;
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
  readonly process: ChildProcess;
  prompt(sessionId: string, text: string): Promise<PromptResponse>;
}

/** An editor that starts Mimir in a project and chooses an answer to each request for permission. */
function editorOn({ project, env }: Machine, choose: Choose): Editor {
  const child = spawn(process.execPath, [CLI, 'acp'], { cwd: project, env, stdio: ['pipe', 'pipe', 'inherit'] });
  editors.push(child);
  const [updates, asked]: [SessionUpdate[], RequestPermissionRequest[]] = [[], []];
  const input = new WritableStream<Uint8Array>({ write: (chunk) => void child.stdin.write(chunk) });
  const output = new ReadableStream<Uint8Array>({
    start(controller) {
      child.stdout.on('data', (chunk: Buffer) => controller.enqueue(new Uint8Array(chunk)));
      child.stdout.once('end', () => controller.close());
    },
  });
  const connection = client({ name: 'editor' })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: 'selected', optionId: await choose(params) } };
    })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .connect(ndJsonStream(input, output));
  const prompt = (sessionId: string, text: string): Promise<PromptResponse> =>
    connection.agent.request<PromptResponse>(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text }],
    });
  return { connection, updates, asked, process: child, prompt };
}

const newSession = async ({ connection }: Editor, { project }: Machine): Promise<string> => {
  await connection.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const made = await connection.agent.request<NewSessionResponse>(methods.agent.session.new, {
    cwd: project,
    mcpServers: [],
  });
  return made.sessionId;
};

const chosen =
  (byTitle: Readonly<Record<string, string>>): Choose =>
  ({ toolCall, options }) => {
    const wanted = Object.entries(byTitle).find(([title]) => toolCall.title?.includes(title) === true)?.[1];
    return options.find(({ name }) => name === wanted)?.optionId ?? '';
  };

const saidIn = (updates: readonly SessionUpdate[]): string =>
  updates
    .flatMap((one) =>
      one.sessionUpdate === 'agent_message_chunk' && one.content.type === 'text' ? [one.content.text] : [],
    )
    .join('');

const edits = { tool: 'bash', input: { command: "sed -i 's/cache.set/memory.set/' src/cache.js" } };
const rules = [
  { when: { last: 'and why' }, answer: { text: 'Because you asked.' } },
  { when: { first: '# Roles' }, answer: { text: planText(['Rename the cache', 'code'], ['Look at it', 'finder']) } },
  { when: { first: '^Rename the cache', turn: 1 }, answer: { calls: [edits] } },
  { when: { first: '^Look at it' }, answer: { text: 'I looked.' } },
  { answer: { text: 'All is renamed.' } },
];

describe('mimir acp', () => {
  it('shows the plan, asks for its approval and for acts, and answers; a further prompt continues', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const editor = editorOn(machine, chosen({ 'Run this plan': 'Approve the plan', 'wants to run': 'allow once' }));
    const session = await newSession(editor, machine);
    expect(await editor.prompt(session, 'Rename the cache')).toEqual({ stopReason: 'end_turn' });
    expect(saidIn(editor.updates)).toBe('All is renamed.');
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toContain('memory.set');
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual([
      'Run this plan with 2 agents?',
      'code wants to run a command',
    ]);
    const plans = editor.updates.flatMap((one) => (one.sessionUpdate === 'plan' ? [one.entries] : []));
    expect(plans[0]?.map(({ content, status }) => [content, status])).toEqual([
      ['code: Rename the cache', 'pending'],
      ['finder: Look at it', 'pending'],
    ]);
    expect(plans.at(-1)?.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const calls = editor.updates.flatMap((one) => (one.sessionUpdate === 'tool_call' ? [one.title] : []));
    expect(calls.toSorted()).toEqual(['code: Rename the cache', 'finder: Look at it']);
    editor.updates.length = 0;
    expect(await editor.prompt(session, 'and why')).toEqual({ stopReason: 'end_turn' });
    expect(saidIn(editor.updates)).toContain('Because you asked.');
    expect((await machine.mimir('sessions')).out).toContain('Rename the cache');
  });

  it('does nothing without an approval', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const editor = editorOn(machine, chosen({ 'Run this plan': 'Reject the plan' }));
    const session = await newSession(editor, machine);
    expect(await editor.prompt(session, 'Rename the cache')).toEqual({ stopReason: 'end_turn' });
    expect(saidIn(editor.updates)).toContain('The plan was not approved: nothing was done.');
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toContain('cache.set');
  });

  it('stops when it is cancelled, and another editor loads the session and goes on', async () => {
    const waits = { tool: 'bash', input: { command: 'sleep 300' } };
    const slow = [
      ...rules.slice(1, 2),
      { when: { first: '^Rename the cache', turn: 1 }, answer: { calls: [waits] } },
      ...rules.slice(3),
    ];
    const { machine } = await ownModel('anthropic', { script: { rules: slow }, files: LEDGER });
    const choose = chosen({ 'Run this plan': 'Approve the plan', 'wants to run': 'allow once' });
    const editor = editorOn(machine, choose);
    const session = await newSession(editor, machine);
    const ended = editor.prompt(session, 'Rename the cache');
    await seen(() => editor.updates.some((one) => one.sessionUpdate === 'tool_call_update' && says(one, 'sleep 300')));
    await editor.connection.agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await ended).toEqual({ stopReason: 'cancelled' });
    const gone = new Promise((resolve) => editor.process.once('exit', resolve));
    editor.process.stdin?.end();
    expect(await gone).toBe(0);
    const other = editorOn(machine, choose);
    await other.connection.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    await other.connection.agent.request(methods.agent.session.load, {
      sessionId: session,
      cwd: machine.project,
      mcpServers: [],
    });
    expect(other.updates[0]).toMatchObject({
      sessionUpdate: 'user_message_chunk',
      content: { text: 'Rename the cache' },
    });
    expect(await other.prompt(session, 'Go on')).toEqual({ stopReason: 'end_turn' });
    expect(saidIn(other.updates)).toContain('All is renamed.');
  });

  it('stops as well when it is cancelled before the run is open', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const editor = editorOn(machine, chosen({ 'Run this plan': 'Approve the plan', 'wants to run': 'allow once' }));
    const session = await newSession(editor, machine);
    const ended = editor.prompt(session, 'Rename the cache');
    await editor.connection.agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await ended).toEqual({ stopReason: 'cancelled' });
    expect(editor.asked).toEqual([]);
    expect(readFileSync(path.join(machine.project, 'src/cache.js'), 'utf8')).toContain('cache.set');
  });

  it('asks again about a plan that was changed in a terminal meanwhile', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    let hasChanged = false;
    const editor = editorOn(machine, async (request) => {
      if (!hasChanged) {
        hasChanged = true;
        const person = machine.opens(['attach', '--plain'], { cols: 100, rows: 40 });
        await person.sees('Proceed?');
        person.type('drop 2');
        person.press('enter');
        await seen(() => editor.updates.filter(({ sessionUpdate }) => sessionUpdate === 'plan').length === 2);
        person.terminal.kill();
      }
      return chosen({ 'Run this plan': 'Approve the plan', 'wants to run': 'allow once' })(request);
    });
    const session = await newSession(editor, machine);
    expect(await editor.prompt(session, 'Rename the cache')).toEqual({ stopReason: 'end_turn' });
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual([
      'Run this plan with 2 agents?',
      'Run this plan with one agent?',
      'code wants to run a command',
    ]);
    expect(saidIn(editor.updates)).toMatch(/^Not done: .*All is renamed\.$/s);
  });

  it('loads a session that is open without opening its project again', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const editor = editorOn(machine, chosen({ 'Run this plan': 'Approve the plan', 'wants to run': 'allow once' }));
    const session = await newSession(editor, machine);
    await editor.prompt(session, 'Rename the cache');
    const load = { sessionId: session, cwd: machine.project, mcpServers: [] };
    const logs = (): number => {
      const folder = `/proc/${editor.process.pid}/fd`;
      const open = readdirSync(folder).flatMap((fd) => {
        try {
          return [readlinkSync(path.join(folder, fd))];
        } catch {
          return [];
        }
      });
      return open.filter((file) => file.startsWith('/') && !file.startsWith('/dev')).length;
    };
    const before = logs();
    expect(before).toBeGreaterThan(0);
    await editor.connection.agent.request(methods.agent.session.load, load);
    expect(logs()).toBe(before);
    expect(saidIn(editor.updates)).toBe('All is renamed.All is renamed.');
  });

  it('says what is wrong with a folder or a session', async () => {
    const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER });
    const editor = editorOn(machine, () => '');
    await newSession(editor, machine);
    const load = (sessionId: string, cwd: string): Promise<unknown> =>
      editor.connection.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
    await expect(load('none', machine.project)).rejects.toThrow('there is no session none');
    await expect(load('none', path.join(machine.project, 'nowhere'))).rejects.toThrow('nowhere');
    await expect(editor.prompt('unknown', 'Hello')).rejects.toThrow('there is no session unknown');
    expect(editor.process.exitCode).toBe(null);
  });
});

const says = (update: SessionUpdate, words: string): boolean => JSON.stringify(update).includes(words);

async function seen(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}
