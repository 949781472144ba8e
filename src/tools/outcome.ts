/** The two ends of a tool call, in one word each. */
import type { ToolOutput } from '../ports/tool.ts';
import { capText, RESULT_BYTES } from './shell/output.ts';

/** A result within its 64 KiB; long lines are each tool's to cut. */
export const done = (text: string): ToolOutput => ({ ok: true, text: capText(text, RESULT_BYTES) });
/** An error result that the model reads, within the same cap. */
export const refused = (text: string): ToolOutput => ({ ok: false, text: capText(text, RESULT_BYTES) });
