/** `mimir policy show|check|explain`: which rules hold here, whether a file is a valid one, and why something is decided as it is. */
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Verb } from '../verb.ts';

export const policyVerb: Verb = {
  usage: 'mimir policy show|check FILE|explain [--json]',
  summary:
    'Shows the rules in force and where they are written, checks a policy file (3 when it is wrong), or explains a decision.',
  example: [
    'mimir policy explain --command "curl https://example.org" --role tester',
    '  mimir policy explain --model opus-4.5',
    '  mimir policy check policy.yml && sudo install -m 644 policy.yml /etc/mimir/policy.yml',
  ].join('\n'),
  words: 2,
  flags: {
    model: { value: 'M', help: 'explain: may this model be used?' },
    role: { value: 'R', help: 'explain: may this role run? Beside another question: for an agent of this role' },
    tool: { value: 'T', help: 'explain: may this tool be used?' },
    path: { value: 'P', help: 'explain: may this path be read and written?' },
    command: { value: 'C', help: 'explain: may this shell command run?' },
    agent: { value: 'ID', help: 'explain: for this agent of the newest session (or SESSION/ID)' },
    mode: { value: 'human|confirm|yolo', help: 'explain: in this mode' },
    as: { value: 'managed|user|project', help: 'check: as a file of this layer (default: managed)' },
    ...JSON_FLAG,
    ...CWD,
  },
  async run(args, io) {
    const [what = '', file] = args.words;
    refuseOthers(what, args);
    if (what === 'check' && file !== undefined) return (await import('./policy-check.ts')).checkPolicy(file, args, io);
    if (what === 'show' && file === undefined) return (await import('./policy-show.ts')).showPolicy(args, io);
    if (what === 'explain' && file === undefined) return (await import('./policy-explain.ts')).explainPolicy(args, io);
    const known = 'mimir policy show, mimir policy check FILE, or mimir policy explain --model M';
    throw new Exit(EXIT.wrongUse, `${problemWith(what, file)}\n  ${known}`);
  },
};

const EXPLAINS = ['model', 'role', 'tool', 'path', 'command', 'agent', 'mode'];
const TAKES: ReadonlyMap<string, readonly string[]> = new Map([
  ['show', []],
  ['check', ['as']],
  ['explain', EXPLAINS],
]);

/** An option of another of the three would be passed over in silence. */
function refuseOthers(what: string, args: Arguments): void {
  const own = TAKES.get(what);
  const other = ['as', ...EXPLAINS].find((flag) => args.has(flag) && own?.includes(flag) === false);
  if (other === undefined) return;
  const whose = other === 'as' ? 'check' : 'explain';
  throw new Exit(
    EXIT.wrongUse,
    `--${other} is not for \`mimir policy ${what}\`\n  it is for \`mimir policy ${whose}\``,
  );
}

function problemWith(what: string, file: string | undefined): string {
  if (what === '') return 'say what to do';
  if (!TAKES.has(what)) return `there is no "policy ${what}"`;
  return what === 'check' ? 'which file?' : `not expected: "${file ?? ''}"`;
}
