/**
 * Short names of models and the canonical ids they stand for. Data only: what a name may be used for is
 * decided on the canonical id, and prices and windows are the catalogue's in models/. The ids are those that the makers'
 * own client libraries list (`Model` of @anthropic-ai/sdk, `ChatModel` of openai); of several, the dated one.
 */
import { ModelId } from '../domain/ids.ts';

const TABLE = {
  'haiku-4.5': 'anthropic/claude-haiku-4-5-20251001',
  'sonnet-4.5': 'anthropic/claude-sonnet-4-5-20250929',
  'opus-4.5': 'anthropic/claude-opus-4-5-20251101',
  'opus-4.1': 'anthropic/claude-opus-4-1-20250805',
  o3: 'openai/o3-2025-04-16',
  'o3-mini': 'openai/o3-mini-2025-01-31',
  'o4-mini': 'openai/o4-mini-2025-04-16',
  'gpt-5': 'openai/gpt-5-2025-08-07',
  'gpt-5-mini': 'openai/gpt-5-mini-2025-08-07',
  'gpt-4.1': 'openai/gpt-4.1-2025-04-14',
  'qwen-3': 'openrouter/qwen/qwen3-coder',
  offline: 'offline/analyst',
  'fable-5.2': 'anthropic/claude-fable-5-2',
  'fable-5.1': 'anthropic/claude-fable-5-1',
  'opus-5.5': 'anthropic/claude-opus-5-5',
  'opus-5': 'anthropic/claude-opus-5',
  'opus-4.8': 'anthropic/claude-opus-4-8',
  'sonnet-5.5': 'anthropic/claude-sonnet-5-5',
  'sonnet-5': 'anthropic/claude-sonnet-5',
  'sonnet-4.6': 'anthropic/claude-sonnet-4-6',
  'haiku-5.5': 'anthropic/claude-haiku-5-5',
  'gpt-6-astra': 'openai/gpt-6-astra',
  'gpt-6.1-sol': 'openai/gpt-6.1-sol',
  'gpt-6.1-terra': 'openai/gpt-6.1-terra',
  'gpt-6-sol': 'openai/gpt-6-sol',
  'gpt-6-luna': 'openai/gpt-6-luna',
  'gpt-5.6-sol': 'openai/gpt-5.6-sol',
  'gpt-5.6-terra': 'openai/gpt-5.6-terra',
  'gpt-5.6-luna': 'openai/gpt-5.6-luna',
  'gpt-5.5': 'openai/gpt-5.5-2026-04-23',
  'gpt-5.4': 'openai/gpt-5.4',
  'gpt-5.4-mini': 'openai/gpt-5.4-mini-2026-03-17',
  'gpt-5.4-nano': 'openai/gpt-5.4-nano-2026-03-17',
};

/** Alias -> canonical id. A map, so that no name of Object.prototype is taken for an alias. */
export const ALIASES: ReadonlyMap<string, ModelId> = new Map(
  Object.entries(TABLE).map(([alias, id]) => [alias, ModelId.parse(id)]),
);

const LINES: ReadonlyMap<string, string> = new Map([
  ['opus', 'opus-4.5'],
  ['sonnet', 'sonnet-4.5'],
  ['haiku', 'haiku-4.5'],
]);

/**
 * What a spawn may say for short: the model of a line that the built-in roles use. Other names are given back as they
 * are. Rules and roles name their models in full: there a line would be another model with each release.
 */
export const spokenModel = (name: string): string => LINES.get(name.trim().toLowerCase()) ?? name;
