/** Commands that manifests name. */
import { describe, expect, it } from 'vitest';
import { commandsIn } from '../../src/domain/repository.ts';

const of = (path: string, head = '', ...beside: readonly string[]) =>
  commandsIn([{ path, head, beside: new Set(beside) }]);

describe('the commands of a project', () => {
  it('are the usual scripts of package.json, by the package manager whose lock file is there', () => {
    const scripts = JSON.stringify({ scripts: { build: 'x', test: 'y', 'rm -rf /': 'z', lint: 'w' } });
    expect(of('package.json', scripts)).toEqual(['npm test', 'npm run lint', 'npm run build']);
    expect(of('package.json', scripts, 'pnpm-lock.yaml')).toEqual(['pnpm test', 'pnpm run lint', 'pnpm run build']);
    expect(of('package.json', scripts, 'bun.lock')[0]).toBe('bun run test');
    expect(of('package.json', '{"scripts": [')).toEqual([]);
  });

  it('are targets of make and just, not variables', () => {
    expect(of('Makefile', 'test := 1\nall: build\nbuild:\n\tcc\ncheck: all\n')).toEqual([
      'make check',
      'make build',
      'make all',
    ]);
    expect(of('justfile', 'test:\n  x\n')).toEqual(['just test']);
  });

  it('are those of the toolchain', () => {
    expect(of('Cargo.toml')).toEqual(['cargo test', 'cargo build']);
    expect(of('go.mod')).toEqual(['go test ./...', 'go build ./...']);
    expect(of('pom.xml')).toEqual(['mvn test', 'mvn package']);
    expect(of('pom.xml', '', 'mvnw')).toEqual(['./mvnw test', './mvnw package']);
    expect(of('build.gradle.kts', '', 'gradlew')).toEqual(['./gradlew test', './gradlew build']);
    expect(of('pyproject.toml', '[tool.pytest.ini_options]')).toEqual(['pytest']);
    expect(of('setup.py')).toEqual(['python -m unittest']);
  });

  it('name their folder, and are left out where that is no plain name', () => {
    expect(of('web/Cargo.toml')).toEqual(['in web/: cargo test', 'in web/: cargo build']);
    expect(of('a; rm -rf ~/Cargo.toml')).toEqual([]);
  });
});
