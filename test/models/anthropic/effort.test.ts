/** How much a model is to think, on each wire: sent where it is set, learned where it is refused, never a failure. */
import { afterEach, describe, expect, it } from 'vitest';
import { ModelId, providerOf } from '../../../src/domain/ids.ts';
import { anthropicCaller } from '../../../src/models/anthropic/adapter.ts';
import { traitsOf } from '../../../src/models/anthropic/wire.ts';
import { KNOWN } from '../../../src/models/catalogue/catalogue.ts';
import { wireName } from '../../../src/models/provider.ts';
import { fieldsAt } from '../../../src/models/http/json.ts';
import { openaiCaller } from '../../../src/models/openai/adapter.ts';
import { firstTraits } from '../../../src/models/openai/chat-wire.ts';
import type { ModelRequest } from '../../../src/ports/model.ts';
import { type Double, openDouble } from '../../support/double/double.ts';
import { at } from '../../support/double/json.ts';
import type { Script } from '../../support/double/script.ts';
import { fakeWorld } from '../../support/world.ts';
import { ask, setupFor as anthropicSetup } from '../anthropic-parts.ts';
import { ignore, LOCAL, NEVER, requestFor, setupFor } from '../openai-setup.ts';

let double: Double | null = null;
afterEach(async () => {
  await double?.close();
  double = null;
});

/** Each wire: the model, its caller, and where its parameter is in a body. */
const WIRES = {
  messages: {
    model: 'anthropic/claude-opus-5-5',
    caller: (url: string) => anthropicCaller(anthropicSetup(url), fakeWorld()),
    effortIn: (body: unknown) => at(at(body, 'output_config'), 'effort'),
  },
  responses: {
    model: 'openai/o3',
    caller: (url: string) => openaiCaller(setupFor(url), fakeWorld()),
    effortIn: (body: unknown) => at(at(body, 'reasoning'), 'effort'),
  },
  chat: {
    model: 'local/qwen3',
    caller: (url: string) => openaiCaller(setupFor(url, LOCAL), fakeWorld()),
    effortIn: (body: unknown) => at(body, 'reasoning_effort'),
  },
} as const;
const NAMES = ['messages', 'responses', 'chat'] as const;

/** What came of two calls: each answer, and the effort in each body that the server got. */
async function twice(name: keyof typeof WIRES, script: Partial<Script>, change: Partial<ModelRequest>) {
  double = await openDouble({ rules: [{ answer: { text: 'Yes.' } }], ...script });
  const { caller: open, effortIn, model } = WIRES[name];
  const caller = open(double.url);
  const request = { ...(name === 'messages' ? ask() : requestFor()), model: ModelId.parse(model), ...change };
  const ends: unknown[] = [];
  for (let n = 0; n < 2; n += 1) {
    const came = await caller.call(request, NEVER, ignore);
    ends.push(came.ok ? [came.value.text, came.value.withoutEffort ?? false] : came.fault.message);
  }
  return { ends, sent: double.asked.map(({ body }) => effortIn(body)), bodies: double.asked.map(({ body }) => body) };
}

describe.each(NAMES)('an effort on the wire of %s', (name) => {
  it('is sent in the parameter of the provider', async () => {
    const { ends, sent } = await twice(name, {}, { effort: 'low' });
    expect([ends, sent]).toEqual([
      [
        ['Yes.', false],
        ['Yes.', false],
      ],
      ['low', 'low'],
    ]);
  });

  it('is in no request that names none', async () => {
    const { sent, bodies } = await twice(name, {}, {});
    expect(sent).toEqual([undefined, undefined]);
    expect(bodies.some((body) => JSON.stringify(body).includes('effort'))).toBe(false);
  });

  it('that is refused is left out of the same call and of later ones, and the reply says so', async () => {
    const { ends, sent } = await twice(name, { lacks: ['effort'] }, { effort: 'high' });
    expect([ends, sent]).toEqual([
      [
        ['Yes.', true],
        ['Yes.', true],
      ],
      ['high', undefined, undefined],
    ]);
  });
});

describe('an effort', () => {
  it('goes beside a schema, and its refusal takes the schema from nobody', async () => {
    const format = { type: 'object', properties: {}, required: [], additionalProperties: false } as const;
    const { bodies } = await twice('messages', { lacks: ['effort'] }, { effort: 'high', format, tools: [] });
    const kinds = bodies.map((body) => Object.keys(fieldsAt(body, 'output_config') ?? {}));
    expect(kinds).toEqual([['format', 'effort'], ['format'], ['format']]);
  });

  it('is not sent to models that are known to refuse it, as the catalogue has them', async () => {
    const model = ModelId.parse('anthropic/claude-haiku-4-5-20251001');
    const { sent, ends } = await twice('messages', {}, { effort: 'low', model });
    expect([sent, ends[0]]).toEqual([
      [undefined, undefined],
      ['Yes.', true],
    ]);
    const taken = (id: ModelId): boolean =>
      providerOf(id) === 'anthropic'
        ? traitsOf(wireName(id)).effort
        : firstTraits({ kind: 'openai', baseUrl: 'https://api.openai.com/v1' }, wireName(id)).effort;
    const makers = KNOWN.filter(({ id }) => ['anthropic', 'openai'].includes(providerOf(id)));
    expect(makers.filter(({ id, effort }) => taken(id) !== (effort ?? true)).map(({ id }) => id)).toEqual([]);
  });
});
