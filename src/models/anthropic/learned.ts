/**
 * What a server of Anthropic's language turned out not to take, learned from its refusals, each of them once: nothing is billed for those,
 * so the request is made again at once without it. Held for as long as the provider is.
 */
import type { AgentId } from '../../domain/ids.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { Body } from './wire.ts';

/** What may be asked of a model, as far as it is known by now. */
export interface Allowed {
  /** A schema for its reply, where the model is known to take one. */
  readonly schema: boolean;
  /** To be forced to call a tool. */
  readonly forced: boolean;
  /** Anything said of how it should reason. */
  readonly thinking: boolean;
  /** To be told how much to think. */
  readonly effort: boolean;
  /** Reasoning goes back from this turn on: that of earlier ones is not taken any more. */
  readonly reasonedFrom: number;
}

export interface Learned {
  allowed(request: ModelRequest): Allowed;
  /** Takes a refusal of `body` by its words; false when it says nothing that could be left out. */
  take(request: ModelRequest, body: Body, words: string): boolean;
}

/** All of it. */
export const ALL_ALLOWED: Allowed = { schema: true, forced: true, thinking: true, effort: true, reasonedFrom: 0 };

type OfModel = Omit<Allowed, 'reasonedFrom'>;

export function openLearned(): Learned {
  const models = new Map<string, OfModel>();
  const agents = new Map<AgentId, number>();
  const allowed = (request: ModelRequest): Allowed => ({
    ...ALL_ALLOWED,
    ...models.get(request.model),
    reasonedFrom: agents.get(request.agent) ?? 0,
  });
  return {
    allowed,
    take(request, body, words) {
      if (hasReasoning(body) && OF_REASONING.test(words)) {
        // What is sealed is bound to all that stood before it, so what comes from now on may go back again.
        agents.set(request.agent, request.turns.length);
        return true;
      }
      const less = lessFor(body, words);
      if (less === null) return false;
      const { schema, forced, thinking, effort } = allowed(request);
      models.set(request.model, { schema, forced, thinking, effort, ...less });
      return true;
    },
  };
}

/** Of sealed reasoning that was changed, moved, left out, or made before something else. */
const OF_REASONING = /signature|different conversation|redacted_thinking|thinking.{0,3} blocks?/i;

/** A server that does not know `output_config` at all may name only that. */
const OF_EFFORT = /effort|output_config(?![.'"`\]\s]*(?:format|schema))/i;

/** What is asked for in a body, by which words a refusal names it, and what is left out then. The first that fits counts. */
const LESSONS: readonly {
  readonly asked: (body: Body) => boolean;
  readonly named: RegExp;
  readonly less: Partial<OfModel>;
}[] = [
  { asked: ({ output_config }) => output_config?.effort !== undefined, named: OF_EFFORT, less: { effort: false } },
  {
    asked: ({ tool_choice }) => tool_choice?.type === 'tool',
    named: /tool_choice|forces? tool/i,
    less: { forced: false },
  },
  { asked: ({ thinking }) => thinking !== undefined, named: /thinking|adaptive/i, less: { thinking: false } },
  {
    asked: ({ output_config }) => output_config?.format !== undefined,
    named: /format|output_config|schema|grammar|structured/i,
    less: { schema: false },
  },
];

const lessFor = (body: Body, words: string): Partial<OfModel> | null =>
  LESSONS.find(({ asked, named }) => asked(body) && named.test(words))?.less ?? null;

const hasReasoning = ({ messages }: Body): boolean =>
  messages.some(
    ({ content }) =>
      typeof content !== 'string' && content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking'),
  );
