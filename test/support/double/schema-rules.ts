/** What vendors demand of a JSON schema that they are to hold replies to. Walks every subschema with its path. */
import { at, isFields, jsonOf, listAt, listOf } from './json.ts';

/** Why Anthropic would refuse `schema`; null when it wouldn't. */
export function anthropicSchemaProblem(schema: unknown): string | null {
  for (const { one } of subschemas(schema)) {
    const type = typesOf(one)[0] ?? 'schema';
    const wrong = Object.keys(one).filter((word) => UNSUPPORTED.has(word));
    if (wrong.length > 0) return `For '${type}' type, properties ${wrong.sort().join(', ')} are not supported`;
    const least = at(one, 'minItems');
    if (least !== undefined && least !== 0 && least !== 1) {
      return `For 'array' type, 'minItems' values other than 0 or 1 are not supported`;
    }
    if (isObject(one) && at(one, 'additionalProperties') !== false) {
      return `For 'object' type, 'additionalProperties' must be explicitly set to false`;
    }
  }
  return null;
}

const UNSUPPORTED = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'oneOf',
  'not',
  'if',
]);

/** Why OpenAI would refuse `schema` in strict mode, without the name of where it stands; null when it wouldn't. */
export function openaiStrictProblem(schema: unknown): string | null {
  if (!isObject(schema))
    return `schema must be a JSON Schema of 'type: "object"', got 'type: ${jsonOf(at(schema, 'type'))}'.`;
  if (at(schema, 'anyOf') !== undefined) return `In context=(), 'anyOf' is not permitted at the root.`;
  for (const { one, path } of subschemas(schema)) {
    const context = `In context=(${path.map((step) => `'${step}'`).join(', ')})`;
    const wrong = Object.keys(one).find((word) => NOT_STRICT.has(word));
    if (wrong !== undefined) return `${context}, '${wrong}' is not permitted.`;
    if (!isObject(one)) continue;
    if (at(one, 'additionalProperties') !== false) {
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const required = listAt(one, 'required');
    const missing = Object.keys(at(one, 'properties') ?? {}).find((name) => !required.includes(name));
    if (missing !== undefined) {
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  return null;
}

const NOT_STRICT = new Set([
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'default',
  'uniqueItems',
]);

const typesOf = (schema: unknown): readonly string[] => {
  const type = at(schema, 'type');
  return (typeof type === 'string' ? [type] : listOf(type)).filter((one) => typeof one === 'string');
};
const isObject = (schema: unknown): boolean => typesOf(schema).includes('object');

interface Sub {
  readonly one: Readonly<Record<string, unknown>>;
  readonly path: readonly string[];
}

function subschemas(schema: unknown, path: readonly string[] = []): readonly Sub[] {
  if (!isFields(schema)) return [];
  const named = ['properties', '$defs', 'definitions'].flatMap((group) =>
    Object.entries(at(schema, group) ?? {}).flatMap(([name, one]) => subschemas(one, [...path, group, name])),
  );
  const listed = ['anyOf', 'allOf', 'oneOf'].flatMap((group) =>
    listAt(schema, group).flatMap((one, index) => subschemas(one, [...path, group, String(index)])),
  );
  return [{ one: schema, path }, ...named, ...listed, ...subschemas(at(schema, 'items'), [...path, 'items'])];
}
