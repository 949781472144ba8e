/** What is taken out of text, in which forms, and what must stay. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openRedactor } from '../../../src/domain/text/redact.ts';

/** Built here, so that no scanner takes this file for a leak. */
const joined = (...parts: readonly string[]): string => parts.join('');
const KEY = joined('canary', '/9f"8e+7d\\6c=5b4a3');
const { clean, open } = openRedactor([KEY]);

describe('a known key', () => {
  it.each([
    ['as it is', KEY],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in a URL', encodeURIComponent(KEY)],
    ['in hexadecimal', Buffer.from(KEY).toString('hex')],
    ['over lines', `${KEY.slice(0, 7)}\n   ${KEY.slice(7, 12)}\r\n${KEY.slice(12)}`],
    ['over lines in JSON', `${KEY.slice(0, 7)}\\n${KEY.slice(7)}`],
  ])('M03 is hidden %s', (_, form) => {
    expect(clean(`before ${form} after`)).toBe('before [key] after');
  });

  it('M03 is hidden wherever it stands inside base64, plain, for URLs or wrapped', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{0,40}$/), fc.stringMatching(/^[ -~]{0,40}$/), (before, after) => {
        for (const kind of ['base64', 'base64url'] as const) {
          const encoded = Buffer.from(`${before}${KEY}${after}`).toString(kind);
          const shown = [encoded, encoded.replaceAll(/.{16}/g, '$&\n')].map(clean);
          // Five letters in a row are part of no two keys by chance.
          const core = Buffer.from(KEY.slice(3, -3)).toString('base64').slice(0, 12);
          if (shown.some((text) => !text.includes('[key]') || text.replaceAll('\n', '').includes(core))) return false;
        }
        return true;
      }),
    );
  });

  it.each([
    [18, '', '[key]'],
    [17, 'a', 'YW[key]'],
    [16, 'ab', 'YWJ[key]'],
    [17, '', '[key]Y='],
    [16, '', '[key]A=='],
    [18, 'a', 'YW[key]w=='],
  ])('of %i bytes is hidden in base64 to its last letter, behind "%s"', (length, before, shown) => {
    const key = KEY.slice(0, length).padEnd(length, '-');
    const encoded = Buffer.from(before + key).toString('base64');
    expect(openRedactor([key]).clean(encoded)).toBe(shown);
  });

  it('of eight letters is hidden, also where it is all there is', () => {
    expect(openRedactor(['abcdefg1']).clean('abcdefg1')).toBe('[key]');
  });

  it('that is private is waited for as long as 20000 characters have come', () => {
    const begin = joined('-----', 'BEGIN RSA PRIVATE KEY');
    expect(open(begin + '+'.repeat(20_000))).toBe(begin.length + 20_000);
    expect(open(begin + '+'.repeat(20_001))).toBe(0);
  });

  it('that begins with another key is hidden to its own end', () => {
    const [short, long] = ['abcdefgh-1234', 'abcdefgh-1234-and-more'];
    expect(openRedactor([short, long]).clean(`${short} ${long}`)).toBe('[key] [key]');
  });

  it('of fewer than eight letters is a word, and stays', () => {
    expect(openRedactor(['none', 'ollama']).clean('there is none of ollama')).toBe('there is none of ollama');
  });
});

describe('what looks like a key', () => {
  const run = 'Ab1'.repeat(20);
  it.each([
    ['sk-', joined('sk-', 'ant-api03-', run)],
    ['OpenAI project', joined('sk-', 'proj-', run)],
    ['GitHub', joined('ghp', '_', run.slice(0, 36))],
    ['GitHub, new', joined('github', '_pat_', run.slice(0, 40))],
    ['AWS', joined('AK', 'IA', 'ABCDEFGHIJ234567')],
    ['Slack', joined('xox', 'b-', '1234567890-abcdef')],
    ['GitLab', joined('gl', 'pat-', run.slice(0, 20))],
    ['Google', joined('AI', 'za', run.slice(0, 35))],
    ['npm', joined('npm', '_', run.slice(0, 36))],
    ['JWT', joined('ey', 'J', run.slice(0, 20), '.ey', 'J', run.slice(0, 20), '.', run.slice(0, 20))],
  ])('M05 is hidden: %s', (_, token) => {
    expect(clean(`x="${token}" y`)).toBe('x="[key]" y');
  });

  it('M05 is hidden behind Bearer, and a private key from its first line to its last', () => {
    expect(clean(`Authorization: Bearer ${run}`)).toBe('Authorization: Bearer [key]');
    const dashes = '-----';
    const block = `${dashes}BEGIN RSA PRIVATE KEY${dashes}\n${run}\n${run}\n${dashes}END RSA PRIVATE KEY${dashes}`;
    expect(clean(`a\n${block}\nb`)).toBe('a\n[private key]\nb');
    expect(clean(JSON.stringify({ block }))).toBe('{"block":"[private key]"}');
    expect(clean(block.slice(0, -40))).toBe('[private key]');
  });

  it('is no hash, id, path, class name, or word about keys: all of those stay', () => {
    const texts = [
      '4b825dc642cb6eb9a060e54bf8d69288fbee4904 committed',
      'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
      '550e8400-e29b-41d4-a716-446655440000',
      'task-sk-1 and sk-fading-circle-animation-dot',
      'the bearer of this letter is responsible-for-everything',
      'npm_config_user_agent npm_lifecycle_event',
      'a file that says -----BEGIN PRIVATE KEY----- and goes on in words',
      'const AIzawa = 1; eyJust.a.word; src/github_pattern.ts',
    ];
    expect(texts.map(clean).map((text) => text.replace('[private key]', '-----BEGIN PRIVATE KEY-----'))).toEqual(texts);
  });
});

describe('text that comes in pieces', () => {
  it('shows no part of a key wherever it is cut', () => {
    const token = joined('sk-', 'proj-', 'Ab1'.repeat(15));
    const text = `the key ${KEY} and ${token} end`;
    fc.assert(
      fc.property(fc.array(fc.nat({ max: text.length }), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        let [held, shown] = ['', ''];
        for (const [index, from] of at.slice(0, -1).entries()) {
          const all = held + text.slice(from, at[index + 1]);
          const end = all.length - open(all);
          held = all.slice(end);
          shown += clean(all.slice(0, end));
        }
        return shown === 'the key [key] and [key] end';
      }),
    );
  });
});

describe('text that ends within a private key', () => {
  it('is held back from the beginning of the key on, and not before', () => {
    const key = joined('-----', 'BEGIN PRIVATE KEY-----\nMIIB');
    expect(open(`before it ${key}`)).toBe(key.length);
  });

  it('is held back from there on also where other keys have ended before', () => {
    const key = joined('-----', 'BEGIN PRIVATE KEY-----\nMIIB');
    const ended = joined(key, '\n-----', 'END PRIVATE KEY-----\n');
    for (const before of [ended, ended.repeat(3), `${ended}${'word '.repeat(5000)}`])
      expect(open(`${before}${key}`)).toBe(key.length);
  });
});

describe('the price of it', () => {
  it('is milliseconds for the longest result of a tool', () => {
    const text = 'src/tools/git/git.ts:12:  const value = await something(of, that, size);\n'.repeat(940);
    clean(text);
    const before = process.cpuUsage();
    for (let at = 0; at < 50; at += 1) clean(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 50_000).toBeLessThan(50);
  });
});

describe('a text made to take long', () => {
  it('of nothing but beginnings of private keys is cleaned as fast as it is long', () => {
    const { clean, open } = openRedactor(['sk-ant-0123456789abcdef']);
    const begin = '-----BEGIN PRIVATE KEY-----';
    const text = begin.repeat(40_000);
    const begun = process.cpuUsage();
    expect(clean(text)).toBe('[private key]'.repeat(40_000));
    expect(open(text)).toBeGreaterThan(0);
    // One look at each beginning up to 20,000 letters on took seconds.
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(1000);
  });

  it('hides each private key to its own end, and none beyond it', () => {
    const { clean } = openRedactor([]);
    const key = (name: string): string => `-----BEGIN ${name}PRIVATE KEY-----\nMIIB\n-----END ${name}PRIVATE KEY-----`;
    const lines = 'A'.repeat(64);
    const far = `-----BEGIN PRIVATE KEY-----\n${lines}\nwords${' x'.repeat(11_000)}${key('')}`;
    expect([`a ${key('')} b ${key('RSA ')} c`, far, `-----END PRIVATE KEY-----${key('')}`].map(clean)).toEqual([
      'a [private key] b [private key] c',
      `[private key]\nwords${' x'.repeat(11_000)}[private key]`,
      '-----END PRIVATE KEY-----[private key]',
    ]);
  });

  it('hides a private key once that holds the beginning of another', () => {
    const { clean } = openRedactor([]);
    const begin = '-----BEGIN PRIVATE KEY-----';
    expect(clean(`a ${begin}\n${begin}\nMIIB\n-----END PRIVATE KEY-----\nb`)).toBe('a [private key]\nb');
  });
});
