/**
 * A registry of packages on loopback, as cargo and npm know it, with one package for each: caches of a person's home are
 * filled from it by the tools themselves. It is gone when a sandbox looks for it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { freshFolder, writeFiles } from './repos.ts';
import { ITOA } from './needs.ts';

export interface Registry {
  readonly url: string;
  close(): Promise<void>;
}

/** The npm package `whole` (its answer is 42), and the crate `itoa`, where Debian's sources of it are here. */
export async function openRegistry(): Promise<Registry> {
  const files = new Map<string, Buffer>();
  const server = createServer(({ url = '' }, response) => {
    const found = files.get(url);
    response.writeHead(found === undefined ? 404 : 200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a port is a number');
  const url = `http://127.0.0.1:${address.port}`;
  for (const [name, content] of [...npmFiles(url), ...crateFiles(url)]) files.set(name, content);
  return { url, close: () => new Promise((resolve) => void server.close(() => resolve())) };
}

type Served = readonly [path: string, content: Buffer];

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function packed(folder: string, name: string): Buffer {
  const out = path.join(freshFolder(), 'packed.tgz');
  execFileSync('tar', ['-C', folder, '-czf', out, name]);
  return readFileSync(out);
}

function npmFiles(url: string): readonly Served[] {
  const folder = freshFolder();
  const about = { name: 'whole', version: '1.0.0', main: 'index.js' };
  writeFiles(folder, { 'package/package.json': JSON.stringify(about), 'package/index.js': 'module.exports = 42;\n' });
  const content = packed(folder, 'package');
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const tarball = '/whole/-/whole-1.0.0.tgz';
  const versions = { '1.0.0': { ...about, dist: { tarball: url + tarball, integrity } } };
  return [
    ['/whole', json({ name: 'whole', 'dist-tags': { latest: '1.0.0' }, versions })],
    [tarball, content],
  ];
}

function crateFiles(url: string): readonly Served[] {
  const folder = freshFolder();
  try {
    execFileSync('cp', ['-rL', ITOA, folder], { stdio: 'ignore' });
  } catch {
    return [];
  }
  const content = packed(folder, path.basename(ITOA));
  const cksum = createHash('sha256').update(content).digest('hex');
  const line = { name: 'itoa', vers: '1.0.1', deps: [], cksum, features: {}, yanked: false };
  return [
    ['/index/config.json', json({ dl: `${url}/crates/{crate}-{version}.crate` })],
    ['/index/it/oa/itoa', json(line)],
    ['/crates/itoa-1.0.1.crate', content],
  ];
}

/** A home whose cargo and npm take their packages from there, with credentials beside what may be shown. */
export function configureHome(home: string, { url }: Registry): void {
  const config = `
[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+${url}/index/"
[registries.company]
index = "sparse+${url}/company/"
token = "canary-token"
credential-provider = "/usr/bin/canary-provider"
[build]
rustc-wrapper = "/usr/bin/canary-wrapper"
`;
  mkdirSync(path.join(home, '.cargo'), { recursive: true });
  // What cargo itself would start is added when the cache has been filled.
  writeFileSync(path.join(home, '.cargo/config.toml'), config.slice(0, config.indexOf('[build]')));
  writeFileSync(path.join(home, '.npmrc'), `registry=${url}/\n`);
}
