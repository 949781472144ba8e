/**
 * Text of a configuration file -> a plain tree that knows the place of every key. A small, unsurprising part of YAML: one
 * document, maps, lists and scalars of the 1.2 core schema. What the keys mean is the schema's to say.
 */
import { LineCounter, type Node, type Pair, isAlias, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { type Result, fail, ok } from '../../domain/result.ts';
import type { ConfigFault } from './fault.ts';
import { MAX_DEPTH, MAX_KEYS, TOO_DEEP, TWO_DOCUMENTS, unfitIn } from './unfit.ts';

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

/** The tree of a text, or the first thing that is wrong with it. */
export function readTree(text: string, file: string): Result<Tree, ConfigFault> {
  try {
    return ok(parsed(text));
  } catch (error) {
    if (error instanceof Unfit) return fail({ file, ...error.at, problem: error.message, remedy: error.remedy });
    // Whatever else the parser throws at odd input is a fault of the input.
    return fail({ file, line: null, column: null, problem: 'is not readable as YAML', remedy: 'check its syntax' });
  }
}

/** Stays inside this file: a fault found deep in the walk. */
class Unfit extends Error {
  readonly at: { readonly line: number | null; readonly column: number | null };
  readonly remedy: string;

  constructor(at: Place, problem: string, remedy: string) {
    super(problem);
    this.at = { line: at.line, column: at.column };
    this.remedy = remedy;
  }
}

interface Walk {
  readonly lines: LineCounter;
  keys: number;
}

function parsed(text: string): Tree {
  refuseEarly(text);
  const lines = new LineCounter();
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // The parser's own check for duplicate keys takes quadratic time (7 000 keys: 3.5 s); ours is in `mapOf`.
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
  if (problem !== undefined) {
    throw new Unfit(placeOf(problem.pos[0]), inWords(problem.message), 'mend the YAML here');
  }
  if (second !== undefined) {
    throw new Unfit(placeOf(second.range[0]), ...TWO_DOCUMENTS);
  }
  const root = document?.contents ?? null;
  return root === null ? { is: 'map', at: { line: 1, column: 1 }, entries: [] } : treeOf(root, { lines, keys: 0 }, 0);
}

/** A directive could switch to YAML 1.1, where `no` is false: none is accepted. */
function refuseEarly(text: string): void {
  const lines = text.split('\n');
  const directive = lines.findIndex((line) => line.startsWith('%'));
  if (directive !== -1) {
    throw new Unfit({ line: directive + 1, column: 1 }, 'directives are not accepted', 'remove this line');
  }
  const keys = text.split(':').length - 1;
  // Colons in values and comments count as well; the exact count comes with the walk.
  if (keys > MAX_KEYS * 3) throw new Unfit({ line: 1, column: 1 }, `has more than ${MAX_KEYS} keys`, 'shorten it');
  const unfit = unfitIn(text, keys);
  if (unfit !== null) throw new Unfit(unfit, unfit.problem, unfit.remedy);
}

/** What the parser puts behind the first line is a drawing of the place. */
function inWords(message: string): string {
  if (message.includes('call stack')) return TOO_DEEP[0];
  return (message.split('\n')[0] ?? message).replace(/ at line \d+.*$/, '');
}

function placeAt(node: Node, walk: Walk): Place {
  const { line, col } = walk.lines.linePos(node.range?.[0] ?? 0);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function treeOf(node: Node, walk: Walk, depth: number): Tree {
  const at = placeAt(node, walk);
  if (depth > MAX_DEPTH) throw new Unfit(at, ...TOO_DEEP);
  if (isAlias(node)) throw new Unfit(at, 'aliases (*name) are not accepted', 'write the value out');
  refuseProperties(node, at);
  if (isMap(node)) return { is: 'map', at, entries: mapOf(node.items, walk, depth) };
  if (isSeq(node)) {
    return { is: 'list', at, items: node.items.map((item) => childOf(item, at, walk, depth)) };
  }
  return { is: 'scalar', at, value: scalarOf(node, at) };
}

function refuseProperties(node: Node, at: Place): void {
  if ('anchor' in node && node.anchor !== undefined) {
    throw new Unfit(at, 'anchors (&name) are not accepted', 'write the value out where it is needed');
  }
  if (node.tag !== undefined) throw new Unfit(at, `tags (${node.tag}) are not accepted`, 'remove the tag');
}

function childOf(value: unknown, at: Place, walk: Walk, depth: number): Tree {
  return isNode(value) ? treeOf(value, walk, depth + 1) : { is: 'scalar', at, value: null };
}

const isNode = (value: unknown): value is Node => isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);

function mapOf(pairs: readonly Pair[], walk: Walk, depth: number): readonly Entry[] {
  const seen = new Map<string, Place>();
  return pairs.map(({ key, value }) => {
    if (!isNode(key)) throw new Unfit({ line: 1, column: 1 }, 'a key is missing', 'write a key before the ":"');
    const at = placeAt(key, walk);
    refuseProperties(key, at);
    if (!isScalar(key)) throw new Unfit(at, 'a key must be one word', 'write a plain key');
    const name = key.source ?? String(key.value);
    walk.keys += 1;
    if (walk.keys > MAX_KEYS) throw new Unfit(at, `has more than ${MAX_KEYS} keys`, 'shorten it');
    const first = seen.get(name);
    if (first !== undefined) {
      throw new Unfit(at, `"${name}" is here a second time, first in line ${first.line}`, 'keep one of them');
    }
    if (name === '__proto__') throw new Unfit(at, '"__proto__" is not accepted as a key', 'remove it');
    seen.set(name, at);
    return { key: name, at, value: childOf(value, at, walk, depth) };
  });
}

function scalarOf(node: Node, at: Place): string | number | boolean | null {
  const value: unknown = isScalar(node) ? node.value : null;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Unfit(at, 'a number without end is not accepted', 'write a plain number');
  }
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  throw new Unfit(at, 'this kind of value is not accepted', 'write text, a number, true or false');
}
