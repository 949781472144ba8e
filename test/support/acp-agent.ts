/**
 * An agent of another program that speaks the Agent Client Protocol by its own SDK and does what its arguments say when joined, a list of steps
 * for each prompt in turn; the last list is repeated. Run by Node as a process of its own.
 */
import { execSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import {
  agent,
  type AgentContext,
  methods,
  ndJsonStream,
  RequestError,
  type RequestPermissionResponse,
  type SessionUpdate,
  type ToolKind,
} from '@agentclientprotocol/sdk';
import { z } from 'zod';

export type AcpStep =
  | { readonly do: 'say' | 'think'; readonly text: string }
  | {
      readonly do: 'plan';
      readonly entries: readonly (readonly [content: string, status: 'pending' | 'in_progress' | 'completed'])[];
    }
  /** Asks for permission first, or does it at once. */
  | { readonly do: 'run'; readonly command: string; readonly ask?: true }
  | { readonly do: 'write'; readonly path: string; readonly text: string; readonly ask?: true }
  | { readonly do: 'ask many'; readonly times: number }
  | { readonly do: 'cost'; readonly dollars: number }
  /** Prints lines that are no messages. */
  | { readonly do: 'print'; readonly lines: number }
  /** Does nothing until it is cancelled. */
  | { readonly do: 'wait' }
  | { readonly do: 'exit'; readonly code: number };

export interface AcpScript {
  readonly prompts: readonly (readonly AcpStep[])[];
  readonly version?: number;
  readonly silent?: true;
  readonly garbage?: true;
  readonly needsLogin?: true;
  readonly load?: true;
  readonly modes?: readonly string[];
  /** A file, relative to the folder of the session, that gets each prompt and mode as a line. */
  readonly notes?: string;
}

/** Characters of one argument; the configuration allows 1,000. */
const ARGUMENT = 900;

/** The command that starts it. */
export const acpCommand = (script: AcpScript): readonly string[] => [
  process.execPath,
  path.join(import.meta.dirname, 'acp-agent.ts'),
  ...(JSON.stringify(script).match(new RegExp(`[^]{1,${ARGUMENT}}`, 'g')) ?? []),
];

async function main(script: AcpScript): Promise<void> {
  if (script.garbage === true) {
    for (let at = 0; at < 300; at += 1) console.log(`Welcome to the agent, line ${at}`);
  }
  if (script.silent === true || script.garbage === true) {
    await new Promise((resolve) => process.stdin.on('end', resolve).resume());
    return;
  }
  const { notes = '' } = script;
  let cwd = '.';
  let prompts = 0;
  let calls = 0;
  let cancelled = Promise.withResolvers<void>();
  const note = (line: string): void => {
    if (notes !== '') appendFileSync(path.join(cwd, notes), `${line}\n`);
  };
  const modes = script.modes && {
    currentModeId: script.modes[0] ?? '',
    availableModes: script.modes.map((id) => ({ id, name: id })),
  };
  const perform = async (context: AgentContext, sessionId: string, step: AcpStep): Promise<void> => {
    const update = (what: SessionUpdate): Promise<void> => send(context, sessionId, what);
    const allowed = async (title: string, kind: ToolKind, rawInput: unknown): Promise<boolean> => {
      const toolCallId = `call-${(calls += 1)}`;
      await update({ sessionUpdate: 'tool_call', toolCallId, title, kind, status: 'pending', rawInput });
      const options = [
        { optionId: 'always', name: 'Always', kind: 'allow_always' as const },
        { optionId: 'once', name: 'Once', kind: 'allow_once' as const },
        { optionId: 'no', name: 'No', kind: 'reject_once' as const },
      ];
      const { outcome } = await context.request<RequestPermissionResponse>(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId, title, kind, rawInput },
        options,
      });
      const answer = outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome;
      note(`${title}: ${answer}`);
      await update({
        sessionUpdate: 'tool_call_update',
        toolCallId,
        status: answer === 'once' || answer === 'always' ? 'completed' : 'failed',
      });
      return answer === 'once' || answer === 'always';
    };
    const say = (text: string, how: 'agent_message_chunk' | 'agent_thought_chunk'): Promise<void> =>
      update({ sessionUpdate: how, content: { type: 'text', text } });
    switch (step.do) {
      case 'say':
        return say(step.text, 'agent_message_chunk');
      case 'think':
        return say(step.text, 'agent_thought_chunk');
      case 'plan':
        return update({
          sessionUpdate: 'plan',
          entries: step.entries.map(([content, status]) => ({ content, status, priority: 'medium' })),
        });
      case 'run':
        if (step.ask === true && !(await allowed(step.command, 'execute', { command: step.command }))) return;
        return note(`ran ${step.command}: ${outputOf(step.command, cwd)}`);
      case 'write':
        if (step.ask === true && !(await allowed(`Edit ${step.path}`, 'edit', { path: step.path }))) return;
        return writeFileSync(path.join(cwd, step.path), step.text);
      case 'ask many': {
        const all = Array.from({ length: step.times }, (_, at) =>
          allowed(`echo ${at}`, 'execute', { command: `echo ${at}` }),
        );
        const given = await Promise.all(all);
        return say(`${given.filter(Boolean).length} allowed`, 'agent_message_chunk');
      }
      case 'cost': {
        const cost = { amount: step.dollars, currency: 'USD' };
        return update({ sessionUpdate: 'usage_update', used: 1200, size: 200_000, cost });
      }
      case 'print':
        for (let at = 0; at < step.lines; at += 1) console.log(`progress ${at} %`);
        return;
      case 'wait':
        return cancelled.promise;
      case 'exit':
        console.error('it broke');
        process.exit(step.code);
    }
  };
  const opened = (place: { readonly cwd: string }) => {
    ({ cwd } = place);
    if (script.needsLogin === true) throw new RequestError(-32_000, 'Authentication required');
    return modes === undefined ? {} : { modes };
  };
  agent({ name: 'scripted' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: script.version ?? 1,
      agentInfo: { name: 'scripted', version: '1.0.0' },
      agentCapabilities: { loadSession: script.load === true },
      ...(script.needsLogin === true && { authMethods: [{ id: 'ana', name: 'Log in with Ana' }] }),
    }))
    .onRequest(methods.agent.session.new, ({ params }) => ({ sessionId: 'session-1', ...opened(params) }))
    .onRequest(methods.agent.session.load, ({ params }) => {
      const made = opened(params);
      note(`loaded ${params.sessionId}`);
      return made;
    })
    .onRequest(methods.agent.session.setMode, ({ params }) => {
      note(`mode ${params.modeId}`);
      return {};
    })
    .onNotification(methods.agent.session.cancel, () => cancelled.resolve())
    .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
      const text = params.prompt.map((part) => (part.type === 'text' ? part.text : '')).join('');
      note(`prompt ${JSON.stringify(text)}`);
      const steps = script.prompts[Math.min(prompts, script.prompts.length - 1)] ?? [];
      prompts += 1;
      cancelled = Promise.withResolvers();
      let isCancelled = false;
      void cancelled.promise.then(() => (isCancelled = true));
      for (const step of steps) {
        if (isCancelled) break;
        await perform(client, params.sessionId, step);
      }
      return { stopReason: isCancelled ? ('cancelled' as const) : ('end_turn' as const) };
    })
    .connect(ndJsonStream(Writable.toWeb(process.stdout), readable()));
}

function readable(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      process.stdin.on('data', (chunk: Buffer) => controller.enqueue(new Uint8Array(chunk)));
      process.stdin.once('end', () => {
        controller.close();
        process.exit(0);
      });
    },
  });
}

const send = (context: AgentContext, sessionId: string, update: SessionUpdate): Promise<void> =>
  context.notify(methods.client.session.update, { sessionId, update });

function outputOf(command: string, cwd: string): string {
  try {
    return execSync(command, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    return error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : '';
  }
}

const Script: z.ZodType<AcpScript> = z.custom<AcpScript>((value) => typeof value === 'object');
if (process.argv[1] === import.meta.filename) await main(Script.parse(JSON.parse(process.argv.slice(2).join(''))));
