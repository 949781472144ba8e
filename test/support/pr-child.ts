/** A process of its own that opens the pull request of `endedRun`: `node pr-child.ts HOME PROJECT RULES`. It prints the outcome. */
import { openPublishing } from '../../src/app/publish/index.ts';
import type { Rules } from '../../src/policy/index.ts';
import { ENDED, logOf, placeOn } from './ended-run.ts';

const parsed: unknown = JSON.parse(process.argv[4] ?? '');
const isRules = (value: unknown): value is Rules => typeof value === 'object';
if (!isRules(parsed)) throw new Error('the rules are missing');
const [, , home = '', project = ''] = process.argv;
const place = placeOn(home, project);
const log = logOf(place);
const publishing = openPublishing({
  project: place,
  config: { rules: parsed, secrets: [] },
  log,
  env: process.env,
});
const { signal } = new AbortController();
const shown = await publishing.preview(ENDED, signal);
const sent = shown.ok
  ? await publishing.send({ session: ENDED, digest: shown.value.digest, by: 'flag' }, signal)
  : shown;
console.log(JSON.stringify(sent));
log.close();
