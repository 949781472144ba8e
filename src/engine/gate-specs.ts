/** Tools as models are told of them: the JSON Schema is made from the same zod schema that checks the input. */
import { z } from 'zod';
import type { Json } from '../domain/turn.ts';
import type { ToolSpec } from '../ports/model.ts';
import type { Tool, ToolPort } from '../ports/tool.ts';

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool named `name` as a list of one, or of none when there is no such tool. */
export function specOf(port: ToolPort, name: string): readonly ToolSpec[] {
  const tool = port.tools.find((one) => one.name === name);
  if (!tool) return [];
  const known = specs.get(tool);
  if (known) return [known];
  const spec: ToolSpec = { name: tool.name, description: tool.description, schema: jsonSchemaOf(tool.input) };
  specs.set(tool, spec);
  return [spec];
}

/** JSON Schema of what may be sent (defaults are optional there), as both SDKs take it. */
export const jsonSchemaOf = (schema: z.ZodType): Json => Json.parse(z.toJSONSchema(schema, { io: 'input' }));

const Json: z.ZodType<Json> = z.lazy(() =>
  z.union([z.null(), z.boolean(), z.number(), z.string(), z.array(Json), z.record(z.string(), Json)]),
);
