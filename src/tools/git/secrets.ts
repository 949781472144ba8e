/** What git tells of files that agents may not read: such sections of a patch keep their head line only. */
import { hiddenBelow } from '../paths/path-policy.ts';
import type { Root } from '../paths/root.ts';

const ENV_FILE = /(?:^|[/ "])\.env/i;

/** A diff of a committed `.env` file would show it, and so would one of a file that policy hides. */
export function withoutSecrets(root: Root, text: string): string {
  const hidden = hiddenBelow(root, root.path).map(inHead);
  let secret = false;
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const head = /^diff --(?:git|cc|combined) (.+)$/.exec(line)?.[1];
    // The next commit of a log ends a section as well.
    if (head !== undefined || /^commit [0-9a-f]{40}/.test(line)) secret = false;
    if (!secret) kept.push(line);
    if (head === undefined) continue;
    const isEnv = ENV_FILE.test(head);
    secret = isEnv || hidden.some((name) => name.test(head));
    if (secret) kept.push(isEnv ? '(content of a .env file: not shown)' : '(content that policy hides: not shown)');
  }
  return kept.join('\n');
}

/** A name, or one below it, in the first line of a section: `a/name b/name`, quoted where it holds odd characters. */
function inHead(name: string): RegExp {
  const written = name.replaceAll(/["\\]/g, String.raw`\\$&`);
  const exact = [name, written].map((each) => each.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|');
  return new RegExp(String.raw`(?:^|[ "])(?:[a-z]/)?(?:${exact})(?:[/ "]|$)`);
}
