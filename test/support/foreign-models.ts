/** Agents of other programs as models, in tests: what can be chosen, and calls as the agent loop makes them. */
import { AgentId, CallId, ModelId, RoleName } from '../../src/domain/ids.ts';
import type { ModelOption } from '../../src/domain/plan/plan.ts';
import type { ModelReply, Turn } from '../../src/domain/turn.ts';
import type { Result } from '../../src/domain/result.ts';
import type { ForeignModels } from '../../src/integrations/index.ts';
import type { Delta, ModelFault, ModelRequest } from '../../src/ports/model.ts';

/** The option of the agent `scripted`, by its id: `acp/scripted`. */
export const scriptedOption = (id: string): ModelOption => ({
  id: ModelId.parse(id),
  label: 'scripted',
  aliases: [],
  window: 1_000_000,
  outputLimit: 8000,
  price: null,
  speed: 50,
  usable: { yes: true },
});

export interface ForeignCall extends Pick<ModelRequest, 'toolChoice'> {
  readonly number: number;
  readonly signal: AbortSignal;
  readonly shown?: (delta: Delta) => void;
}

/** Calls the model `id` with these turns, and adds its reply to them. */
export async function callForeign(
  models: ForeignModels,
  id: string,
  turns: Turn[],
  { number, signal, shown = () => undefined, ...more }: ForeignCall,
): Promise<Result<ModelReply, ModelFault>> {
  const reply = await models.call(
    {
      model: ModelId.parse(id),
      agent: AgentId.parse('ROOT::S1'),
      call: CallId.parse(`call-${number}`),
      purpose: { is: 'work', task: 'Rename it.', role: RoleName.parse('scripted'), findings: [] },
      system: '',
      tools: [],
      turns: [...turns],
      maxOutputTokens: 8000,
      format: null,
      ...more,
    },
    signal,
    shown,
  );
  if (!reply.ok) return reply;
  const { text, calls, opaque } = reply.value;
  turns.push({ by: 'model', text, calls, ...(opaque === undefined ? {} : { opaque }) });
  return reply;
}
