/** Small faults that can be planted in a TypeScript file, one at a time: each is one change of its text. */
import { parseAst } from 'rolldown/parseAst';

/** One change: the characters from `start` to `end` become `text`. */
export interface Mutant {
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  /** What stands there now. */
  readonly was: string;
  readonly text: string;
  /** The name of the innermost function with a name around it; null outside of all. */
  readonly inside: string | null;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

type Change = readonly [start: number, end: number, text: string];
type Found = readonly [...Change, inside: string | null];

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value && 'end' in value;

/** Every change of this file, in the order of its text. Throws where the file does not parse. */
export function mutantsOf(source: string): readonly Mutant[] {
  const found: Found[] = [];
  visit(parseAst(source, { lang: 'ts', sourceType: 'module' }), source, null, found);
  return found
    .toSorted((one, other) => one[0] - other[0] || one[1] - other[1])
    .map(([start, end, text, inside]) => {
      const line = source.slice(0, start).split('\n').length;
      return { line, start, end, was: source.slice(start, end), text, inside };
    });
}

/** The text with this one change. */
export const planted = (source: string, { start, end, text }: Mutant): string =>
  source.slice(0, start) + text + source.slice(end);

/** The whole lines that it changes, now and with it, each as one line without needless space. */
export function changeOf(source: string, mutant: Mutant): readonly [now: string, becomes: string] {
  const first = source.lastIndexOf('\n', mutant.start - 1) + 1;
  const end = source.indexOf('\n', mutant.end);
  const last = end === -1 ? source.length : end;
  const longer = mutant.text.length - (mutant.end - mutant.start);
  const [now, becomes] = [source.slice(first, last), planted(source, mutant).slice(first, last + longer)];
  return [oneLine(now), oneLine(becomes)];
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Types have no effect on a run, and imports leave no program: neither is changed. */
const PASSED_OVER = /^(?:TS(?!AsExpression|NonNull|Satisfies)|Import)/;
const TYPE_FIELDS = new Set(['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType']);

function visit(value: unknown, source: string, around: string | null, found: Found[]): void {
  if (Array.isArray(value)) for (const each of value) visit(each, source, around, found);
  if (!isNode(value) || PASSED_OVER.test(value.type)) return;
  const inside = functionName(value) ?? around;
  const changes = CHANGES[value.type]?.(value, source) ?? [];
  found.push(...changes.map((change): Found => [...change, inside]));
  for (const [field, below] of Object.entries(value)) if (!TYPE_FIELDS.has(field)) visit(below, source, inside, found);
}

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** The name that V8 gives to the function that this node is or names; null where it is none. */
function functionName({ type, id, init, key, value }: Node): string | null {
  const named = type === 'FunctionDeclaration' ? id : isFunction(init) ? id : isFunction(value) ? key : null;
  if (!isNode(named) || typeof named['name'] !== 'string') return null;
  return named.type === 'PrivateIdentifier' ? `#${named['name']}` : named['name'];
}

const isFunction = (value: unknown): boolean => isNode(value) && FUNCTION.test(value.type);

const OTHER_OPERATOR: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};
const OTHER_METHOD: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' };

const CHANGES: Readonly<Record<string, (node: Node, source: string) => readonly Change[]>> = {
  BinaryExpression: operator,
  LogicalExpression: (node, source) => [...operator(node, source), ...withoutDefault(node)],
  UnaryExpression: (node) => (node['operator'] === '!' ? [[node.start, node.start + 1, '']] : []),
  Literal: literal,
  IfStatement: condition,
  ConditionalExpression: condition,
  ExpressionStatement: statement,
  MemberExpression: method,
  FunctionDeclaration: body,
  FunctionExpression: body,
  ArrowFunctionExpression: body,
};

const isText = (node: Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node['value'] === 'string');

/** Texts are only added: `-` for them is no fault that anyone makes. */
function operator(node: Node, source: string): readonly Change[] {
  const { operator: now, left, right } = node;
  if (typeof now !== 'string' || !isNode(left) || !isNode(right)) return [];
  const other = OTHER_OPERATOR[now];
  if (other === undefined || (now === '+' && [left, right].some(isText))) return [];
  const at = source.indexOf(now, left.end);
  return [[at, at + now.length, other]];
}

function withoutDefault({ operator: now, left, end }: Node): readonly Change[] {
  return now === '??' && isNode(left) ? [[left.end, end, '']] : [];
}

function literal({ value, start, end }: Node): readonly Change[] {
  if (typeof value === 'boolean') return [[start, end, String(!value)]];
  return typeof value === 'number' ? [[start, end, String(value + 1)]] : [];
}

function condition({ test }: Node): readonly Change[] {
  if (!isNode(test)) return [];
  return ['true', 'false'].map((text): Change => [test.start, test.end, text]);
}

/** A call or an assignment that is left out. */
function statement({ expression, start, end }: Node): readonly Change[] {
  return isNode(expression) && expression.type !== 'Literal' ? [[start, end, ';']] : [];
}

function method({ property }: Node): readonly Change[] {
  const name = isNode(property) ? property['name'] : null;
  const other = typeof name === 'string' ? OTHER_METHOD[name] : undefined;
  return isNode(property) && other !== undefined ? [[property.start, property.end, other]] : [];
}

/** A function of several statements that returns at once. */
function body({ body: block }: Node): readonly Change[] {
  if (!isNode(block) || !Array.isArray(block['body']) || block['body'].length < 2) return [];
  return [[block.start, block.start + 1, '{ return;']];
}
