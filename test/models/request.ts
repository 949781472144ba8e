/** Requests for tests of providers, whole, with what matters changed. */
import { AgentId, CallId, ModelId, RoleName } from '../../src/domain/ids.ts';
import type { Turn } from '../../src/domain/turn.ts';
import type { ModelRequest } from '../../src/ports/model.ts';

/** A call of a working agent: `ROOT::S1`, a finder, with the one user turn `find the parser` unless changed. */
export function workRequest(
  change: { readonly agent?: string; readonly role?: string; readonly turns?: readonly Turn[] } = {},
): ModelRequest {
  return {
    model: ModelId.parse('scripted/model'),
    agent: AgentId.parse(change.agent ?? 'ROOT::S1'),
    call: CallId.parse('call-1'),
    purpose: { is: 'work', task: 'find the parser', role: RoleName.parse(change.role ?? 'finder'), findings: [] },
    system: '',
    tools: [],
    turns: change.turns ?? [{ by: 'user', text: 'find the parser' }],
    maxOutputTokens: 4096,
    format: null,
  };
}
