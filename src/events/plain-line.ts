/** The one line by which an answer is told of in a list: what it says first, without the marks of Markdown. Pure. */

/** Empty where nothing is said. Headings, and remarks that are wholly in italics, are passed over where more follows. */
export function plainLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const some = lines.filter((line) => line !== '' && !/^(?:```|~~~|[-*_]{3,}$|\|[\s|:-]+\|$)/.test(line));
  const said = some.find((line) => !/^#{1,6}\s/.test(line) && !/^(?:_[^_]+_|\*[^*]+\*)$/.test(line));
  return withoutMarks(said ?? some.find((line) => !/^#{1,6}\s/.test(line)) ?? some[0] ?? '');
}

const withoutMarks = (line: string): string =>
  line
    .replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+)+/, '')
    .replaceAll(/!?\[([^\]]+)\]\([^)\s]+\)/g, '$1')
    .replaceAll(/(`+)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w*])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?![\w*]|\.\w)/g, '$2')
    .replaceAll(/(?<![\w*/])([*_])(?=[^\s*_])(.+?)(?<=\S)\1(?![\w*/]|\.\w)/g, '$2')
    .trim();
