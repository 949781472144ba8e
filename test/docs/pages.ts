/** The pages of the documentation that are made from the program itself: keys, commands, configuration keys. */
import { screenVerb } from '../../src/cli/commands/screen.ts';
import { groupsOf, verbNamed } from '../../src/cli/dispatch.ts';
import type { Verb } from '../../src/cli/verb.ts';
import { allActions, type PlacedAction } from '../support/actions.ts';
import { keyLabel } from '../../src/ui/tui/frame/keymap.ts';
import { ASCII } from '../../src/ui/tui/text/glyphs.ts';
import { configurationPage } from './configuration.ts';
import { cell, code, made, table } from './markdown.ts';

/** The text of each page, by its path in the repository. */
export const generatedPages = async (): Promise<ReadonlyMap<string, string>> =>
  new Map([
    ['docs/keys.md', keysPage(allActions())],
    ['docs/commands.md', commandsPage(await commandGroups())],
    ['docs/configuration.md', configurationPage()],
  ]);

interface CommandGroup {
  readonly title: string;
  readonly commands: readonly (readonly [name: string, verb: Verb])[];
}

/** All commands in the order of the help. */
export const commandGroups = async (): Promise<readonly CommandGroup[]> => [
  { title: 'Session', commands: [['mimir', screenVerb]] },
  ...(await Promise.all(
    Object.entries(groupsOf()).map(async ([title, names]) => ({ title, commands: await named(names) })),
  )),
];

async function named(names: readonly string[]): Promise<CommandGroup['commands']> {
  const verbs = await Promise.all(names.map(async (name) => [name, await verbNamed(name)] as const));
  return verbs.flatMap(([name, verb]) => (verb === null ? [] : [[name, verb] as const]));
}

function keysPage(actions: readonly PlacedAction[]): string {
  const places = [...new Set(actions.map(({ where }) => where))];
  const parts = places.map((place) => {
    const rows = actions.filter(({ where, keys }) => where === place && keys.length > 0).map(keyRow);
    return `## ${place}\n\n${table(['Keys', 'What', 'Action'], rows)}`;
  });
  return made(
    'Keys',
    [
      'The footer of each screen shows what can be done now. `?` shows all keys of the screen, `:` finds an action by its name.',
      'The last column is the name of the action for keys of your own, in `~/.config/mimir/config.yml`:',
      '```yaml\nkeys: { run.kill: X }\n```',
    ],
    parts,
  );
}

const keyRow = ({ keys, help, more = '', action }: PlacedAction): readonly string[] => [
  keys.map((key) => code(keyLabel(key, ASCII).replace(/^\^(?=.)/, 'Ctrl-'))).join(' '),
  cell(more === '' ? help : `${help}. ${more}`),
  action,
];

function commandsPage(groups: readonly CommandGroup[]): string {
  const parts = groups.flatMap(({ title, commands }) => [
    `## ${title}`,
    ...commands.map(([name, verb]) => `### ${name}\n\n${commandText(verb)}`),
  ]);
  return made(
    'Commands',
    ['`mimir --help` lists the commands; `mimir COMMAND --help` shows what is below. `--help` is an option of each.'],
    parts,
  );
}

function commandText({ usage, summary, flags, notes, example }: Verb): string {
  const options = Object.entries(flags).filter(([, { hidden }]) => hidden !== true);
  const rows = options.map(([name, { value, help, short }]) => [
    code(`${short === undefined ? '' : `-${short}, `}--${name}${value === '' ? '' : ` ${value}`}`),
    cell(help),
  ]);
  return [
    cell(summary),
    fenced('', usage),
    ...(rows.length === 0 ? [] : [table(['Option', 'What'], rows)]),
    ...(notes.length === 0 ? [] : [fenced('', notes.join('\n'))]),
    fenced('sh', example),
  ].join('\n\n');
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
