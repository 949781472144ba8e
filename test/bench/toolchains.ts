/**
 * Large toolchains in the sandbox, without a network: `go test` and `mvn test` of small projects, with packages that Debian
 * has. What is not installed is said, and not measured. (Small ones are tests: test/tools/toolchains/toolchains.test.ts.)
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programOn } from '../../src/tools/process/environment.ts';
import { runSandboxed } from '../../src/tools/sandbox/sandbox.ts';
import type { Measurement } from './run.ts';
import type { BoxedPlace } from './security/place.ts';
import { inPlace } from './security/place.ts';
import { spreadOf } from './statistics.ts';
import type { Figure } from './table.ts';

interface Large {
  readonly name: string;
  readonly program: string;
  /** Debian's packages, and a folder of them. */
  readonly packages: string;
  readonly there: string;
  /** Makes the project, and fills the cache of the home as its person would have done with a network. */
  fill(place: BoxedPlace): void;
  readonly command: string;
  /** What its output holds when the tests passed. */
  readonly passed: RegExp;
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const programHere = (name: string): string | null => programOn({ PATH: process.env['PATH'] ?? '' }, name);

const UUID = '/usr/share/gocode/src/github.com/google/uuid';
const MAVEN_REPO = '/usr/share/maven-repo';

/** Files alone: Go takes no entries of folders. */
const ZIP = `
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as packed:
    for folder, _, names in os.walk('github.com'):
        for name in names:
            packed.write(os.path.join(folder, name))
`;

const LARGE: readonly Large[] = [
  {
    name: 'go test ./...',
    program: 'go',
    packages: 'golang-go golang-github-google-uuid-dev',
    there: UUID,
    fill({ project, home }) {
      writeFiles(project, {
        'go.mod': 'module example.com/p\n\ngo 1.19\n\nrequire github.com/google/uuid v1.3.0\n',
        'p_test.go':
          'package p\n\nimport (\n\t"testing"\n\n\t"github.com/google/uuid"\n)\n\nfunc TestLength(t *testing.T) {\n\tif len(uuid.New().String()) != 36 {\n\t\tt.Fatal("odd")\n\t}\n}\n',
      });
      const proxy = join(home, '..', 'proxy');
      const versions = join(proxy, 'github.com/google/uuid/@v');
      const packed = join(proxy, 'packed');
      mkdirSync(join(packed, 'github.com/google'), { recursive: true });
      cpSync(UUID, join(packed, 'github.com/google/uuid@v1.3.0'), { recursive: true, dereference: true });
      writeFiles(versions, { 'v1.3.0.info': '{"Version":"v1.3.0"}', 'v1.3.0.mod': 'module github.com/google/uuid\n' });
      execFileSync('python3', ['-c', ZIP, join(versions, 'v1.3.0.zip')], { cwd: packed });
      const env = { PATH: process.env['PATH'] ?? '', HOME: home, GOPROXY: `file://${proxy}`, GOSUMDB: 'off' };
      execFileSync(programHere('go') ?? '', ['mod', 'tidy'], {
        cwd: project,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    },
    command: 'go test ./...',
    passed: /^ok\s/m,
  },
  {
    name: 'mvn -o test',
    program: 'mvn',
    packages: 'maven libsurefire-java libmaven-compiler-plugin-java libmaven-resources-plugin-java junit4',
    there: join(MAVEN_REPO, 'org/apache/maven/plugins/maven-surefire-plugin'),
    fill({ project, home }) {
      writeFiles(project, {
        'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>p</groupId><artifactId>p</artifactId><version>1</version>
  <properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>
  <dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies>
</project>
`,
        'src/test/java/ATest.java':
          'public class ATest { @org.junit.Test public void a() { org.junit.Assert.assertEquals(2, 1 + 1); } }\n',
      });
      mkdirSync(join(home, '.m2'));
      // Some of Debian's links lead nowhere.
      execFileSync('bash', ['-c', 'cp -rL "$0" "$1" 2>/dev/null || true', MAVEN_REPO, join(home, '.m2/repository')]);
    },
    command: 'mvn -B -o test',
    passed: /Tests run: 1, Failures: 0, Errors: 0[^]*BUILD SUCCESS/,
  },
];

export const toolchains: Measurement = {
  name: 'toolchains',
  about: 'tests of a Go and of a Maven project in the sandbox, offline',
  async measure({ say, quick }) {
    const figures: Figure[] = [];
    for (const large of LARGE) {
      if (!existsSync(large.there) || programHere(large.program) === null)
        say(`${large.name}: not installed (apt install ${large.packages})`);
      else figures.push(...(await inPlace((place) => timesOf(large, place, quick ? 1 : 3))));
    }
    return figures;
  },
};

/** The first time with empty caches of builds, then with what the private home kept. */
async function timesOf(large: Large, place: BoxedPlace, again: number): Promise<readonly Figure[]> {
  large.fill(place);
  const [first] = await durations(large, place, 1);
  const later = await durations(large, place, again);
  const figure = (what: string, values: readonly number[]): Figure => ({
    what: `${large.name}, ${what}`,
    unit: 'ms',
    mimir: spreadOf(values),
    floor: null,
  });
  return [figure('first time', [first ?? 0]), figure('again', later)];
}

async function durations(
  { name, command, passed }: Large,
  { sandbox, project, environment }: BoxedPlace,
  times: number,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const args = ['--noprofile', '--norc', '-c', command];
    const spec = {
      box: 'read-write',
      file: '/bin/bash',
      args,
      cwd: project,
      env: environment,
      agent: 'bench',
    } as const;
    const { stdout, stderr, milliseconds } = await runSandboxed(sandbox, spec, { timeLimit: 300_000 });
    if (!passed.test(stdout)) throw new Error(`${name}: ${stdout.slice(-2000)}${stderr.slice(-2000)}`);
    found.push(milliseconds);
  }
  return found;
}
