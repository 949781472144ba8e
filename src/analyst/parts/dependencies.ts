/** Declared dependencies, each with the line that names it, and the lines that use it. What can't be told from a line is left out. */
import { behind, claim, faults, section } from '../evidence.ts';
import { isComment } from '../lines.ts';
import { isForeign, isTest, rankOf } from '../paths.ts';
import { inventory } from '../project.ts';
import { filesOf, hitsOf, isCut, linesOf, list, read, search } from '../tools.ts';
import type { Hit, Looking, Seen } from '../tools.ts';
import type { Part, Work } from '../turns.ts';
import { code, escaped, listed, plural } from '../words.ts';
import { declaredIn, MANIFESTS } from './manifests.ts';
import type { Dependency } from './manifests.ts';

const MOST_MANIFESTS = 12;
const MOST_ASKED = 120;
const PER_TURN = 30;
const MANIFEST_LINES = 400;
const LOCKS =
  '{package-lock.json,yarn.lock,pnpm-lock.yaml,npm-shrinkwrap.json,poetry.lock,uv.lock,Pipfile.lock,go.sum,Cargo.lock,Gemfile.lock,composer.lock}';

export const dependencies: Part = {
  todos: ['Read the manifests', 'Search for uses of each dependency', 'Look for those without an import'],
  work: counting,
};

/** A dependency with what the searches for it found; undefined where nothing was searched. */
interface Counted {
  readonly one: Dependency;
  readonly useLook: Seen | undefined;
  readonly uses: readonly Hit[];
  /** Of one without an import: the search for any other mention. */
  readonly nameLook: Seen | undefined;
}

function* counting({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const [manifests, locks] = yield {
    say: 'I look for manifests and lock files.',
    todo: 0,
    asks: [
      list(200, { glob: MANIFESTS.glob, path: project.path, about: `manifests of ${MANIFESTS.kinds} kinds` }),
      list(50, { glob: LOCKS, path: project.path, about: 'lock files' }),
    ],
  };
  const paths = filesOf(manifests)
    .filter((path) => !isForeign(path) && !isTest(path))
    .toSorted((a, b) => a.split('/').length - b.split('/').length)
    .slice(0, MOST_MANIFESTS);
  if (paths.length === 0) return `No manifest is there that I can read ${behind(manifests)}.`;
  const texts = yield {
    say: `I read ${listed(paths)}.`,
    todo: 0,
    asks: paths.map((path) => read(path, 1, MANIFEST_LINES)),
  };
  const found = texts.flatMap((seen, at) => declaredIn(paths[at] ?? '', linesOf(seen)));
  const counted = yield* countedOf(found);
  const looks = counted.flatMap(({ useLook, nameLook }) => [useLook, nameLook]);
  const kinds = Map.groupBy(counted, ({ one: { hit, kind } }) => (kind === '' ? hit.path : `${hit.path}, ${kind}`));
  return [
    headText(counted, paths, manifests),
    ...[...kinds].flatMap(([heading, all]) => section(heading, all.map(rowOf))),
    ...section('Lock files', [`- ${filesOf(locks).join(', ') || 'none'} ${behind(locks)}`]),
    ...faults([...project.seen, manifests, locks, ...texts, ...looks]),
  ].join('\n');
}

/** Searches for imports of each, then for any mention of those that have none. */
function* countedOf(found: readonly Dependency[]): Looking<readonly Counted[]> {
  const asked = found.filter(({ use }) => use !== null).slice(0, MOST_ASKED);
  const useLooks = new Map<Dependency, Seen | undefined>();
  for (let at = 0; at < asked.length; at += PER_TURN) {
    const some = asked.slice(at, at + PER_TURN);
    const seen = yield {
      say: `I search for imports of ${namesOf(some)}.`,
      todo: 1,
      asks: some.map(({ name, use }) =>
        search(use?.pattern ?? '', { glob: use?.glob ?? '*', limit: 100, about: `imports of ${code(name)}` }),
      ),
    };
    for (const [index, one] of some.entries()) useLooks.set(one, seen[index]);
  }
  const uses = new Map(found.map((one) => [one, usesIn(one, useLooks.get(one))] as const));
  const idle = asked.filter((one) => uses.get(one)?.length === 0).slice(0, PER_TURN);
  const named = yield {
    say: idle.length === 0 ? 'Each has an import.' : `Is anything else said of ${namesOf(idle)}?`,
    todo: 2,
    asks: idle.map(({ name, hit }) =>
      search(`(?:^|[^\\w@/-])${escaped(name)}(?:[^\\w-]|$)`, {
        limit: 40,
        about: `${code(name)} outside of ${hit.path}`,
      }),
    ),
  };
  const nameLooks = new Map(idle.map((one, at) => [one, named[at]] as const));
  return found.map((one) => ({
    one,
    useLook: useLooks.get(one),
    uses: uses.get(one) ?? [],
    nameLook: nameLooks.get(one),
  }));
}

const namesOf = (some: readonly Dependency[]): string =>
  listed([...some.slice(0, 3).map(({ name }) => name), ...(some.length > 3 ? [plural(some.length - 3, 'other')] : [])]);

const usesIn = (one: Dependency, look: Seen | undefined): readonly Hit[] =>
  hitsOf(look)
    .filter((hit) => !isComment(hit) && !hit.path.includes('node_modules/') && hit.path !== one.hit.path)
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));

function rowOf({ one, useLook, uses, nameLook }: Counted): string {
  const begin = `- ${one.name}: declared at ${claim(one.hit)}`;
  if (useLook === undefined) return `${begin}; its use can't be told from its name`;
  const [first] = uses;
  if (first !== undefined) {
    const files = `${isCut(useLook) ? 'at least ' : ''}${plural(new Set(uses.map(({ path }) => path)).size, 'file')}`;
    return `${begin}; imported in ${files}${isTest(first.path) ? ', all of them tests' : ''}, for example ${claim(first)}`;
  }
  const none = `${begin}; no import by its name was found ${behind(useLook)}`;
  const also = mentionOf(one, nameLook);
  if (nameLook === undefined) return none;
  return also === undefined
    ? `${none}, and it is named nowhere else ${behind(nameLook)}`
    : `${none}, but it is named at ${claim(also)}`;
}

/** Another line that names it: of its own manifest first, then of other files but locks. */
function mentionOf({ hit }: Dependency, look: Seen | undefined): Hit | undefined {
  const others = hitsOf(look).filter(
    ({ path, line }) => !(path === hit.path && line === hit.line) && !/lock|\.sum$/.test(path),
  );
  return others.find(({ path }) => path === hit.path) ?? others.toSorted((a, b) => rankOf(a.path) - rankOf(b.path))[0];
}

function headText(counted: readonly Counted[], paths: readonly string[], manifests: Seen | undefined): string {
  const [first] = counted;
  if (first === undefined)
    return `${listed(paths)} ${paths.length === 1 ? 'declares' : 'declare'} no dependency in a form that I can read ${behind(manifests)}.`;
  const idle = counted.filter(({ nameLook }) => nameLook !== undefined);
  const lost = idle.filter(({ one, nameLook }) => mentionOf(one, nameLook) === undefined);
  const files = listed([...new Set(counted.map(({ one }) => one.hit.path))]);
  const head = `${plural(counted.length, 'dependency is', 'dependencies are')} declared in ${files}, the first at ${claim(first.one.hit)}.`;
  if (idle.length === 0) return head;
  return lost.length === 0
    ? `${head} ${plural(idle.length, 'has', 'have')} no import by its name, but each is named elsewhere.`
    : `${head} Neither an import nor another mention was found of ${listed(lost.map(({ one }) => one.name))}; the searches are below.`;
}
