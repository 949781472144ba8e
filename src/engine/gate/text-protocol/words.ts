/** The words of the text protocol: what an agent is told of it, and what it is told when a reply could not be read. */

/** Why a reply could not be carried out. */
export type Unread = 'no command' | 'several commands' | 'no end';

const FORM = 'one block that begins with a line ```bash and ends with a line ```';

/** To the model, as the result of such a reply: short, and with the way on. */
export const UNREAD: Readonly<Record<Unread, string>> = {
  'no command': `Nothing was run: your reply holds no command. Reply with exactly ${FORM}. If you are done, say so with MIMIR_FINAL_OUTPUT, or end your reply with a line [COMPLETE].`,
  'several commands': `Nothing was run: your reply holds several commands. Reply with exactly ${FORM}; put several steps into one command with && or on lines of the same block.`,
  'no end': `Nothing was run: the command in your reply has no end. Reply with exactly ${FORM}. If the command itself holds a line of three backticks, begin and end the block with four.`,
};

/** That many replies in a row without a command that can be run, and the agent is at its end. */
export const MOST_UNREAD = 3;
export const GIVEN_UP = `The last ${MOST_UNREAD} replies of the model did not hold exactly one command (protocol: text)`;

export interface Wording {
  /** Where its commands run. */
  readonly box: 'none' | 'read-only' | 'read-write';
  /** Names of roles that a child may have; empty: it can't spawn. */
  readonly children: readonly string[];
  /** Can it read what finished tasks have answered? */
  readonly findings: boolean;
}

/** The section of the system prompt. It takes back what is said of tools before it. */
export const protocolWords = ({ box, children, findings }: Wording): string =>
  [
    OPENING,
    `${COMMANDS}${BOXES[box]}`,
    ENDING,
    ...(findings ? [FINDINGS] : []),
    ...(children.length === 0 ? [] : [spawning(children)]),
  ].join('\n\n');

const OPENING = `## How you act: one command a turn

You have no tools that can be called. What is said above of tools (\`read_file\`, \`search\`, \`update_todos\`, \`ask_user\`, \`Task\` …) does
not hold for you: you read, search and change files by commands of the shell, and by nothing else.

Each reply is a sentence or two on what you are about to do and why, then exactly one block with one command:

\`\`\`bash
grep -rn "parseConfig" src | head -40
\`\`\``;

const COMMANDS = `- Exactly one such block in each reply: with none or with several nothing is run. Several steps go into one block, joined by \`&&\`.
- Each command is a fresh shell in the same folder: \`cd\` and variables do not last, files do. There is no standard input and no
  terminal: nothing may ask, page or open an editor. A command is ended after 120 seconds; \`\`\`bash timeout=600 gives it 600.
- You get its exit code and its output as the next message. Long output is cut: look at parts (\`sed -n 1,80p FILE\`), not at whole trees.
- Write a file with \`cat > FILE <<'END'\` … \`END\`. If what you write holds a line of three backticks, begin and end your block with four.`;

const BOXES: Readonly<Record<Wording['box'], string>> = {
  none: '',
  'read-only': '\n- Commands run in a box without network in which nothing of the project can be changed.',
  'read-write':
    '\n- Commands run in a box without network. Only the project can be written, but not .git and .mimir; /tmp is your own and stays until you have ended; HOME is empty each time, but for caches of packages and builds.',
};

const ENDING = `How you end, whatever is said of it above: with a command that begins with an echo of MIMIR_FINAL_OUTPUT. What
it prints below that line is your result, all that anyone sees of your work:

\`\`\`bash
echo MIMIR_FINAL_OUTPUT; cat <<'END'
The answer first, then the evidence, each with its path:line.
END
\`\`\`

Or without a command: a reply that is your result, with [COMPLETE] as its last line.`;

const FINDINGS = `Where a finding of another task is cut, you get the rest (what is called \`read_finding\` there) as the output of a command that
is an echo of MIMIR_READ_FINDING, the task or its agent, and the character to begin with:

\`\`\`bash
echo "MIMIR_READ_FINDING::ROOT::S2 from 6000"
\`\`\``;

const spawning = (roles: readonly string[]): string =>
  `You can hand a part to a child, when that part stands on its own: with a command that begins with an echo of MIMIR_SPAWN_CHILD. What it
prints below that line is the child's task. The child starts afresh and knows nothing else, so say all that it needs; what it ends
with is what you get as the output of your command:

\`\`\`bash
echo MIMIR_SPAWN_CHILD; cat <<'END'
Find every place that reads the configuration. Answer with a list of path:line, one sentence each.
END
\`\`\`

\`MIMIR_SPAWN_CHILD::NAME\` gives it a name. A name that is one of these roles gives it that role: ${roles.join(', ')}.`;
