/**
 * The content of the project as a whole, by digest (ports/tree.ts): for forced agents, whose verdicts are bound to it. One
 * look at a time; what is stored of contents lies in the state folder.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Since, TreeChanges, TreeId, TreePort } from '../../ports/tree.ts';
import { toolEnvironment, type Environment } from '../shell/environment.ts';
import type { Root } from '../paths/root.ts';
import { changesOf } from './changes.ts';
import { dropIndex, leaveIndex, takeIndex } from './index-file.ts';
import { hiddenNames, type IgnoreRules, rulesNow, rulesOfTree, unjudgedWords } from './ignored.ts';
import { seed, stage, type Staging } from './stage.ts';
import { treeStore } from './store.ts';

export interface TreeOptions {
  readonly root: Root;
  /** Mimir's state directory. */
  readonly stateDir: string;
  /** What git gets; by default the clean part of this process's environment. */
  readonly environment?: Environment;
}

/**
 * Opens the project's trees; nothing is done before the first look. Fails in words, never throws, where there is no git,
 * or its content can't be read. What of ignored files counts is tree-ignored.ts's; what lies in repositories inside the project does.
 */
export function openTrees({ root, stateDir, environment = toolEnvironment(root.path) }: TreeOptions): TreePort {
  const store = treeStore({ root, stateDir, environment });
  const session = randomBytes(6).toString('hex');
  let last: Seen | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  const rules = rulesKept();

  async function look(signal: AbortSignal, since: Since | undefined): Promise<Result<TreeId, string>> {
    const facts = await store.facts(signal);
    if (!facts.ok) return facts;
    const index = path.join(store.folder(facts.value), `index-${session}`);
    if (last === null) takeIndex(index);
    const plain: Staging = { store, facts: facts.value, index, signal, inside: 'counted' };
    const seen = await treeIn({ ...plain, hidden: () => rules.hidden(plain, since) }, last);
    if (seen.ok && since === undefined) rules.began(seen.value.tree);
    // Only after a whole look: the next program starts from what this one found out.
    if (seen.ok && last === null) leaveIndex(index);
    if (!seen.ok) dropIndex(index);
    last = seen.ok ? seen.value : null;
    return seen.ok ? ok(seen.value.tree) : seen;
  }

  return {
    now(signal, since) {
      const looked = queue.then(() => attempted(() => look(signal, since)));
      queue = looked;
      return looked;
    },
    changes: (from, to, signal, since) =>
      attempted<TreeChanges>(async () => {
        const facts = await store.facts(signal);
        if (!facts.ok) return facts;
        const changes = await changesOf(store, facts.value, { from, to }, signal);
        if (!changes.ok || since === undefined) return changes;
        const index = path.join(store.folder(facts.value), `index-${session}`);
        const staging: Staging = { store, facts: facts.value, index, signal, inside: 'counted' };
        const found = await rules.of(staging, since);
        const unjudged = found.ok ? await unjudgedWords(staging, found.value, since.at) : '';
        return ok(unjudged === '' ? changes.value : { ...changes.value, unjudged });
      }),
  };
}

interface KeptRules {
  of(staging: Staging, since: Since | undefined): Promise<Result<IgnoreRules, string>>;
  hidden(staging: Staging, since: Since | undefined): Promise<Result<readonly string[], string>>;
  /** A run begins with `tree`, and with the rules of the look that has just found it. */
  began(tree: TreeId): void;
}

/** By the first tree of a run. Read once: what lies in the repository beside its files (`info/exclude`) may change later. */
function rulesKept(): KeptRules {
  const kept = new Map<TreeId, IgnoreRules>();
  let newest: IgnoreRules | null = null;
  const of: KeptRules['of'] = async (staging, since) => {
    const known = since === undefined ? undefined : kept.get(since.tree);
    if (known !== undefined) return ok(known);
    const found = since === undefined ? await rulesNow(staging) : await rulesOfTree(staging, since.tree);
    if (found.ok && since === undefined) newest = found.value;
    else if (found.ok && since !== undefined) kept.set(since.tree, found.value);
    return found;
  };
  return {
    of,
    async hidden(staging, since) {
      const found = await of(staging, since);
      return found.ok ? hiddenNames(staging, found.value, since ?? null) : found;
    },
    began: (tree) => void (newest !== null && kept.set(tree, newest)),
  };
}

interface Seen {
  readonly head: string | null;
  readonly format: string;
  readonly tree: TreeId;
}

async function treeIn(staging: Staging, last: Seen | null): Promise<Result<Seen, string>> {
  const { head, format } = staging.facts;
  const goesOn = last !== null && last.head === head && last.format === format;
  const before = goesOn ? ok({ tree: last.tree }) : await seed(staging);
  if (!before.ok) return before;
  const tree = await stage(staging, before.value.tree);
  return tree.ok ? ok({ head, format, tree: tree.value }) : tree;
}

/** The state folder may be full or gone: the look fails, the run goes on. */
async function attempted<T>(look: () => Promise<Result<T, string>>): Promise<Result<T, string>> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return fail(`what changed in the project can't be told: ${error.message}`);
  }
}
