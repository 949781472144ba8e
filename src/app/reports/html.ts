/** A report as a page of its own: the little Markdown that reports use, everything escaped, no script, nothing loaded. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);

/** A whole page; `markdown` is foreign text. */
export function htmlOf(title: string, markdown: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b2330;background:#fff}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#f1f4f8;border-radius:4px}code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid #c9d1dc;padding:.25rem .6rem;text-align:left}hr{border:0;border-top:1px solid #c9d1dc}
@media(prefers-color-scheme:dark){body{color:#d6dce6;background:#0e1218}code,pre{background:#1b222c}td,th{border-color:#3a4452}}
</style></head><body>
${blocksOf(markdown.split('\n')).join('\n')}
</body></html>
`;
}

function blocksOf(lines: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const kind = KINDS.find(({ first }) => first.test(lines[at] ?? '')) ?? PARAGRAPH;
    let end = at + 1;
    while (end < lines.length && kind.more(lines[end] ?? '', lines[end - 1] ?? '', end - at)) end += 1;
    const html = kind.html(lines.slice(at, end));
    if (html !== '') out.push(html);
    at = end;
  }
  return out;
}

interface Kind {
  readonly first: RegExp;
  /** Does the next line belong to it? `n` lines are in it. */
  more(line: string, before: string, n: number): boolean;
  html(lines: readonly string[]): string;
}

const KINDS: readonly Kind[] = [
  { first: /^\s*$/, more: () => false, html: () => '' },
  { first: /^---+$/, more: () => false, html: () => '<hr>' },
  {
    first: /^```/,
    more: (_, before, n) => n === 1 || !before.startsWith('```'),
    html: (lines) => `<pre>${escaped(lines.filter((line) => !line.startsWith('```')).join('\n'))}</pre>`,
  },
  { first: /^#{1,6} /, more: () => false, html: ([line = '']) => heading(line) },
  { first: /^\|/, more: (line) => line.startsWith('|'), html: (lines) => table(lines) },
  {
    first: /^\s*(?:[-*]|\d+\.) /,
    more: (line) => /^\s*(?:[-*]|\d+\.) |^\s{2,}\S/.test(line),
    html: (lines) => list(lines),
  },
];

const PARAGRAPH: Kind = {
  first: /./,
  more: (line) => !KINDS.some(({ first }) => first.test(line)),
  html: (lines) => `<p>${lines.map(inline).join('<br>')}</p>`,
};

function heading(line: string): string {
  const level = /^#+/.exec(line)?.[0].length ?? 1;
  return `<h${level}>${inline(line.slice(level + 1))}</h${level}>`;
}

const list = (lines: readonly string[]): string =>
  `<ul>${lines.map((line) => `<li>${inline(line.replace(/^\s*(?:[-*]|\d+\.) /, ''))}</li>`).join('')}</ul>`;

function table(lines: readonly string[]): string {
  const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line)).map((line) => line.split('|').slice(1, -1));
  const [head = [], ...body] = rows;
  const row = (cells: readonly string[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`).join('')}</tr>`;
  return `<table>${row(head, 'th')}${body.map((cells) => row(cells, 'td')).join('')}</table>`;
}

const inline = (text: string): string =>
  text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.length > 2 && part.startsWith('`') && part.endsWith('`')
        ? `<code>${escaped(part.slice(1, -1))}</code>`
        : escaped(part).replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>'),
    )
    .join('');
