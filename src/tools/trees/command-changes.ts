/** Finds what commands change in the project: it is compared before and after each command that may write. Commands that ran at the same
 * time share their changes. Ignored files and processes that go on in the background are not seen. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ChangedFile, listedChanges } from '../../domain/changes/changes.ts';
import type { AgentId } from '../../domain/ids.ts';
import { tried } from '../../domain/result.ts';
import type { SeenFile, Tool, ToolContext, ToolOutput } from '../../ports/tool.ts';
import type { TreeId } from '../../ports/tree.ts';
import { digestOf } from '../files/replace-file.ts';
import { isFreshFile } from '../process/kept-folders.ts';
import type { Snapshots } from './tree.ts';

interface Running {
  readonly agent: AgentId;
  readonly also: Set<AgentId>;
  /** Written by file tools of agents meanwhile. */
  readonly written: Written[];
}

/** `change`: absent of a merge, and in an own tree. */
type Written = SeenFile & { readonly change?: ChangedFile | undefined };

type Compared = Pick<Snapshots, 'snapshot' | 'filesBetween'>;
type Told = Pick<ToolOutput, 'changed' | 'unseen'>;

/** Wraps the tools of a project, or of an own tree of it, that change files. Without git, commands run as they are. */
export class CommandWatch {
  readonly #root: string;
  readonly #snapshots: Compared;
  readonly #inOwnTree: boolean;
  readonly #running = new Set<Running>();
  /** After a fault, which each command would meet again. */
  #isOff = false;

  constructor(root: string, snapshots: Compared, where: 'project' | 'own tree' = 'project') {
    this.#root = root;
    this.#snapshots = snapshots;
    this.#inOwnTree = where === 'own tree';
  }

  /** The tool for commands; its output then tells what changed. */
  command<Input>(tool: Tool<Input>): Tool<Input> {
    return {
      ...tool,
      run: (input, context) =>
        context.sandbox === 'read-only' || context.reads === true
          ? tool.run(input, context)
          : this.#around(context, () => tool.run(input, context)),
    };
  }

  /** A tool that changes one file and names it, so that no command counts it as its own. */
  file<Input>(tool: Tool<Input>): Tool<Input> {
    return {
      ...tool,
      run: async (input, context) => {
        const output = await tool.run(input, context);
        const { ok, saw, changed } = output;
        if (ok && saw !== undefined && (changed !== undefined || this.#inOwnTree))
          this.#wrote({ ...saw, change: changed?.files[0] });
        return output;
      },
    };
  }

  /** Files that a merge has just written or removed: no command counts them as its own. */
  merged(names: readonly string[]): void {
    if (this.#running.size > 0) for (const file of names) this.#wrote({ file, digest: this.#digestNow(file) });
  }

  #wrote(one: Written): void {
    for (const { written } of this.#running) written.push(one);
  }

  async #around({ agent, signal }: ToolContext, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
    if (this.#isOff) return run();
    const before = await this.#snapshots.snapshot(signal);
    const own: Running = { agent, also: new Set(), written: [] };
    for (const { agent: other, also } of this.#running) {
      if (other === agent) continue;
      also.add(agent);
      own.also.add(other);
    }
    this.#running.add(own);
    try {
      const output = await run();
      if (!before.ok) return signal.aborted ? output : { ...output, ...this.#switchedOff(before.fault) };
      return { ...output, ...(await this.#changesSince(before.value, own)) };
    } finally {
      this.#running.delete(own);
    }
  }

  /** From now on nothing is compared. Told once, by the command that noticed it. */
  #switchedOff(fault: string): Told {
    if (this.#isOff) return {};
    this.#isOff = true;
    return { unseen: fault };
  }

  async #changesSince(before: TreeId, { also, written }: Running): Promise<Told> {
    // What a stopped command did counts too, so its signal does not end this.
    const { signal } = new AbortController();
    const after = await this.#snapshots.snapshot(signal);
    if (!after.ok) return this.#switchedOff(after.fault);
    if (after.value === before) return {};
    const found = await this.#snapshots.filesBetween(before, after.value, signal);
    if (!found.ok) return {};
    const files = found.value.filter((one) => !isFreshFile(path.basename(one.path)) && !this.#isOthers(one, written));
    if (files.length === 0) return {};
    const where = this.#inOwnTree ? { inOwnTree: true as const } : { tree: before };
    return { changed: { ...listedChanges(files), ...where, also: [...also] } };
  }

  /** Whether file tools and merges alone have written or removed this file: none of them found what nobody had left there. */
  #isOthers({ path: file, before }: ChangedFile, written: readonly Written[]): boolean {
    const own = written.filter((one) => one.file === file);
    const left = [before, ...own.map(({ change }) => change?.after)];
    const isNext = ({ change }: Written, nth: number): boolean =>
      change === undefined || left[nth] === undefined || left[nth]?.blob === change.before?.blob;
    return own.length > 0 && own.at(-1)?.digest === this.#digestNow(file) && own.every(isNext);
  }

  /** Empty if there is no such file. */
  #digestNow(file: string): string {
    return tried(() => digestOf(readFileSync(path.join(this.#root, file))), '');
  }
}
