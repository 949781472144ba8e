/** Samples of the documentation are true: commands and options exist, settings pass the check, links lead somewhere. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Verb } from '../../src/cli/verb.ts';
import { readArguments } from '../../src/app/process/flags.ts';
import { checkFile } from '../../src/config/settings/check-file.ts';
import { Settings } from '../../src/config/schema/schema.ts';
import { readTemplate } from '../../src/config/templates/templates.ts';
import { readCommand } from '../../src/policy/commands/read.ts';
import { commandGroups, generatedPages } from './pages.ts';
import type { Page } from './read.ts';
import { ROOT, allPages, anchorsIn, fencesIn, linksIn, spansIn } from './read.ts';

const generated = await generatedPages();
const pages = allPages();
/** Old decisions tell of what was, requirements of its task. */
const current = pages.filter(({ file }) => !/requirements|decisions/.test(file));
const byHand = current.filter(({ file }) => !generated.has(file));

const commands: ReadonlyMap<string, Verb> = new Map((await commandGroups()).flatMap(({ commands: all }) => all));

/** What is wrong with a sample for a shell: a command, an option or a script that does not exist. Null where nothing is. */
function faultsIn(sample: string): readonly string[] {
  return readCommand(sample).simples.flatMap(({ words }) => {
    const [program, ...rest] = words.map((word) => word ?? 'UNKNOWN');
    if (program === 'mimir') return mimirFault(rest);
    return program === 'npm' ? npmFault(rest) : [];
  });
}

function mimirFault(words: readonly string[]): readonly string[] {
  const [first = ''] = words;
  // `mimir COMMAND --help`
  if (/^[A-Z]+$/.test(first)) return [];
  if (/^[a-z]+$/.test(first) && !commands.has(first)) return [`there is no command ${first}`];
  const [name, rest] = commands.has(first) ? [first, words.slice(1)] : ['mimir', words];
  return flagFault(commands.get(name), rest);
}

/** Options that each command has. */
const GENERAL = { help: { value: '', help: '' }, version: { value: '', help: '' } };

function flagFault(verb: Verb | undefined, words: readonly string[]): readonly string[] {
  try {
    readArguments(words, { ...verb?.flags, ...GENERAL }, verb?.words ?? 0);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const { scripts: SCRIPTS } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));

function npmFault(words: readonly string[]): readonly string[] {
  const plain = words.filter((word, at) => !word.startsWith('-') && words[at - 1] !== '--prefix');
  const [name = '', script = ''] = plain;
  const after = words.indexOf('--');
  if (name === 'start' && after >= 0) return mimirFault(words.slice(after + 1));
  const wanted = name === 'run' ? script : ['start', 'test'].includes(name) ? name : null;
  return wanted === null || Object.hasOwn(SCRIPTS, wanted) ? [] : [`there is no script ${wanted}`];
}

/** Samples for a shell, and code within sentences that is one. */
const shellSamples = (page: Page): readonly string[] => [
  ...fencesIn(page).flatMap(({ language, text }) => (language === 'sh' ? [text] : [])),
  ...(generated.has(page.file) ? [] : spansIn(page)).filter((code) => /^(?:mimir|npm) /.test(code)),
];

/** The kind of a sample of settings, by its first line. */
function settingsFault(text: string): readonly string[] {
  if (text.startsWith('# .mimir/plans/')) {
    const read = readTemplate({ shown: 'sample', stem: 'sample', text });
    return read.ok ? [] : read.fault.map(({ problem }) => problem);
  }
  const as = text.startsWith('# /etc/mimir') ? 'managed' : 'user';
  const folder = mkdtempSync(path.join(tmpdir(), 'mimir-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'sample.yml');
  writeFileSync(file, text);
  const checked = checkFile({ path: file, shown: 'sample', as, packageRoot: ROOT });
  return checked.ok ? [] : checked.fault.map(({ line, problem }) => `line ${line ?? 0}: ${problem}`);
}

const SECTIONS = Object.keys(Settings.shape);

/** `mode.max: yolo` as a file would say it. */
function nested(dotted: string, value: string): string {
  const parts = dotted.split('.');
  return parts.map((part, depth) => `${'  '.repeat(depth)}${part}:`).join('\n') + ` ${value}\n`;
}

describe('samples of the documentation', () => {
  it('have commands, options and scripts that exist', () => {
    const faults = current.flatMap((page) =>
      shellSamples(page).flatMap((sample) => faultsIn(sample).map((fault) => `${page.file}: ${sample}: ${fault}`)),
    );
    expect(faults).toEqual([]);
    expect(current.flatMap(shellSamples).length).toBeGreaterThan(60);
  });

  it('have settings that pass the check of the configuration', () => {
    const samples = current.flatMap((page) =>
      fencesIn(page).flatMap(({ language, text }) => (language === 'yaml' ? [{ page, text }] : [])),
    );
    expect(samples.length).toBeGreaterThan(4);
    expect(samples.flatMap(({ page, text }) => settingsFault(text).map((fault) => `${page.file}: ${fault}`))).toEqual(
      [],
    );
  });

  it('name keys of the configuration that exist, with values that may be set', () => {
    const keys = generated.get('docs/configuration.md') ?? '';
    const named = byHand.flatMap((page) =>
      spansIn(page).flatMap((code) => {
        const [, key = '', value] = /^([a-zA-Z]+(?:\.[a-zA-Z]+)*)(?:: (.+))?$/s.exec(code) ?? [];
        const isKey = SECTIONS.includes(key.split('.')[0] ?? '') && (key.includes('.') || value !== undefined);
        return isKey ? [{ file: page.file, key, value }] : [];
      }),
    );
    expect(named.length).toBeGreaterThan(10);
    const faults = named.flatMap(({ file, key, value }) => {
      if (value !== undefined) return settingsFault(nested(key, value)).map((fault) => `${file}: ${key}: ${fault}`);
      return keys.includes(`\`${key}\``) || keys.includes(`\`${key}.`) ? [] : [`${file}: there is no key ${key}`];
    });
    expect(faults).toEqual([]);
  });
});

describe('links of the documentation', () => {
  it('lead to files, and to headings in them', () => {
    const faults = pages.flatMap((page) =>
      linksIn(page)
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => !leads(page, target))
        .map((target) => `${page.file}: ${target}`),
    );
    expect(faults).toEqual([]);
  });

  it('reach every page from the table of contents', () => {
    const contents = pages.find(({ file }) => file === 'docs/README.md');
    const linked = contents === undefined ? [] : linksIn(contents).map((target) => `docs/${target}`);
    const below = pages.map(({ file }) => file).filter((file) => /^docs\/[^/]+\.md$/.test(file));
    expect(below.filter((file) => file !== 'docs/README.md' && !linked.includes(file))).toEqual([]);
  });

  it('name files of the code that exist', () => {
    const named = current.flatMap((page) =>
      [...page.text.matchAll(/(?<=[`\s])((?:src|test|[a-z]+)\/[\w/.-]+\.ts)(?=[`\s])/g)].map(
        ([, file = '']) => `${page.file}: ${file}`,
      ),
    );
    const exists = (file: string): boolean =>
      existsSync(path.join(ROOT, file)) || existsSync(path.join(ROOT, 'src', file));
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((line) => !exists(line.split(': ')[1] ?? ''))).toEqual([]);
  });
});

function leads(page: Page, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const at = file === '' ? page.file : path.posix.join(path.posix.dirname(page.file), file);
  if (!existsSync(path.join(ROOT, at))) return false;
  if (anchor === undefined) return true;
  const there = pages.find((one) => one.file === at);
  return there !== undefined && anchorsIn(there).includes(anchor);
}

describe('README.md', () => {
  it('is short, and names the command of the tests', () => {
    const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    expect(readme.split('\n').length).toBeLessThanOrEqual(171);
    expect(readme).toContain('npm test');
  });
});
