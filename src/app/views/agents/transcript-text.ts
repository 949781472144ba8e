/** An agent's transcript as a text for an editor or the clipboard: Markdown, with everything unfolded. */
import type { AgentState, Block } from '../../../events/state.ts';

/** Everything that an agent was told, said and did; empty where that is nothing. */
export function transcriptText({ name, blocks }: AgentState, task: string): string {
  if (blocks.length === 0) return '';
  return `# ${name}: ${task.split('\n')[0] ?? ''}\n\n${blocks.map(section).join('\n\n')}\n`;
}

function section(block: Block): string {
  switch (block.is) {
    case 'told':
      return block.text
        .trim()
        .split('\n')
        .map((line) => `> ${line}`.trimEnd())
        .join('\n');
    case 'said':
      return block.text.trim();
    case 'note':
      return [`_${block.text}_`, ...(block.more === undefined ? [] : [block.more])].join('\n\n');
    default:
      return [`## ${block.label}${block.ok === false ? ' (failed)' : ''}`, ...fenced(block.output)].join('\n\n');
  }
}

/** In a fence longer than any in it. */
function fenced(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}\n${text.trimEnd()}\n${fence}`];
}
