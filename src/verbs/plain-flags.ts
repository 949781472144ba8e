/** Flags of most verbs, apart from those whose values are checked: that loads what an agent's verb can do without. */
import type { Flags } from './flags.ts';

export const CWD: Flags = { cwd: { value: 'DIR', help: 'the project (default: the current directory)' } };
export const JSON_FLAG: Flags = { json: { value: '', help: 'JSON on stdout, nothing else there' } };
