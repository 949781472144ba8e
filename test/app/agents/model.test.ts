/** Custom agents that a model drafts: real providers' wires on loopback, a log on disk, the rules of files; who is asked, what it costs, and why none is. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { placesOf } from '../../../src/config/files/read-text.ts';
import { ok } from '../../../src/domain/result.ts';
import { openLog } from '../../../src/store/log.ts';
import type { DraftResult } from '../../../src/app/agents/draft.ts';
import { draftJson, draftSummary, makeDraft } from '../../../src/app/agents/draft.ts';
import type { DraftContext, DraftRequest } from '../../../src/app/agents/model.ts';
import { readArguments } from '../../../src/app/process/flags.ts';
import { readConfig } from '../../../src/app/workspace/config.ts';
import { openProviders } from '../../../src/app/workspace/providers.ts';
import type { Asked } from '../../support/double/double.ts';
import { KEY, openDouble } from '../../support/double/double.ts';
import type { Double } from '../../support/double/double.ts';
import type { Answer, Script } from '../../support/double/script.ts';
import { freshFolder } from '../../support/folder.ts';
import { like } from '../../support/like.ts';
import { until } from '../../support/until.ts';

const GERMAN = 'behebt fehlschlagende Tests und führt sie aus';
const AGENT = {
  name: 'test-fixer',
  description: 'Behebt fehlschlagende Tests, ohne sie abzuschwächen.',
  tools: ['read_file', 'search', 'bash', 'edit_file'],
  prompt: 'Du behebst fehlschlagende Tests.\n\nZuerst führst du sie aus.',
};
const GOOD: Answer = { text: JSON.stringify(AGENT) };
const always = (answer: Answer): Script => ({ rules: [{ answer }] });

async function doubleOf(script: Script | ((asked: Asked) => Answer)): Promise<Double> {
  const double = await openDouble(script);
  onTestFinished(() => double.close());
  return double;
}

/** Counting tokens is no call. */
const callsOf = ({ asked }: Double): number => asked.filter(({ wire }) => !wire.startsWith('count')).length;

const anthropic = ({ url }: Double, key = KEY) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url });
const openai = ({ url }: Double, key = KEY) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${url}/v1` });

interface Here extends DraftContext {
  /** What was said before a call. */
  readonly told: string[];
  draft(sentence: string, more?: Partial<DraftRequest>): Promise<DraftResult>;
}

/** A project with what `config.yml` says, as a verb opens it. */
async function openHere(
  env: Readonly<Record<string, string>>,
  config = '',
  argv: readonly string[] = [],
): Promise<Here> {
  const home = freshFolder();
  const root = join(home, 'project');
  mkdirSync(join(home, '.config/mimir'), { recursive: true });
  mkdirSync(root);
  writeFileSync(join(home, '.config/mimir/config.yml'), config);
  const all = { ...env, HOME: home };
  const project = { root, places: placesOf(all, home) };
  const loaded = readConfig(project, all, {}, 'look');
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.fault));
  const args = readArguments(argv, { model: { value: 'M', help: '' } }, 0);
  const log = openLog({ stateDir: project.places.state, project: root });
  onTestFinished(() => log.close());
  const ground: DraftContext = {
    project,
    config: loaded.value.config,
    log,
    providers: await openProviders(args, loaded.value.config),
    model: args.get('model') ?? null,
    roleModels: new Map(),
  };
  const told: string[] = [];
  const wish = {
    isTaken: () => false,
    signal: new AbortController().signal,
    asking: ({ id }: { readonly id: string }): void => void told.push(id),
  };
  return {
    ...ground,
    told,
    draft: (sentence, more) => makeDraft(ok(ground), { sentence, ...wish, ...more }),
  };
}

const SONNET = 'anthropic/claude-sonnet-4-5-20250929';

describe('a model drafts a custom agent', () => {
  it.each([
    ['messages', anthropic, '', SONNET],
    ['responses', openai, '', 'openai/gpt-6.1-sol'],
    ['chat', ({ url }: Double) => ({ LOCAL_KEY: KEY, URL: url }), 'local', 'local/qwen3:8b'],
  ] as const)(
    'T029: by one call on the wire "%s", as main has its model, and tells what it cost',
    async (wire, env, config, model) => {
      const double = await doubleOf(always(GOOD));
      const local = `providers:\n  local: { kind: openai-compatible, baseUrl: "${double.url}/v1", apiKeyEnv: LOCAL_KEY, models: ["qwen3:8b"] }\n`;
      const here = await openHere(env(double), config === '' ? '' : local);
      const made = await here.draft(GERMAN);
      expect(made.draft).toMatchObject(AGENT);
      expect(made.why).toBe(null);
      expect(here.told).toEqual([model]);
      expect(double.asked.map((one) => one.wire)).toEqual([wire]);
      const { input, output } = double.bill().answered;
      expect(draftJson(made)).toMatchObject({ by: 'model', model, calls: 1, tokens: input + output });
      expect(draftSummary(made)).toMatch(/^Drafted by \S+: \d+ tokens, \S.*, session \S+\.$/);
    },
  );

  it('is a session of its own, within limits of its own, that says what was asked and made', async () => {
    const double = await doubleOf(always(GOOD));
    const here = await openHere(anthropic(double), 'budgets: { run: { maxCost: 0.5 } }\n');
    const { spending } = await here.draft(GERMAN);
    const [session] = here.log.sessions();
    expect(session).toMatchObject({
      session: spending?.session,
      task: `Draft a custom agent: ${GERMAN}`,
      state: 'finished',
      draft: true,
      ended: { status: 'completed', agents: 0 },
    });
    const events = session === undefined ? [] : here.log.read(session.session);
    expect(events.map(({ type }) => type)).toEqual([
      'session.started',
      'agent.created',
      'agent.status',
      'agent.told',
      'model.started',
      'model.finished',
      'agent.message',
      'agent.finished',
      'session.finished',
    ]);
    expect(events[0]).toMatchObject({ budget: { maxCost: 0.5, maxTokens: 60_000, maxDuration: 120_000 }, draft: true });
    expect(events[4]).toMatchObject({ purpose: 'draft' });
    expect(events.at(-1)).toMatchObject({ summary: like(/^test-fixer: Behebt/) });
  });

  it('sends nothing but the sentence, and no word of the project', async () => {
    const double = await doubleOf(always(GOOD));
    const here = await openHere(anthropic(double));
    writeFileSync(join(here.project.root, 'AGENTS.md'), 'canary-in-the-project\n');
    await here.draft('checks 翻译 and 表\u{1F600}, read-only');
    expect(double.asked[0]?.raw).not.toContain('canary');
    expect(double.asked[0]?.first).toContain('checks 翻译 and 表\u{1F600}, read-only');
    expect(double.asked[0]?.tools).toEqual([]);
  });

  it('lets the model mend its answer once, with the words of who checks it', async () => {
    const double = await doubleOf(({ turn }) =>
      turn === 1 ? { text: JSON.stringify({ ...AGENT, tools: ['web'] }) } : GOOD,
    );
    const here = await openHere(anthropic(double));
    const made = await here.draft(GERMAN);
    expect(made.draft).toMatchObject(AGENT);
    expect(made.spending?.calls).toBe(2);
    expect(double.asked.at(-1)?.last).toContain('tools: there is no "web"; available: read_file');
  });

  it('keeps to what the sentence says of access, in whatever language', async () => {
    const double = await doubleOf(always(GOOD));
    const here = await openHere(anthropic(double));
    const tools = async (sentence: string): Promise<readonly string[]> => (await here.draft(sentence)).draft.tools;
    expect(await tools('ein Prüfer, nur lesend')).toEqual(['read_file', 'search']);
    expect(await tools('修复测试，不执行命令')).toEqual(['read_file', 'search', 'edit_file']);
    expect(await tools(`fixes tests${', and more of them'.repeat(700)}; read-only`)).toEqual(['read_file', 'search']);
  });

  it('takes a free name, or the one that the person wants', async () => {
    const double = await doubleOf(always(GOOD));
    const here = await openHere(anthropic(double));
    const isTaken = (name: string): boolean => name === 'test-fixer';
    expect((await here.draft(GERMAN, { isTaken })).draft.name).toBe('test-fixer-2');
    expect((await here.draft(GERMAN, { isTaken, named: 'mine' })).draft.name).toBe('mine');
  });

  it('falls back to another model only as the rules allow, and says so', async () => {
    const double = await doubleOf(({ model }) =>
      model.startsWith('claude') ? { fault: { is: 'status', status: 401 } } : GOOD,
    );
    const both = { ...anthropic(double), ...openai(double) };
    const list = 'allowedModels: [sonnet-4.5, "openai/gpt-6.1-sol"]';
    const made = await (await openHere(both, `enforcement: { ${list} }\n`)).draft(GERMAN);
    expect(made.spending?.model).toBe('openai/gpt-6.1-sol');
    expect(draftSummary(made)).toMatch(/^Drafted by \S+ in place of sonnet-4.5, which could not be reached: /);
    const before = callsOf(double);
    const alone = await (await openHere(both, `enforcement: { ${list}, modelFallback: deny }\n`)).draft(GERMAN);
    expect(draftSummary(alone)).toMatch(/^No model wrote a draft: sonnet-4.5: .* rejected the API key/);
    expect(callsOf(double)).toBe(before + 1);
  });
});

describe('it is left to the person', () => {
  const left = async (made: DraftResult, double: Double, asked: number): Promise<string> => {
    expect(made.draft).toEqual({
      name: '',
      description: GERMAN,
      tools: ['read_file', 'search'],
      prompt: '',
      because: [],
    });
    expect(callsOf(double)).toBe(asked);
    return draftSummary(made);
  };

  it.each([
    ['a rule denies the model', 'enforcement: { allowedModels: [opus-4.5], modelFallback: deny }\n', /allowedModels/],
    ['mode human has every turn wait', 'mode: { default: human }\n', /mode human: each turn needs approval/],
    ['nothing may be spent', 'budgets: { run: { maxTokens: 0 } }\n', /Budget exceeded/],
  ])('without a call where %s', async (_, config, why) => {
    const double = await doubleOf(always(GOOD));
    const here = await openHere(anthropic(double), config);
    expect(await left(await here.draft(GERMAN), double, 0)).toMatch(why);
  });

  it('without a call where the person asks for the built-in analyst, and where there is none else', async () => {
    const double = await doubleOf(always(GOOD));
    const offline = await openHere(anthropic(double), '', ['--model', 'offline']);
    expect(await left(await offline.draft(GERMAN), double, 0)).toContain('the offline analyst cannot write drafts');
    const alone = await openHere({});
    expect(await left(await alone.draft(GERMAN), double, 0)).toBe(
      'No model wrote a draft: no model provider is set up.',
    );
    expect(alone.log.sessions()).toEqual([]);
  });

  it.each([
    ['its key is refused', { fault: { is: 'status', status: 401 } }, /ANTHROPIC_API_KEY/, 1],
    ['it refuses', { stop: 'refused', text: '' }, /the model refused to draft it/, 1],
    [
      'its answers are of no use, twice',
      { text: 'Sure!' },
      /the model's answers were unusable: the answer is not one JSON/,
      2,
    ],
    ['its answer is cut off', { text: '{"name": "x', stop: 'output limit' }, /cut off at the output limit/, 2],
    [
      'it gives fields that files have',
      { text: JSON.stringify({ ...AGENT, models: ['opus'] }) },
      /Unrecognized key: "models"/,
      2,
    ],
  ] as const)('where a model was asked and %s', async (_, answer, why, asked) => {
    const double = await doubleOf(always(answer));
    const here = await openHere(anthropic(double));
    const made = await here.draft(GERMAN);
    expect(await left(made, double, asked)).toMatch(why);
    expect(here.log.sessions()[0]?.ended?.status).toBe('failed');
    const { input, output } = double.bill().answered;
    expect(made.spending?.tokens).toBe(input + output);
  });

  it('where the time for it is over', async () => {
    const double = await doubleOf(always({ fault: { is: 'silent', at: 'head' } }));
    const here = await openHere(anthropic(double), 'budgets: { run: { maxDuration: 1s } }\n');
    // It may be over before the call is on its way.
    expect(draftSummary(await here.draft(GERMAN))).toMatch(/^No model wrote a draft: .*time/);
  });

  it('where the person stops it: at once, and its session is over', async () => {
    const double = await doubleOf(always({ fault: { is: 'silent', at: 'head' } }));
    const here = await openHere(anthropic(double));
    const control = new AbortController();
    const drafting = here.draft(GERMAN, { signal: control.signal });
    await until(() => callsOf(double) > 0);
    control.abort();
    expect(await left(await drafting, double, 1)).toMatch(/^No model wrote a draft: the model was stopped \(/);
    expect(here.log.sessions()[0]).toMatchObject({ state: 'finished', ended: { status: 'rejected' } });
  });
});

describe('what drafts cost', () => {
  it('counts for limits of the day, for all drafts and runs together', async () => {
    const double = await doubleOf(always(GOOD));
    const here = await openHere(anthropic(double), 'budgets: { day: { maxTokens: 30000 } }\n');
    expect((await here.draft(GERMAN)).why).toBe(null);
    const second = await openHere(anthropic(double), 'budgets: { day: { maxTokens: 500 } }\n');
    expect((await second.draft(GERMAN)).why).toMatch(/day/);
  });
});
