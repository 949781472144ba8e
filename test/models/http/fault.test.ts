import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Called,
  causesOf,
  connectionFault,
  eventFault,
  hostOf,
  redact,
  retryAfter,
  statusFault,
  stoppedFault,
} from '../../../src/models/http/fault.ts';
import { like } from '../../support/like.ts';

const NOW = Date.UTC(2026, 10, 22, 12, 0, 0);
const KEY = 'sk-ant-api03-Zq8vW2rT5yU7iO9pA1sD3fG4hJ6kL0';
const called: Called = {
  name: 'anthropic',
  baseUrl: 'https://user:secret@api.example.com/v1?token=hidden',
  key: KEY,
  keyEnv: 'ANTHROPIC_API_KEY',
};
const fault = (status: number, body?: unknown, headers: Record<string, string> = {}) =>
  statusFault(called, { status, body, headers: new Headers(headers), now: NOW });
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const openai = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, code, param: null },
});

describe('a response that is an error', () => {
  it.each([
    ['Country, region, or territory not supported', 'denied access'],
    ['Your API key does not have permission to use the specified resource.', 'denied access'],
    ['Invalid API key', 'rejected the API key'],
    ['The security token included in the request is expired', 'rejected the API key'],
  ])('J07: tells a 403 for what the account may not do from one for a wrong key: %s', (message, words) => {
    expect(fault(403, openai(message))).toMatchObject({ is: 'unauthorised', message: like(new RegExp(words)) });
  });

  it.each([
    [429, anthropic('rate_limit_error', 'Too fast'), 'rate limited'],
    [429, openai('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'), 'no credit'],
    [400, anthropic('invalid_request_error', 'Your credit balance is too low to access the API'), 'no credit'],
    [402, { error: { message: 'Insufficient credits', code: 402 } }, 'no credit'],
    [500, anthropic('api_error', 'Internal server error'), 'overloaded'],
    [502, '<html><head><title>502 Bad Gateway</title></head></html>', 'overloaded'],
    [503, 'try later', 'overloaded'],
    [504, '', 'overloaded'],
    [529, anthropic('overloaded_error', 'Overloaded'), 'overloaded'],
    [401, anthropic('authentication_error', 'invalid x-api-key'), 'unauthorised'],
    [403, anthropic('permission_error', 'not for you'), 'unauthorised'],
    [400, anthropic('invalid_request_error', 'messages: roles must alternate'), 'refused'],
    [404, anthropic('not_found_error', 'model: claude-9'), 'refused'],
    [422, { detail: [{ loc: ['body'], msg: 'field required' }] }, 'refused'],
    [413, anthropic('request_too_large', 'Request exceeds the maximum size'), 'too long'],
    [400, anthropic('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'), 'too long'],
    [
      400,
      anthropic('invalid_request_error', 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'),
      'too long',
    ],
    [400, openai("This model's maximum context length is 128000 tokens.", 'context_length_exceeded'), 'too long'],
    [400, { object: 'error', message: "This model's maximum context length is 4096 tokens", code: 400 }, 'too long'],
    [400, { error: 'input exceeds the context length of the model' }, 'too long'],
    [
      400,
      {
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: { raw: "This endpoint's maximum context length is 8192 tokens" },
        },
      },
      'too long',
    ],
  ])('J01 J03 J07: takes %i with %j for what it is', (status, body, is) => {
    expect(fault(status, body).is).toBe(is);
  });

  it.each([
    [400, 'refused'],
    [401, 'unauthorised'],
    [402, 'no credit'],
    [403, 'unauthorised'],
    [404, 'refused'],
    [407, 'refused'],
    [408, 'overloaded'],
    [409, 'overloaded'],
    [410, 'refused'],
    [412, 'refused'],
    [413, 'too long'],
    [414, 'refused'],
    [424, 'refused'],
    [425, 'overloaded'],
    [426, 'refused'],
    [428, 'refused'],
    [429, 'rate limited'],
    [430, 'refused'],
    [499, 'refused'],
    [500, 'overloaded'],
    [501, 'overloaded'],
  ])('takes %i for what it is where no words say it', (status, is) => {
    expect(fault(status).is).toBe(is);
  });

  it.each([
    [399, 'refused'],
    [400, 'no credit'],
    [499, 'no credit'],
    [500, 'overloaded'],
    [501, 'overloaded'],
  ])('believes words about credit where the fault is the caller’s: %i', (status, is) => {
    expect(fault(status, openai('payment required')).is).toBe(is);
  });

  it('names the variable of the account that has no credit, or its key, and a key that is not set', () => {
    const words = 'api.example.com reports no credit: payment required. Add credit to the account of';
    const noCredit = { status: 402, body: 'payment required', now: NOW };
    expect(statusFault(called, noCredit).message).toBe(`${words} ANTHROPIC_API_KEY or raise its limit`);
    expect(statusFault({ ...called, keyEnv: null }, noCredit).message).toBe(`${words} its key or raise its limit`);
    expect(statusFault({ ...called, key: null }, { status: 401, now: NOW }).message).toBe(
      'api.example.com rejected the API key: it answered 401. Check ANTHROPIC_API_KEY (not set)',
    );
  });

  it('J07: says who does not take the key, names the variable, and never the key', () => {
    expect(fault(401, anthropic('authentication_error', `invalid key ${KEY}`))).toEqual({
      is: 'unauthorised',
      message: 'api.example.com rejected the API key: invalid key [key]. Check ANTHROPIC_API_KEY',
    });
    // A provider's own full stop is not doubled.
    expect(fault(401, anthropic('authentication_error', 'no key.')).message).toBe(
      'api.example.com rejected the API key: no key. Check ANTHROPIC_API_KEY',
    );
    expect(statusFault({ ...called, key: null, keyEnv: null }, { status: 401, now: NOW })).toEqual({
      is: 'unauthorised',
      message:
        'api.example.com rejected the API key: it answered 401. Name the variable with the key as `apiKeyEnv` of this provider',
    });
  });

  it.each([
    [{ error: { message: 'the model is loading' } }, 'the model is loading'],
    [{ error: 'no such deployment' }, 'no such deployment'],
    [{ error: { type: 'gone' }, message: 'said beside it' }, 'said beside it'],
    [{ errors: [{ message: 'quota of the team' }] }, 'quota of the team'],
    [[{ error: { message: 'listed', status: 'INTERNAL' } }], 'listed'],
    [{ detail: [{ loc: ['body'], msg: 'field required' }] }, '[{"loc":["body"],"msg":"field required"}]'],
    [{ type: 'about:blank', title: 'Bad gateway', detail: 'upstream is gone' }, 'upstream is gone'],
    [{ Message: 'as Amazon writes it' }, 'as Amazon writes it'],
    [{ type: 'odd', why: 'own' }, '{"type":"odd","why":"own"}'],
    [{ type: 'odd', code: 7, status: 'ERR', param: null }, 'it answered 500'],
    [null, 'it answered 500'],
    ['x'.repeat(400), 'x'.repeat(400)],
    [`${'\u0007'.repeat(8000)}behind`, 'it answered 500'],
    [{ ok: false, why: 'of a form of its own' }, '{"ok":false,"why":"of a form of its own"}'],
    ['plain text\u001b[31m in red', 'plain text [31m in red'],
    [
      '<html><head><title>502 Bad Gateway</title><style>b{}</style></head><body><h1>nginx</h1> is <b>not</b> well</body></html>',
      '502 Bad Gateway: nginx is not well',
    ],
    ['<!doctype html><body>not well</body>', 'not well'],
    ['<html><title>Gone</title><body>Gone</body></html>', 'Gone'],
    [`<html>${' '.repeat(7990)}abcdefgh`, 'abcd'],
    ['more than 1 < 2 of <b>', 'more than 1 < 2 of <b>'],
    ['<!doctype html><body><script>alert(1)</script></body>', 'a web page instead of an answer'],
    ['x'.repeat(5000), `${'x'.repeat(399)}…`],
    [{ error: { message: `the key ${KEY} is odd` } }, 'the key [key] is odd'],
  ])('shows what the server itself says: %j', (body, words) => {
    expect(fault(500, body).message).toBe(`api.example.com returned a server error (500): ${words}`);
  });

  it('J01 J02: passes on the wait that was asked for, however it was said', () => {
    const cases = [
      [{ 'retry-after': '2' }, 2000],
      [{ 'retry-after': '86400' }, 86_400_000],
      [{ 'retry-after': '0.5' }, 500],
      [{ 'retry-after': 'Sun, 22 Nov 2026 12:00:07 GMT' }, 7000],
      [{ 'retry-after': 'Sun, 22 Nov 2015 12:00:07 GMT' }, 0],
      [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
      [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m2.5s' }, 62_500],
      [
        {
          'x-ratelimit-remaining-requests': '7',
          'x-ratelimit-reset-requests': '1h',
          'x-ratelimit-remaining-tokens': '0',
          'x-ratelimit-reset-tokens': '20ms',
        },
        20,
      ],
      [
        { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-11-22T12:00:03Z' },
        3000,
      ],
      [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '10' }, 10_000],
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW + 4000}` }, 4000],
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW / 1000 + 4}` }, 4000],
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4' }, 4000],
      // The largest figures that count as seconds from now, and as seconds since the epoch.
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1000000000' }, 1e12],
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '100000000000' }, 1e14 - NOW],
      [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '4' }, undefined],
      [
        {
          'x-ratelimit-remaining-requests': '0',
          'x-ratelimit-reset-requests': '1m',
          'x-ratelimit-remaining-tokens': '0',
          'x-ratelimit-reset-tokens': '20ms',
        },
        60_000,
      ],
      [
        { 'anthropic-ratelimit-tokens-remaining': '7', 'anthropic-ratelimit-tokens-reset': '2026-11-22T12:00:03Z' },
        undefined,
      ],
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW - 1}` }, 0],
      [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${NOW / 1000 - 1}` }, 0],
      [{ 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2015-11-22T12:00:03Z' }, 0],
      [{ 'anthropic-ratelimit-tokens-remaining': '0' }, undefined],
      [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1h2m3.5s' }, 3_723_500],
      [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '2d' }, 172_800_000],
      [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': 'soon' }, undefined],
      [{ 'x-ratelimit-remaining-tokens': '0' }, undefined],
      [{ 'retry-after': 'Sun, no date' }, undefined],
      [{ 'retry-after': '-1' }, undefined],
      [{ 'retry-after': 'abc' }, undefined],
      [{ 'retry-after': '1e9' }, undefined],
      [{}, undefined],
    ] as const;
    const waits = cases.map(([headers]) => fault(429, '', headers).retryAfterMs);
    expect(waits).toEqual(cases.map(([, wait]) => wait));
  });

  it('J01: finds the wait in the words where no header says it', () => {
    const cases = [
      ['Rate limit reached for gpt-5. Please try again in 1.242s. Visit https://x', 1242],
      ['Please try again in 20ms.', 20],
      ['Please try again in 6m0s.', 360_000],
      ['Please retry after 26 seconds.', 26_000],
      ['Please retry in 34.07s.', 34_070],
      ['Try again in 5 minutes', 300_000],
      ['Retry after 7', 7000],
      ['try again in 1.2.3 seconds', undefined],
      ['try again in a while', undefined],
      ['try again in 999999999999999999999s', undefined],
    ] as const;
    expect(cases.map(([said]) => fault(429, openai(said)).retryAfterMs)).toEqual(cases.map(([, wait]) => wait));
    const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${NOW + 9000}`, 'x-odd': '\u0000' };
    const routed = { error: { message: 'Rate limit exceeded', code: 429, metadata: { headers } } };
    expect([fault(429, routed).retryAfterMs, fault(401, openai('try again in 2s')).retryAfterMs]).toEqual([
      9000,
      undefined,
    ]);
    // What is no header is passed over, not an error of its own.
    const broken = { error: { message: 'slow', metadata: { headers: { 'Retry-After': '5\r\n' } } } };
    expect(fault(429, broken).retryAfterMs).toBeUndefined();
  });

  it('J02: never asks for a wait that is no time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (said) => {
        const wait = retryAfter(new Headers({ 'retry-after': said }), NOW);
        expect(wait === null || (Number.isFinite(wait) && wait >= 0)).toBe(true);
      }),
    );
  });
});

describe('an error event in a stream', () => {
  it.each([
    [anthropic('overloaded_error', 'Overloaded'), 'overloaded'],
    [anthropic('rate_limit_error', 'Slow down'), 'rate limited'],
    [anthropic('invalid_request_error', 'No'), 'refused'],
    [{ message: 'The server had an error', type: 'server_error', code: null }, 'overloaded'],
    [{ code: 'context_length_exceeded', message: 'too long' }, 'too long'],
    [{ code: 'insufficient_quota', message: 'quota' }, 'no credit'],
    ['something', 'overloaded'],
    [undefined, 'overloaded'],
    [{ type: 'constructor', message: 'x' }, 'overloaded'],
  ])('J06: %j', (error, is) => {
    expect(eventFault(called, error).is).toBe(is);
  });

  it('has no status to show', () => {
    expect(eventFault(called, anthropic('overloaded_error', 'Overloaded')).message).toBe(
      'api.example.com returned a server error: Overloaded',
    );
    expect(eventFault(called, undefined).message).toBe(
      'api.example.com returned a server error: it ended with an error',
    );
  });
});

describe('a call that was ended here', () => {
  const setup = { ...called, firstEventMs: 60_000, idleMs: 20_400 };

  it('says how long the provider was silent, before its answer or within it', () => {
    expect(stoppedFault(setup, 'silent', { begun: () => false })).toEqual({
      is: 'silent',
      message: 'api.example.com did not answer for 60 s',
    });
    expect(stoppedFault(setup, 'silent', { begun: () => true })).toEqual({
      is: 'silent',
      message: 'api.example.com sent no more of its answer for 20 s',
      begun: true,
    });
  });

  it('is no fault of the provider where it was aborted', () => {
    expect(stoppedFault(setup, 'aborted', { begun: () => true }).is).toBe('aborted');
  });

  it('names the provider where its address is none', () => {
    expect(hostOf({ name: 'local', baseUrl: 'not an address' })).toBe('local');
  });
});

describe('a connection that failed', () => {
  const failed = (code: string, message = ''): Error =>
    new Error('Connection error.', {
      cause: new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) }),
    });

  it('says where it could not go, why, and what to do', () => {
    expect([
      connectionFault(called, failed('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1')),
      connectionFault(called, failed('ENOTFOUND')).message,
      connectionFault(called, failed('DEPTH_ZERO_SELF_SIGNED_CERT')).message,
      connectionFault(called, failed('ODD', `what ${KEY} is`)).message,
      connectionFault(called, new TypeError('fetch failed', { cause: new Error('unexpected redirect') })),
      connectionFault(called, undefined).message,
    ]).toEqual([
      {
        is: 'unreachable',
        message:
          'cannot reach api.example.com: connection refused. Check that the server runs and that its address is right',
      },
      'cannot reach api.example.com: host name not found. Check the network and the address',
      'cannot reach api.example.com: no secure connection (TLS). Check for a proxy, and that the address is right (https or http)',
      'cannot reach api.example.com: ODD what [key] is',
      {
        is: 'refused',
        message:
          'api.example.com redirected to another address, which Mimir does not follow: set the final address as its base URL',
      },
      'cannot reach api.example.com: no reason was given',
    ]);
  });

  it('is an answer that can not be read where its headers are too large, which another try does not change', () => {
    expect(connectionFault(called, failed('UND_ERR_HEADERS_OVERFLOW', 'Headers Overflow Error'))).toEqual({
      is: 'malformed',
      message: 'api.example.com answered with headers larger than 16 KB',
    });
  });

  it('has the causes that can be read, eight at most, also where one is its own cause', () => {
    expect(causesOf({ code: null, message: 'odd', cause: { code: Symbol('none'), message: 'inner' } })).toEqual([
      'odd',
      'inner',
    ]);
    const chain = Array.from({ length: 10 }, (_, at) => at).reduceRight<unknown>(
      (cause, at) => ({ message: `cause ${at}`, cause }),
      null,
    );
    expect(causesOf(chain)).toEqual(Array.from({ length: 8 }, (_, at) => `cause ${at}`));
    const circular = new Error('round');
    circular.cause = circular;
    expect(causesOf(circular)).toHaveLength(8);
  });
});

describe('what a provider said, made fit to be shown', () => {
  const keys = fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ019-_.+/=')), minLength: 12, maxLength: 120 });
  const some = fc.string({ unit: 'grapheme' });

  it('J07: holds no six characters of the key in a row, wherever and however it was said', () => {
    fc.assert(
      fc.property(keys, some, some, fc.nat(), fc.nat(), (key, before, after, from, length) => {
        const part = key.slice(from % key.length).slice(0, 6 + (length % key.length));
        const shown = redact(`${before}${key}${after} ${part} ${encodeURIComponent(key)}`, { key });
        const parts = Array.from({ length: key.length - 5 }, (_, at) => key.slice(at, at + 6));
        expect(parts.filter((one) => shown.includes(one))).toEqual([]);
      }),
    );
  });

  it.each([
    [`Incorrect API key provided: ${KEY}.`, 'Incorrect API key provided: [key].'],
    ['Incorrect API key provided: sk-ant-a*****************6kL0.', 'Incorrect API key provided: [key].'],
    ['key sk-…6kL0 is not right', 'key [key] is not right'],
    ['key sk-...6kL0 is not right', 'key [key] is not right'],
    ['another key sk-proj-abcdefghijklmnop is there', 'another key [key] is there'],
    ['It stopped... then went on', 'It stopped... then went on'],
    ['wait...what', 'wait...what'],
    ['red \u001b[31mtext\u0007\u009b2J and \u202eback\n\nlines', 'red [31mtext 2J and back lines'],
    ['', ''],
  ])('%j', (said, shown) => {
    expect(redact(said, { key: KEY })).toBe(shown);
  });

  it('is cut where it goes on for too long', () => {
    expect(redact('x'.repeat(1_000_000), { key: KEY })).toBe(`${'x'.repeat(399)}…`);
  });

  it('shows five characters of the key, and hides six, also at the end', () => {
    expect(redact(`it is ${KEY.slice(-5)}`, { key: KEY })).toBe(`it is ${KEY.slice(-5)}`);
    expect(redact(`it is ${KEY.slice(-6)}`, { key: KEY })).toBe('it is [key]');
  });

  it('takes a key of seven characters for a word, and of a longer one hides every part', () => {
    expect(redact('abcdefg xabcdefgx', { key: 'abcdefg' })).toBe('[key] xabcdefgx');
    expect(redact('abcdefgh xabcdefghx', { key: 'abcdefgh' })).toBe('[key] x[key]x');
  });

  it('hides values of headers from eight characters on', () => {
    const headers = { team: 'seven77', secret: 'eight888' };
    expect(redact('seven77 and eight888', { key: null, headers })).toBe('seven77 and [key]');
  });

  it('leaves words alone where the key is a mere word', () => {
    expect(redact('ollamas: no ollama here', { key: 'ollama' })).toBe('ollamas: no [key] here');
    expect(redact('no key at all', { key: null })).toBe('no key at all');
  });
});
