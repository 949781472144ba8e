/** The bounds of what a client may send in a command. */
import { z } from 'zod';
import { TaskId } from './ids.ts';

/** Texts of people and plans; a line has its own limit. */
export const LongText = z.string().max(1_000_000);
export const ShortText = z.string().max(300);
export const TaskIds = z.array(TaskId).max(1000).readonly();
export const ToolNames = z.array(ShortText).max(100).readonly();
export const Globs = z.array(z.string().max(500)).max(100).readonly();
export const Count = z.number().min(0).max(1e12);
/** US dollars; null when the model's price is not known. */
export const Cost = z.number().min(0).max(1e9).nullable();
