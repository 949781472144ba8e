/** The models of a run behind one port: which there are, which can be called, and what is said of the others. */
import { describe, expect, it } from 'vitest';
import { offlineAnalyst } from '../../src/analyst/offline-analyst.ts';
import { ModelId } from '../../src/domain/ids.ts';
import { openModels, routeModels } from '../../src/models/open.ts';
import { scriptedModel, scriptedProvider } from '../support/scripted.ts';
import { ALIASES } from '../../src/policy/models.ts';
import { fakeWorld } from '../support/world.ts';
import { workRequest } from './request.ts';

const analyst = offlineAnalyst(ALIASES, { is: 'none' });
const nobody = { aliases: ALIASES, analyst, world: fakeWorld(), providers: [] } as const;
const models = openModels(nobody);
const never = new AbortController().signal;
const callOf = (id: string) => models.call({ ...workRequest(), model: ModelId.parse(id) }, never, () => undefined);

describe('the models of a run', () => {
  it('know every alias, and every alias leads to one of them (D3)', () => {
    const ids = models.models().map(({ id }) => id);
    expect([...ids].sort()).toEqual([...ALIASES.values()].sort());
    const listed = models.models().flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id]));
    expect(new Map(listed.map(([alias = '', id = '']) => [alias, id]))).toEqual(new Map(ALIASES));
  });

  it('are offered by their providers, priced, and named by their first alias (O088)', () => {
    const haiku = models.models().find(({ label }) => label === 'haiku-4.5');
    expect(haiku).toEqual({
      id: 'anthropic/claude-haiku-4-5-20251001',
      label: 'haiku-4.5',
      aliases: ['haiku-4.5'],
      window: 200_000,
      outputLimit: 64_000,
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
      grade: 'fast',
      effort: false,
      speed: 150,
      usable: { yes: false, because: 'no provider anthropic' },
    });
  });

  it('can be called only where something answers: the offline analyst, which costs nothing', () => {
    const usable = models.models().filter((option) => option.usable.yes);
    expect(usable.map(({ id, price }) => [id, price])).toEqual([['offline/analyst', { input: 0, output: 0 }]]);
  });

  it('say why a model can not be called, and which are not known at all', async () => {
    expect(await callOf('openai/o3-2025-04-16')).toEqual({
      ok: false,
      fault: { is: 'refused', message: 'o3: no provider openai' },
    });
    expect(await callOf('nobody/knows')).toEqual({
      ok: false,
      fault: { is: 'refused', message: 'no provider has the model nobody/knows' },
    });
  });

  it('give way to a script that plays them', async () => {
    const id = 'anthropic/claude-haiku-4-5-20251001';
    const script = scriptedProvider({ replies: () => ({ text: 'as written' }), models: [scriptedModel(id)] });
    const played = openModels({ ...nobody, script });
    const reply = await played.call({ ...workRequest(), model: ModelId.parse(id) }, never, () => undefined);
    expect(reply.ok && reply.value.text).toBe('as written');
    expect(played.models().filter((option) => option.id === id)).toEqual([scriptedModel(id)]);
  });

  it('are listed once each, however many providers know them', () => {
    const one = scriptedProvider({ replies: () => undefined });
    expect(routeModels([one, one]).models()).toEqual([scriptedModel()]);
  });
});
