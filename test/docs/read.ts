/** What a reader finds in the pages written for people: code, samples, links, headings. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');

export interface Page {
  /** In the repository: `docs/guide.md`. */
  readonly file: string;
  readonly text: string;
}

export interface Fence {
  readonly language: string;
  readonly text: string;
}

/** README.md and everything below docs. */
export const allPages = (): readonly Page[] =>
  ['README.md', 'src/README.md', ...globSync('docs/**/*.md', { cwd: ROOT })]
    .sort()
    .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));

const FENCE = /^(`{3,})(\w*)\n([\s\S]*?)^\1$/gm;

export const fencesIn = ({ text }: Page): readonly Fence[] =>
  [...text.matchAll(FENCE)].map(([, , language = '', body = '']) => ({ language, text: body }));

/** The text without its fences, so that comments in samples are no headings. */
const prose = ({ text }: Page): string => text.replace(FENCE, '');

/** Code within sentences. */
export const spansIn = (page: Page): readonly string[] =>
  [...prose(page).matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, code = '']) => code.replaceAll('\\|', '|'));

/** Targets of links and pictures. */
export const linksIn = (page: Page): readonly string[] =>
  [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

/** Names of headings as links use them. */
export const anchorsIn = (page: Page): readonly string[] =>
  [...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
