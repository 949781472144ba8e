/** Decides what each request is answered, and keeps what became of it. Speaks to no socket. */
import type { Asked, Counted, Outcome, Read, Wire } from './asked.ts';
import { NOTHING } from './asked.ts';
import type { Outgoing } from './faults.ts';
import { faulted, refusal } from './faults.ts';
import { FORMATS, readAs, wireOf } from './format.ts';
import { parsed } from './json.ts';
import { lacking, trimmed } from './lacks.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './memory.ts';
import { prefixFault } from './prefix.ts';
import { problemOf } from './problem.ts';
import type { Choice } from './rules.ts';
import { choiceOf } from './rules.ts';
import type { Answer, Script } from './script.ts';
import type { Sent } from './sending.ts';
import type { Reply } from './reply.ts';
import { replyOf } from './reply.ts';
import type { Problem } from './vendor-error.ts';
import { countBody, headersOf, modelsBody } from './vendor-body.ts';
import { errorBody } from './vendor-error.ts';

export interface Visitor {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string;
}

/** A request that was taken in, and what is to go out for it. */
export interface Taken {
  readonly outgoing: Outgoing;
  readonly latencyMs: number;
  readonly rate: number | null;
  /** The connection is done with it, or gone. Only the first time counts. */
  settle(sent: Sent, isWhole: boolean): void;
}

export interface Exchange {
  readonly asked: readonly Asked[];
  take(visitor: Visitor): Taken;
  prefixFaults(): readonly string[];
}

type Kept = { -readonly [field in keyof Asked]: Asked[field] };

export function openExchange(
  script: Script,
  { key, answer }: { readonly key: string; readonly answer?: (asked: Asked) => Answer },
): Exchange {
  const asked: Kept[] = [];
  const prefixFaults: string[] = [];
  const memory = openMemory({ minimum: script.cache?.minimum ?? 1024, writes: script.cache?.writes ?? false });
  const choice = choiceOf(script);
  const choose = (one: Asked, counts: boolean): Answer | null => (answer ? answer(one) : choice.answer(one, counts));
  return {
    asked,
    prefixFaults: () => prefixFaults,
    take: (visitor) => {
      const [one, former] = readOne(visitor, memory);
      asked.push(one);
      const { wire } = one;
      const id = String(asked.length).padStart(24, '0');
      const problem = problemOf(one, { script, key, memory }) ?? lacking(one, script.lacks ?? []);
      if (problem !== null) return refused(one, problem, id);
      if (!isCall(wire)) return plain(one, wire === 'models' ? modelsBody(script, one.headers) : countBody(one));
      const fault = prefixFault(one, former);
      if (fault !== null) prefixFaults.push(fault);
      memory.remember(one);
      if (script.forgets === true) for (const old of memory.old(one.conversation)) letGo(old);
      return answered(one, { wire, id, script, choice, choose, memory });
    },
  };
}

function readOne({ method, path, headers, raw }: Visitor, memory: Memory): readonly [Kept, former: Asked | null] {
  const wire = wireOf(method, path.replace(/\?.*$/, ''));
  const body = parsed(raw);
  const read = readAs(wire, body);
  const { conversation, nth, former } = isCall(wire) ? memory.place(wire, read) : NOWHERE;
  return [{ wire, path, headers, body, raw, ...read, conversation, nth, outcome: WAITING }, former];
}

const WAITING: Outcome = { is: 'waiting', status: 0, usage: NOTHING, answer: null, problem: '' };
/** Of requests that are no calls of a model. */
const NOWHERE = { conversation: '', nth: 0, former: null };

const isCall = (wire: Wire): wire is 'messages' | 'chat' | 'responses' =>
  wire === 'messages' || wire === 'chat' || wire === 'responses';

function refused(asked: Kept, problem: Problem, id: string): Taken {
  return {
    outgoing: refusal(problem.status, problem.body ?? errorBody(asked.wire, problem, id), {
      ...headersOf(asked.wire, id),
      ...problem.headers,
    }),
    latencyMs: 0,
    rate: null,
    settle: () => {
      asked.outcome = { ...WAITING, is: 'refused', status: problem.status, problem: problem.message };
    },
  };
}

/** What is told of it stays; what only the next two needed goes. */
function letGo(asked: Asked): void {
  Object.assign(asked, { raw: '', body: null, parts: [] });
}

const plain = (asked: Kept, data: string): Taken => ({
  outgoing: refusal(200, data),
  latencyMs: 0,
  rate: null,
  settle: () => {
    asked.outcome = { ...WAITING, is: 'answered', status: 200 };
  },
});

interface Answering {
  readonly wire: 'messages' | 'chat' | 'responses';
  readonly id: string;
  readonly script: Script;
  readonly choice: Choice;
  readonly choose: (asked: Asked, counts: boolean) => Answer | null;
  readonly memory: Memory;
}

function answered(asked: Kept, answering: Answering): Taken {
  const { wire, id, script, choice, choose, memory } = answering;
  const chaos = choice.chaos();
  // What chaos strikes is asked again: the answer must still be there then.
  const chosen = choose(asked, chaos === null);
  if (chosen === null) return refused(asked, { status: 400, message: UNSCRIPTED }, id);
  const answer = trimmed(chaos === null ? chosen : { ...chosen, fault: chaos }, script.lacks ?? []);
  const format = FORMATS[wire];
  const reply = replyOf(answer, { wire, id, model: asked.model, limit: asked.limit });
  const input = memory.cached(wire, asked.parts);
  const counted: Counted = { ...input, output: reply.output };
  const outgoing = outgoingOf(asked, { wire, answer, reply, counted, quirks: script.quirks ?? [] });
  memory.made(
    asked,
    reply.calls.map((call) => call.id),
    format.reasoned(reply, asked.body),
  );
  return {
    outgoing,
    latencyMs: answer.latencyMs ?? script.latencyMs ?? 0,
    rate: answer.rate ?? script.rate ?? null,
    settle: (sent, isWhole) => {
      if (asked.outcome.is !== 'waiting') return;
      const is = outgoing.counts === 'answered' && !isWhole ? 'broken' : outgoing.counts;
      asked.outcome = {
        is,
        status: outgoing.head ? outgoing.status : 0,
        usage: usageOf(is, sent, counted, outgoing),
        answer,
        problem: '',
      };
    },
  };
}

const UNSCRIPTED = 'The script of the double has no rule for this request.';

function usageOf(is: Outcome['is'], sent: Sent, counted: Counted, { frames, billed }: Outgoing): Counted {
  if (is === 'answered') return counted;
  const told = Math.min(sent.frames, billed ?? frames.length);
  if (is === 'refused' || told === 0) return NOTHING;
  const tokens = frames.slice(0, told).reduce((sum, frame) => sum + frame.tokens, 0);
  return { ...counted, output: Math.min(counted.output, tokens) };
}

interface Written {
  readonly wire: 'messages' | 'chat' | 'responses';
  readonly answer: Answer;
  readonly reply: Reply;
  readonly counted: Counted;
  readonly quirks: NonNullable<Script['quirks']>;
}

function outgoingOf(
  asked: Read & { readonly body: unknown },
  { wire, answer, reply, counted, quirks }: Written,
): Outgoing {
  const format = FORMATS[wire];
  const writing = {
    body: asked.body,
    usage: answer.usage,
    created: Math.floor(Date.now() / 1000),
    quirks,
  };
  const frames = asked.stream
    ? format.frames(reply, counted, writing)
    : [{ data: JSON.stringify(format.whole(reply, counted, writing)), tokens: counted.output }];
  const type = asked.stream ? 'text/event-stream; charset=utf-8' : 'application/json';
  const whole: Outgoing = {
    head: true,
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'no-cache', ...headersOf(wire, reply.id) },
    frames,
    ending: 'end',
    counts: 'answered',
  };
  return faulted(answer.fault, { wire, format, reply, writing, whole, streams: asked.stream });
}
