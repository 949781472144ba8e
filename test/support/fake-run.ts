/** A `ProjectService` and `Controls` over a list of events: a screen test plays a log and sees which commands were asked for. */
import type { SessionId } from '../../src/domain/ids.ts';
import { fail, ok, type Result } from '../../src/domain/result.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { isLooser } from '../../src/domain/reason.ts';
import type { Command, Controls, ModePreview, PlanPreview, Tick } from '../../src/ports/controls.ts';
import type { AgentFiles, ProjectService, ProjectInfo } from '../../src/ports/project-service.ts';
import { SESSION } from './recorded-run.ts';

/** At once, or late. */
type Soon<T> = T | Promise<T>;
type PreviewMode = (...asked: Parameters<Controls['previewMode']>) => Soon<ModePreview>;
type PreviewPlan = (...asked: Parameters<Controls['previewPlan']>) => Soon<Result<PlanPreview, string>>;

export interface FakeRun {
  readonly projectService: ProjectService;
  readonly commands: Command[];
  /** What the project service learns after the first picture. */
  learn(more: Partial<ProjectInfo>): void;
  /** Tasks and sessions that were begun. */
  readonly begun: string[];
  /** Gives more events to whoever listens; resolves when they were taken in. */
  play(events: readonly MimirEvent[]): Promise<void>;
  tick(tick: Tick): void;
  /** What a change of the mode is said to do from now on. */
  preview(how: PreviewMode): void;
  /** What edits of the running plan are said to lead to from now on. */
  previewPlan(how: PreviewPlan): void;
  /** The next commands are refused with these words. */
  refuse(why: string | null): void;
}

export const PROJECT_SERVICE: ProjectInfo = {
  cwd: '/home/me/shop',
  project: 'shop',
  version: '0.1.0',
  provider: 'offline (no provider)',
  sandbox: 'none',
  mode: 'confirm',
  suggestions: ['Review this repository'],
  sessions: [],
  policy: '',
  trust: { state: 'nothing', digest: '', brings: [], diff: '' },
  notes: [],
  templates: [],
  agents: { all: [], leftOut: [] },
  themes: ['mimir-dark'],
};

export function fakeRun(info: ProjectInfo = PROJECT_SERVICE): FakeRun {
  const commands: Command[] = [];
  let known = info;
  const watchers: (() => void)[] = [];
  const begun: string[] = [];
  const listeners = new Set<(tick: Tick) => void>();
  const waiting: MimirEvent[] = [];
  const accepted = new Set<string>();
  let wake = Promise.withResolvers<void>();
  let refusal: string | null = null;
  let preview: PreviewMode = (mode) => ({
    refused: null,
    looser: isLooser(mode, 'confirm'),
    changes: [],
    answers: isLooser(mode, 'confirm') ? 2 : 0,
  });
  let previewPlan: PreviewPlan = () => fail('no plan is in force');
  const controls = (session: SessionId): Controls => ({
    session,
    previewMode: async (mode, agent) => await preview(mode, agent),
    previewPlan: async (edits) => await previewPlan(edits),
    submit: (command) => {
      commands.push(command);
      return Promise.resolve(
        refusal === null ? ok({ text: `done: ${command.do}` }) : { ok: false as const, fault: { text: refusal } },
      );
    },
    async *events() {
      for (;;) {
        const event = waiting.shift();
        if (event === undefined) {
          await wake.promise;
          continue;
        }
        yield event;
        if (event.type === 'session.finished') return;
      }
    },
    ticks: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const begin = (what: string): ReturnType<ProjectService['start']> => {
    begun.push(what);
    return Promise.resolve(ok(controls(SESSION)));
  };
  return {
    commands,
    begun,
    projectService: {
      info: () => known,
      onChange: (listener) => void watchers.push(listener),
      start: begin,
      resume: begin,
      attach: begin,
      look: begin,
      startTemplate: begin,
      detach: () => Promise.resolve(ok({ text: 'detached' })),
      saveTemplate: () => Promise.resolve(ok({ text: 'saved' })),
      exportReport: () => Promise.resolve(ok({ text: 'exported' })),
      trust: () => Promise.resolve(ok({ text: 'trusted' })),
      files: () => Promise.resolve([]),
      theme: () => fail('there is one theme'),
      hints: { all: () => new Set(['plan', 'run', 'question', 'copy']), mark: () => undefined },
      accepted: () => ({
        all: () => accepted,
        mark: (key, isAccepted) => void (isAccepted ? accepted.add(key) : accepted.delete(key)),
      }),
      agents: NO_AGENT_FILES,
    },
    learn(more) {
      known = { ...known, ...more };
      for (const watcher of watchers) watcher();
    },
    tick: (tick) => {
      for (const listener of listeners) listener(tick);
    },
    preview: (how) => {
      preview = how;
    },
    previewPlan: (how) => {
      previewPlan = how;
    },
    refuse: (why) => {
      refusal = why;
    },
    async play(events) {
      waiting.push(...events);
      const { resolve } = wake;
      wake = Promise.withResolvers<void>();
      resolve();
      await settled();
    },
  };
}

const refused = (): ReturnType<AgentFiles['create']> => Promise.resolve(fail({ text: 'no agent files here' }));
const NO_AGENT_FILES: AgentFiles = {
  create: refused,
  delete: refused,
  draft: () => Promise.reject(new Error('no agent is drafted here')),
};

/** Lets everything that waits for a promise have its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
