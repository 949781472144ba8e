/** The two ends of a tool call, in one word each. */
import type { ToolOutput } from '../ports/tool.ts';
import { capOutput } from './output.ts';

/** A result within the caps. */
export const done = (text: string): ToolOutput => ({ ok: true, text: capOutput(text) });
/** An error result that the model reads, within the caps. */
export const refused = (text: string): ToolOutput => ({ ok: false, text: capOutput(text) });
