/** Flags that several verbs share. What their values mean is read elsewhere: that loads what many verbs can do without. */
import { COLOR } from './color.ts';
import type { Flags } from './flags.ts';

export const CWD: Flags = { cwd: { value: 'DIR', help: 'the project (default: the current directory)' } };
export const JSON_FLAG: Flags = { json: { value: '', help: 'JSON on stdout, nothing else there' } };

export const MODELS: Flags = {
  model: { value: 'M', help: 'ask for this model for every agent (`offline`: the built-in analyst)' },
  'role-model': { value: 'role=M', help: 'ask for this model for one role; may be repeated', many: true },
  'no-offline': { value: '', help: 'end with 6 instead of using the built-in analyst' },
};

export const ALLOW: Flags = {
  allow: {
    value: 'edits,commands',
    help: 'what agents may do without asking: edits, commands in the sandbox, or both',
  },
  commit: { value: '', help: 'let main commit the work at the end, behind the reviews' },
};

export const LIMITS: Flags = {
  mode: { value: 'human|confirm|yolo', help: 'how much is asked (default: confirm)' },
  'max-cost': { value: 'USD', help: 'the run may cost at most this' },
  'max-tokens': { value: 'N', help: 'the run may use at most this many tokens' },
  'max-duration': { value: '10m', help: 'the run may take at most this long' },
};

export const SCREEN: Flags = {
  ...COLOR,
  theme: { value: 'NAME', help: 'colour theme (default: auto, dark or light as the terminal is)' },
  plain: { value: '', help: 'lines instead of a full screen' },
};
