/**
 * What a server of Anthropic's language turned out not to take, learned from its refusals, each of them once: nothing is billed for those,
 * so the request is made again at once without it. Held for as long as the provider is.
 */
import type { AgentId } from '../domain/ids.ts';
import type { ModelRequest } from '../ports/model.ts';
import type { Body } from './anthropic-wire.ts';

/** What may be asked of a model, as far as it is known by now. */
export interface Allowed {
  /** A schema for its reply, where the model is known to take one. */
  readonly schema: boolean;
  /** To be forced to call a tool. */
  readonly forced: boolean;
  /** Anything said of how it should reason. */
  readonly thinking: boolean;
  /** Reasoning goes back from this turn on: that of earlier ones is not taken any more. */
  readonly reasonedFrom: number;
}

export interface Learned {
  allowed(request: ModelRequest): Allowed;
  /** Takes a refusal of `body` by its words; false when it says nothing that could be left out. */
  take(request: ModelRequest, body: Body, words: string): boolean;
}

/** All of it. */
export const ALL_ALLOWED: Allowed = { schema: true, forced: true, thinking: true, reasonedFrom: 0 };

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
      const { schema, forced, thinking } = allowed(request);
      models.set(request.model, { schema, forced, thinking, ...less });
      return true;
    },
  };
}

/** Of sealed reasoning that was changed, moved, left out, or made before something else. */
const OF_REASONING = /signature|different conversation|redacted_thinking|thinking.{0,3} blocks?/i;

function lessFor(body: Body, words: string): Partial<OfModel> | null {
  if (body.tool_choice?.type === 'tool' && /tool_choice|forces? tool/i.test(words)) return { forced: false };
  if (body.thinking !== undefined && /thinking|adaptive/i.test(words)) return { thinking: false };
  const form = body.output_config !== undefined && /format|output_config|schema|grammar|structured/i.test(words);
  return form ? { schema: false } : null;
}

const hasReasoning = ({ messages }: Body): boolean =>
  messages.some(
    ({ content }) =>
      typeof content !== 'string' && content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking'),
  );
