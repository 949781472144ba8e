/** What can be typed about agents, for the field of the screen and for line mode. */

/** What stands behind `agents create`. */
export function sentenceIn(typed: string): { readonly sentence: string; readonly model: boolean } {
  const sentence = typed.trim().replace(/^--no-model(?:\s+|$)/, '');
  return { sentence, model: sentence === typed.trim() };
}

/** What can be done with agents, in lines; a verb and line mode say it too. */
export const AGENTS_HELP: readonly string[] = [
  'agents                     lists the custom agents and the built-in ones',
  'agents show NAME           what it is told, its tools and models, and its file',
  'agents create              asks for name, description, tools and prompt',
  'agents create DESCRIPTION  makes one from a sentence, and says what was chosen, by whom, and what that cost',
  '                           (--no-model in front: by fixed rules)',
  'agents delete NAME         deletes the file of a custom agent, after a question',
  'agents help                this',
  '',
  'Each is a file of its own: JSON with name, description, tools and prompt, in .mimir/agents of the project or in your own folder (~/.config/mimir/agents). Markdown with front matter is read as well, and so are .mini-cc/agents and .claude/agents of the project.',
  'From a sentence the model of the role main drafts it, with one call (a second one mends what could not be used), where one may be asked; else fixed rules do, and it says why. What the sentence says of access ("read-only", "no shell") always holds. Nothing but the sentence is sent.',
  "A project's agents count once the project is trusted. Plans can use them, and agents call them by Task: Task(NAME).",
  'Tools: read_file, search, git, bash, edit_file, write_file. "*" is all of them, never Task, and only in your own folder. Without edit_file and write_file, commands run in a box in which nothing can be changed.',
];
