/** A custom agent as a form: its name, when it is of use, its tools, what it is told, and for which projects. */
import type { AgentText } from '../../../../domain/agents/draft.ts';
import { AGENT_TOOLS } from '../../../../domain/agents/draft.ts';
import type { AgentWish } from '../../../../ports/project-service.ts';
import type { Choice, Dialog, FormValues } from '../../shell/overlays/dialog.ts';

/** `because`: what a sentence led to, shown with the tools. `names`: those that are taken. `said`: who drafted it. */
export function agentForm(
  draft: AgentText,
  names: readonly string[],
  because: readonly string[],
  said: string = '',
): Dialog {
  const text = (name: string, label: string, value: string, lines: number, hint: string) =>
    ({ is: 'text', name, label, value, lines, hint }) as const;
  return {
    is: 'form',
    title: 'New agent',
    ...(said === '' ? {} : { note: said }),
    fields: [
      text('name', 'Name', draft.name, 1, 'letters, digits, "-": code-review'),
      text('description', 'Description', draft.description, 1, 'a sentence that says when it is of use'),
      {
        is: 'checks',
        name: 'tools',
        label: 'Tools',
        values: draft.tools,
        choices: AGENT_TOOLS.map(
          ({ name, words }): Choice => ({
            value: name,
            label: name,
            note: whyOf(name, because) ?? words,
            whyNot: null,
          }),
        ),
      },
      text('prompt', 'Prompt', draft.prompt, 5, 'what it is told to do'),
      {
        is: 'choice',
        name: 'for',
        label: 'For',
        value: 'project',
        choices: [
          { value: 'project', label: 'this project', note: '.mimir/agents', whyNot: null },
          { value: 'user', label: 'all my projects', note: 'your own folder', whyNot: null },
        ],
      },
    ],
    check: (values) => problemIn(values, names),
    then: (values) => ({ app: { createAgent: wishOf(values) } }),
  };
}

/** `edit_file, write_file: "fixes"` -> `asked for by "fixes"`, `chosen by …`, `left out, …`; null for a tool that no word asked for. */
function whyOf(tool: string, because: readonly string[]): string | null {
  const line = because.find((each) => (each.split(':')[0] ?? '').split(', ').includes(tool));
  const why = line?.slice(line.indexOf(':') + 1).trim() ?? '';
  if (why.startsWith('chosen by ')) return why.split(';')[0] ?? why;
  if (why.startsWith('left out')) return why;
  return why.startsWith('"') ? `asked for by ${why}` : null;
}

function problemIn({ texts, checks }: FormValues, names: readonly string[]): string | null {
  const name = (texts['name'] ?? '').trim();
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(name))
    return 'Name: up to 40 letters, digits, "_" or "-", a letter first, such as code-review';
  if (names.includes(name)) return `Name: there is an agent ${name} already`;
  if ((texts['description'] ?? '').trim() === '') return 'Description: a sentence that says when it is of use';
  if ((checks['tools'] ?? []).length === 0) return 'Tools: at least one, such as read_file';
  return (texts['prompt'] ?? '').trim() === '' ? 'Prompt: say what it is to do' : null;
}

const wishOf = ({ texts, checks }: FormValues): AgentWish => ({
  name: (texts['name'] ?? '').trim(),
  description: (texts['description'] ?? '').trim(),
  // In the order of the list, whatever they were ticked in.
  tools: AGENT_TOOLS.map(({ name }) => name).filter((name) => (checks['tools'] ?? []).includes(name)),
  prompt: (texts['prompt'] ?? '').trim(),
  for: texts['for'] === 'user' ? 'user' : 'project',
});
