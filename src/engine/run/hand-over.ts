/** Gives a run to another process: nothing new is begun, what runs comes to its end, and then the run stops as it stands. */
import type { Result } from '../../domain/result.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import type { Command, Receipt } from '../../ports/controls.ts';
import { HANDED_OVER } from '../../ports/controls.ts';
import type { RunParts } from './parts.ts';

/**
 * Resolves when the run has stopped, or with why it goes on here. Calls of models and tools count as running; whoever waits for a
 * child or a person does not: that goes on where the run does.
 */
export function handOver(
  parts: RunParts,
  { how }: Extract<Command, { readonly do: 'hand over' }>,
): Promise<Result<Receipt, string>> {
  if (parts.recorder.state().finished !== null) return Promise.resolve(fail('the run has ended'));
  switch (how) {
    case 'when quiet':
      return whenQuiet(parts);
    case 'now':
      parts.stop(HANDED_OVER);
      return whenStopped(parts);
    case 'stay':
      return Promise.resolve(stay(parts));
    default:
      return unreachable(how);
  }
}

async function whenQuiet(parts: RunParts): Promise<Result<Receipt, string>> {
  const { hold, handing } = parts;
  if (handing.now !== null) return fail(`it is being handed over, and waits for ${wordsFor(hold.running())}`);
  const stays = new AbortController();
  handing.now = () => stays.abort('stays');
  hold.close();
  const waited = wordsFor(hold.running());
  await hold.quiet();
  handing.now = null;
  if (stays.signal.aborted) return fail(`it goes on here; the hand-over had waited for ${waited}`);
  if (parts.recorder.state().finished === null) parts.stop(HANDED_OVER);
  return whenStopped(parts);
}

function stay({ hold, handing }: RunParts): Result<Receipt, string> {
  if (handing.now === null) return fail('it is not being handed over');
  handing.now();
  hold.open();
  return ok({ text: 'it goes on here' });
}

/** Somebody else may have ended it meanwhile, and it may have come to its own end. */
async function whenStopped({ recorder }: RunParts): Promise<Result<Receipt, string>> {
  const { finished, seq } = recorder.state();
  if (finished === null) for await (const event of recorder.events(seq)) if (event.type === 'session.finished') break;
  const end = recorder.state().finished;
  if (end?.status === 'stopped') return ok({ text: `${HANDED_OVER}: it goes on where it is resumed` });
  return fail(
    end === null ? "the run has ended without a word: its log can't be written" : 'the run has ended meanwhile',
  );
}

const wordsFor = (running: readonly string[]): string =>
  running.length === 0 ? 'nothing any more' : running.join('; ');
