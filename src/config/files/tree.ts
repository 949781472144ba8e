/** Parses a configuration file into a plain tree with the place of every key. It accepts a small part of YAML: one document, maps, lists and
 * scalars of the 1.2 core schema. The schema defines the keys. */
import { isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, type Pair, parseAllDocuments } from 'yaml';
import { fail, ok, type Result } from '../../domain/result.ts';
import { OTHER_SPELLINGS, type Path } from '../schema/schema.ts';
import { type ConfigFault, fileFault } from './read-text.ts';

export interface Place {
  readonly line: number;
  readonly column: number;
}

export type Tree =
  | { readonly is: 'map'; readonly at: Place; readonly entries: readonly Entry[] }
  | { readonly is: 'list'; readonly at: Place; readonly items: readonly Tree[] }
  | { readonly is: 'scalar'; readonly at: Place; readonly value: string | number | boolean | null };

export interface Entry {
  readonly key: string;
  readonly at: Place;
  readonly value: Tree;
}

/** The tree of a text, or its first fault. */
export function readTree(text: string, file: string): Result<Tree, ConfigFault> {
  try {
    return ok(parsed(text));
  } catch (error) {
    if (error instanceof Unfit) return fail({ file, ...error.at, problem: error.message, remedy: error.remedy });
    // Any other error of the parser is a fault of the input.
    return fail(fileFault(file, 'is not valid YAML', 'check its syntax'));
  }
}

/** A fault found deep in the tree; thrown and caught in this file only. */
class Unfit extends Error {
  readonly at: { readonly line: number | null; readonly column: number | null };
  readonly remedy: string;

  constructor(at: Place, problem: string, remedy: string) {
    super(problem);
    this.at = { line: at.line, column: at.column };
    this.remedy = remedy;
  }
}

const MAX_KEYS = 2000;
const MAX_DEPTH = 12;
const TOO_DEEP = [`is nested deeper than ${MAX_DEPTH} levels`, 'reduce the nesting'] as const;

interface Walk {
  readonly lines: LineCounter;
  keys: number;
}

function parsed(text: string): Tree {
  refuseEarly(text);
  const lines = new LineCounter();
  // The parser's check for duplicate keys takes quadratic time (7,000 keys: 3.5 s); `mapOf` checks instead.
  const options = {
    version: '1.2',
    schema: 'core',
    uniqueKeys: false,
    merge: false,
    lineCounter: lines,
    prettyErrors: false,
  } as const;
  const documents = parseAllDocuments(text, options);
  if (!Array.isArray(documents)) return { is: 'map', at: { line: 1, column: 1 }, entries: [] };
  const [document, second] = documents;
  const problem = document?.errors[0] ?? second?.errors[0];
  if (problem !== undefined)
    throw new Unfit(placeIn(lines, problem.pos[0]), inWords(problem.message), 'fix the YAML here');
  if (second !== undefined)
    throw new Unfit(
      placeIn(lines, second.range[0]),
      'a second document starts here',
      'keep one document, without "---"',
    );
  const root = document?.contents ?? null;
  return root === null ? { is: 'map', at: { line: 1, column: 1 }, entries: [] } : treeOf(root, { lines, keys: 0 }, 0);
}

/** Directives are refused: one could switch to YAML 1.1, where `no` is false. */
function refuseEarly(text: string): void {
  const lines = text.split('\n');
  const directive = lines.findIndex((line) => line.startsWith('%'));
  if (directive !== -1)
    throw new Unfit({ line: directive + 1, column: 1 }, 'directives are not accepted', 'remove this line');
  const odd = ODD.exec(text);
  if (odd !== null) throw oddAt(text, odd.index);
  refuseTooMuch(text);
}

/** A lone CR, NEL, LINE SEPARATOR, PARAGRAPH SEPARATOR, and control characters other than tabs and line ends. */
const ODD = /\r(?!\n)|(?![\t\n\r])[\p{Cc}\u2028\u2029]/u;

/** Characters that other programs show as a line end but YAML does not could let a comment hide keys. */
function oddAt(text: string, index: number): Unfit {
  const code = (text.codePointAt(index) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  if (!/[\r\v\f\u0085\u2028\u2029]/.test(text[index] ?? ''))
    return new Unfit(
      at(text, index),
      `contains the control character U+${code}`,
      'remove it, or save the file as UTF-8',
    );
  const problem = `contains U+${code}, which some programs show as a line break but YAML does not treat as one`;
  return new Unfit(at(text, index), problem, 'remove it, or start a new line');
}

const at = (text: string, index: number): Place => ({
  line: text.slice(0, index).split('\n').length,
  column: index - text.lastIndexOf('\n', index - 1),
});

/** The parser takes time for each of these, most for each that it has to report as an error. */
const SIGN = /^(?:[-?:,[\]{}]|---|\.\.\.|[&*!].*)$/s;
const MOST_SIGNS = 8000;
const INSERTED: readonly string[] = ['\u0002', '\u0018', '\u001f'];
/** Up to this depth of brackets the exact check is left to the tree walk. */
const DEEP = 4 * MAX_DEPTH;

function refuseTooMuch(text: string): void {
  let [index, signs, depth] = [0, 0, 0];
  for (const token of new Lexer().lex(text)) {
    if (SIGN.test(token)) signs += 1;
    if (signs > MOST_SIGNS)
      throw new Unfit(at(text, index), `has more than ${MOST_SIGNS} syntax characters`, 'shorten it');
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth = Math.max(0, depth - 1);
    if (depth > DEEP) throw new Unfit(at(text, index), ...TOO_DEEP);
    if (!INSERTED.includes(token)) index += token.length;
  }
}

/** Drops the drawing of the place that follows the first line of the parser's message. */
function inWords(message: string): string {
  if (message.includes('call stack')) return TOO_DEEP[0];
  return (message.split('\n')[0] ?? message).replace(/ at line \d+.*$/, '');
}

function placeIn(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

const placeAt = (node: Node, { lines }: Walk): Place => placeIn(lines, node.range?.[0] ?? 0);

function treeOf(node: Node, walk: Walk, depth: number): Tree {
  const at = placeAt(node, walk);
  if (depth > MAX_DEPTH) throw new Unfit(at, ...TOO_DEEP);
  if (isAlias(node)) throw new Unfit(at, 'aliases (*name) are not accepted', 'write out the value');
  refuseProperties(node, at);
  if (isMap(node)) return { is: 'map', at, entries: mapOf(node.items, walk, depth) };
  if (isSeq(node)) return { is: 'list', at, items: node.items.map((item) => childOf(item, at, walk, depth)) };
  return { is: 'scalar', at, value: scalarOf(node, at) };
}

function refuseProperties(node: Node, at: Place): void {
  if ('anchor' in node && node.anchor !== undefined)
    throw new Unfit(at, 'anchors (&name) are not accepted', 'write out the value where it is needed');
  if (node.tag !== undefined) throw new Unfit(at, `tags (${node.tag}) are not accepted`, 'remove the tag');
}

const childOf = (value: unknown, at: Place, walk: Walk, depth: number): Tree =>
  isNode(value) ? treeOf(value, walk, depth + 1) : { is: 'scalar', at, value: null };

const isNode = (value: unknown): value is Node => isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);

function mapOf(pairs: readonly Pair[], walk: Walk, depth: number): readonly Entry[] {
  const seen = new Map<string, Place>();
  return pairs.map(({ key, value }) => {
    if (!isNode(key)) throw new Unfit({ line: 1, column: 1 }, 'a key is missing', 'write a key before the ":"');
    const at = placeAt(key, walk);
    refuseProperties(key, at);
    if (!isScalar(key)) throw new Unfit(at, 'a key cannot be a list or a map', 'write a plain key');
    const name = key.source ?? String(key.value);
    walk.keys += 1;
    if (walk.keys > MAX_KEYS) throw new Unfit(at, `has more than ${MAX_KEYS} keys`, 'shorten it');
    const first = seen.get(name);
    if (first !== undefined)
      throw new Unfit(at, `duplicate key "${name}", first used in line ${first.line}`, 'keep one of them');
    if (name === '__proto__') throw new Unfit(at, '"__proto__" is not accepted as a key', 'remove it');
    seen.set(name, at);
    return { key: name, at, value: childOf(value, at, walk, depth) };
  });
}

function scalarOf(node: Node, at: Place): string | number | boolean | null {
  const value: unknown = isScalar(node) ? node.value : null;
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Unfit(at, 'this number is not finite', 'write a plain number');
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw new Unfit(at, 'this kind of value is not accepted', 'use text, a number, true or false');
}

// Walks over a tree of a configuration file: its plain value, the place of a path, keys taken out or written another way.

/** The tree as plain JSON. */
export function plainOf(tree: Tree): unknown {
  if (tree.is === 'scalar') return tree.value;
  if (tree.is === 'list') return tree.items.map(plainOf);
  return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainOf(value)]));
}

/** The place of a path: the key itself, or the list item; for a missing path, the nearest existing parent. */
export function placeOf(tree: Tree, path: Path): Place {
  let at = tree.at;
  let here: Tree | undefined = tree;
  for (const part of path) {
    if (here === undefined) return at;
    const next: { readonly at: Place; readonly value: Tree } | undefined = below(here, part);
    if (next === undefined) return at;
    at = next.at;
    here = next.value;
  }
  return at;
}

/** A fault at a path of the file. */
export const faultAt = (file: string, tree: Tree, path: Path, problem: string, remedy: string): ConfigFault => ({
  file,
  ...placeOf(tree, path),
  problem,
  remedy,
});

function below(tree: Tree, part: string | number): { readonly at: Place; readonly value: Tree } | undefined {
  if (tree.is === 'map') return tree.entries.find(({ key }) => key === part);
  const item = tree.is === 'list' && typeof part === 'number' ? tree.items[part] : undefined;
  return item === undefined ? undefined : { at: item.at, value: item };
}

/** The tree without the key at `path`, and without the sections in which nothing is left. */
export function without(tree: Tree, path: readonly string[]): Tree {
  const [key, ...rest] = path;
  if (tree.is !== 'map') return tree;
  const entries = tree.entries.flatMap((entry) => {
    if (entry.key !== key) return [entry];
    const value = rest.length === 0 ? null : without(entry.value, rest);
    return value === null || leavesOf(value).length === 0 ? [] : [{ ...entry, value }];
  });
  return { ...tree, entries };
}

/** The paths of all values other than non-empty maps, in file order. */
export function leavesOf(tree: Tree, above: readonly string[] = []): readonly (readonly string[])[] {
  if (tree.is !== 'map') return [above];
  return tree.entries.flatMap(({ key, value }) => leavesOf(value, [...above, key]));
}

const OTHER_SECTIONS = new Set([...OTHER_SPELLINGS.keys()].map((spelling) => spelling.split('.')[0] ?? ''));

/** Keys as other programs spell them, put under Mimir's own names. What the table doesn't know stays, to be refused. */
export function respelled(tree: Tree): Tree {
  if (tree.is !== 'map' || !tree.entries.some(({ key }) => OTHER_SECTIONS.has(key))) return tree;
  return leavesOf(tree)
    .filter(([section = '']) => OTHER_SECTIONS.has(section))
    .reduce<Tree>((soFar, path) => {
      const own = OTHER_SPELLINGS.get(path.join('.'))?.split('.');
      const entry = entryAt(tree, path);
      return own === undefined || entry === null ? soFar : inserted(without(soFar, path), own, entry);
    }, tree);
}

function entryAt(tree: Tree, path: readonly string[]): Entry | null {
  const [key, ...rest] = path;
  const entry = tree.is === 'map' ? tree.entries.find((each) => each.key === key) : undefined;
  if (entry === undefined) return null;
  return rest.length === 0 ? entry : entryAt(entry.value, rest);
}

/** Mimir's own spelling wins when both are written. */
function inserted(tree: Tree, path: readonly string[], entry: Entry): Tree {
  const [key = '', ...rest] = path;
  if (tree.is !== 'map') return tree;
  const found = tree.entries.find((each) => each.key === key);
  if (rest.length === 0) return found === undefined ? { ...tree, entries: [...tree.entries, { ...entry, key }] } : tree;
  const empty: Tree = { is: 'map', at: entry.at, entries: [] };
  const value = inserted(found?.value ?? empty, rest, entry);
  const others = tree.entries.filter((each) => each.key !== key);
  return { ...tree, entries: [...others, { key, at: found?.at ?? entry.at, value }] };
}
