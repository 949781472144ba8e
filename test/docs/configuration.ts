/** The page of configuration keys: names, types and sentences from the schema, layers from their table, defaults from `.mimir/config.yml`. */
import path from 'node:path';
import { z } from 'zod';
import type { KeyRule, Kind } from '../../src/config/schema/rows.ts';
import { configSchemaJson, OTHER_SPELLINGS, ruleOf } from '../../src/config/schema/schema.ts';
import { loadConfig } from '../../src/config/settings/load.ts';
import { cell, code, made, table } from './markdown.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What of a JSON schema this page shows. */
export interface Node {
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly const?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly pattern?: string | undefined;
  readonly anyOf?: readonly Node[] | undefined;
  readonly items?: Node | undefined;
  readonly properties?: Readonly<Record<string, Node>> | undefined;
  readonly additionalProperties?: Node | false | undefined;
}

export const Node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.string()).optional(),
    const: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().optional(),
    anyOf: z.array(Node).optional(),
    items: Node.optional(),
    properties: z.record(z.string(), Node).optional(),
    additionalProperties: z.union([Node, z.literal(false)]).optional(),
  }),
);

interface Leaf {
  readonly path: readonly string[];
  readonly node: Node;
  readonly sentence: string;
}

/** The longest name of a key that is shown under one heading: `agentOrchestration`. */
export function configurationPage(): string {
  const leaves = leavesOf(Node.parse(configSchemaJson()), [], '');
  const defaults = packageDefaults();
  const sections = [...new Set(leaves.map((leaf) => leaf.path[0] ?? ''))].map((section) => {
    const rows = leaves.filter((leaf) => leaf.path[0] === section).map((leaf) => rowOf(leaf, defaults));
    return `## ${section}\n\n${table(['Key', 'Values', 'Default', 'Who may set it', 'What'], rows)}`;
  });
  return made('Configuration', INTRODUCTION, [...sections, otherSpellings()]);
}

const INTRODUCTION = [
  'Settings come from four places: the options of the command line, your file `~/.config/mimir/config.yml` (in `$XDG_CONFIG_HOME` if that is set), the project file `.mimir/config.yml`, and `/etc/mimir/policy.yml` of an administrator ([policy.md](policy.md)). The column "Who may set it" says which of them count for a key:',
  table(
    ['Who may set it', 'Meaning'],
    [
      ['all, tightest', 'A restriction. Every place may set it, and the tightest value applies.'],
      [
        'all, nearest',
        'A preference. The first place in the order above that sets it wins; a project counts only once you trust it.',
      ],
      ['you, administrator', 'A grant. A project can never set it.'],
      ['administrator', 'Only `/etc/mimir` may set it.'],
    ],
  ),
  '`mimir init` creates a commented file. `mimir config show` prints the settings in effect, with file and line. `mimir config schema` prints a JSON schema for editors. If a file is invalid, Mimir does not start; the error names file, line and column and suggests a fix.',
  'A duration is a number of milliseconds, or a number with a unit: `ms`, `s`, `m`, `h` or `d`. `NAME` in a key stands for any name. A default of `-` means that nothing is set.',
];

const WHO: Readonly<Record<Kind, string>> = {
  restriction: 'all, tightest',
  preference: 'all, nearest',
  grant: 'you, administrator',
  'managed only': 'administrator',
};

/** How several files' values of a restriction become one. */
function combined({ kind, merge }: KeyRule): string {
  if (kind !== 'restriction') return '';
  if (typeof merge !== 'string') return ` (${merge.map(code).join(' < ')})`;
  return MERGED[merge] ?? '';
}

const MERGED: Readonly<Record<string, string>> = {
  min: ' (lowest)',
  and: ' (`false` wins)',
  or: ' (`true` wins)',
  each: ' (in every list)',
  union: ' (all lists)',
  highest: ' (the most binding file)',
};

function rowOf({ path: at, node, sentence }: Leaf, defaults: ReadonlyMap<string, unknown>): readonly string[] {
  const name = at.map((part) => (part === '*' ? 'NAME' : part)).join('.');
  const rule = ruleOf(at);
  const value = defaults.get(name);
  return [
    code(name),
    typeText(node),
    value === undefined ? '-' : code(typeof value === 'string' ? value : JSON.stringify(value)),
    `${WHO[rule.kind]}${combined(rule)}`,
    cell(node.description ?? sentence),
  ];
}

/** Every key that has a value of its own; a map's are below `*`. */
function leavesOf(node: Node, at: readonly string[], sentence: string): readonly Leaf[] {
  const said = node.description ?? sentence;
  const below = [
    ...Object.entries(node.properties ?? {}),
    ...(node.additionalProperties ? [['*', node.additionalProperties] as const] : []),
  ];
  if (below.length === 0) return [{ path: at, node, sentence }];
  return below.flatMap(([name, child]) => leavesOf(child, [...at, name], said));
}

function typeText(node: Node): string {
  if (node.const !== undefined) return code(node.const);
  if (node.enum !== undefined) return node.enum.map(code).join(' ');
  if (node.anyOf !== undefined) return isDuration(node) ? 'duration' : node.anyOf.map(typeText).join(' or ');
  if (node.type === 'array') return `list of ${node.items === undefined ? 'values' : plural(typeText(node.items))}`;
  return TYPES.get(node.type ?? '') ?? numberText(node);
}

/** Of an object that stands for one value there is one: a header from the environment. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['object', '`{ env: NAME }`'],
  ['boolean', '`true` `false`'],
  ['string', 'text'],
]);

const isDuration = ({ anyOf = [] }: Node): boolean =>
  anyOf.some(({ pattern }) => pattern?.includes('ms|s|m|h|d') === true);

const plural = (type: string): string => (type === 'text' ? 'texts' : type);

function numberText({ type, minimum, maximum }: Node): string {
  const kind = type === 'integer' ? 'whole number' : 'number';
  return minimum === undefined || maximum === undefined ? kind : `${kind} ${minimum} to ${grouped(maximum)}`;
}

const grouped = (number: number): string => number.toLocaleString('en-US');

/** What holds where no file says anything: the package's own `.mimir/config.yml`. */
function packageDefaults(): ReadonlyMap<string, unknown> {
  const nowhere = path.join(ROOT, 'nowhere');
  const loaded = loadConfig({ packageRoot: ROOT, projectRoot: ROOT, managedRoot: nowhere, env: { HOME: nowhere } });
  if (!loaded.ok) throw new Error(`the defaults are wrong: ${loaded.fault.map(({ problem }) => problem).join('; ')}`);
  return new Map([...loaded.value.values].map(([name, { value }]) => [name, value]));
}

/** Names that files of other programs use. */
function otherSpellings(): string {
  const rows = [...OTHER_SPELLINGS].map(([other, own]) => [code(other), code(own)]);
  return `## Other spellings\n\nThese names are read as well.\n\n${table(['Name', 'Key'], rows)}`;
}
