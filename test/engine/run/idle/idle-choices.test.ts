/** A run without a plan says what its children may be made of: no plan brings it. */
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../../../src/domain/ids.ts';
import { foldAll } from '../../../../src/events/fold.ts';
import { idleRun, waits } from '../../../support/idle.ts';

describe('a run without a plan', () => {
  it('knows its roles and models from its first event on, and another model can be set for main (D33)', async () => {
    const run = idleRun();
    await run.until(waits);
    const { choices } = foldAll(run.events().slice(0, 1));
    expect(choices?.roles.map(({ name }) => name)).toContain('finder');
    const other = choices?.models.find(
      ({ usable, id }) => usable.yes && id !== run.state().agents.get(ROOT)?.model.used,
    );
    if (other === undefined) throw new Error('there is one model only');
    await run.tell({ do: 'set model', agent: ROOT, model: other.id });
    expect(run.state().agents.get(ROOT)?.model.used).toBe(other.id);
    await run.tell({ do: 'stop run', reason: 'seen' });
    await run.result;
  });
});
