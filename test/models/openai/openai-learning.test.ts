/** What a server doesn't take is asked for once, and never again. */
import { afterEach, describe, expect, it } from 'vitest';
import { openaiCaller } from '../../../src/models/openai/adapter.ts';
import { at, listAt } from '../../../src/models/http/json.ts';
import { type Double, openDouble } from '../../support/double/double.ts';
import type { Script } from '../../support/double/script.ts';
import { fakeWorld } from '../../support/world.ts';
import { holding, like } from '../../support/like.ts';
import {
  type Change,
  chunk,
  ignore,
  LOCAL,
  NEVER,
  openServer,
  READ,
  refuse,
  requestFor,
  setupFor,
  stream,
} from '../openai-setup.ts';

let double: Double | null = null;
afterEach(async () => {
  await double?.close();
  double = null;
});

/** Two calls, and the wires they were asked on. */
async function twice(script: Omit<Script, 'rules'>, change: Change, kind: object = LOCAL) {
  double = await openDouble({ rules: [{ answer: { text: '{"path":"a"}' } }], ...script });
  const caller = openaiCaller(setupFor(double.url, kind), fakeWorld());
  const came = [
    await caller.call(requestFor(change), NEVER, ignore),
    await caller.call(requestFor(change), NEVER, ignore),
  ];
  return { said: came.map((one) => (one.ok ? one.value.text : one.fault)), asked: double.asked };
}

/** Calls of a server that refuses by `problem` until it is content. */
async function against(
  problem: (body: { readonly [field: string]: unknown }) => object | string | null,
  change: Change = {},
  kind: object = LOCAL,
) {
  const server = await openServer((response, { body }) => {
    const refusal = problem(body);
    if (refusal === null) stream(response, [chunk({ content: 'yes' }, 'stop')]);
    else refuse(response, 400, refusal);
  });
  const caller = openaiCaller(setupFor(server.url, kind), fakeWorld());
  const request = requestFor({ model: 'local/qwen3', ...change });
  const came = [await caller.call(request, NEVER, ignore), await caller.call(request, NEVER, ignore)];
  await server.close();
  return {
    said: came.map((one) => (one.ok ? one.value.text : one.fault)),
    heard: server.heard.map(({ body }) => body),
  };
}

const FORM = { model: 'local/qwen3', tools: [], format: READ.schema };

describe('a server that lacks', () => {
  it('Responses is spoken to by Chat Completions from then on', async () => {
    const { said, asked } = await twice({ lacks: ['responses'] }, {}, {});
    expect(said).toEqual(['{"path":"a"}', '{"path":"a"}']);
    expect(asked.map(({ wire, outcome }) => [wire, outcome.is])).toEqual([
      ['responses', 'refused'],
      ['chat', 'answered'],
      ['chat', 'answered'],
    ]);
  });

  it('a model is not taken for one that lacks Responses', async () => {
    const { said, asked } = await twice({ models: ['gpt-5'] }, {}, {});
    expect(said[0]).toEqual({ is: 'refused', message: holding('does not exist') });
    expect(asked.map(({ wire }) => wire)).toEqual(['responses', 'responses']);
  });

  it('streaming options is asked without', async () => {
    const { said, asked } = await twice({ lacks: ['streaming options'] }, { model: 'local/qwen3' });
    expect(said).toEqual(['{"path":"a"}', '{"path":"a"}']);
    expect(asked.map(({ body }) => at(body, 'stream_options'))).toEqual([
      { include_usage: true },
      undefined,
      undefined,
    ]);
  });

  it('schemas is asked by a tool that must be called', async () => {
    const { asked } = await twice({ lacks: ['schema'] }, FORM);
    expect(
      asked.map(({ body }) => [at(body, 'response_format') !== undefined, at(body, 'tool_choice') !== undefined]),
    ).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
  });

  it('schemas and tools is asked in words', async () => {
    const { said, asked } = await twice({ lacks: ['schema', 'tools'] }, FORM);
    expect(said).toEqual(['{"path":"a"}', '{"path":"a"}']);
    expect(asked.map(({ body }) => [at(body, 'response_format') !== undefined, listAt(body, 'tools').length])).toEqual([
      [true, 0],
      [false, 1],
      [false, 0],
      [false, 0],
    ]);
  });

  it('tools says so, which model and what to do', async () => {
    const { said, asked } = await twice({ lacks: ['tools'] }, { model: 'local/gemma' });
    expect(said[0]).toEqual({
      is: 'refused',
      message: like(
        /^gemma at 127\.0\.0\.1:\d+ cannot use tools, which agents need: choose a model that can call tools/,
      ),
    });
    expect(asked).toHaveLength(2);
  });

  it('parallel tools works with one call a turn', async () => {
    double = await openDouble({
      rules: [{ answer: { calls: ['a', 'b'].map((path) => ({ tool: 'read_file', input: { path } })) } }],
      lacks: ['parallel tools'],
    });
    const came = await openaiCaller(setupFor(double.url, LOCAL), fakeWorld()).call(
      requestFor({ model: 'local/x' }),
      NEVER,
      ignore,
    );
    expect(came.ok && [came.value.stopReason, came.value.calls.map(({ input }) => input)]).toEqual([
      'tool use',
      [{ path: 'a' }],
    ]);
  });
});

describe('a refusal that names a parameter', () => {
  it('of the output limit flips its name once', async () => {
    const { said, heard } = await against((body) =>
      'max_tokens' in body
        ? { error: { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." } }
        : null,
    );
    expect(said).toEqual(['yes', 'yes']);
    expect(heard.map((body) => [body['max_tokens'], body['max_completion_tokens']])).toEqual([
      [4096, undefined],
      [undefined, 4096],
      [undefined, 4096],
    ]);
  });

  it('of the output limit for being too high is a refusal, not a lesson', async () => {
    const { said, heard } = await against(() => ({
      error: { message: 'max_tokens is too large: 4096. At most 1024.' },
    }));
    expect(said[0]).toEqual({ is: 'refused', message: holding('max_tokens is too large') });
    expect(heard).toHaveLength(2);
  });

  it('in the words of vLLM and of FastAPI is read as well', async () => {
    const vllm = (body: object) =>
      'stream_options' in body
        ? { object: 'error', message: 'stream_options: Extra inputs are not permitted', code: 400 }
        : null;
    expect((await against(vllm)).said).toEqual(['yes', 'yes']);
    const fastApi = (body: object) =>
      'stream_options' in body ? { detail: [{ loc: ['body', 'stream_options'] }] } : null;
    expect((await against(fastApi)).said).toEqual(['yes', 'yes']);
  });

  it('by a summary of reasoning drops that first, then all of it', async () => {
    const { heard } = await against(
      (body) => {
        if ('reasoning' in body)
          return { error: { message: 'Your organization must be verified to generate reasoning summaries.' } };
        return 'include' in body
          ? { error: { message: 'Encrypted content is not supported with this model.' } }
          : 'no more';
      },
      { model: 'openai/new' },
      {},
    );
    expect(heard.slice(0, 3).map((body) => ['reasoning' in body, 'include' in body])).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
  });

  it('never goes round for ever', async () => {
    const everything =
      'stream_options max_tokens unsupported response_format strict tool reasoning_content prompt_cache_key include';
    const { said, heard } = await against(() => ({ error: { message: everything } }), FORM);
    expect(said.every((one) => typeof one === 'object' && one.is === 'refused')).toBe(true);
    expect(heard.length).toBeLessThan(12);
  });

  it('of reasoning that has to come back sends it with its calls', async () => {
    const turns = [
      { by: 'user', text: 'go' },
      {
        by: 'model',
        text: '',
        calls: [{ id: requestFor().call, tool: 'read_file', input: { path: 'a' } }],
        opaque: { openai: { model: 'local/qwen3', thought: { field: 'reasoning_content', text: 'Hm.' } } },
      },
      { by: 'tools', results: [{ call: requestFor().call, ok: true, text: 'a file' }] },
    ] as const;
    const { said, heard } = await against(
      (body) =>
        JSON.stringify(body).includes('"reasoning_content":"Hm."')
          ? null
          : {
              error: {
                message:
                  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
              },
            },
      { turns },
    );
    expect([said, heard.length]).toEqual([['yes', 'yes'], 3]);
  });
});

describe('advice', () => {
  it('names the flags that vLLM wants', async () => {
    const { said } = await against(() => ({
      object: 'error',
      message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    }));
    expect(said[0]).toEqual({
      is: 'refused',
      message: holding('start that server with --enable-auto-tool-choice'),
    });
  });

  it('says where a base URL mostly ends', async () => {
    const server = await openServer((response) => refuse(response, 404, '404 page not found'));
    const setup = { ...setupFor(server.url, LOCAL), baseUrl: server.url };
    const came = await openaiCaller(setup, fakeWorld()).call(requestFor({ model: 'local/x' }), NEVER, ignore);
    await server.close();
    expect(came.ok ? came : came.fault).toEqual({
      is: 'refused',
      message: like(/returned 404 for \/chat\/completions. Check the base URL; it usually ends in \/v1$/),
    });
  });
});

describe('a route that is not there', () => {
  it.each([
    ['by FastAPI', 404, { detail: 'Not Found' }],
    ['by OpenAI', 404, { error: { message: 'Invalid URL (POST /v1/responses)', type: 'invalid_request_error' } }],
    ['by a method', 405, 'Method Not Allowed'],
    ['by LM Studio, with status 200', 200, { error: 'Unexpected endpoint or method. (POST /v1/responses)' }],
  ])('is told %s', async (_, status, body) => {
    const server = await openServer((response, { path }) => {
      if (path === '/v1/responses') refuse(response, status, body);
      else stream(response, [chunk({ content: 'yes' }, 'stop')]);
    });
    const came = await openaiCaller(setupFor(server.url), fakeWorld()).call(requestFor(), NEVER, ignore);
    await server.close();
    expect([came.ok && came.value.text, server.heard.map(({ path }) => path)]).toEqual([
      'yes',
      ['/v1/responses', '/v1/chat/completions'],
    ]);
  });
});

describe('counting', () => {
  const counting = async (status: number, body: object, kind: object = {}) => {
    const server = await openServer((response) => refuse(response, status, body));
    const { count } = openaiCaller(setupFor(server.url, kind), fakeWorld());
    const counted = await count?.(requestFor(), NEVER);
    await server.close();
    return { counted, heard: server.heard };
  };

  it('asks OpenAI for what goes in, and nothing else', async () => {
    const { counted, heard } = await counting(200, { object: 'response.input_tokens', input_tokens: 321 });
    expect([counted, heard[0]?.path]).toEqual([321, '/v1/responses/input_tokens']);
    expect(Object.keys(heard[0]?.body ?? {})).toEqual([
      'model',
      'instructions',
      'input',
      'tools',
      'parallel_tool_calls',
      'reasoning',
    ]);
  });

  it('is left out where a server can not, or says something else', async () => {
    expect((await counting(404, { error: { message: 'no' } })).counted).toBeNull();
    expect((await counting(200, { input_tokens: -1 })).counted).toBeNull();
    expect((await counting(200, {})).counted).toBeNull();
    expect(await counting(200, { input_tokens: 5 }, LOCAL)).toEqual({ counted: null, heard: [] });
  });
});
