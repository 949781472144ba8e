import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../src/models/http/json.ts';

/** As `JSON.parse` sees it, or undefined where it is no JSON. */
function platform(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const jsonText = fc.tuple(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 1, 2, '\t')).map(([text, space]) => {
  return JSON.stringify({ value: JSON.parse(text) as unknown }, null, space);
});

describe('the arguments of a call', () => {
  it('are what the platform gives for any JSON', () => {
    fc.assert(
      fc.property(
        jsonText.filter((text) => !text.includes('"__proto__"')),
        (text) => {
          expect(parseArguments(text)).toEqual(platform(text));
        },
      ),
    );
  });

  it('are refused where the platform refuses them, and else only where a key is there twice or a number is too large', () => {
    const soup = fc.string({
      unit: fc.constantFrom(...Array.from('{}[]":,0123eE+-.truefalsn\\u \n\u0001')),
      maxLength: 12,
    });
    fc.assert(
      fc.property(soup, (inner) => {
        const text = `{"value":${inner}}`;
        const ours = parseArguments(text);
        if (platform(text) === undefined) expect(ours).toBeNull();
        else if (ours === null) expect(inner).toMatch(/".*".*".*"|e|E/s);
        else expect(ours).toEqual(platform(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('are refused with a key that is there twice, at any depth, however it is written', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), fc.json(), fc.integer({ min: 0, max: 20 }), (key, one, two, depth) => {
        fc.pre(key !== '__proto__' && !`${one}${two}`.includes('__proto__'));
        const name = JSON.stringify(key);
        const units = Array.from({ length: key.length }, (_, at) => key.charCodeAt(at).toString(16).padStart(4, '0'));
        const escaped = `"${units.map((unit) => `\\u${unit}`).join('')}"`;
        const within = (inner: string): string => `${'{"a":['.repeat(depth)}${inner}${']}'.repeat(depth)}`;
        expect(parseArguments(within(`{${name}:${one},${escaped}:${two}}`))).toBeNull();
        expect(parseArguments(within(`{${name}:${one}}`))).toEqual(platform(within(`{${name}:${one}}`)));
      }),
    );
  });

  it('are refused with __proto__ as a key, not as a value, and may have other words of the language as keys', () => {
    expect(parseArguments('{"a":{"__proto__":{"admin":true}}}')).toBeNull();
    expect(parseArguments('{"\\u005f_proto__":1}')).toBeNull();
    expect(parseArguments('{"constructor":"__proto__","toString":1}')).toEqual({
      constructor: '__proto__',
      toString: 1,
    });
  });

  it.each([
    '{"a":',
    '{"a":1}{"b":2}',
    '{"a":"\\x"}',
    '{a:1}',
    '{"a":1,}',
    '{"a":NaN}',
    '{"a":1e999}',
    '<html>',
    '[1]',
    'null',
    '"x"',
    `{"a":${'['.repeat(101)}${']'.repeat(101)}}`,
    `{"a":"${'x'.repeat(1_000_000)}"}`,
  ])('are not %.30s', (text) => {
    expect(parseArguments(text)).toBeNull();
  });

  it('may be long and deep, up to a limit', () => {
    const long = `{"a":"${'\\"x\\":'.repeat(140_000)}"}`;
    expect(parseArguments(long)).toEqual(platform(long));
    const deep = `{"a":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect(parseArguments(deep)).toEqual(platform(deep));
  });

  it('are none at all for an empty text', () => {
    expect([parseArguments(''), parseArguments(' \n')]).toEqual([{}, {}]);
  });
});
