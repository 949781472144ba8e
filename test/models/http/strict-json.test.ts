import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fail, ok } from '../../../src/domain/result.ts';
import { parseArguments, parseStrictly } from '../../../src/models/http/json.ts';

/** As `JSON.parse` sees it, or undefined where it is no JSON. */
function platform(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const jsonText = fc.tuple(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 1, 2, '\t')).map(([text, space]) => {
  return JSON.stringify(JSON.parse(text), null, space);
});

describe('the strict reader', () => {
  it('gives what the platform gives for any JSON', () => {
    fc.assert(
      fc.property(
        jsonText.filter((text) => !text.includes('"__proto__"')),
        (text) => {
          expect(parseStrictly(text)).toEqual(ok(platform(text)));
        },
      ),
    );
  });

  it('refuses what the platform refuses', () => {
    const soup = fc.string({
      unit: fc.constantFrom(...Array.from('{}[]":,0123eE+-.truefalsn\\u \n\u0001')),
      maxLength: 12,
    });
    fc.assert(
      fc.property(soup, (text) => {
        const ours = parseStrictly(text);
        if (platform(text) === undefined) expect(ours.ok).toBe(false);
        else if (ours.ok) expect(ours.value).toEqual(platform(text));
        else expect(ours.fault).toMatch(/twice|too large/);
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses a key that is there twice, at any depth, however it is written', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), fc.json(), fc.integer({ min: 0, max: 20 }), (key, one, two, depth) => {
        fc.pre(key !== '__proto__' && !`${one}${two}`.includes('__proto__'));
        const name = JSON.stringify(key);
        const units = Array.from({ length: key.length }, (_, at) => key.charCodeAt(at).toString(16).padStart(4, '0'));
        const escaped = `"${units.map((unit) => `\\u${unit}`).join('')}"`;
        const text = `${'[{"a":'.repeat(depth)}{${name}:${one},${escaped}:${two}}${'}]'.repeat(depth)}`;
        const read = parseStrictly(text);
        expect(read.ok ? 'read' : read.fault).toMatch(/ is there twice \(at character \d+\)$/);
      }),
    );
  });

  it('refuses __proto__ as a key, not as a value, and lets other words of the language be keys', () => {
    expect(parseArguments('{"a":{"__proto__":{"admin":true}}}')).toEqual(
      fail('the key "__proto__" is not allowed (at character 18)'),
    );
    expect(parseArguments('{"\\u005f_proto__":1}').ok).toBe(false);
    expect(parseArguments('{"constructor":"__proto__","toString":1}')).toEqual(
      ok({ constructor: '__proto__', toString: 1 }),
    );
  });

  it.each([
    ['{"a":', 'it ends too early (at character 6)'],
    ['{"a":1', 'an object has no end (at character 7)'],
    ['[1,2', 'a list has no end (at character 5)'],
    ['{"a":1}{"b":2}', 'there is more after the end of the value (at character 8)'],
    ['{"a":"x', 'a text has no end (at character 6)'],
    ['{"a":"\\x"}', 'a text holds a control character or an escape that JSON does not have (at character 6)'],
    ['{a:1}', 'a key in quotes is missing (at character 2)'],
    ['{"a":1,}', 'a key in quotes is missing (at character 8)'],
    ['{"a" 1}', 'a ":" is missing (at character 6)'],
    ['{"a":NaN}', 'not JSON (at character 6)'],
    ['{"a":1e999}', 'a number is too large (at character 11)'],
    ['<html>', 'not JSON (at character 1)'],
    ['[1]', 'the arguments must be a JSON object, not a list'],
    ['null', 'the arguments must be a JSON object, not null'],
    ['"x"', 'the arguments must be a JSON object, not a string'],
    ['['.repeat(5000), 'more than 100 levels deep (at character 102)'],
    [`"${'x'.repeat(1_000_000)}"`, 'longer than 1000000 characters'],
  ])('says why it refuses %.30s', (text, why) => {
    expect(parseArguments(text)).toEqual(fail(why));
  });

  it('takes nothing at all for a call without arguments', () => {
    expect([parseArguments(''), parseArguments(' \n')]).toEqual([ok({}), ok({})]);
  });
});
