/** Markdown for pages that are made from code. */

/** A whole page: its title, who made it, an introduction, its parts. */
export const made = (title: string, introduction: readonly string[], parts: readonly string[]): string =>
  [
    `# ${title}`,
    '<!-- Generated from the code by `npm run docs`; test/docs/pages.test.ts compares. -->',
    ...introduction,
    ...parts,
  ].join('\n\n') + '\n';

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Text in a cell of a table, where an upright would end it. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** Code in a cell of a table. */
export const code = (text: string): string =>
  text.includes('`') ? `\`\` ${text} \`\`` : `\`${text.replaceAll('|', '\\|')}\``;
