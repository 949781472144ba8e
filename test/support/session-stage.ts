/**
 * A run with child sessions as its log has it, on the disk of a project, carried by this very process where it is told to: verbs
 * read the log, and knock at real sockets. What they ask is written down, and answered as the test says.
 */
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type Control, openControl } from '../../src/remote/server.ts';
import { whereOf } from '../../src/remote/socket-paths.ts';
import type { AgentId, SessionId } from '../../src/domain/ids.ts';
import { fail, ok, type Result } from '../../src/domain/result.ts';
import type { EventBody } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { CHILD_DEFAULTS } from '../../src/policy/rules.ts';
import type { Command, Receipt, Refusal, RunView } from '../../src/ports/controls.ts';
import type { StoredMessage } from '../../src/ports/log.ts';
import { openLog } from '../../src/store/log.ts';
import { openMessageStore } from '../../src/store/message-store.ts';
import { Exit } from '../../src/app/process/exit.ts';
import { readArguments } from '../../src/app/process/flags.ts';
import type { Io } from '../../src/app/process/io.ts';
import { createPainter } from '../../src/app/process/flags.ts';
import { runApi } from '../../src/app/client/run-api.ts';
import type { Verb } from '../../src/cli/verb.ts';
import { world } from '../../src/app/process/world.ts';
import { type Home, openHome } from './cli.ts';

export interface Asked {
  readonly command: Command;
  /** Null: the person. */
  readonly by: AgentId | null;
}

type Answer = (command: Command, by: AgentId | null) => Result<Receipt, Refusal>;

/** What becomes of the letters in the box of a run. */
type Poked = (box: { readonly letters: readonly StoredMessage[]; taken(): void }) => void;

export interface Stage {
  readonly home: Home;
  readonly asked: Asked[];
  readonly pokes: () => number;
  /** Puts a run into the log, each event at its time. */
  write(session: SessionId, events: readonly Timed[]): void;
  /** This process carries the run from now on; `answer` is what its engine would do. */
  carry(session: SessionId, answer?: Answer, poked?: Poked): Promise<Carried>;
  /** Runs the verb in this process. */
  ask(verb: Verb, argv: readonly string[], how?: How): Promise<Said>;
}

export interface Carried {
  readonly control: Control;
  /** More happens. */
  record(...events: readonly Timed[]): void;
  door(agent: AgentId): Promise<string>;
}

export interface Timed {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly body: EventBody;
}

export interface How {
  /** The door of an agent. */
  readonly door?: string;
  /** Columns of a terminal; without it the output goes to a pipe. */
  readonly width?: number;
  readonly cwd?: string;
}

export interface Said {
  readonly code: number;
  readonly out: readonly string[];
  readonly json: readonly unknown[];
  /** What an `Exit` said. */
  readonly err: string;
}

/** A project with nothing in it; the clock stands at `now`. */
export function openStage(now: number): Stage {
  vi.useFakeTimers({ toFake: ['Date'], now });
  const home = openHome();
  const log = openLog({ stateDir: home.state, project: home.project });
  onTestFinished(() => {
    log.close();
    home.remove();
    vi.useRealTimers();
  });
  const asked: Asked[] = [];
  let pokes = 0;
  const write: Stage['write'] = (session, events) => {
    for (const { at, body } of events) log.append(session, new Date(at).toISOString(), [body]);
  };
  const carry: Stage['carry'] = async (session, answer = () => ok({ text: 'done' }), poked) => {
    log.claim(session);
    const view: RunView = {
      session,
      each: (after, some) => log.each(session, after, some),
      state: () => foldAll(log.each(session)),
    };
    const messageStore = openMessageStore({ stateDir: home.state, project: home.project });
    const letters = (): number => messageStore.waiting(session).length;
    const given = runApi(view, { children: CHILD_DEFAULTS, now: () => world.now(), letters });
    const control = openControl(
      whereOf({ stateDir: home.state, runtimeDir: join(home.state, 'run'), project: home.project, session }),
      world,
    );
    onTestFinished(() => control.close());
    await control.serve({
      ...given,
      controls: {
        session,
        previewMode: () => Promise.resolve({ refused: null, looser: false, changes: [], answers: 0 }),
        previewPlan: () => Promise.resolve(fail('no plan')),
        submit: (command, by) => {
          asked.push({ command, by: by ?? null });
          return Promise.resolve(answer(command, by ?? null));
        },
        async *events() {},
        ticks: () => () => undefined,
      },
      poke: () => {
        pokes += 1;
        const waiting = messageStore.waiting(session);
        const ids = waiting.map(({ id }) => id);
        if (poked !== undefined) return poked({ letters: waiting, taken: () => messageStore.taken(session, ids) });
        // Who has ended goes on with it.
        const ended = waiting.filter(({ to }) => (view.state().agents.get(to)?.outcome ?? null) !== null);
        write(
          session,
          ended.map(({ to }) => ({
            at: Date.now(),
            body: { type: 'agent.status', agent: to, status: 'initializing', reason: '' },
          })),
        );
      },
    });
    return {
      control,
      record: (...events) => write(session, events),
      door: async (agent) => {
        const path = await control.agentSockets.open(agent);
        if (path === null) throw new Error('there is no door');
        return path;
      },
    };
  };
  return { home, asked, pokes: () => pokes, write, carry, ask: (verb, argv, how) => saidBy(verb, argv, home, how) };
}

/** What the verb says when it is run in this process. */
export async function saidBy(verb: Verb, argv: readonly string[], home: Home, how: How = {}): Promise<Said> {
  const [out, json]: [string[], unknown[]] = [[], []];
  const env = how.door === undefined ? home.env : { PATH: home.env['PATH'], MIMIR_SOCKET: how.door };
  const io: Io = {
    env,
    terminal: how.width !== undefined,
    width: how.width ?? 80,
    paint: createPainter({}, false),
    lost: new AbortController().signal,
    where: () => how.cwd ?? home.project,
    say: (line) => void out.push(line),
    complain: (line) => void out.push(`! ${line}`),
    write: (text) => void out.push(text),
    json: (value) => void json.push(JSON.parse(JSON.stringify(value))),
    taken: () => Promise.resolve(),
    ask: () => Promise.resolve(null),
  };
  try {
    const code = await verb.run(readArguments(argv, verb.flags, verb.words), io);
    return { code, out, json, err: '' };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { code: error.code, out, json, err: error.message };
  }
}

/** A verb that did what it was asked, and said so. */
export const said = (...out: readonly unknown[]): unknown => ({ code: 0, out, json: [], err: '' });

/** One that was refused. */
export const wrong = (err: string, code = 2): unknown => ({ code, out: [], json: [], err });
