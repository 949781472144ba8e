/** What the screen starts runs from: the workshop with what is known about the project and its sessions. */
import { basename } from 'node:path';
import type { SessionId } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import { fail, ok } from '../../../domain/result.ts';
import { foldAll } from '../../../events/fold.ts';
import type { Controls, Receipt, Refusal } from '../../../ports/controls.ts';
import type { Lobby, LobbyInfo, TrustQuestion } from '../../../ports/project-service.ts';
import { unifiedDiff } from '../../../tools/files/diff.ts';
import type { Hints } from './hints-seen.ts';
import { openHints } from './hints-seen.ts';
import { agentsIn, agentsOf } from '../../agents/service.ts';
import type { ProjectFiles } from './files.ts';
import { openProjectFiles } from './files.ts';
import type { Learned } from './inspect.ts';
import { lookedAhead, NOTHING_YET } from './inspect.ts';
import { planFromTemplate, templatesHere } from './templates.ts';
import type { Begin, LobbyRuns } from './runs.ts';
import { runsFrom } from './runs.ts';
import { eventsOf } from '../../client/log-of.ts';
import { isOpen } from '../../views/trust-question.ts';
import { toLabel } from '../../views/text/sanitise.ts';
import { settled } from '../../process/exit-to-result.ts';
import { chosenTheme, namesOfThemes } from './theme-choice.ts';
import type { Start, Workshop } from '../open-project.ts';
import { newSession } from '../../client/connect.ts';
import { packageVersion } from '../../process/package-root.ts';
import { trustHere, trustNow } from '../project-trust.ts';
import { world } from '../../process/world.ts';

export interface LobbyWays {
  /** Opens the same workshop with the configuration as it is then: what is trusted counts from the next run on. */
  readonly reopen: () => Promise<Workshop>;
  /** Starts a process of its own that goes on with a session; the receipt says how to come back. */
  readonly goesOn: (session: SessionId) => Promise<Receipt>;
  readonly pace?: Start['pace'];
}

export interface RunLobby extends Lobby, Pick<LobbyRuns, 'current' | 'attached'> {
  /** Ends what the lobby holds open; resolves when a draft that was being made has ended as well. */
  close(): Promise<void>;
}

/**
 * What the sandbox is and what to suggest come a moment after the first picture: both need other programs.
 */
export function openLobby(first: Workshop, { reopen, goesOn, pace = 'readable' }: LobbyWays): RunLobby {
  let workshop = first;
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let learned = NOTHING_YET;
  let question = questionOf(workshop);
  const learn = (more: Partial<Learned>): void => {
    learned = { ...learned, ...more };
    changed();
  };
  const leaving = new AbortController();
  const drafts = new Set<Promise<unknown>>();
  const files = filesOf(() => workshop, leaving.signal);
  const ready = (): void => {
    files.load();
    learn(templatesOf(workshop));
  };
  const looked = lookedAhead(workshop, () => isOpen(question), { learn, ready });
  const hints = openHints(first.project.places.state);
  const renew = async (): ReturnType<typeof opened> => {
    const next = await opened(reopen);
    if (!next.ok) return next;
    workshop.close();
    workshop = next.value;
    question = questionOf(workshop);
    learn({ sandbox: next.sandbox, ...templatesOf(workshop) });
    return next;
  };
  const runs = runsFrom(() => workshop, { repository: looked, pace, goesOn });
  return {
    info: () => infoOf(workshop, learned, question),
    onChange: (listener) => void listeners.push(listener),
    async trust(digest) {
      const given = trustNow(workshop.project, digest);
      question = questionOf(workshop);
      changed();
      if (!given.ok) return fail({ text: `not trusted: ${given.fault}` });
      const next = await renew();
      if (!next.ok) return next.is === 'unusable' ? unused(next.fault, learn) : next;
      return ok({ text: 'Trusted as shown: its roles and preferences count in the next run.' });
    },
    ...plansOf(() => workshop, runs.begin, learn),
    ...agentsOf(() => workshop, renew, drafts, leaving.signal),
    ...keepsOf(() => workshop, files, hints),
    look: (session) => pastOf(workshop, session),
    ...runs,
    async close() {
      leaving.abort();
      runs.letGo();
      if (drafts.size > 0) await Promise.allSettled(drafts);
      workshop.close();
    },
  };
}

/** Plans that are kept here: begun with their values filled in, or a new one kept. */
const plansOf = (
  workshop: () => Workshop,
  begin: Begin,
  learn: (more: Partial<Learned>) => void,
): Pick<Lobby, 'startTemplate' | 'saveTemplate'> => ({
  async startTemplate(name, values) {
    const made = planFromTemplate(workshop().project, isTrusted(workshop()), name, values);
    if (!made.ok) return fail({ text: made.fault });
    const { draft, from, task } = made.value;
    return begin({ session: newSession(), task }, { draft, from });
  },
  async saveTemplate(wish) {
    const { project, config } = workshop();
    const kept = (await import('./keep-template.ts')).keepTemplate(project, config, wish);
    learn(templatesOf(workshop()));
    return kept;
  },
});

/** Those that can be used, and for a note each what is wrong with the others. */
function templatesOf(workshop: Workshop): Pick<Learned, 'templates' | 'broken'> {
  const { templates, faults } = templatesHere(workshop.project, isTrusted(workshop));
  return { templates, broken: faults.map((fault) => `template left out: ${fault}`) };
}

/** The same workshop with the configuration of now. `unusable`: what is wrong in it was said in a list. */
async function opened(
  reopen: () => Promise<Workshop>,
): Promise<
  | { readonly ok: true; readonly value: Workshop; readonly sandbox: string }
  | { readonly ok: false; readonly is: 'unusable' | 'not ready'; readonly fault: Refusal }
> {
  const next = await settled(reopen);
  if (!next.ok) return { ...next, is: 'unusable' };
  const ready = await settled(() => next.value.ready());
  if (ready.ok) return { ...next, sandbox: ready.value.sandbox };
  next.value.close();
  return { ...ready, is: 'not ready' };
}

async function pastOf({ log }: Workshop, session: SessionId): Promise<Result<Controls, Refusal>> {
  const events = await settled(async () => eventsOf(log, session));
  if (!events.ok) return events;
  if (events.value.length === 0) return fail({ text: `there is no session ${session}` });
  return ok((await import('../../client/past-run.ts')).pastRun(session, events.value));
}

/** What needs no run: names of files, reports, themes, hints. */
function keepsOf(
  workshop: () => Workshop,
  files: ProjectFiles,
  hints: Hints,
): Pick<Lobby, 'files' | 'exportReport' | 'theme' | 'seen' | 'markSeen'> {
  return {
    files: (query, most) => files.find(query, most),
    async exportReport(session, format) {
      const { project, log } = workshop();
      const events = await settled(async () => eventsOf(log, session));
      if (!events.ok) return events;
      const { keepReport } = await import('./report.ts');
      return keepReport(project, session, foldAll(events.value), format);
    },
    theme: (name) => chosenTheme(workshop().project, isTrusted(workshop()), name),
    seen: () => hints.seen(),
    markSeen: (hint) => hints.mark(hint),
  };
}

/** The list is made where runs are: only there is it known what rules hide. */
const filesOf = (workshop: () => Workshop, signal: AbortSignal): ProjectFiles =>
  openProjectFiles(async () => {
    const opened = await settled(() => workshop().ready());
    return opened.ok ? opened.value.listing(signal) : [];
  }, world);

const isTrusted = ({ project, config }: Workshop): boolean =>
  trustHere(project, config.preferences.trust ?? []).state === 'trusted';

/** Trust is given, and what was trusted is wrong: this session goes on with what it has. */
function unused({ text }: Refusal, learn: (more: Partial<Learned>) => void): Result<never, Refusal> {
  // Words come first, then the faults, one a line.
  const unusable = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
  learn({ unusable });
  const [first = text, ...others] = unusable;
  const more = others.length === 0 ? '' : ` (and ${others.length} more: mimir doctor)`;
  return fail({
    text: `Trusted, but it can't be used as it is, so this session goes on without it. ${first}${more}`,
  });
}

/** Why it was not loaded before it was trusted is no longer the reason. */
const notesOf = (notes: readonly string[], unusable: readonly string[]): readonly string[] =>
  unusable.length === 0 ? notes : ['trusted, but not used in this session:', ...unusable];

const questionOf = ({ project, config }: Workshop): TrustQuestion =>
  trustHere(project, config.preferences.trust ?? [], unifiedDiff);

const infoOf = (
  { project, config, provider, mode, log }: Workshop,
  { sandbox, suggestions, repository, templates, broken, problem, unusable }: Learned,
  { state, digest, brings, diff }: TrustQuestion,
): LobbyInfo => ({
  cwd: project.root,
  project: basename(project.root),
  version: packageVersion(),
  provider,
  sandbox,
  mode,
  suggestions,
  sessions: log
    .sessions()
    .filter(({ draft }) => draft !== true)
    .slice(0, 20)
    .map(({ session, task, asked, startedAt, state, ended, cost }) => ({
      id: session,
      task: asked === undefined ? task : toLabel(asked),
      when: startedAt,
      state,
      ...(ended === undefined ? {} : { ended }),
      ...(cost === undefined ? {} : { cost }),
    })),
  ...(repository === null ? {} : { repository }),
  policy: config.managed.length === 0 ? '' : `managed by ${config.managed.map(({ shown }) => shown).join(', ')}`,
  trust: { state, digest, brings, diff },
  templates,
  agents: agentsIn({ project, config }),
  themes: namesOfThemes(project, state === 'trusted'),
  notes: [...(problem === null ? [] : [problem]), ...notesOf(config.notes, unusable), ...broken],
});
