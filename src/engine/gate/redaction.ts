/**
 * Secrets are taken out of all that a run records or shows, before it is serialised or folded. Results of tools and messages
 * that go to a model lose the known keys alone (`ToolParts.hide`): text that only looks like a key may be a line of a file that
 * the model is to edit. A resumed run reads its conversation from the log: there it finds `[key]` for both, and nothing that was
 * taken out can be had back.
 */
import { planDigest } from '../../domain/digest.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import type { Redactor } from '../../domain/text/redact.ts';
import type { EventBody } from '../../events/event.ts';
import type { Tick } from '../../ports/controls.ts';

/** The same body, or one like it without secrets. */
export function redactedBody(body: EventBody, { clean }: Redactor): EventBody {
  if (!holdsSecret(body, clean)) return body;
  const copy: unknown = JSON.parse(
    JSON.stringify(body, (_, value: unknown): unknown => (typeof value === 'string' ? clean(value) : value)),
  );
  if (!isBody(copy)) return body;
  // What is approved and carried out is the plan as it is recorded: its digest is of that.
  const hasPlan = copy.type === 'plan.proposed' || copy.type === 'plan.edited' || copy.type === 'plan.amended';
  return hasPlan ? { ...copy, digest: planDigest(copy.plan) } : copy;
}

/** A plan as it will be recorded: what a person is shown and approves is what is carried out. */
export function redactedPlan(plan: SoundPlan, redactor: Redactor | undefined): SoundPlan {
  if (redactor === undefined) return plan;
  const body = redactedBody({ type: 'plan.amended', plan, digest: '', changes: [], by: 'person' }, redactor);
  return body.type === 'plan.amended' ? body.plan : plan;
}

function holdsSecret(value: unknown, clean: Redactor['clean']): boolean {
  if (typeof value === 'string') return clean(value) !== value;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((part) => holdsSecret(part, clean));
}

/** Only strings within it were changed, and `type` is none that could be. */
const isBody = (value: unknown): value is EventBody => typeof value === 'object' && value !== null && 'type' in value;

/**
 * Text as it streams: what may be the beginning of a secret waits for what follows it. What an agent's text or output ends
 * with may so be missing here; the event that follows has all of it.
 */
export function redactedTicks(show: (tick: Tick) => void, { clean, open }: Redactor): (tick: Tick) => void {
  const held = new Map<string, string>();
  return ({ delta, ...of }) => {
    const name = JSON.stringify([of.agent, of.is, of.tool]);
    const text = (held.get(name) ?? '') + delta;
    const growing = open(text);
    // Held as it came: a key that came in pieces is one again, and is hidden to its end.
    const end = text.length - (growing > LONGEST_HELD ? 0 : growing);
    held.set(name, text.slice(end));
    if (end > 0) show({ ...of, delta: clean(text.slice(0, end)) });
  };
}

/** Characters: longer than any key, with the longest private key. */
const LONGEST_HELD = 24_000;
