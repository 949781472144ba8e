/** Tools as models are told of them: JSON Schema, from the zod schema that checks the input. */
import { z } from 'zod';
import type { Json } from '../../../domain/turn.ts';
import type { ToolSpec } from '../../../ports/model.ts';
import type { Tool } from '../../../ports/tool.ts';

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool of `tools` that is named `name` as a list of one, or of none when there is no such tool. */
export function specOf(tools: readonly Tool[], name: string): readonly ToolSpec[] {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return [];
  const known = specs.get(tool);
  if (known) return [known];
  const spec: ToolSpec = { name: tool.name, description: tool.description, schema: jsonSchemaOf(tool.input) };
  specs.set(tool, spec);
  return [spec];
}

/** JSON Schema of what may be sent (defaults are optional there), as both SDKs take it. */
export function jsonSchemaOf(schema: z.ZodType): Json {
  const made: unknown = z.toJSONSchema(schema, { io: 'input' });
  if (!isJson(made)) throw new Error('a form that has no JSON Schema');
  return made;
}

/** By hand: a schema of all JSON takes longer to be made ready than all tools to be told of. */
function isJson(value: unknown): value is Json {
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson);
  return value === null || ['boolean', 'number', 'string'].includes(typeof value);
}
